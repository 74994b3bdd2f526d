/*
 * spin_launch.c - a layer whose cost is known: every kernel launch takes SPIN_LAUNCH_NS longer on
 * the host. For bench/accept_pairs.sh.
 *
 *   cc -O2 -shared -fPIC bench/layers/spin_launch.c -o spin_launch.so -ldl
 *   SPIN_LAUNCH_NS=100 LD_PRELOAD=./spin_launch.so rift ...
 *
 * What it really added, the clock's own cost included, is one number in the file SPIN_LAUNCH_LOG,
 * ns a launch, a line for each process.
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
static int64_t spin_ns, calls;
static double added_ns, clock_ns;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

__attribute__((constructor)) static void begin(void)
{
	enum { READS = 10000 };
	const char *ns = getenv("SPIN_LAUNCH_NS");
	int64_t start = now();

	for (int i = 0; i < READS; i++)
		now();
	clock_ns = (double)(now() - start) / READS;
	spin_ns = ns ? atoll(ns) : 0;
}

__attribute__((destructor)) static void end(void)
{
	const char *name = getenv("SPIN_LAUNCH_LOG");
	FILE *f = name && calls ? fopen(name, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "%.1f\n", added_ns / (double)calls + clock_ns);
	fclose(f);
}

/* In place of the runtime's. */
int cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
		     void *stream)
{
	int64_t start = now(), t;

	if (!next)
		next = (launch_fn *)(uintptr_t)dlsym(RTLD_NEXT, "cudaLaunchKernel");
	do
		t = now();
	while (t - start < spin_ns);
	added_ns += (double)(t - start);
	calls++;
	return next(kernel, grid, block, args, shared, stream);
}
