/* test_copies.h - what the tests of the transfer workload share: copies through the hooks. */
#ifndef RIFT_TRANSFER_TEST_COPIES_H
#define RIFT_TRANSFER_TEST_COPIES_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "workloads/transfer/transfer.h"

static inline struct transfer_opts copies_of(enum transfer_dir dir, enum transfer_host host,
					     int64_t bytes)
{
	struct transfer_opts o;

	memset(&o, 0, sizeof(o));
	o.bytes = bytes;
	o.dir = dir;
	o.host = host;
	return o;
}

struct run {
	struct transfer_opts o;
	struct transfer_state s;
	cudaStream_t stream;
};

static inline void run_reset(struct run *r)
{
	cr_assert(!workload_transfer.reset(&r->o, &r->s, r->stream), "reset");
	CUDA(cudaStreamSynchronize(r->stream));
}

static inline struct run *run_begin(struct transfer_opts o)
{
	struct run *r = (struct run *)calloc(1, sizeof(*r));
	struct limits limits;

	CHECK(r, "memory");
	memset(&limits, 0, sizeof(limits));
	r->o = o;
	CUDA(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	cr_assert(!workload_transfer.limits(&r->o, &limits), "limits");
	cr_assert(!workload_transfer.setup(&r->o, &r->s), "setup");
	run_reset(r);
	return r;
}

static inline void run_steps(struct run *r, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		cr_assert(!workload_transfer.step(&r->o, &r->s, r->stream), "step");
	CUDA(cudaStreamSynchronize(r->stream));
}

static inline struct verdict run_check(struct run *r, int64_t steps)
{
	struct verdict v;

	memset(&v, 0, sizeof(v));
	cr_assert(!workload_transfer.check(&r->o, &r->s, steps, &v), "check");
	cr_assert(v.measure && v.compared == v.total && v.total == r->s.slots, "all are compared");
	cr_assert(v.passed == (v.error <= v.tolerance) && v.passed == !*v.worst, "%g, %s", v.error,
		  v.worst);
	return v;
}

static inline void run_end(struct run *r)
{
	CUDA(cudaDeviceSynchronize());
	workload_transfer.teardown(&r->s);
	CUDA(cudaStreamDestroy(r->stream));
	free(r);
}

#endif
