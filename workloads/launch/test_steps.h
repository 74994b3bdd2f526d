/*
 * test_steps.h - what the tests of the launch workload share: options as a user leaves them, and
 * steps in each mode through the hooks.
 */
#ifndef RIFT_LAUNCH_TEST_STEPS_H
#define RIFT_LAUNCH_TEST_STEPS_H

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "tests/divert.h"
#include "workloads/launch/launch.h"
#include "workloads/workload.h"

/* The defaults that test_launch_options.c holds against the parameter rows. */
static inline struct launch_opts default_opts(void)
{
	struct launch_opts o;

	memset(&o, 0, sizeof(o));
	o.streams = 1;
	o.hold_pieces = 1;
	return o;
}

/* Kernels of so many microseconds, in so many streams. */
static inline struct launch_opts opts_for(enum launch_fill fill, int64_t us, int64_t streams)
{
	struct launch_opts o = default_opts();

	o.kernel = fill;
	o.us = us;
	o.streams = streams;
	return o;
}

/* By limits(), in one line. */
static inline void is_refused(const struct launch_opts *o, const char *says)
{
	struct limits limits;
	const char *text;
	int err;

	memset(&limits, 0, sizeof(limits));
	divert_stderr();
	err = workload_launch.limits(o, &limits);
	text = diverted_stderr();
	cr_assert(err == -EINVAL && is_one_complaint(text) && strstr(text, says), "%d: %s", err,
		  text);
}

#define RUN launch
#include "tests/workload_run.h"

static inline size_t run_slots(const struct run *r)
{
	return (size_t)r->o.streams * r->s.config.blocks;
}

/* The traces of every block, to be freed. Cycles are measured, so they are left out: 0. */
static inline struct launch_slot *run_traces(const struct run *r)
{
	struct launch_slot *slot = (struct launch_slot *)calloc(run_slots(r), sizeof(*slot));

	CHECK(slot, "memory");
	CUDA(cudaMemcpy(slot, r->s.config.slot, run_slots(r) * sizeof(*slot),
			cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < run_slots(r); i++)
		slot[i].cycles = 0;
	return slot;
}

/* Everything is compared, always. */
static inline struct verdict run_check_all(struct run *r, int64_t steps)
{
	struct verdict v = run_check(r, steps, false);

	cr_assert(v.compared == v.total && v.total == (int64_t)run_slots(r), "%ld of %ld compared",
		  (long)v.compared, (long)v.total);
	cr_assert(v.passed == !*v.worst, "worst: %s", v.worst);
	return v;
}

#endif
