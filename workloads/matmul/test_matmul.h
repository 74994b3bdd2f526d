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
static inline struct matmul_opts make_opts(int64_t m, int64_t n, int64_t k)
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
	struct matmul_opts o = make_opts(m, n, k);

	o.tile = tile;
	return o;
}

static inline struct matmul_opts streamed_opts(int64_t m, int64_t n, int64_t k, int64_t block,
					       int64_t overlap)
{
	struct matmul_opts o = make_opts(m, n, k);

	o.set.data = STREAMED_STREAMED;
	o.set.block = block;
	o.set.overlap = overlap;
	return o;
}

#define RUN matmul
#include "tests/dataset_run.h"

/* Arrays of a slot: MATMUL_A, MATMUL_B or MATMUL_C. */
static inline float *on_device(const struct run *r, int k, int64_t slot)
{
	return (float *)dataset_device(&r->s.set, k, slot);
}

static inline float *on_host(const struct run *r, int k, int64_t slot)
{
	return (float *)dataset_host(&r->s.set, k, slot);
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

#endif
