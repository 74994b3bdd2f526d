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
static inline struct binomial_opts make_opts(int64_t steps, int64_t options)
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
	struct binomial_opts o = make_opts(steps, options);

	o.set.data = STREAMED_STREAMED;
	o.set.block = 0;
	o.set.overlap = overlap;
	return o;
}

#define RUN binomial
#include "tests/dataset_run.h"

/* Prices of a slot, where they lie. */
static inline float *device_out(const struct run *r, int64_t slot)
{
	return (float *)dataset_device(&r->s.set, BINOMIAL_INPUTS, slot);
}

static inline float *host_out(const struct run *r, int64_t slot)
{
	return (float *)dataset_host(&r->s.set, BINOMIAL_INPUTS, slot);
}

#endif
