/*
 * spin_launch.c - a layer whose cost is known: every kernel launch takes SPIN_LAUNCH_NS longer on
 * the host. For bench/accept.sh pairs.
 *
 *   cc -O2 -shared -fPIC bench/layers/spin_launch.c -o spin_launch.so -ldl
 *   SPIN_LAUNCH_NS=100 LD_PRELOAD=./spin_launch.so rift ...
 *
 * What it really added, the counter's own cost included, is one number in the file SPIN_LAUNCH_LOG,
 * ns a launch, a line for each process. On x86 the counter is the processor's: the system's clock
 * takes 25 to 60 ns to read in a virtual machine, more between launches than in the loop here that
 * times it, which made 158 ns of 100 and found 27 more than that.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
	unsigned x, y, z;
} dim3;
typedef int launch_fn(const void *, dim3, dim3, void **, size_t, void *);

static launch_fn *next;
static int64_t spin_ticks, calls;
static double added_ticks, read_ticks, tick_ns;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t ticks(void)
{
#if defined(__x86_64__)
	return (int64_t)__builtin_ia32_rdtsc();
#else
	return now();
#endif
}

/* How long a tick is, over 20 ms, and how many of them it takes to read one. */
__attribute__((constructor)) static void begin(void)
{
	enum { READS = 10000, LONG_NS = 20000000 };
	const char *ns = getenv("SPIN_LAUNCH_NS");
	int64_t start_ns = now(), start = ticks(), passed;

	do
		passed = now() - start_ns;
	while (passed < LONG_NS);
	tick_ns = (double)passed / (double)(ticks() - start);
	start = ticks();
	for (int i = 0; i < READS; i++)
		ticks();
	read_ticks = (double)(ticks() - start) / READS;
	spin_ticks = (int64_t)((ns ? atof(ns) : 0) / tick_ns - read_ticks);
}

__attribute__((destructor)) static void end(void)
{
	const char *name = getenv("SPIN_LAUNCH_LOG");
	FILE *f = name && calls ? fopen(name, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "%.1f\n", tick_ns * (added_ticks / (double)calls + read_ticks));
	fclose(f);
}

/* In place of the runtime's. */
int cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
		     void *stream)
{
	int64_t start = ticks(), t;

	if (!next)
		next = (launch_fn *)(uintptr_t)dlsym(RTLD_NEXT, "cudaLaunchKernel");
	do
		t = ticks();
	while (t - start < spin_ticks);
	added_ticks += (double)(t - start);
	calls++;
	return next(kernel, grid, block, args, shared, stream);
}
