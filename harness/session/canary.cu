/* canary.cu - kernels of the harness itself: canary, spin, empty, and the device's clock. */
#include "harness/session/canary.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "common/cuda_check.h"
#include "common/gpu.h"

enum { TICK_READS = 4096 };

/* ns on both devices: the GPU's globaltimer, and the clock behind the CPU device's clock64(). */
static __device__ inline int64_t device_clock_ns(void)
{
#ifdef __CUDACC__
	int64_t ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
#else
	return clock64();
#endif
}

static __device__ inline void spin(int64_t cycles)
{
	int64_t start = clock64();

#ifndef __CUDACC__
	/* Cycles are ns there: but for the last ms the processor is left to others. */
	const int64_t asleep = cycles - 1000000;
	const struct timespec rest = { asleep / 1000000000, asleep % 1000000000 };

	if (asleep > 1000000)
		nanosleep(&rest, NULL);
#endif
	while (clock64() - start < cycles)
		;
}

/*
 * Reads the clock itself: between two events lies also what the host took to submit the kernel
 * after the first. On an H200 in a KVM guest with docker canaries took 206.6 to 266 us by events
 * and 202.08 us by this clock.
 */
extern "C" __global__ void rift_canary(int64_t cycles, int64_t chain, int64_t *took_ns)
{
	int64_t begin = device_clock_ns();

#ifdef __CUDACC__
	(void)chain;
	spin(cycles);
	*took_ns = device_clock_ns() - begin;
#else
	double x = (double)cycles; /* not known before: the compiler cannot know the end */

	for (int64_t i = 0; i < chain; i++)
		x = x * 0.999 + 0.001;
	*took_ns = device_clock_ns() - begin + (x < 0); /* never; so the chain has to be run */
#endif
}
KERNEL(rift_canary);

extern "C" __global__ void rift_spin(int64_t cycles)
{
	spin(cycles);
}
KERNEL(rift_spin);

extern "C" __global__ void rift_nothing(int32_t unused)
{
	(void)unused;
}
KERNEL(rift_nothing);

extern "C" __global__ void rift_stamp(int64_t *out)
{
	*out = device_clock_ns();
}
KERNEL(rift_stamp);

extern "C" __global__ void rift_tick(int reads, int64_t *out)
{
	int64_t last = device_clock_ns(), least = 0;

	for (int i = 0; i < reads; i++) {
		int64_t now = device_clock_ns();

		if (now > last && (!least || now - last < least))
			least = now - last;
		last = now;
	}
	*out = least;
}
KERNEL(rift_tick);

static int try_events(void *arg)
{
	struct canary *c = (struct canary *)arg;
	float ms;

	CUDA(cudaEventCreate(&c->begin));
	CUDA(cudaEventCreate(&c->end));
	CUDA(cudaEventRecord(c->begin, c->stream));
	CUDA(cudaEventRecord(c->end, c->stream));
	CUDA(cudaStreamSynchronize(c->stream));
	CUDA(cudaEventElapsedTime(&ms, c->begin, c->end));
	return 0;
}

/* Not 0: what the device writes there does not come to the host. */
static int try_mapped(void *arg)
{
	struct canary *c = (struct canary *)arg;

	CUDA(cudaHostAlloc((void **)&c->word, sizeof(*c->word), cudaHostAllocMapped));
	CUDA(cudaHostGetDevicePointer((void **)&c->device, c->word, 0));
	*c->word = -1;
	canary_stamp(c);
	CUDA(cudaStreamSynchronize(c->stream));
	return *c->word == -1;
}

static void take_copied_word(struct canary *c)
{
	static int64_t word; /* a process has one canary */

	c->is_mapped = false;
	c->word = &word;
	CUDA(cudaMalloc((void **)&c->device, sizeof(*c->device)));
}

int64_t canary_read(const struct canary *c)
{
	if (!c->is_mapped)
		CUDA(cudaMemcpy(c->word, c->device, sizeof(*c->word), cudaMemcpyDeviceToHost));
	return *c->word;
}

void canary_init(struct canary *c, cudaStream_t stream, bool is_gpu)
{
	struct refusal ignored;

	memset(c, 0, sizeof(*c));
	c->stream = stream;
	c->is_gpu = is_gpu;
	if (refusal_catch(try_events, c, &ignored))
		c->begin = c->end = NULL;
	c->is_mapped = true;
	if (refusal_catch(try_mapped, c, &ignored))
		take_copied_word(c);
	/* each once, so that no kernel is loaded when time counts */
	canary_nothing(c);
	canary_spin(c, 1);
	canary_stamp(c);
	canary_tick(c);
	canary_run(c);
}

static void give_back(void *arg)
{
	struct canary *c = (struct canary *)arg;

	if (c->begin)
		CUDA(cudaEventDestroy(c->begin));
	if (c->end)
		CUDA(cudaEventDestroy(c->end));
	if (c->is_mapped && c->word)
		CUDA(cudaFreeHost(c->word));
	else if (c->device)
		CUDA(cudaFree(c->device));
}

void canary_release(struct canary *c)
{
	refusal_ignore(give_back, c);
	memset(c, 0, sizeof(*c));
}

int64_t canary_run(const struct canary *c)
{
	CUDA(LAUNCH(rift_canary, dim3(1), dim3(1), 0, c->stream, (int64_t)CANARY_CYCLES,
		    (int64_t)CANARY_CHAIN, c->device));
	CUDA(cudaStreamSynchronize(c->stream));
	return canary_read(c);
}

double canary_mhz(const struct canary *c, int64_t device_ns)
{
	if (!c->is_gpu || device_ns <= 0)
		return NAN;
	return 1e3 * CANARY_CYCLES / (double)device_ns;
}

void canary_nothing(const struct canary *c)
{
	CUDA(LAUNCH(rift_nothing, dim3(1), dim3(1), 0, c->stream, 0));
}

void canary_spin(const struct canary *c, int64_t cycles)
{
	CUDA(LAUNCH(rift_spin, dim3(1), dim3(1), 0, c->stream, cycles));
}

void canary_stamp(const struct canary *c)
{
	CUDA(LAUNCH(rift_stamp, dim3(1), dim3(1), 0, c->stream, c->device));
}

void canary_tick(const struct canary *c)
{
	CUDA(LAUNCH(rift_tick, dim3(1), dim3(1), 0, c->stream, (int)TICK_READS, c->device));
}
