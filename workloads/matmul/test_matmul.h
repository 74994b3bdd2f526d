/* test_matmul.h - what the tests of the matmul workload share. */
#ifndef RIFT_TEST_MATMUL_H
#define RIFT_TEST_MATMUL_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "workloads/matmul/matmul.h"

/* As a user leaves them, but for the sizes. */
static inline struct matmul_opts opts_of(int64_t m, int64_t n, int64_t k)
{
	struct matmul_opts o;

	memset(&o, 0, sizeof(o));
	o.m = m;
	o.n = n;
	o.k = k;
	o.fill = MATMUL_UNIFORM;
	o.seed = 1;
	o.set.slots = 2;
	o.set.block = 4 << 20;
	return o;
}

static inline struct matmul_opts tile_opts(int64_t m, int64_t n, int64_t k, int tile)
{
	struct matmul_opts o = opts_of(m, n, k);

	o.tile = tile;
	return o;
}

static inline struct matmul_opts streamed_opts(int64_t m, int64_t n, int64_t k, int64_t block,
					       int64_t overlap)
{
	struct matmul_opts o = opts_of(m, n, k);

	o.set.data = STREAMED_STREAMED;
	o.set.block = block;
	o.set.overlap = overlap;
	return o;
}

#define RUN matmul
#include "tests/workload_run.h"

/* Arrays of a slot: MATMUL_A, MATMUL_B or MATMUL_C. */
static inline float *on_device(const struct run *r, int k, int64_t slot)
{
	return (float *)dataset_device(&r->s.set, k, slot);
}

static inline float *on_host(const struct run *r, int k, int64_t slot)
{
	return (float *)dataset_host(&r->s.set, k, slot);
}

/* The products of all slots where they lie, guards included, to be freed. */
static inline float *run_products(const struct run *r, size_t *bytes)
{
	bool streamed = r->o.set.data == STREAMED_STREAMED;
	float *out;

	*bytes = dataset_output_bytes(&r->s.set.shape, r->o.set.slots);
	out = (float *)malloc(*bytes);
	CHECK(out, "memory");
	CUDA(cudaMemcpy(out, streamed ? on_host(r, MATMUL_C, 0) : on_device(r, MATMUL_C, 0), *bytes,
			cudaMemcpyDefault));
	return out;
}

/* An array of a slot on the device, to be freed, and back to there. */
static inline float *take_array(const struct run *r, int k, int64_t slot)
{
	size_t bytes = (size_t)r->s.set.shape.array[k].words * sizeof(float);
	float *out = (float *)malloc(bytes);

	CHECK(out, "memory");
	CUDA(cudaMemcpy(out, on_device(r, k, slot), bytes, cudaMemcpyDeviceToHost));
	return out;
}

static inline void put_array(const struct run *r, int k, int64_t slot, float *values)
{
	size_t bytes = (size_t)r->s.set.shape.array[k].words * sizeof(float);

	CUDA(cudaMemcpy(on_device(r, k, slot), values, bytes, cudaMemcpyHostToDevice));
	free(values);
}

/* Must pass with everything compared. */
static inline void run_passes(struct run *r, int64_t steps)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(v.passed && v.compared == v.total,
		  "m=%u n=%u k=%u tile %d, %ld steps: error %g, %s", r->s.shape.m, r->s.shape.n,
		  r->s.shape.k, r->s.tile, (long)steps, v.error, v.worst);
}

/* Must fail, and say so with this text. */
static inline void run_fails(struct run *r, int64_t steps, const char *says)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(!v.passed && strstr(v.worst, says), "%ld steps: error %g, %s", (long)steps,
		  v.error, v.worst);
}

#endif
