/* test_options.h - what the tests of the blackscholes workload share. */
#ifndef RIFT_BLACKSCHOLES_TEST_OPTIONS_H
#define RIFT_BLACKSCHOLES_TEST_OPTIONS_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "workloads/blackscholes/blackscholes.h"

/* As a user leaves them, but for their number. */
static inline struct blackscholes_opts opts_of(int64_t options)
{
	struct blackscholes_opts o;

	memset(&o, 0, sizeof(o));
	o.options = options;
	o.set.slots = 2;
	o.rate = 0.02;
	o.volatility = 0.3;
	o.seed = 1;
	o.set.block = 4 << 20;
	return o;
}

static inline struct blackscholes_opts streamed_opts(int64_t options, int64_t block,
						     int64_t overlap)
{
	struct blackscholes_opts o = opts_of(options);

	o.set.data = STREAMED_STREAMED;
	o.set.block = block;
	o.set.overlap = overlap;
	return o;
}

#define RUN blackscholes
#include "tests/workload_run.h"

/* Arrays of a slot, where they lie. */
static inline float *device_in(const struct run *r, int k, int64_t slot)
{
	return (float *)dataset_device(&r->s.set, k, slot);
}

static inline float *device_out(const struct run *r, int k, int64_t slot)
{
	return (float *)dataset_device(&r->s.set, BLACKSCHOLES_INPUTS + k, slot);
}

static inline float *host_out(const struct run *r, int k, int64_t slot)
{
	return (float *)dataset_host(&r->s.set, BLACKSCHOLES_INPUTS + k, slot);
}

/* All prices of all slots where they lie, guards included, to be freed. */
static inline float *run_prices(const struct run *r, size_t *bytes)
{
	bool streamed = r->o.set.data == STREAMED_STREAMED;
	float *prices;

	*bytes = dataset_output_bytes(&r->s.set.shape, r->o.set.slots);
	prices = (float *)malloc(*bytes);
	CHECK(prices, "memory");
	CUDA(cudaMemcpy(prices, streamed ? host_out(r, 0, 0) : device_out(r, 0, 0), *bytes,
			cudaMemcpyDefault));
	return prices;
}

/* Must pass with everything compared. */
static inline void run_passes(struct run *r, int64_t steps)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(v.passed && v.compared == v.total, "%ld steps: error %g, %s", (long)steps,
		  v.error, v.worst);
}

/* Must fail, and say so with this text. */
static inline void run_fails(struct run *r, int64_t steps, const char *says)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(!v.passed && strstr(v.worst, says), "%ld steps: error %g, %s", (long)steps,
		  v.error, v.worst);
}

#endif
