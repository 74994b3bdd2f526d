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
static inline struct radixsort_opts opts_of(int64_t pairs)
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
	struct radixsort_opts o = opts_of(pairs);

	o.set.data = STREAMED_STREAMED;
	o.set.block = block;
	return o;
}

#define RUN radixsort
#include "tests/workload_run.h"

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

/* All outputs of all slots, guards included, to be freed. */
static inline void *run_outputs(const struct run *r, size_t *bytes)
{
	bool streamed = r->o.set.data == STREAMED_STREAMED;
	void *outputs;

	*bytes = dataset_output_bytes(&r->s.set.shape, r->o.set.slots);
	outputs = malloc(*bytes);
	CHECK(outputs, "memory");
	CUDA(cudaMemcpy(outputs, streamed ? host_out(r, 0, 0) : device_out(r, 0, 0), *bytes,
			cudaMemcpyDefault));
	return outputs;
}

static inline void run_passes(struct run *r, int64_t steps)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(v.passed && v.compared == v.total, "n=%ld keys=%d, %ld steps: error %g, %s",
		  (long)r->o.pairs, r->o.keys, (long)steps, v.error, v.worst);
}

/* Must fail, and say so with this text. */
static inline void run_fails(struct run *r, int64_t steps, const char *says)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(!v.passed && strstr(v.worst, says), "not '%s': %ld steps, error %g, %s", says,
		  (long)steps, v.error, v.worst);
}

#endif
