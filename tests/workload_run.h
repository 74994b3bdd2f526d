/*
 * workload_run.h - a workload driven through its hooks, as the harness does it. For the header that
 * the tests of a workload share; everything is static, as options and state are of its own types:
 *
 *   #define RUN launch          workload_launch, struct launch_opts, struct launch_state
 *   #include "tests/workload_run.h"
 *
 *   struct run *r = run_begin(opts);      set up, reset and waited for
 *   run_steps(r, 5);
 *   v = run_check(r, 5, false);
 *   run_end(r);
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "tests/divert.h"
#include "workloads/workload.h"

#ifdef RUN
#define RUN_JOIN(a, b, c) a##b##c
#define RUN_NAME(before, name, behind) RUN_JOIN(before, name, behind)
#define RUN_WORKLOAD RUN_NAME(workload_, RUN, )

struct run {
	struct RUN_NAME(, RUN, _opts) o;
	struct RUN_NAME(, RUN, _state) s;
	cudaStream_t stream;
	int64_t graph_steps; /* for checks, of graphs from before the reset (struct verdict) */
};

/* What a test has copied from pageable memory may be under way when cudaMemcpy() returns, and the
 * stream does not wait for it. */
static inline void run_settle(void)
{
	CUDA(cudaDeviceSynchronize());
}

static inline void run_reset(struct run *r)
{
	run_settle();
	cr_assert(!RUN_WORKLOAD.reset(&r->o, &r->s, r->stream), "reset");
	CUDA(cudaStreamSynchronize(r->stream));
}

/* Ends the test where that fails. */
static inline struct run *run_begin(struct RUN_NAME(, RUN, _opts) o)
{
	struct run *r = (struct run *)calloc(1, sizeof(*r));
	struct limits limits;

	CHECK(r, "memory");
	r->o = o;
	CUDA(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	cr_assert(!workload_limits(&RUN_WORKLOAD, &r->o, &limits) && !limits.device_refused,
		  "limits");
	cr_assert(!RUN_WORKLOAD.setup(&r->o, &r->s), "setup");
	run_reset(r);
	return r;
}

static inline void run_end(struct run *r)
{
	CUDA(cudaStreamSynchronize(r->stream));
	RUN_WORKLOAD.teardown(&r->s);
	CUDA(cudaStreamDestroy(r->stream));
	free(r);
}

static inline void run_steps(struct run *r, int64_t n)
{
	run_settle();
	for (int64_t i = 0; i < n; i++)
		cr_assert(!RUN_WORKLOAD.step(&r->o, &r->s, r->stream), "step");
	CUDA(cudaStreamSynchronize(r->stream));
}

static inline void run_fused(struct run *r, int64_t n)
{
	run_settle();
	cr_assert(!RUN_WORKLOAD.fused(&r->o, &r->s, r->stream, n), "fused");
	CUDA(cudaStreamSynchronize(r->stream));
}

/* n steps as a graph, to be destroyed. */
static inline cudaGraph_t run_capture(struct run *r, int64_t n)
{
	cudaGraph_t graph;

	CUDA(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeGlobal));
	for (int64_t i = 0; i < n; i++)
		cr_assert(!RUN_WORKLOAD.step(&r->o, &r->s, r->stream), "step");
	CUDA(cudaStreamEndCapture(r->stream, &graph));
	return graph;
}

/* n steps in a graph that is launched so many times. */
static inline void run_graphs(struct run *r, int64_t n, int times)
{
	cudaGraph_t graph = run_capture(r, n);
	cudaGraphExec_t exec;

	run_settle();
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < times; i++)
		CUDA(cudaGraphLaunch(exec, r->stream));
	CUDA(cudaStreamSynchronize(r->stream));
	CUDA(cudaGraphExecDestroy(exec));
	CUDA(cudaGraphDestroy(graph));
}

static inline void run_graph(struct run *r, int64_t n)
{
	run_graphs(r, n, 1);
}

/* Checks the state after so many steps. */
static inline struct verdict run_check(struct run *r, int64_t steps, bool full)
{
	struct verdict v;

	run_settle();
	memset(&v, 0, sizeof(v));
	v.full = full;
	v.seed = 1;
	v.graph_steps = r->graph_steps;
	cr_assert(!RUN_WORKLOAD.check(&r->o, &r->s, steps, &v), "check");
	cr_assert(v.measure && *v.measure, "measure");
	cr_assert(v.passed == (v.error <= v.tolerance), "error %g", v.error);
	return v;
}

/* Where there is too little memory, in one line that tells this. */
static inline void run_setup_fails(struct RUN_NAME(, RUN, _opts) o, const char *says)
{
	struct RUN_NAME(, RUN, _state) s;
	const char *text;
	int err;

	need_device();
	memset(&s, 0, sizeof(s));
	divert_stderr();
	err = RUN_WORKLOAD.setup(&o, &s);
	text = diverted_stderr();
	RUN_WORKLOAD.teardown(&s);
	cr_assert(err == -ENOMEM && is_one_complaint(text) && tells(text, says), "%d: %s", err,
		  text);
}
#endif
