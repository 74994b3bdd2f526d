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
	o.slots = 2;
	o.rate = 0.02;
	o.volatility = 0.3;
	o.seed = 1;
	o.block = 4 << 20;
	return o;
}

static inline struct blackscholes_opts streamed_opts(int64_t options, int64_t block,
						     int64_t overlap)
{
	struct blackscholes_opts o = opts_of(options);

	o.data = STREAMED_STREAMED;
	o.block = block;
	o.overlap = overlap;
	return o;
}

#define RUN blackscholes
#include "tests/workload_run.h"

/* All prices of all slots where they lie, guards included, to be freed. */
static inline float *run_prices(const struct run *r, size_t *bytes)
{
	bool streamed = r->o.data == STREAMED_STREAMED;
	const struct blackscholes_arrays *a = streamed ? &r->s.host : &r->s.device;
	float *prices;

	*bytes = BLACKSCHOLES_OUTPUTS * (size_t)(r->o.slots * a->stride) * sizeof(float);
	prices = (float *)malloc(*bytes);
	CHECK(prices, "memory");
	CUDA(cudaMemcpy(prices, a->out[0], *bytes, cudaMemcpyDefault));
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
