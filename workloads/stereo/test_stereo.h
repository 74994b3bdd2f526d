/* test_stereo.h - what the tests of the stereo workload share. */
#ifndef RIFT_TEST_STEREO_H
#define RIFT_TEST_STEREO_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "workloads/stereo/stereo.h"

/* As a user leaves them, but for the size. */
static inline struct stereo_opts opts_of(int64_t width, int64_t height)
{
	struct stereo_opts o;

	memset(&o, 0, sizeof(o));
	o.width = width;
	o.height = height;
	o.dmin = -16;
	o.seed = 1;
	o.set.slots = 2;
	o.set.block = 4 << 20;
	return o;
}

static inline struct stereo_opts streamed_opts(int64_t width, int64_t height, int64_t block,
					       int64_t overlap)
{
	struct stereo_opts o = opts_of(width, height);

	o.set.data = STREAMED_STREAMED;
	o.set.block = block;
	o.set.overlap = overlap;
	return o;
}

#define RUN stereo
#include "tests/workload_run.h"

/* Arrays of a slot: inputs, or behind them the output. */
static inline uint32_t *on_device(const struct run *r, int k, int64_t slot)
{
	return (uint32_t *)dataset_device(&r->s.set, k, slot);
}

static inline uint32_t *on_host(const struct run *r, int k, int64_t slot)
{
	return (uint32_t *)dataset_host(&r->s.set, k, slot);
}

static inline int32_t *out_on_device(const struct run *r, int64_t slot)
{
	return (int32_t *)dataset_device(&r->s.set, r->s.set.shape.inputs, slot);
}

static inline int32_t *out_on_host(const struct run *r, int64_t slot)
{
	return (int32_t *)dataset_host(&r->s.set, r->s.set.shape.inputs, slot);
}

/* The disparities of all slots where they lie, guards included, to be freed. */
static inline int32_t *run_disparities(const struct run *r, size_t *bytes)
{
	bool streamed = r->o.set.data == STREAMED_STREAMED;
	int32_t *out;

	*bytes = dataset_output_bytes(&r->s.set.shape, r->o.set.slots);
	out = (int32_t *)malloc(*bytes);
	CHECK(out, "memory");
	CUDA(cudaMemcpy(out, streamed ? out_on_host(r, 0) : out_on_device(r, 0), *bytes,
			cudaMemcpyDefault));
	return out;
}

/* Must pass with everything compared. */
static inline void run_passes(struct run *r, int64_t steps)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(v.passed && v.compared == v.total, "%d x %d, strips of %d, %ld steps: %g, %s",
		  r->s.size.w, r->s.size.h, r->s.strip, (long)steps, v.error, v.worst);
}

/* Must fail, and say so with this text. */
static inline void run_fails(struct run *r, int64_t steps, const char *says)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(!v.passed && strstr(v.worst, says), "%ld steps: error %g, %s", (long)steps,
		  v.error, v.worst);
}

#endif
