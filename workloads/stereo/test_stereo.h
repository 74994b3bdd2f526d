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
static inline struct stereo_opts make_opts(int64_t width, int64_t height)
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
	struct stereo_opts o = make_opts(width, height);

	o.set.data = STREAMED_STREAMED;
	o.set.block = block;
	o.set.overlap = overlap;
	return o;
}

#define RUN stereo
#include "tests/dataset_run.h"

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

#endif
