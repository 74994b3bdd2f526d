/*
 * test_mlp_check.c - does the check find what is wrong? Both ways of looking: the whole gradient,
 * and pieces of it where the network is large.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/races.h"
#include "workloads/mlp/test_mlp.h"

TestSuite(small_mlp_check, .timeout = 300);
TestSuite(large_mlp_check, .timeout = 300);

/* Two layers of one width, so that what belongs to one fits the other. */
static struct mlp_opts small_opts(void)
{
	static const int64_t width[] = { 12, 12 };
	struct mlp_opts o = hidden_opts(2, width);

	o.batch = 9;
	return o;
}

/* ---- what was timed -------------------------------------------------------------------- */

static void expect_found(struct run *r, int64_t steps, const char *says)
{
	struct verdict v = run_verdict(r, steps, false);

	cr_assert(!v.passed && strstr(v.worst, says), "'%s' is not in: %s (%g)", says, v.worst,
		  v.error);
}

static void put_weight(struct run *r, size_t at, float v)
{
	CUDA(cudaMemcpy(r->s.weight + at, &v, sizeof(v), cudaMemcpyHostToDevice));
}

static float get_weight(const struct run *r, size_t at)
{
	float v;

	CUDA(cudaMemcpy(&v, r->s.weight + at, sizeof(v), cudaMemcpyDeviceToHost));
	return v;
}

Test(small_mlp_check, weights_that_differ_in_a_bit_are_found)
{
	struct run *r;
	size_t at;

	need_device();
	r = run_begin(small_opts());
	at = r->s.net.weight_at[2] + 77;
	run_steps(r, 5);
	put_weight(r, at, nextafterf(get_weight(r, at), 9));
	expect_found(r, 5, "leave other weights");
	cr_assert(run_verdict(r, 5, false).passed, "the check leaves what is right");
	put_weight(r, at, NAN);
	expect_found(r, 5, "1 weights or velocities are not finite");
	run_end(r);
}

Test(small_mlp_check, a_step_too_few_or_too_many_is_found)
{
	struct run *r;

	need_device();
	r = run_begin(small_opts());
	run_steps(r, 4);
	expect_found(r, 5, "the device counted 4 steps");
	run_reset(r);
	expect_found(r, 5, "the device counted 0 steps");
	run_end(r);
}

/* ---- what a step computes -------------------------------------------------------------- */

/* Breaks what steps do from then on, in a network whose two hidden layers are alike. */
static void wrong_input_of_a_product(struct run *r)
{
	r->s.products.forward[2].gemm.b = r->s.activation[2];
}

static void wrong_flow(struct run *r)
{
	r->s.products.back[1].gemm.b = r->s.activation[2];
}

static void wrong_gradient(struct run *r)
{
	r->s.products.weight[2].gemm.a = r->s.activation[2];
}

static void wrong_momentum(struct run *r)
{
	r->s.update.momentum *= 1.0001f;
}

static void wrong_rate(struct run *r)
{
	r->s.update.rate *= 1.01f;
}

static void a_part_is_left_out(struct run *r)
{
	r->s.update.tensor[4].parts--;
}

static void bias_without_gradient(struct run *r)
{
	r->s.update.tensor[1].gradient = r->s.velocity + r->s.net.bias_at[1];
}

static void another_minibatch(struct run *r)
{
	r->s.source.seed++;
}

static void other_pixels(struct run *r)
{
	const struct mlp_images *im = &r->s.data->train_device;

	CUDA(cudaMemset((void *)(uintptr_t)im->pixel, 1, (size_t)im->n * MLP_PIXELS));
}

static void other_labels(struct run *r)
{
	r->s.source.label = r->s.data->test_device.label;
	r->s.source.n = (uint32_t)r->s.data->test.n;
}

static void loss_of_other_rows(struct run *r)
{
	r->s.update.loss = (const float *)r->s.activation[1];
}

/* What must be said of them by the whole gradient, and by pieces; NULL: anything. */
static const struct fault {
	void (*make)(struct run *r);
	const char *whole, *tiles;
} faults[] = {
	{ wrong_input_of_a_product, NULL, "activations of layer 2" },
	{ wrong_flow, "1: off by", NULL },
	{ wrong_gradient, "gradient of W2", "gradient of the weights of layer 2" },
	{ wrong_momentum, "velocity of", "velocity of" },
	{ wrong_rate, "update of", "update of" },
	{ a_part_is_left_out, "gradient of W3", "gradient of the weights of layer 3" },
	{ bias_without_gradient, "gradient of b1", "gradient of the biases of layer 1" },
	{ another_minibatch, NULL, NULL },
	{ other_pixels, NULL, "numbers of layer 0" },
	{ other_labels, NULL, NULL },
	{ loss_of_other_rows, "loss", "loss" },
};

