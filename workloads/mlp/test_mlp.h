/* test_mlp.h - what the tests of the mlp workload share: a run through its hooks. */
#ifndef RIFT_MLP_TEST_MLP_H
#define RIFT_MLP_TEST_MLP_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "workloads/mlp/check.h"

/* The defaults that test_mlp_options.c holds against the rows, but for the images: few of them. */
static inline struct mlp_opts default_opts(void)
{
	struct mlp_opts o;

	memset(&o, 0, sizeof(o));
	o.batch = 64;
	o.hidden.n = 1;
	o.epilogues = MLP_EPILOGUES_YES;
	o.rate = -1;
	o.momentum = 0.9;
	o.seed = 1;
	o.data = MLP_DATA_GENERATED;
	o.images = 600;
	o.data_seed = 1;
	return o;
}

static inline struct mlp_opts hidden_opts(int n, const int64_t *width)
{
	struct mlp_opts o = default_opts();

	o.hidden.n = n;
	for (int i = 0; i < n; i++)
		o.hidden.value[i] = width[i];
	return o;
}

struct run {
	struct mlp_opts o;
	struct mlp_state s;
	cudaStream_t stream;
};

static inline void run_reset(struct run *r)
{
	cr_assert(!mlp_reset(&r->o, &r->s, r->stream), "reset");
	CUDA(cudaStreamSynchronize(r->stream));
}

static inline struct run *run_begin(struct mlp_opts o)
{
	struct run *r = (struct run *)calloc(1, sizeof(*r));
	struct limits limits;

	CHECK(r, "memory");
	memset(&limits, 0, sizeof(limits));
	r->o = o;
	CUDA(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	cr_assert(!mlp_limits(&r->o, &limits) && !limits.device_refused, "limits");
	cr_assert(!mlp_setup(&r->o, &r->s), "setup");
	run_reset(r);
	return r;
}

static inline void run_end(struct run *r)
{
	mlp_teardown(&r->s);
	CUDA(cudaStreamDestroy(r->stream));
	free(r);
}

static inline void run_steps(struct run *r, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		cr_assert(!mlp_step(&r->o, &r->s, r->stream), "step");
	CUDA(cudaStreamSynchronize(r->stream));
}

/* n steps in a graph that is launched so many times. */
static inline void run_graph(struct run *r, int64_t n, int times)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CUDA(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeGlobal));
	for (int64_t i = 0; i < n; i++)
		cr_assert(!mlp_step(&r->o, &r->s, r->stream), "step");
	CUDA(cudaStreamEndCapture(r->stream, &graph));
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < times; i++)
		CUDA(cudaGraphLaunch(exec, r->stream));
	CUDA(cudaStreamSynchronize(r->stream));
	CUDA(cudaGraphExecDestroy(exec));
	CUDA(cudaGraphDestroy(graph));
}

static inline struct verdict run_check(struct run *r, int64_t steps, bool full)
{
	struct verdict v;

	memset(&v, 0, sizeof(v));
	v.full = full;
	v.seed = 1;
	cr_assert(!mlp_check(&r->o, &r->s, steps, &v), "check");
	cr_assert(v.passed == (v.error <= v.tolerance), "error %g", v.error);
	cr_assert(v.compared > 0 && v.compared <= v.total, "%ld of %ld", (long)v.compared,
		  (long)v.total);
	return v;
}

/* Bits of all weights and velocities. */
static inline uint64_t run_bits(struct run *r)
{
	struct mlp_sum sum = mlp_sum_of(&r->s);

	cr_assert(!sum.odd, "%lu numbers are not finite", (unsigned long)sum.odd);
	return sum.bits;
}

/* An array on the device, as struct mlp_net says, in double. To be freed. */
static inline double *fetch_numbers(const struct run *r, const float *device)
{
	size_t n = r->s.net.numbers;
	float *host = (float *)malloc(n * sizeof(*host));
	double *wide = (double *)malloc(n * sizeof(*wide));

	CHECK(host && wide, "%zu numbers", n);
	CUDA(cudaMemcpy(host, device, n * sizeof(*host), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < n; i++)
		wide[i] = (double)host[i];
	free(host);
	return wide;
}

#endif
