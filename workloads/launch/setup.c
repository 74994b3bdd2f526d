/* setup.c - sizes, device memory, streams and argument blocks of the launch workload. */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/philox.h"
#include "workloads/launch/launch.h"

/* ---- formulas --------------------------------------------------------------------------- */

/* clock64() counts nanoseconds on the CPU device. */
double launch_cycles_per_us(const struct launch_device *d, int64_t mhz)
{
	if (mhz)
		return (double)mhz;
	return d->major ? d->clock_khz / 1e3 : 1000;
}

/*
 * A dependent multiply-add takes 4 cycles since Volta (Jia et al., arXiv:1804.06826). Where more
 * warps share a multiprocessor than that can hide, its throughput counts: 64 single-precision
 * multiply-adds a cycle in 7.x and 8.0, 128 since (CUDA C++ Programming Guide, arithmetic
 * instructions).
 *
 * A worker of the CPU device runs the 32 threads of a block one after the other: 1.1 ns a
 * multiply-add on the machine at hand. Its cycle is a nanosecond.
 */
int launch_cycles_per_fma(const struct launch_device *d, enum launch_width width)
{
	int blocks = width == LAUNCH_WIDTH_FULL ? d->blocks_per_sm : 1;
	int lanes = d->major > 8 || (d->major == 8 && d->minor > 0) ? 128 : 64;
	int busy = (blocks * LAUNCH_THREADS + lanes - 1) / lanes;

	if (!d->major)
		return LAUNCH_THREADS;
	return busy > 4 ? busy : 4;
}

int64_t launch_blocks(const struct launch_device *d, enum launch_width width)
{
	switch (width) {
	case LAUNCH_WIDTH_BLOCK:
		return 1;
	case LAUNCH_WIDTH_WAVE:
		return d->sms;
	default:
		return (int64_t)d->sms * d->blocks_per_sm;
	}
}

/* ---- the device ------------------------------------------------------------------------- */

static void ask_device(struct launch_device *d, const void *kernel)
{
	d->major = device_attribute(cudaDevAttrComputeCapabilityMajor);
	d->minor = device_attribute(cudaDevAttrComputeCapabilityMinor);
	d->clock_khz = device_attribute(cudaDevAttrClockRate);
	d->sms = device_attribute(cudaDevAttrMultiProcessorCount);
	CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&d->blocks_per_sm, kernel,
							   LAUNCH_THREADS, 0));
}

/* Cycles and chain by formula, never by timing: two runs must do the same. */
static int size_kernel(const struct launch_opts *o, struct launch_state *s)
{
	struct launch_config *c = &s->config;

	s->cycles_per_us = launch_cycles_per_us(&s->device, o->mhz);
	if (!(s->cycles_per_us > 0))
		return complain(ENOTSUP, "the device does not report its clock; give mhz=");
	s->cycles_per_fma = launch_cycles_per_fma(&s->device, (enum launch_width)o->width);
	c->blocks = (uint32_t)launch_blocks(&s->device, (enum launch_width)o->width);
	c->cycles = (unsigned long long)llround((double)o->us * s->cycles_per_us);
	c->chain = (uint32_t)llround((double)c->cycles / s->cycles_per_fma);
	c->chain = c->chain ? c->chain : 1;
	return 0;
}

/* ---- what launches need ----------------------------------------------------------------- */

/* Numbers of configs that states of this process have; clients may be set up by threads. */
static atomic_bool taken[LAUNCH_CONFIGS];

static int take_place(struct launch_state *s)
{
	for (int i = 0; i < LAUNCH_CONFIGS; i++)
		if (!atomic_exchange(&taken[i], true)) {
			s->place = i + 1;
			return 0;
		}
	return complain(EBUSY, "a process can have at most %d workloads launch at a time",
			LAUNCH_CONFIGS);
}

static void give_place_back(struct launch_state *s)
{
	if (s->place)
		atomic_store(&taken[s->place - 1], false);
	s->place = 0;
}

/* Word 0 gets a tag that is never 0, so that the smallest block has something to check too. */
static void fill_args(struct launch_state *s)
{
	for (uint32_t i = 0; i < LAUNCH_STREAMS_MAX; i++)
		for (uint32_t w = 0; w < LAUNCH_WORDS_MAX; w++) {
			struct philox r = philox4x32(w, i, 0, 0, 0);
			uint64_t noise = (uint64_t)r.word[0] << 32 | r.word[1];

			s->args[i][w] =
				w ? noise
				  : (noise & 0xffff00) | 1u << 31 |
						(uint32_t)(s->place - 1) << LAUNCH_CONFIG_BIT | i;
		}
}

static void make_streams(const struct launch_opts *o, struct launch_state *s)
{
	if (o->streams > 1)
		CUDA(cudaEventCreateWithFlags(&s->forked, cudaEventDisableTiming));
	for (int64_t i = 1; i < o->streams; i++) {
		CUDA(cudaStreamCreateWithFlags(&s->stream[i], cudaStreamNonBlocking));
		CUDA(cudaEventCreateWithFlags(&s->joined[i], cudaEventDisableTiming));
	}
}

static int allocate_memory(const struct launch_opts *o, struct launch_config *c)
{
	size_t slots = (size_t)o->streams * c->blocks;

	int err = device_new(&c->slot, slots * sizeof(*c->slot), "traces of %zu blocks", slots);

	return err ? err
		   : device_new(&c->shortest, slots * sizeof(*c->shortest), "traces of %zu blocks",
				slots);
}

int launch_setup(const void *opts, void *state)
{
	const struct launch_opts *o = opts;
	struct launch_state *s = state;
	int err = device_present();

	if (err)
		return err;
	launch_load_kernels();
	s->kernel = launch_kernel(launch_effective_body(o), (enum launch_args)o->args);
	ask_device(&s->device, s->kernel);
	err = size_kernel(o, s);
	if (!err)
		err = allocate_memory(o, &s->config);
	if (!err)
		err = take_place(s);
	if (err)
		return err;
	fill_args(s);
	make_streams(o, s);
	return launch_hold(o, &s->held);
}

void launch_teardown(void *state)
{
	struct launch_state *s = state;

	launch_release(&s->held);
	for (int i = 1; i < LAUNCH_STREAMS_MAX; i++) {
		if (s->stream[i])
			CUDA(cudaStreamDestroy(s->stream[i]));
		if (s->joined[i])
			CUDA(cudaEventDestroy(s->joined[i]));
		s->stream[i] = NULL;
		s->joined[i] = NULL;
	}
	if (s->forked)
		CUDA(cudaEventDestroy(s->forked));
	device_free(s->config.slot);
	device_free(s->config.shortest);
	give_place_back(s);
	s->forked = NULL;
	s->config.slot = NULL;
	s->config.shortest = NULL;
}
