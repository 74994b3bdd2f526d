/* setup.c - memory and inputs of the blackscholes workload. */
#include <errno.h>
#include <stdio.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/interrupt.h"
#include "common/room.h"
#include "workloads/blackscholes/blackscholes.h"

enum { ARRAYS = BLACKSCHOLES_INPUTS + BLACKSCHOLES_OUTPUTS, WORDS = 64 };

/* Behind each array of a slot is at least one float that nothing may write. */
static int64_t stride_for(int64_t options)
{
	return (options / BLACKSCHOLES_ALIGN + 1) * BLACKSCHOLES_ALIGN;
}

static int64_t bytes_for(const struct blackscholes_opts *o, int64_t slots)
{
	return ARRAYS * slots * stride_for(o->options) * (int64_t)sizeof(float);
}

/* Inputs first: the outputs of all slots are one range. */
static struct blackscholes_arrays lay_out(float *base, int64_t slots, int64_t stride)
{
	struct blackscholes_arrays a = { .stride = stride };

	for (int k = 0; k < BLACKSCHOLES_INPUTS; k++)
		a.in[k] = base + k * slots * stride;
	for (int k = 0; k < BLACKSCHOLES_OUTPUTS; k++)
		a.out[k] = base + (BLACKSCHOLES_INPUTS + k) * slots * stride;
	return a;
}

/* What decides on the memory, for those who are told that there is too little. */
static void describe(const struct blackscholes_opts *o, char what[WORDS])
{
	snprintf(what, WORDS, "options=%ld slots=%ld", (long)o->options, (long)o->slots);
}

static int allocate_device(const struct blackscholes_opts *o, struct blackscholes_state *s)
{
	int64_t bytes = bytes_for(o, s->device_slots);
	char what[WORDS];
	void *base;
	int err;

	describe(o, what);
	err = room_on_device(bytes, what);
	if (err)
		return err;
	if (cudaMalloc(&base, (size_t)bytes)) {
		cudaGetLastError();
		return complain(ENOMEM, "%s: no %lld bytes left on the device", what,
				(long long)bytes);
	}
	s->device = lay_out(base, s->device_slots, stride_for(o->options));
	s->counter = slots_counter_new();
	return 0;
}

static int allocate_host(const struct blackscholes_opts *o, struct blackscholes_state *s)
{
	int64_t bytes = bytes_for(o, o->slots);
	char what[WORDS];
	void *base;
	int err;

	describe(o, what);
	err = room_for_buffers(bytes, what);
	if (err)
		return err;
	s->memory = (enum streamed_memory)o->memory;
	base = streamed_host_new((size_t)bytes, s->memory);
	if (!base)
		return -ENOMEM;
	s->host = lay_out(base, o->slots, stride_for(o->options));
	return 0;
}

/* The device makes the inputs: for 2^29 options the host would take a minute. */
static void fill_device(const struct blackscholes_opts *o, struct blackscholes_state *s)
{
	for (uint32_t slot = 0; slot < s->device_slots; slot++) {
		struct blackscholes_arrays a = s->device;

		for (int k = 0; k < BLACKSCHOLES_INPUTS; k++)
			a.in[k] += slot * a.stride;
		blackscholes_fill(&a, o->options, slot, (uint64_t)o->seed, 0);
	}
	CUDA(cudaDeviceSynchronize());
}

static int fill_host(const struct blackscholes_opts *o, struct blackscholes_state *s)
{
	for (uint32_t slot = 0; slot < o->slots; slot++) {
		if (interrupted())
			return -EINTR;
		blackscholes_fill(&s->device, o->options, slot, (uint64_t)o->seed, 0);
		for (int k = 0; k < BLACKSCHOLES_INPUTS; k++)
			CUDA(cudaMemcpy(s->host.in[k] + slot * s->host.stride, s->device.in[k],
					(size_t)o->options * sizeof(float),
					cudaMemcpyDeviceToHost));
	}
	return 0;
}

static struct blackscholes_market market_of(const struct blackscholes_opts *o)
{
	return (struct blackscholes_market){
		.rate = (float)o->rate,
		.volatility = (float)o->volatility,
		.drift = (float)(o->rate + o->volatility * o->volatility / 2),
		.inverse = (float)(1 / o->volatility),
	};
}

int blackscholes_setup(const void *opts, void *state)
{
	const struct blackscholes_opts *o = opts;
	struct blackscholes_state *s = state;
	bool streamed = o->data == STREAMED_STREAMED;
	int err = device_present();

	if (err)
		return err;
	blackscholes_load_kernels();
	s->market = market_of(o);
	s->device_slots = streamed ? 1 : (uint32_t)o->slots;
	err = allocate_device(o, s);
	if (!err && streamed)
		err = allocate_host(o, s);
	if (err)
		return err;
	if (!streamed) {
		fill_device(o, s);
		return 0;
	}
	streamed_lanes_make(&s->lanes, blackscholes_chunks(o));
	return fill_host(o, s);
}

void blackscholes_teardown(void *state)
{
	struct blackscholes_state *s = state;

	streamed_lanes_release(&s->lanes);
	streamed_host_free(s->host.in[0], s->memory);
	slots_counter_free(s->counter);
	if (s->device.in[0]) /* without a device even freeing nothing is an error */
		CUDA(cudaFree(s->device.in[0]));
	*s = (struct blackscholes_state){ 0 };
}
