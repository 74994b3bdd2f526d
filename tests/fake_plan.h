/* fake_plan.h - plans of the fake workload. Everything is static, for one test program each. */
#ifndef RIFT_TESTS_FAKE_PLAN_H
#define RIFT_TESTS_FAKE_PLAN_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "harness/measure/plan.h"
#include "tests/fake_workload.h"

/* A plan of the fake; args are name=values. */
static inline struct plan fake_plan(const char *depth, const char *mode, char **args, int n)
{
	struct plan_request r = { .workload = fakes,
				  .assignment = args,
				  .n_assignments = n,
				  .depth = depth,
				  .mode = mode,
				  .design = design_of(false) };
	struct plan p;

	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	return p;
}

enum { POINTS = 4 };

/* Two sizes and two depths, in stream mode. */
static inline struct plan four_points(const struct workload *const *of, bool quick)
{
	struct plan_request r = { .workload = of,
				  .size = "1,2",
				  .depth = "1,4",
				  .mode = "stream",
				  .design = design_of(quick) };
	struct plan p;

	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	cr_assert(eq(int, p.n_points, POINTS), "points");
	return p;
}

#endif
