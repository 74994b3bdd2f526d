/*
 * test_steps.h - what the tests of the launch workload share: options as a user leaves them, and
 * steps in each mode through the hooks.
 */
#ifndef RIFT_LAUNCH_TEST_STEPS_H
#define RIFT_LAUNCH_TEST_STEPS_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "workloads/launch/launch.h"

/* The defaults that test_launch_options.c holds against the parameter rows. */
static inline struct launch_opts default_opts(void)
{
	struct launch_opts o;

	memset(&o, 0, sizeof(o));
	o.streams = 1;
	return o;
}

/* Kernels of so many microseconds, in so many streams. */
static inline struct launch_opts opts_for(enum launch_fill fill, int64_t us, int64_t streams)
{
	struct launch_opts o = default_opts();

	o.kernel = fill;
	o.us = us;
	o.streams = streams;
	return o;
}

struct run {
	struct launch_opts o;
	struct launch_state s;
	cudaStream_t stream;
};

static inline void run_reset(struct run *r)
{
	cr_assert(!workload_launch.reset(&r->o, &r->s, r->stream), "reset");
	CUDA(cudaStreamSynchronize(r->stream));
}

/* Set up, reset and waited for; ends the test where that fails. */
static inline struct run *run_begin(struct launch_opts o)
{
	struct run *r = (struct run *)calloc(1, sizeof(*r));
	struct limits limits;

	CHECK(r, "memory");
	memset(&limits, 0, sizeof(limits));
	r->o = o;
	CUDA(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	cr_assert(!workload_launch.limits(&r->o, &limits), "limits");
	cr_assert(!workload_launch.setup(&r->o, &r->s), "setup");
	run_reset(r);
	return r;
}

static inline void run_end(struct run *r)
{
	CUDA(cudaStreamSynchronize(r->stream));
	workload_launch.teardown(&r->s);
	CUDA(cudaStreamDestroy(r->stream));
	free(r);
}

static inline void run_steps(struct run *r, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		cr_assert(!workload_launch.step(&r->o, &r->s, r->stream), "step");
	CUDA(cudaStreamSynchronize(r->stream));
}

static inline void run_fused(struct run *r, int64_t n)
{
	cr_assert(!workload_launch.fused(&r->o, &r->s, r->stream, n), "fused");
	CUDA(cudaStreamSynchronize(r->stream));
}

static inline cudaGraph_t run_capture(struct run *r, int64_t n)
{
	cudaGraph_t graph;

	CUDA(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeGlobal));
	for (int64_t i = 0; i < n; i++)
		cr_assert(!workload_launch.step(&r->o, &r->s, r->stream), "step");
	CUDA(cudaStreamEndCapture(r->stream, &graph));
	return graph;
}

/* n steps in a graph that is launched so many times. */
static inline void run_graph(struct run *r, int64_t n, int times)
{
	cudaGraph_t graph = run_capture(r, n);
	cudaGraphExec_t exec;

	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < times; i++)
		CUDA(cudaGraphLaunch(exec, r->stream));
	CUDA(cudaStreamSynchronize(r->stream));
	CUDA(cudaGraphExecDestroy(exec));
	CUDA(cudaGraphDestroy(graph));
}

static inline size_t run_slots(const struct run *r)
{
	return (size_t)r->o.streams * r->s.config.blocks;
}

/* The traces of every block, to be freed. Cycles are measured, so they are left out: 0. */
static inline struct launch_slot *run_traces(const struct run *r)
{
	struct launch_slot *slot = (struct launch_slot *)calloc(run_slots(r), sizeof(*slot));

	CHECK(slot, "memory");
	CUDA(cudaMemcpy(slot, r->s.config.slot, run_slots(r) * sizeof(*slot),
			cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < run_slots(r); i++)
		slot[i].cycles = 0;
	return slot;
}

static inline struct verdict run_check(struct run *r, int64_t steps)
{
	struct verdict v;

	memset(&v, 0, sizeof(v));
	cr_assert(!workload_launch.check(&r->o, &r->s, steps, &v), "check");
	cr_assert(v.measure && v.compared == v.total && v.total == (int64_t)run_slots(r),
		  "%ld of %ld compared", (long)v.compared, (long)v.total);
	cr_assert(v.passed == (v.error <= v.tolerance), "error %g", v.error);
	cr_assert(v.passed == !*v.worst, "worst: %s", v.worst);
	return v;
}

#endif
