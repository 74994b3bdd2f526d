/*
 * test_mlp_infer.c - work=inference: its numbers, what its check finds, and that every mode and
 * both variants leave what the reference says.
 */
#include "tests/plain.h"
#include "tests/rows.h"
#include "workloads/mlp/test_mlp.h"

TestSuite(small_mlp_infer, .timeout = 300);
TestSuite(large_mlp_infer, .timeout = 300);

static struct mlp_opts infer_opts(int hidden, int64_t width, int launches)
{
	struct mlp_opts o = default_opts();

	o.work = MLP_INFERENCE;
	o.batch = 5;
	o.hidden.n = hidden;
	for (int i = 0; i < hidden; i++)
		o.hidden.value[i] = width;
	o.features = 0; /* 32 */
	o.batches = 3;
	o.launches = launches;
	return o;
}

/* ---- numbers --------------------------------------------------------------------------- */

/* Bits of a number in fp16 beyond its first 11 are 0. */
static void fits_fp16(float v, float unit)
{
	float units = v / unit;

	cr_assert(units == rintf(units) && fabsf(units) <= 2048, "%.9g", (double)v);
}

Test(small_mlp_infer, inputs_and_weights_are_exact_in_fp16)
{
	enum { N = 1000 };
	double inputs = 0, weights = 0;

	for (uint32_t i = 0; i < N; i++) {
		float x = mlp_infer_input(i, 1, 7), w = mlp_infer_weight(i, 7);

		fits_fp16(x, 0x1p-8f);
		fits_fp16(w, 0x1p-12f);
		inputs += (double)(x * x) / N;
		weights += (double)(w * w) / N;
	}
	/* of uniform numbers: 1/3 and 1/48; eight times the standard error of the mean */
	cr_assert(fabs(inputs - 1.0 / 3) < 0.08 && fabs(weights - 1.0 / 48) < 0.005, "%g %g",
		  inputs, weights);
}

Test(small_mlp_infer, numbers_of_fp16)
{
	static const struct {
		uint16_t bits;
		double value;
	} rows[] = {
		{ 0x0000, 0 },	     { 0x3c00, 1 },	{ 0xc500, -5 },	       { 0x0001, 0x1p-24 },
		{ 0x0400, 0x1p-14 }, { 0x7bff, 65504 }, { 0xfc00, -INFINITY },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_assert(mlp_fp16_value(rows[i].bits) == rows[i].value, "%x is %g", rows[i].bits,
			  mlp_fp16_value(rows[i].bits));
	cr_assert(isnan(mlp_fp16_value(0x7e00)) && isnan(mlp_fp16_value(0xffff)), "NaN");
}

/* Each weight has one place in the order of tensor cores, within its layer. */
static void expect_permutation(struct mlp_infer_net n)
{
	uint32_t weights = mlp_infer_weights(&n);
	uint8_t *seen = calloc(weights, 1);

	cr_assert(seen, "memory");
	for (uint32_t l = 1; l <= n.hidden + 1; l++)
		for (uint32_t i = mlp_infer_at(&n, l), j = 0;
		     j < mlp_infer_in(&n, l) * mlp_infer_out(&n, l); j++) {
			uint32_t from = mlp_infer_source(&n, i + j);

			cr_assert(from >= i && from < weights && !seen[from]++,
				  "layer %u, place %u: weight %u", l, j, from);
		}
	free(seen);
}

Test(small_mlp_infer, the_order_of_tensor_cores_has_each_weight_once)
{
	expect_permutation((struct mlp_infer_net){ 32, 64, 2 });
	expect_permutation((struct mlp_infer_net){ 64, 128, 3 });
}

/*
 * What a lane multiplies belongs together: inputs as it loads them, 8 at a time, and weights; and
 * the 4 outputs that it stores side by side are those of its two products.
 */
Test(small_mlp_infer, lanes_of_tensor_cores_have_the_inputs_of_their_weights)
{
	const struct mlp_infer_net n = { 64, 64, 2 };
	const uint32_t last = mlp_infer_at(&n, 3);

	for (uint32_t i = 0; i < 64 * 64; i++) {
		uint32_t step = i / MLP_UNIT % 4, t = i / 8 % 4, word = 2 * (step % 2) + i / 2 % 2;
		uint32_t loaded = (step / 2 * 4 + t) * 8 + 2 * word + i % 2;

		cr_assert(mlp_infer_source(&n, i) % 64 == loaded, "place %u", i);
	}
	for (uint32_t i = 0; i < 64 * 16; i++) {
		uint32_t column = i / 32 % 8, tile = i / 4 % 2; /* of the product, and which */
		uint32_t stored = column / 2 * 4 + tile * 2 + column % 2;

		cr_assert((mlp_infer_source(&n, last + i) - last) / 64 == stored, "place %u", i);
	}
}

/* ---- modes ----------------------------------------------------------------------------- */

static void passes(struct run *r, int64_t steps)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(v.passed && v.compared == v.total, "%ld steps: %g, %s", (long)steps, v.error,
		  v.worst);
}

static void fails(struct run *r, int64_t steps, const char *says)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(!v.passed && tells(v.worst, says), "not '%s': %g, %s", says, v.error, v.worst);
}

