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
static inline struct blackscholes_opts make_opts(int64_t options)
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
	struct blackscholes_opts o = make_opts(options);

	o.set.data = STREAMED_STREAMED;
	o.set.block = block;
	o.set.overlap = overlap;
	return o;
}

#define RUN blackscholes
#include "tests/dataset_run.h"

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

#endif
