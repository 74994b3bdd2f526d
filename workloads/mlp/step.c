/* step.c - a minibatch: forward, loss, backward, update; in few launches or in many. */
#include "common/cuda_check.h"
#include "workloads/mlp/mlp.h"

/* ---- forward --------------------------------------------------------------------------- */

static void forward_few(struct mlp_state *s, const struct mlp_source *source, cudaStream_t stream)
{
	mlp_gather(source, s->batch, s->activation[0], s->label, s->half, stream);
	for (int l = 1; l <= s->net.hidden; l++) {
		const struct mlp_plan *plan = &s->products.forward[l];

		mlp_run_plan(s, plan, 0, stream);
		if (!plan->fused)
			mlp_bias_relu(s->activation[l], s->weight + s->net.bias_at[l], s->batch,
				      (uint32_t)s->net.width[l], s->half, stream);
	}
}

static void forward_many(const struct mlp_opts *o, struct mlp_state *s,
			 const struct mlp_source *source, cudaStream_t stream)
{
	mlp_many_gather(source, s->batch, s->bytes, s->label, stream);
	mlp_many_scale(s->bytes, s->activation[0], (size_t)s->batch * MLP_PIXELS, s->half, stream);
	for (int l = 1; l <= s->net.hidden; l++) {
		struct mlp_gemm g = mlp_gemm_forward(s, l);
		size_t n = (size_t)s->batch * (size_t)s->net.width[l];

		mlp_run_gemm(o, s, &g, stream);
		mlp_many_bias(s->activation[l], s->weight + s->net.bias_at[l], s->batch,
			      (uint32_t)s->net.width[l], s->half, stream);
		mlp_many_relu(s->activation[l], n, s->half, stream);
	}
}

void mlp_forward(const struct mlp_opts *o, struct mlp_state *s, const struct mlp_source *source,
		 cudaStream_t stream)
{
	if (o->launches == MLP_MANY)
		forward_many(o, s, source, stream);
	else
		forward_few(s, source, stream);
}

/* ---- backward, launches=few ------------------------------------------------------------ */

struct mlp_head mlp_head_of(const struct mlp_state *s)
{
	int last = s->net.last;

	return (struct mlp_head){
		.input = s->activation[last - 1],
		.weight = s->weight + s->net.weight_at[last],
		.bias = s->weight + s->net.bias_at[last],
		.label = s->label,
		.batch = s->batch,
		.width = (uint32_t)s->net.width[last - 1],
	};
}

static void output_layer(struct mlp_state *s, cudaStream_t stream)
{
	int last = s->net.last;
	const struct mlp_head head = mlp_head_of(s);
	const struct mlp_head_out out = {
		.loss = s->loss,
		.delta = s->delta[last],
		.below = s->delta[last - 1],
		.part = s->head_part,
		.stride = s->head_stride,
	};

	mlp_head(&head, &out, s->half, stream);
}

/* Where the product of what flows into layer l does not cut it at 0. */
static void cut_back(struct mlp_state *s, int l, cudaStream_t stream)
{
	if (!s->products.back[l].fused)
		mlp_relu_gradient(s->delta[l], s->activation[l], s->relu_part[l], s->batch,
				  (uint32_t)s->net.width[l], s->half, stream);
}

static void backward_serial(struct mlp_state *s, cudaStream_t stream)
{
	for (int l = s->net.hidden; l >= 1; l--) {
		mlp_run_plan(s, &s->products.weight[l], 0, stream);
		if (l == 1)
			break;
		mlp_run_plan(s, &s->products.back[l - 1], 0, stream);
		cut_back(s, l - 1, stream);
	}
}

/* The gradient of W_l, in the other stream: after all that is in this one by now. */
static void weight_aside(struct mlp_state *s, int l, cudaStream_t stream)
{
	CUDA(cudaEventRecord(s->ready[l], stream));
	CUDA(cudaStreamWaitEvent(s->side, s->ready[l], 0));
	mlp_run_plan(s, &s->products.weight[l], 1, s->side);
}

/* Whether a product with the batch and layer l keeps the device busy: in tiles of 128 x 128. */
static bool fills_device(const struct mlp_state *s, int l)
{
	return (int64_t)s->batch * s->net.width[l] >= (int64_t)s->processors * 128 * 128;
}

/*
 * The same kernels in two streams: gradients of weights beside what flows on to the next layer.
 * Small products run concurrently. Large ones only take SMs from each other: there the gradient
 * begins when the product of what flows is over. It then runs beside the cut, which mostly waits
 * for memory.
 */
static void backward_forked(struct mlp_state *s, cudaStream_t stream)
{
	for (int l = s->net.hidden; l > 1; l--) {
		bool full = fills_device(s, l - 1);

		if (!full)
			weight_aside(s, l, stream);
		mlp_run_plan(s, &s->products.back[l - 1], 0, stream);
		if (full)
			weight_aside(s, l, stream);
		cut_back(s, l - 1, stream);
	}
	mlp_run_plan(s, &s->products.weight[1], 0, stream);
	CUDA(cudaEventRecord(s->joined, s->side));
	CUDA(cudaStreamWaitEvent(stream, s->joined, 0));
}

