/* test_graphs.h - what the tests of the graph workload share: steps through the hooks. */
#ifndef RIFT_GRAPH_TEST_GRAPHS_H
#define RIFT_GRAPH_TEST_GRAPHS_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "workloads/graph/graph.h"

/* The defaults, shorter. */
static inline struct graph_opts graphs_of(enum graph_topology topology, enum graph_kind node,
					  int64_t length)
{
	struct graph_opts o;

	memset(&o, 0, sizeof(o));
	o.length = length;
	o.topology = topology;
	o.width = 4;
	o.node = node;
	return o;
}

struct run {
	struct graph_opts o;
	struct graph_state s;
	cudaStream_t stream;
};

static inline void run_reset(struct run *r)
{
	cr_assert(!workload_graph.reset(&r->o, &r->s, r->stream), "reset");
	CUDA(cudaStreamSynchronize(r->stream));
}

static inline struct run *run_begin(struct graph_opts o)
{
	struct run *r = (struct run *)calloc(1, sizeof(*r));
	struct limits limits;

	CHECK(r, "memory");
	memset(&limits, 0, sizeof(limits));
	r->o = o;
	CUDA(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	cr_assert(!workload_graph.limits(&r->o, &limits), "limits");
	cr_assert(!workload_graph.setup(&r->o, &r->s), "setup");
	run_reset(r);
	return r;
}

static inline void run_steps(struct run *r, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		cr_assert(!workload_graph.step(&r->o, &r->s, r->stream), "step");
	CUDA(cudaStreamSynchronize(r->stream));
}

static inline struct verdict run_check(struct run *r, int64_t steps)
{
	struct verdict v;

	memset(&v, 0, sizeof(v));
	cr_assert(!workload_graph.check(&r->o, &r->s, steps, &v), "check");
	cr_assert(v.measure && v.compared == v.total && v.total == r->s.shape.nodes, "all");
	cr_assert(v.passed == (v.error <= v.tolerance) && v.passed == !*v.worst, "%g, %s", v.error,
		  v.worst);
	return v;
}

static inline void run_end(struct run *r)
{
	CUDA(cudaDeviceSynchronize());
	workload_graph.teardown(&r->s);
	CUDA(cudaStreamDestroy(r->stream));
	free(r);
}

#endif
