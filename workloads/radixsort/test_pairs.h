/* test_pairs.h - what the tests of the radixsort workload share. */
#ifndef RIFT_RADIXSORT_TEST_PAIRS_H
#define RIFT_RADIXSORT_TEST_PAIRS_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "workloads/radixsort/inputs.h"
#include "workloads/radixsort/radixsort.h"

/* As a user leaves them, but for their number. */
static inline struct radixsort_opts make_opts(int64_t pairs)
{
	struct radixsort_opts o;

	memset(&o, 0, sizeof(o));
	o.pairs = pairs;
	o.seed = 1;
	o.set.slots = 2;
	o.set.block = 4 << 20;
	return o;
}

static inline struct radixsort_opts streamed_opts(int64_t pairs, int64_t block)
{
	struct radixsort_opts o = make_opts(pairs);

	o.set.data = STREAMED_STREAMED;
	o.set.block = block;
	return o;
}

#define RUN radixsort
#include "tests/dataset_run.h"

/* Arrays of a slot where they lie: 0 keys, 1 values. */
static inline uint32_t *device_in(const struct run *r, int k, int64_t slot)
{
	return (uint32_t *)dataset_device(&r->s.set, k, slot);
}

static inline uint32_t *device_out(const struct run *r, int k, int64_t slot)
{
	return (uint32_t *)dataset_device(&r->s.set, RADIXSORT_ARRAYS + k, slot);
}

static inline uint32_t *host_out(const struct run *r, int k, int64_t slot)
{
	return (uint32_t *)dataset_host(&r->s.set, RADIXSORT_ARRAYS + k, slot);
}

/* Other tiles than setup chose: of fewer pairs than 128 Ki, whose board is the largest. */
static inline void use_tiles(struct run *r, enum radixsort_size size)
{
	struct radixsort_launch l;

	r->s.size = size;
	l = radixsort_make_launch(&r->o, &r->s, 1, true);
	radixsort_load_kernels(&l);
}

#endif