static bool is_forked(const struct mlp_opts *o, const struct mlp_state *s, cudaStream_t stream)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

	if (s->net.hidden < 2 || o->fork == MLP_FORK_NEVER)
		return false;
	if (o->fork == MLP_FORK_ALWAYS)
		return true;
	CUDA(cudaStreamIsCapturing(stream, &status));
	return status != cudaStreamCaptureStatusNone;
}

static void step_few(const struct mlp_opts *o, struct mlp_state *s, cudaStream_t stream)
{
	forward_few(s, &s->source, stream);
	output_layer(s, stream);
	(is_forked(o, s, stream) ? backward_forked : backward_serial)(s, stream);
	mlp_update(&s->update, stream);
}

/* ---- launches=many --------------------------------------------------------------------- */

static void output_layer_many(const struct mlp_opts *o, struct mlp_state *s, cudaStream_t stream)
{
	int last = s->net.last;
	struct mlp_gemm g = mlp_gemm_forward(s, last);

	mlp_run_gemm(o, s, &g, stream);
	mlp_many_bias(s->logits, s->weight + s->net.bias_at[last], s->batch, MLP_CLASSES, false,
		      stream);
	mlp_many_softmax(s->logits, s->log_p, s->batch, stream);
	mlp_many_loss(s->log_p, s->label, s->batch, s->progress, stream);
	mlp_many_delta(s->log_p, s->label, s->batch, s->delta[last], s->half, stream);
}

static void backward_many(const struct mlp_opts *o, struct mlp_state *s, cudaStream_t stream)
{
	for (int l = s->net.last; l >= 1; l--) {
		struct mlp_gemm weight = mlp_gemm_weight(s, l);

		mlp_run_gemm(o, s, &weight, stream);
		mlp_many_bias_gradient(s->delta[l], s->gradient + s->net.bias_at[l], s->batch,
				       (uint32_t)s->net.width[l], s->half, stream);
		if (l > 1) {
			struct mlp_gemm back = mlp_gemm_back(s, l - 1);

			mlp_run_gemm(o, s, &back, stream);
			mlp_many_relu_gradient(s->delta[l - 1], s->activation[l - 1],
					       (size_t)s->batch * (size_t)s->net.width[l - 1],
					       s->half, stream);
		}
	}
}

static void update_many(struct mlp_state *s, cudaStream_t stream)
{
	const struct mlp_update *u = &s->update;

	for (uint32_t i = 0; i < u->tensors; i++) {
		const struct mlp_tensor *t = &u->tensor[i];

		mlp_many_momentum(t->velocity, t->gradient, t->n, u->momentum, stream);
		mlp_many_descend(t->weight, t->velocity, t->n, u->rate, stream);
		if (t->copy)
			mlp_convert(t->weight, t->copy, t->n, stream);
	}
	mlp_many_count(u->progress, stream);
}

static void step_many(const struct mlp_opts *o, struct mlp_state *s, cudaStream_t stream)
{
	forward_many(o, s, &s->source, stream);
	output_layer_many(o, s, stream);
	backward_many(o, s, stream);
	update_many(s, stream);
}

/* ---- launches=one ---------------------------------------------------------------------- */

static void steps_in_one(const struct mlp_state *s, int64_t n, cudaStream_t stream)
{
	struct mlp_one one = s->one;

	one.steps = n;
	mlp_one(&one, stream);
}

/* ---- hooks ----------------------------------------------------------------------------- */

int mlp_step(const void *opts, void *state, cudaStream_t stream)
{
	const struct mlp_opts *o = opts;
	struct mlp_state *s = state;

	if (o->work == MLP_INFERENCE) {
		mlp_infer_step(o, s, stream);
		return 0;
	}
	if (o->input == MLP_HOST)
		CUDA(cudaMemcpyAsync(s->staged, s->pinned, (size_t)s->batch * (MLP_PIXELS + 1),
				     cudaMemcpyHostToDevice, stream));
	if (o->launches == MLP_ONE)
		steps_in_one(s, 1, stream);
	else
		(o->launches == MLP_FEW ? step_few : step_many)(o, s, stream);
	return 0;
}

int mlp_fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	const struct mlp_opts *o = opts;

	if (o->work == MLP_INFERENCE)
		return mlp_infer_fused(state, stream, n);
	steps_in_one(state, n, stream);
	return 0;
}

/* Losses of an earlier block become NaN: none of them passes for one of the next. */
int mlp_reset(const void *opts, void *state, cudaStream_t stream)
{
	const struct mlp_opts *o = opts;
	struct mlp_state *s = state;
	size_t bytes = s->net.numbers * sizeof(float);

	if (o->work == MLP_INFERENCE) {
		mlp_infer_reset(s, stream);
		return 0;
	}
	CUDA(cudaMemcpyAsync(s->weight, s->initial, bytes, cudaMemcpyDeviceToDevice, stream));
	CUDA(cudaMemsetAsync(s->velocity, 0, bytes, stream));
	if (s->copy)
		mlp_convert(s->weight, s->copy, s->net.numbers, stream);
	CUDA(cudaMemsetAsync(s->progress, 0xff, sizeof(*s->progress), stream));
	CUDA(cudaMemsetAsync(&s->progress->step, 0, sizeof(s->progress->step), stream));
	return 0;
}
