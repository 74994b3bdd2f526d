/* test_binomial.h - what the tests of the binomial workload share. */
#ifndef RIFT_BINOMIAL_TEST_BINOMIAL_H
#define RIFT_BINOMIAL_TEST_BINOMIAL_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "workloads/binomial/binomial.h"

/* As a user leaves them, but for their number and the steps. */
static inline struct binomial_opts opts_of(int64_t steps, int64_t options)
{
	struct binomial_opts o;

	memset(&o, 0, sizeof(o));
	o.steps = steps;
	o.options = options;
	o.rate = 0.06;
	o.volatility = 0.1;
	o.seed = 1;
	o.set.slots = 2;
	o.set.block = 4 << 20;
	return o;
}

static inline struct binomial_opts streamed_opts(int64_t steps, int64_t options, int64_t overlap)
{
	struct binomial_opts o = opts_of(steps, options);

	o.set.data = STREAMED_STREAMED;
	o.set.block = 0;
	o.set.overlap = overlap;
	return o;
}

#define RUN binomial
#include "tests/workload_run.h"

/* Prices of a slot, where they lie. */
static inline float *device_out(const struct run *r, int64_t slot)
{
	return (float *)dataset_device(&r->s.set, BINOMIAL_INPUTS, slot);
}

static inline float *host_out(const struct run *r, int64_t slot)
{
	return (float *)dataset_host(&r->s.set, BINOMIAL_INPUTS, slot);
}

/* All prices of all slots where they lie, guards included, to be freed. */
static inline float *run_prices(const struct run *r, size_t *bytes)
{
	bool streamed = r->o.set.data == STREAMED_STREAMED;
	float *prices;

	*bytes = dataset_output_bytes(&r->s.set.shape, r->o.set.slots);
	prices = (float *)malloc(*bytes);
	CHECK(prices, "memory");
	CUDA(cudaMemcpy(prices, streamed ? host_out(r, 0) : device_out(r, 0), *bytes,
			cudaMemcpyDefault));
	return prices;
}

/* Must pass with everything compared. */
static inline void run_passes(struct run *r, int64_t steps)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(v.passed && v.compared == v.total, "steps=%ld, %ld steps: error %g, %s",
		  (long)r->o.steps, (long)steps, v.error, v.worst);
}

/* Must fail, and say so with this text. */
static inline void run_fails(struct run *r, int64_t steps, const char *says)
{
	struct verdict v = run_check(r, steps, true);

	cr_assert(!v.passed && strstr(v.worst, says), "%ld steps: error %g, %s", (long)steps,
		  v.error, v.worst);
}

#endif
