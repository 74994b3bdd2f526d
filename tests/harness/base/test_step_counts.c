/*
 * test_step_counts.c - what workloads count of a step (struct cost) is what a step does: copies
 * between host and device by direction, with their bytes, and calls that take or give back memory.
 */
/* sanitizers: races seen elsewhere */
#include "tests/plain.h"
#include "harness/base/command.h"
#include "harness/base/param.h"
#include "tests/cli.h"

#include <dlfcn.h>

#include "common/cuda_check.h"
#include "workloads/workload.h"

TestSuite(small_step_counts, .timeout = 300);

/* ---- what a step does ------------------------------------------------------------------- */

static struct copies seen[cudaMemcpyDefault + 1]; /* by enum cudaMemcpyKind */
static int allocations;

#define REAL(name, ...) ((cudaError_t(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	seen[kind].calls++;
	seen[kind].bytes += (double)bytes;
	return REAL("cudaMemcpyAsync", void *, const void *, size_t, enum cudaMemcpyKind,
		    cudaStream_t)(dst, src, bytes, kind, stream);
}

/* Not cudaMalloc: by its address common/blas.h finds the folder of the libraries. */
cudaError_t cudaMallocHost(void **p, size_t bytes)
{
	allocations++;
	return REAL("cudaMallocHost", void **, size_t)(p, bytes);
}

cudaError_t cudaFreeHost(void *p)
{
	allocations++;
	return REAL("cudaFreeHost", void *)(p);
}

static void same(const char *what, const char *which, const struct copies *counted,
		 enum cudaMemcpyKind kind)
{
	cr_assert(counted->calls == seen[kind].calls && counted->bytes == seen[kind].bytes,
		  "%s: %s: counted %g of %g bytes, done %g of %g", what, which, counted->calls,
		  counted->bytes, seen[kind].calls, seen[kind].bytes);
}

/* One step of the workload with these parameters. */
static struct cost step_of(const char *name, const char *const *set)
{
	const struct workload *w = workload_find(name);
	void *opts = calloc(1, w->opts_size + 1), *state = calloc(1, w->state_size + 1);
	struct cost c = { 0 };
	struct params p;

	CHECK(opts && state, "memory");
	params_init(&p, w->params, w->name, opts);
	for (; *set; set++)
		cr_assert(!params_assign(&p, *set), "%s %s", name, *set);
	cr_assert(!w->setup(opts, state) && !w->reset(opts, state, 0), "%s", name);
	CUDA(cudaDeviceSynchronize());
	memset(seen, 0, sizeof(seen));
	allocations = 0;
	cr_assert(!w->step(opts, state, 0), "%s: step", name);
	cr_assert(!w->cost(opts, state, &c), "%s: cost", name);
	same(name, "to the device", &c.to_device, cudaMemcpyHostToDevice);
	same(name, "to the host", &c.to_host, cudaMemcpyDeviceToHost);
	cr_assert(c.allocations == allocations, "%s: counted %g, done %d", name, c.allocations,
		  allocations);
	CUDA(cudaDeviceSynchronize());
	w->teardown(state);
	params_release(&p);
	free(opts);
	free(state);
	return c;
}

#define STEP(name, ...) step_of(name, (const char *[]){ __VA_ARGS__, NULL })

/* ---- workloads -------------------------------------------------------------------------- */

Test(small_step_counts, copies)
{
	struct cost c;

	need_device();
	c = STEP("transfer", "bytes=10000", "split=3000");
	cr_assert(c.to_device.calls == 4 && c.to_device.bytes == 10000 && !c.pageable, "blocks");
	c = STEP("transfer", "bytes=10000", "dir=d2h", "host=pageable");
	cr_assert(c.to_host.calls == 1 && c.pageable, "to the host");
	c = STEP("transfer", "bytes=10000", "dir=d2d");
	cr_assert(c.within.calls == 1 && c.within.bytes == 10000, "within");
}

Test(small_step_counts, batches_that_travel)
{
	struct cost c;

	need_device();
	c = STEP("alignment", "pairs=32", "host=pinned");
	cr_assert(c.to_device.calls == 1 && c.to_host.calls == 1 && !c.pageable, "pinned");
	cr_assert(c.to_device.bytes + c.to_host.bytes == c.bytes_transferred, "all of it");
	c = STEP("alignment", "pairs=32", "host=pageable", "streams=2");
	cr_assert(c.to_device.calls == 2 && c.pageable, "one for each stream");
	c = STEP("alignment", "pairs=32", "resident=yes");
	cr_assert(!c.to_device.calls && !c.to_host.calls, "resident");
}

Test(small_step_counts, options_that_travel)
{
	struct cost c;

	need_device();
	c = STEP("blackscholes", "options=40000", "data=streamed", "block=64k", "overlap=2");
	cr_assert(c.to_device.calls == 12 && c.to_host.calls == 8, "%g, %g", c.to_device.calls,
		  c.to_host.calls);
	cr_assert(!STEP("blackscholes", "options=1000").to_device.calls, "resident");
}

Test(small_step_counts, minibatches_that_travel)
{
	need_device();
	cr_assert(STEP("mlp", "batch=16", "images=100", "input=host").to_device.calls == 1, "host");
	cr_assert(!STEP("mlp", "batch=16", "images=100").to_device.calls, "device");
}

Test(small_step_counts, steps_that_copy_nothing)
{
	need_device();
	STEP("launch", "us=1");
	STEP("myocyte", "cells=1");
	STEP("particlefilter", "particles=256");
	STEP("graph", "length=4");
}

Test(small_step_counts, allocations)
{
	need_device();
	cr_assert(STEP("memory", "bytes=4096", "call=pinned").allocations == 2,
		  "taken and given back");
}
