/* step.c - steps of the blackscholes workload. */
#include <errno.h>
#include <string.h>

#include "common/cuda_check.h"
#include "workloads/blackscholes/blackscholes.h"

/* Of all slots of all outputs, which lie side by side. */
static size_t output_bytes(const struct blackscholes_arrays *a, int64_t slots)
{
	return sizeof(float) * BLACKSCHOLES_OUTPUTS * (size_t)(slots * a->stride);
}

/* Buffers of the host are poisoned at once: no step is under way when a reset is asked for. */
int blackscholes_reset(const void *opts, void *state, cudaStream_t stream)
{
	const struct blackscholes_opts *o = opts;
	struct blackscholes_state *s = state;

	slots_counter_reset(s->counter, stream);
	CUDA(cudaMemsetAsync(s->device.out[0], SLOTS_POISON_REAL,
			     output_bytes(&s->device, s->device_slots), stream));
	if (o->data == STREAMED_STREAMED)
		memset(s->host.out[0], SLOTS_POISON_REAL, output_bytes(&s->host, o->slots));
	s->turn.enqueued = 0;
	return 0;
}

struct blackscholes_launch blackscholes_launch_of(const struct blackscholes_opts *o,
						  const struct blackscholes_state *s,
						  uint32_t steps)
{
	return (struct blackscholes_launch){
		.arrays = s->device,
		.market = s->market,
		.end = (uint32_t)o->options,
		.slots = s->device_slots,
		.steps = steps,
		.advance = steps,
		.counter = s->counter,
	};
}

static void launch(const struct blackscholes_opts *o, const struct blackscholes_launch *l,
		   cudaStream_t stream)
{
	blackscholes_price(l, (enum blackscholes_cnd)o->cnd, (enum blackscholes_math)o->math,
			   stream);
}

/* ---- data=streamed ---------------------------------------------------------------------- */

struct streamed_slot {
	const struct blackscholes_opts *o;
	const struct blackscholes_state *s;
	int64_t slot; /* of the host */
};

static void copy(const struct streamed_slot *t, int chunk, float *dst, const float *src,
		 enum cudaMemcpyKind kind, cudaStream_t stream)
{
	int64_t at = blackscholes_chunk(t->o, chunk), end = blackscholes_chunk(t->o, chunk + 1);

	streamed_copy(dst + at, src + at, (size_t)(end - at) * sizeof(float), t->o->block, kind,
		      stream);
}

static void copy_in(void *arg, int chunk, cudaStream_t stream)
{
	const struct streamed_slot *t = arg;

	for (int k = 0; k < BLACKSCHOLES_INPUTS; k++)
		copy(t, chunk, t->s->device.in[k], t->s->host.in[k] + t->slot * t->s->host.stride,
		     cudaMemcpyHostToDevice, stream);
}

/* The last chunk counts the step. */
static void compute(void *arg, int chunk, cudaStream_t stream)
{
	const struct streamed_slot *t = arg;
	struct blackscholes_launch l = blackscholes_launch_of(t->o, t->s, 1);

	l.first = (uint32_t)blackscholes_chunk(t->o, chunk);
	l.end = (uint32_t)blackscholes_chunk(t->o, chunk + 1);
	l.advance = chunk == blackscholes_chunks(t->o) - 1;
	launch(t->o, &l, stream);
}

static void copy_out(void *arg, int chunk, cudaStream_t stream)
{
	const struct streamed_slot *t = arg;

	for (int k = 0; k < BLACKSCHOLES_OUTPUTS; k++)
		copy(t, chunk, t->s->host.out[k] + t->slot * t->s->host.stride, t->s->device.out[k],
		     cudaMemcpyDeviceToHost, stream);
}

static void streamed(const struct blackscholes_opts *o, struct blackscholes_state *s,
		     cudaStream_t stream)
{
	struct streamed_slot t = { o, s, streamed_turn_next(&s->turn, o->slots) };
	const struct streamed_parts parts = { copy_in, compute, copy_out, &t };

	streamed_step(&s->lanes, &parts, blackscholes_chunks(o), stream);
}

/* ---- hooks ------------------------------------------------------------------------------ */

int blackscholes_step(const void *opts, void *state, cudaStream_t stream)
{
	const struct blackscholes_opts *o = opts;

	if (o->data == STREAMED_STREAMED)
		streamed(o, state, stream);
	else
		return blackscholes_fused(opts, state, stream, 1);
	return 0;
}

int blackscholes_fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	struct blackscholes_launch l;

	if (n > UINT32_MAX)
		return complain(ENOTSUP, "%ld steps: at most %ld fit one launch", (long)n,
				(long)UINT32_MAX);
	l = blackscholes_launch_of(opts, state, (uint32_t)n);
	launch(opts, &l, stream);
	return 0;
}