static void expect_fault(const struct fault *f, int i, bool whole, const struct verdict *v)
{
	const char *says = whole ? f->whole : f->tiles;

	cr_assert(!(v->error <= 1), "fault %d passed: %g", i, v->error);
	cr_assert(!says || strstr(v->worst, says), "fault %d: '%s' is not in: %s", i, says,
		  v->worst);
}

static struct run *run_with(const struct fault *f, int64_t steps)
{
	struct run *r = run_begin(small_opts());

	if (f)
		f->make(r);
	run_reset(r);
	run_steps(r, steps);
	return r;
}

Test(small_mlp_check, faults_are_found_in_the_whole_gradient)
{
	need_device();
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i += RACES ? 11 : 1) {
		struct run *r = run_with(&faults[i], 3);
		struct verdict v = run_verdict(r, 3, false);

		expect_fault(&faults[i], (int)i, true, &v);
		cr_assert(v.compared == v.total, "only pieces were looked at");
		run_end(r);
	}
}

static void *copy_back(const void *device, size_t bytes)
{
	void *copy;

	CUDA(cudaMalloc(&copy, bytes));
	CUDA(cudaMemcpy(copy, device, bytes, cudaMemcpyDeviceToDevice));
	return copy;
}

/* Pieces of a second step. */
static struct verdict check_pieces(struct run *r)
{
	size_t bytes = r->s.net.numbers * sizeof(float);
	struct mlp_before b = { 1, copy_back(r->s.weight, bytes), copy_back(r->s.velocity, bytes),
				NULL };
	struct verdict v;
	const struct mlp_look k = { &r->o, &r->s, &b, &v };

	memset(&v, 0, sizeof(v));
	v.seed = 1;
	CUDA(cudaDeviceSynchronize());
	run_steps(r, 1);
	mlp_check_tiles(&k);
	CUDA(cudaFree(b.weight));
	CUDA(cudaFree(b.velocity));
	return v;
}

Test(small_mlp_check, faults_are_found_in_pieces)
{
	need_device();
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i += RACES ? 11 : 1) {
		struct run *r = run_with(&faults[i], 1);
		struct verdict v = check_pieces(r);

		expect_fault(&faults[i], (int)i, false, &v);
		run_end(r);
	}
}

Test(small_mlp_check, pieces_of_what_is_right_pass)
{
	struct run *r;
	struct verdict v;

	need_device();
	r = run_with(NULL, 1);
	v = check_pieces(r);
	cr_assert(v.error <= 1 && v.error > 0, "%g, %s", v.error, v.worst);
	run_end(r);
}

/* First weights are not checked: any will do, and the step from there on is right. */
static void expect_passes(struct mlp_opts o, bool whole)
{
	for (int i = 0; i < 4; i++) {
		struct run *r;
		struct verdict v;

		o.launches = i & 1 ? MLP_MANY : MLP_FEW;
		o.input = i & 2 ? MLP_HOST : MLP_DEVICE;
		r = run_begin(o);
		CUDA(cudaMemset(r->s.initial + r->s.net.bias_at[1], 0x3f, 4));
		CUDA(cudaDeviceSynchronize()); /* the run's stream does not wait for it */
		run_reset(r);
		run_steps(r, 2);
		v = run_verdict(r, 2, false);
		cr_assert(v.passed, "case %d: %g, %s", i, v.error, v.worst);
		cr_assert((v.compared == v.total) == whole, "case %d: the other way", i);
		run_end(r);
	}
}

Test(small_mlp_check, what_is_right_passes)
{
	need_device();
	expect_passes(small_opts(), true);
}

Test(large_mlp_check, what_is_right_and_large_passes)
{
	struct mlp_opts o = default_opts();

	need_device();
	o.model = MLP_WIDE; /* too many operations for the reference: 6 x 64 x 668,672 */
	expect_passes(o, false);
}

/* Errors in units of what is allowed; NaN is the largest there is and stays. */
Test(small_mlp_check, the_largest_error_is_kept)
{
	struct verdict v;

	memset(&v, 0, sizeof(v));
	mlp_note(&v, 2e-6, 1e-5, "a");
	mlp_note(&v, 1e-6, 1e-5, "b");
	cr_assert(fabs(v.error - 0.2) < 1e-12 && !strcmp(v.worst, "a"), "%g, %s", v.error, v.worst);
	mlp_note(&v, NAN, 1e-5, "c");
	mlp_note(&v, INFINITY, 1, "d");
	cr_assert(isnan(v.error) && !strcmp(v.worst, "c"), "%g, %s", v.error, v.worst);
}

Test(small_mlp_check, nothing_right_is_infinitely_wrong)
{
	struct mlp_norms n = { 0, 0 };

	mlp_compare(&n, 0, 0);
	cr_assert(mlp_relative(&n) == 0, "nothing of nothing");
	mlp_compare(&n, 1, 0);
	cr_assert(!(mlp_relative(&n) <= 1), "something of nothing");
}
