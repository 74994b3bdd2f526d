/*
 * infer.c - work=inference: what it takes, its memory and its steps.
 *
 *   launches=few   a product per layer by cuBLASLt, which cuts at 0 as well; activations go to
 *                  memory and come back
 *   launches=one   all layers in one kernel (kernels_infer.cu)
 *
 * Batches lie on the device and are used in turn (common/dataset.h), so that each step has answers
 * of its own. With launches=few the host chooses the batch and nothing counts the steps: a kernel
 * that did would be a launch that no inference needs.
 */
#include <errno.h>
#include <stdio.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/interrupt.h"
#include "workloads/mlp/mlp.h"
#include "workloads/workload.h"

enum { INPUTS, OUTPUTS }; /* arrays of a slot */

/* Bytes of a number. */
static int64_t number_bytes(const struct mlp_opts *o)
{
	return o->precision == MLP_FP16 ? 2 : 4;
}

/* ---- limits ---------------------------------------------------------------------------- */

int mlp_infer_limits(const struct mlp_opts *o)
{
	struct mlp_net net = mlp_make_net(o);

	if (o->precision != MLP_FP32 && o->precision != MLP_FP16)
		return complain(EINVAL, "work=inference takes precision=fp32 or fp16");
	if (o->launches == MLP_MANY)
		return complain(EINVAL, "work=inference takes launches=few or one");
	if (net.hidden < MLP_INFER_HIDDEN_MIN || net.hidden > MLP_INFER_HIDDEN_MAX)
		return complain(EINVAL, "work=inference takes %d to %d hidden layers, not %d",
				MLP_INFER_HIDDEN_MIN, MLP_INFER_HIDDEN_MAX, net.hidden);
	for (int l = 1; l <= net.hidden; l++)
		if (net.width[l] != net.width[1] || (net.width[l] != 64 && net.width[l] != 128))
			return complain(EINVAL, "work=inference: hidden layers must all have 64 "
						"units, or all 128");
	return 0;
}

/* ---- setup ----------------------------------------------------------------------------- */

/* In words of 4 bytes; a row of a batch is never cut. */
static struct dataset_shape layout(const struct mlp_opts *o)
{
	int64_t in = o->batch * mlp_features(o) * number_bytes(o) / 4;
	int64_t out = o->batch * MLP_OUTPUTS * number_bytes(o) / 4;

	return (struct dataset_shape){
		.inputs = 1,
		.outputs = 1,
		.array = { [INPUTS] = { in, in, 0 }, [OUTPUTS] = { out, out, 0 } },
		.poison = SLOTS_POISON_REAL,
		.unit = "word",
		.host_turn = o->launches == MLP_FEW,
		.uncounted = o->launches == MLP_FEW,
	};
}

static int make_set(const struct mlp_opts *o, struct mlp_state *s)
{
	const struct dataset_opts set = { .slots = o->batches };
	struct dataset_shape shape = layout(o);
	char what[64];

	snprintf(what, sizeof(what), "batch=%ld batches=%ld", (long)o->batch, (long)o->batches);
	return dataset_make(&s->infer.set, &set, &shape, what);
}

static void fill_launch(const struct mlp_opts *o, struct mlp_state *s)
{
	const struct dataset *set = &s->infer.set;

	s->infer.launch = (struct mlp_infer_launch){
		.net = { (uint32_t)mlp_features(o), (uint32_t)s->net.width[1],
			 (uint32_t)s->net.hidden },
		.batch = s->batch,
		.slots = (uint32_t)o->batches,
		.steps = 1,
		.x = dataset_device(set, INPUTS, 0),
		.y = dataset_device(set, OUTPUTS, 0),
		.x_stride = dataset_stride(&set->shape.array[INPUTS]) * 4,
		.y_stride = dataset_stride(&set->shape.array[OUTPUTS]) * 4,
		.weight = s->infer.weight,
		.counter = set->counter,
	};
}

/* What either variant needs besides: a library and activations, or a kernel that fits. */
static int prepare(const struct mlp_opts *o, struct mlp_state *s)
{
	size_t bytes = (size_t)(o->batch * s->net.width[1] * number_bytes(o));
	const char *refused;
	int err = 0;

	if (o->launches == MLP_ONE) {
		refused = mlp_infer_prepare(&s->infer.launch, s->half);
		return refused ? complain(ENOTSUP, "launches=one: %s", refused) : 0;
	}
	for (int i = 0; !err && i < 2; i++)
		err = mlp_allocate(s, &s->infer.activation[i], bytes);
	return err ? err : mlp_products_init(o, s);
}

static void make_batch(const void *opts, void *state, int64_t slot, int64_t at)
{
	const struct mlp_opts *o = opts;
	struct mlp_state *s = state;

	mlp_infer_fill(dataset_device(&s->infer.set, INPUTS, at),
		       (uint32_t)(o->batch * mlp_features(o)), (uint32_t)slot, (uint64_t)o->seed,
		       s->half, 0);
}

