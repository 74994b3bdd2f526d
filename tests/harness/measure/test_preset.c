/* test_preset.c - preset=NAME: what it gives to a run and to a sweep, and what is refused. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/base/together.h"
#include "harness/measure/plan.h"
#include "harness/measure/plan_record.h"
#include "tests/fake_workload.h"

TestSuite(small_preset, .timeout = 300);

Test(small_preset, it_sets_what_was_not_given)
{
	struct fake_opts o = { 0 };
	struct params p;

	params_init(&p, workload_fake.params, "fake", &o);
	cr_assert(zero(int, params_assign(&p, "rate=7")), "rate");
	cr_assert(preset_is("preset=slow") && !preset_is("presets=slow"), "which is one");
	cr_assert(zero(int, preset_apply(&p, preset_find(workload_fake.presets, "fake", "rift list",
							 "preset=slow"))),
		  "slow");
	cr_assert(eq(i64, o.cells, 32), "cells");
	cr_assert(eq(int, o.solver, 0), "rk4");
	cr_assert(eq(dbl, o.rate, 7), "rate stays");
	params_release(&p);
}

Test(small_preset, an_unknown_one_is_refused)
{
	const char *said;

	divert_stderr();
	cr_assert(eq(ptr,
		     (void *)preset_find(workload_fake.presets, "fake", "rift list", "preset=slwo"),
		     NULL),
		  "found");
	said = diverted_stderr();
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(ne(ptr, strstr(said, "'slow'"), NULL), "%s", said);
}

/* ---- sweeps ----------------------------------------------------------------------------- */

static int session_plan(struct plan *p, const char *depth, char **args, int n)
{
	struct plan_request r = { .workload = fakes,
				  .assignment = args,
				  .n_assignments = n,
				  .depth = depth,
				  .mode = "stream",
				  .design = design_of(false) };

	return plan_make(p, &r);
}

Test(small_preset, a_sweep_takes_it_too)
{
	char *args[] = { "solver=euler", "preset=slow" }, text[160];
	struct plan p;

	cr_assert(zero(int, session_plan(&p, "1", args, 2)), "plan");
	cr_assert(eq(int, p.n_points, 1), "no sizes but its own, none aside");
	plan_point_text(&p, 0, text, sizeof(text));
	cr_assert(eq(str, text, "fake cells=32 rate=2 solver=euler stream depth 1"), "%s", text);
	plan_release(&p);
}

Test(small_preset, a_sweep_takes_the_depth_that_options_ask_for)
{
	char *args[] = { "preset=asks" };
	struct plan p;

	cr_assert(zero(int, session_plan(&p, NULL, args, 1)), "plan");
	cr_assert(eq(int, p.n_points, 3), "three sizes");
	cr_assert(eq(i64, p.point[2].depth, 25), "depth");
	cr_assert(p.depth_given, "kept, however long");
	plan_release(&p);
	cr_assert(zero(int, session_plan(&p, "1,8", args, 1)), "plan");
	cr_assert(eq(int, p.n_points, 3 * 2), "the user's depths");
	plan_release(&p);
}

Test(small_preset, a_sweep_refuses_two)
{
	char *args[] = { "preset=asks", "preset=slow" };
	const char *said;
	struct plan p;

	divert_stderr();
	cr_assert(eq(int, session_plan(&p, NULL, args, 2), -EINVAL), "two");
	said = diverted_stderr();
	plan_release(&p);
	cr_assert(is_one_complaint(said) && strstr(said, "preset"), "%s", said);
}
