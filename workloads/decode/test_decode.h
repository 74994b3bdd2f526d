/* test_decode.h - what the tests of the decode workload share: a run through its hooks. */
#ifndef RIFT_DECODE_TEST_DECODE_H
#define RIFT_DECODE_TEST_DECODE_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "workloads/decode/decode.h"

#define GOLDEN_TIED "workloads/decode/golden/tied-f32"
#define GOLDEN_UNTIED "workloads/decode/golden/untied-bf16"

/* A checkpoint small enough for every launch of many steps, from its prompt on. */
static inline struct decode_opts golden_opts(const char *folder, int precision)
{
	struct decode_opts o;

	memset(&o, 0, sizeof(o));
	o.checkpoint = folder;
	o.batch = 1;
	o.prompt = "1,5,9,33";
	o.positions = 8;
	o.precision = precision;
	o.seed = 1;
	return o;
}

#define RUN decode
#include "tests/workload_run.h"

static inline void run_passes(struct run *r, int64_t steps)
{
	struct verdict v = run_check(r, steps, false);

	cr_assert(v.passed && v.compared > 0, "%ld steps: error %g: %s", (long)steps, v.error,
		  v.worst);
}

static inline void run_fails(struct run *r, int64_t steps, const char *why)
{
	cr_assert(!run_check(r, steps, false).passed, "%s: the check passes", why);
}

#endif