int mlp_infer_setup(const struct mlp_opts *o, struct mlp_state *s)
{
	bool packed = o->launches == MLP_ONE && o->precision == MLP_FP16;
	int err;

	s->net = mlp_make_net(o);
	s->batch = (uint32_t)o->batch;
	s->half = o->precision == MLP_FP16;
	s->number = s->half ? CUDA_R_16F : CUDA_R_32F;
	err = make_set(o, s);
	err = err ? err
		  : mlp_allocate(s, &s->infer.weight, s->net.numbers * (size_t)number_bytes(o));
	if (err)
		return err;
	fill_launch(o, s);
	err = prepare(o, s);
	if (err)
		return err;
	CUDA(cudaStreamCreateWithFlags(&s->own, cudaStreamNonBlocking));
	mlp_infer_fill_weights(s->infer.weight, &s->infer.launch.net, packed, (uint64_t)o->seed,
			       s->half, 0);
	err = dataset_fill(&s->infer.set, &mlp_infer_work, o, s);
	if (err)
		return err;
	mlp_try_step(o, s);
	return interrupted() ? -EINTR : 0;
}

/* ---- steps ----------------------------------------------------------------------------- */

/* Operands of a step that are not the batch's; those are put in by layers(). */
struct mlp_gemm mlp_infer_gemm(const struct mlp_state *s, int l)
{
	int in = (int)s->net.width[l - 1], out = (int)s->net.width[l];
	size_t at = s->net.weight_at[l] * (s->half ? 2 : 4);

	return (struct mlp_gemm){
		.trans_a = true,
		.m = out,
		.n = (int)s->batch,
		.k = in,
		.a = (const char *)s->infer.weight + at,
		.lda = in,
		.b = s->infer.activation[(l - 1) % 2],
		.ldb = in,
		.d = s->infer.activation[l % 2],
		.ldd = out,
	};
}

static void layers(const struct mlp_state *s, int64_t slot, cudaStream_t stream)
{
	const struct dataset *set = &s->infer.set;

	for (int l = 1; l <= s->net.last; l++) {
		struct mlp_plan plan = s->products.forward[l];

		if (l == 1)
			plan.gemm.b = dataset_device(set, INPUTS, slot);
		if (l == s->net.last)
			plan.gemm.d = dataset_device(set, OUTPUTS, slot);
		mlp_run_plan(s, &plan, 0, stream);
	}
}

static void compute(const void *opts, void *state, const struct dataset_part *part,
		    cudaStream_t stream)
{
	const struct mlp_opts *o = opts;
	struct mlp_state *s = state;

	if (o->launches == MLP_ONE)
		mlp_infer(&s->infer.launch, s->half, stream);
	else
		layers(s, part->slot, stream);
}

const struct dataset_work mlp_infer_work = { make_batch, compute };

void mlp_infer_step(const struct mlp_opts *o, struct mlp_state *s, cudaStream_t stream)
{
	dataset_step(&s->infer.set, &mlp_infer_work, o, s, stream);
}

int mlp_infer_fused(struct mlp_state *s, cudaStream_t stream, int64_t n)
{
	struct mlp_infer_launch launch = s->infer.launch;
	int err = device_steps_fit(n);

	if (err)
		return err;
	launch.steps = (uint32_t)n;
	mlp_infer(&launch, s->half, stream);
	return 0;
}

/* Activations become NaN too: those of an earlier step cannot pass for those of a lost product. */
void mlp_infer_reset(struct mlp_state *s, cudaStream_t stream)
{
	size_t bytes = (size_t)s->batch * (size_t)s->net.width[1] * (s->half ? 2 : 4);

	dataset_reset(&s->infer.set, stream);
	for (int i = 0; i < 2; i++)
		if (s->infer.activation[i])
			CUDA(cudaMemsetAsync(s->infer.activation[i], SLOTS_POISON_REAL, bytes,
					     stream));
}

/* ---- cost ------------------------------------------------------------------------------ */

void mlp_infer_cost(const struct mlp_opts *o, const struct mlp_state *s, struct cost *out)
{
	double batch = s->batch, each = (double)number_bytes(o);
	double kept =
		o->launches == MLP_FEW ? 2.0 * s->net.hidden * (double)s->net.width[1] * batch : 0;

	*out = (struct cost){
		.launches = s->kernels,
		.flops = 2 * batch * (double)s->net.parameters,
		.bytes_moved = each * (batch * (double)(mlp_features(o) + MLP_OUTPUTS) + kept +
				       (double)s->net.parameters),
		.evaluations = batch,
		.evaluation = "input",
		.formula = "launches: kernels in a captured step; flops: 2 per weight and input; "
			   "moved: inputs, outputs and weights once, with launches=few each "
			   "hidden layer's activations twice",
	};
}