/* All outputs, to be freed. */
static void *outputs_of(struct run *r, size_t *bytes)
{
	const struct dataset *set = &r->s.infer.set;
	void *all;

	*bytes = dataset_output_bytes(&set->shape, r->o.batches);
	all = malloc(*bytes);
	CHECK(all, "memory");
	CUDA(cudaMemcpy(all, dataset_device(set, 1, 0), *bytes, cudaMemcpyDeviceToHost));
	return all;
}

static void modes_agree(struct mlp_opts o, int64_t n, int modes)
{
	struct run *r = run_begin(o);
	void *first = NULL, *next;
	size_t bytes;

	for (int mode = 0; mode < modes; mode++) {
		run_reset(r);
		(mode == 0 ? run_steps : mode == 1 ? run_graph : run_fused)(r, n);
		passes(r, n);
		next = outputs_of(r, &bytes);
		cr_assert(!first || !memcmp(first, next, bytes), "%ld steps, mode %d", (long)n,
			  mode);
		free(first);
		first = next;
	}
	free(first);
	run_end(r);
}

/* Fewer steps than batches, and more. */
Test(small_mlp_infer, every_mode_gives_the_same_bits)
{
	need_device();
	for (int64_t n = 2; n <= 4; n += 2) {
		modes_agree(infer_opts(3, 64, MLP_ONE), n, 3);
		modes_agree(infer_opts(2, 64, MLP_FEW), n, 2);
	}
}

Test(large_mlp_infer, every_shape_passes)
{
	need_device();
	for (int hidden = MLP_INFER_HIDDEN_MIN; hidden <= MLP_INFER_HIDDEN_MAX; hidden++)
		for (int64_t width = 64; width <= 128; width *= 2) {
			struct mlp_opts o = infer_opts(hidden, width, MLP_ONE);

			o.batch = 40;
			o.features = hidden % 2;
#ifndef RIFT_CPU_DEVICE
			o.precision = MLP_FP16;
#endif
			modes_agree(o, 2, 3);
			o.launches = MLP_FEW;
			modes_agree(o, 2, 2);
		}
}

/* ---- the check ------------------------------------------------------------------------- */

static void put(struct run *r, int64_t slot, int64_t word, float value)
{
	float *y = (float *)dataset_device(&r->s.infer.set, 1, slot);

	CUDA(cudaMemcpy(y + word, &value, sizeof(value), cudaMemcpyHostToDevice));
}

Test(small_mlp_infer, the_check_finds_wrong_outputs)
{
	struct run *r;

	need_device();
	r = run_begin(infer_opts(2, 64, MLP_ONE));
	run_steps(r, 2);
	passes(r, 2);
	put(r, 1, 3 * MLP_OUTPUTS + 15, 9);
	fails(r, 2, "row 3 of batch 1: off by");
	put(r, 1, 3 * MLP_OUTPUTS + 15, NAN);
	fails(r, 2, "row 3 of batch 1: no finite number");
	run_reset(r);
	run_steps(r, 2);
	put(r, 2, 7, 1);
	fails(r, 2, "written where nothing was to be, slot 2, word 7");
	run_end(r);
}

Test(small_mlp_infer, a_missing_step_fails)
{
	struct run *r;

	need_device();
	r = run_begin(infer_opts(2, 64, MLP_ONE));
	run_steps(r, 1);
	fails(r, 2, "1 steps were counted, not 2");
	run_end(r);
}

/* Without a product the next one reads activations of the step before, of another batch. */
Test(small_mlp_infer, a_missing_product_fails)
{
	struct run *r;
	void *elsewhere;

	need_device();
	r = run_begin(infer_opts(2, 64, MLP_FEW));
	CUDA(cudaMalloc(&elsewhere, 5 * 64 * sizeof(float)));
	for (int l = 1; l <= r->s.net.hidden; l++) {
		void **to = &r->s.products.forward[l].gemm.d, *right = *to;

		run_reset(r);
		run_steps(r, 1);
		passes(r, 1);
		*to = elsewhere;
		run_steps(r, 1);
		*to = right;
		fails(r, 2, "of batch 1: off by");
	}
	CUDA(cudaFree(elsewhere));
	run_end(r);
}

/* ---- the command line -------------------------------------------------------------------- */

Test(small_mlp_infer, refused)
{
	static const struct wrong_args rows[] = {
		{ "hidden=64", "2 to 8 hidden layers, not 1" },
		{ "hidden=64,128", "all have 64 units, or all 128" },
		{ "hidden=32,32", "all have 64 units, or all 128" },
		{ "features=48", "features=48" },
		{ "launches=many", "launches=few or one" },
		{ "precision=bf16", "precision=fp32 or fp16" },
		{ "model=wide", "only with work=training" },
		{ "epochs=1", "only with work=training" },
		{ "--mode fused", "fused" },
	};

	ROWS_REFUSED("run mlp work=inference", rows);
}

Test(small_mlp_infer, the_record_says_what_ran)
{
	const json_t *run;

	need_device();
	run = rift_json("run mlp work=inference hidden=64,64 batch=8 launches=one --samples 1 "
			"--depth 2 --mode fused --json");
	cr_assert(tells(row_text(run, "network"), "64-64-64-16, 9216 weights"), "network");
	cr_assert(tells(row_text(run, "kernels a step"), "1, counted"), "kernels");
}
