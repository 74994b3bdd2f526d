/* test_run.h - a run of the particle filter through its hooks, as the harness makes one. */
#ifndef RIFT_PARTICLEFILTER_TEST_RUN_H
#define RIFT_PARTICLEFILTER_TEST_RUN_H

#include "workloads/particlefilter/test_particlefilter.h"

struct run {
	struct particlefilter_opts o;
	struct particlefilter_state s;
	cudaStream_t stream;
};

static inline void run_reset(struct run *r)
{
	cr_assert(!workload_particlefilter.reset(&r->o, &r->s, r->stream), "reset");
}

/* Set up, reset and waited for; ends the test where that fails. */
static inline struct run *run_begin(struct particlefilter_opts o)
{
	struct run *r = (struct run *)calloc(1, sizeof(*r));
	struct limits limits;

	CHECK(r, "memory");
	memset(&limits, 0, sizeof(limits));
	r->o = o;
	CUDA(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	cr_assert(!workload_particlefilter.limits(&r->o, &limits), "limits");
	cr_assert(!workload_particlefilter.setup(&r->o, &r->s), "setup");
	run_reset(r);
	CUDA(cudaStreamSynchronize(r->stream));
	return r;
}

static inline void run_end(struct run *r)
{
	workload_particlefilter.teardown(&r->s);
	CUDA(cudaStreamDestroy(r->stream));
	free(r);
}

static inline void run_steps(struct run *r, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		cr_assert(!workload_particlefilter.step(&r->o, &r->s, r->stream), "step");
	CUDA(cudaStreamSynchronize(r->stream));
}

static inline void run_fused(struct run *r, int64_t n)
{
	cr_assert(!workload_particlefilter.fused(&r->o, &r->s, r->stream, n), "fused");
	CUDA(cudaStreamSynchronize(r->stream));
}

/* n steps as one graph. */
static inline void run_graph(struct run *r, int64_t n)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CUDA(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeGlobal));
	for (int64_t i = 0; i < n; i++)
		cr_assert(!workload_particlefilter.step(&r->o, &r->s, r->stream), "step");
	CUDA(cudaStreamEndCapture(r->stream, &graph));
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	CUDA(cudaGraphLaunch(exec, r->stream));
	CUDA(cudaStreamSynchronize(r->stream));
	CUDA(cudaGraphExecDestroy(exec));
	CUDA(cudaGraphDestroy(graph));
}

/* What is left after the step of frame k: the caller's to free. */
static inline struct pf_view run_view(struct run *r, int64_t k)
{
	struct pf_view v;

	cr_assert(!particlefilter_view_begin(&v, r->o.particles), "view");
	cr_assert(!particlefilter_view_read(&r->s.filter, k, &v), "view");
	return v;
}

static inline struct verdict run_check(struct run *r, int64_t steps, bool full)
{
	struct verdict v;

	memset(&v, 0, sizeof(v));
	v.full = full;
	v.seed = 1;
	cr_assert(!workload_particlefilter.check(&r->o, &r->s, steps, &v), "check");
	cr_assert(v.measure && *v.measure, "measure");
	return v;
}

#endif
