/* step.c - a step of the decode workload: one token a sequence; and resets. */
#include "common/cuda_check.h"
#include "workloads/decode/decode.h"

static void step_few(const struct decode_opts *o, const struct decode_state *s, cudaStream_t stream)
{
	const struct decode_device *d = &s->device;
	const bool overlaps = o->launch == PROGRAMMATIC_YES, half = s->half;

	for (uint32_t i = 0; i < s->shape.model.layers; i++) {
		const struct decode_layer *l = &s->layer[i];

		decode_multiply(DECODE_QKV, d, l, half, overlaps, stream);
		decode_attend(d, l, half, d->tensor, overlaps, stream);
		decode_multiply(DECODE_OUT, d, l, half, overlaps, stream);
		decode_multiply(DECODE_GATE_UP, d, l, half, overlaps, stream);
		decode_multiply(DECODE_BACK, d, l, half, overlaps, stream);
	}
	decode_multiply(DECODE_LOGITS, d, &s->layer[0], half, overlaps, stream);
	decode_choose(d, half, overlaps, stream);
}

/* Steps take the host's slots in turn, as the host enqueues them. */
static void copy_tokens(struct decode_state *s, cudaStream_t stream)
{
	size_t batch = s->shape.batch, slot = s->enqueued++ % DECODE_HOST_SLOTS;

	CUDA(cudaMemcpyAsync(s->host + slot * batch, s->device.token, batch * sizeof(*s->host),
			     cudaMemcpyDeviceToHost, stream));
}

int decode_step(const void *opts, void *state, cudaStream_t stream)
{
	const struct decode_opts *o = opts;
	struct decode_state *s = state;

	if (o->launches == DECODE_FEW)
		step_few(o, s, stream);
	else
		decode_many_step(s, stream);
	if (s->host)
		copy_tokens(s, stream);
	return 0;
}

/* Nothing of an earlier run is left that could pass for this one's. */
int decode_reset(const void *opts, void *state, cudaStream_t stream)
{
	struct decode_state *s = state;
	const struct decode_device *d = &s->device;
	const uint32_t layers = s->shape.model.layers, batch = s->shape.batch;
	const uint32_t *first = s->first + (s->shape.prompts ? s->shape.prompts - 1 : 0) * batch;
	size_t noted = (size_t)d->history * batch;

	(void)opts;
	decode_poison(d, s->key, layers, s->half, stream);
	decode_poison(d, s->value, layers, s->half, stream);
	CUDA(cudaMemsetAsync(d->history_token, 0xff, noted * sizeof(*d->history_token), stream));
	CUDA(cudaMemsetAsync(d->history_logit, 0xff, noted * sizeof(*d->history_logit), stream));
	if (s->host)
		CUDA(cudaMemsetAsync(s->host, 0xff, DECODE_HOST_SLOTS * batch * sizeof(*s->host),
				     stream));
	decode_begin(d, first, s->shape.start, s->half, stream);
	s->enqueued = 0;
	return 0;
}
