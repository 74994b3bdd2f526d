/*
 * test_sweep_own.c - `rift sweep A B A.name=values`: a parameter of one of several workloads
 * (harness/measure/plan.h).
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/measure/plan.h"
#include "harness/measure/plan_record.h"
#include "tests/fake_workload.h"

/* The fake twice: both have every parameter. */
static struct workload twin;
static const struct workload *two[] = { &workload_fake, &twin, NULL };

static void make_twin(void)
{
	twin = workload_fake;
	twin.name = "twin";
}

TestSuite(small_sweep_own, .init = make_twin, .timeout = 300);

static int make_plan(struct plan *p, char **args, int n, char **around, int arounds)
{
	const struct plan_request r = { .workload = two,
					.assignment = args,
					.n_assignments = n,
					.around = around,
					.n_arounds = arounds,
					.depth = "1,64",
					.mode = "stream",
					.design = design_of(false) };

	return plan_make(p, &r);
}

static void expect_point(const struct plan *p, int point, const char *want)
{
	char text[160];

	cr_assert(lt(int, point, p->n_points), "%d points", p->n_points);
	plan_point_text(p, point, text, sizeof(text));
	cr_assert(eq(str, text, (char *)want), "%s", text);
}

Test(small_sweep_own, a_parameter_is_for_the_workload_in_front_of_the_dot)
{
	char *args[] = { "twin.cells=7,9", "fake.cells=5", "solver=rk4" };
	struct plan p;

	cr_assert(zero(int, make_plan(&p, args, 3, NULL, 0)), "plan");
	cr_assert(eq(int, p.n_points, 2 + 4), "%d", p.n_points);
	expect_point(&p, 0, "fake cells=5 solver=rk4 stream depth 1");
	expect_point(&p, 2, "twin cells=7 solver=rk4 stream depth 1");
	expect_point(&p, 5, "twin cells=9 solver=rk4 stream depth 64");
	plan_release(&p);
}

Test(small_sweep_own, side_axes_of_the_other_workload_stay)
{
	char *args[] = { "cells=1:3:+1", "twin.launches=2" };
	char *sizes[] = { "twin.cells=1" };
	struct plan_request r = { .workload = two,
				  .assignment = sizes,
				  .n_assignments = 1,
				  .mode = "stream",
				  .design = design_of(false) };
	struct plan p;

	cr_assert(zero(int, make_plan(&p, args, 2, NULL, 0)), "plan");
	cr_assert(eq(int, p.n_points, 6 + 6), "%d", p.n_points);
	plan_release(&p);
	/* the user chose twin's grid alone: fake goes around the centre of its own */
	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	cr_assert(eq(int, p.n_points, (3 * 13 + 2) + 13), "%d", p.n_points);
	plan_release(&p);
}

Test(small_sweep_own, around_the_centre_of_one)
{
	char *args[] = { "cells=1" }, *around[] = { "twin.solver=rk4,euler" };
	struct plan p;

	cr_assert(zero(int, make_plan(&p, args, 1, around, 1)), "plan");
	cr_assert(eq(int, p.n_points, 2 + 2 + 2), "%d", p.n_points);
	expect_point(&p, 5, "twin cells=1 solver=euler stream depth 64");
	plan_release(&p);
}

Test(small_sweep_own, a_preset_of_one)
{
	static const struct preset presets[] = { { "big", "cells=99 launches=3", "" },
						 { NULL, NULL, NULL } };
	char *args[] = { "twin.preset=big", "twin.launches=4", "fake.cells=1" };
	struct plan p;

	twin.presets = presets;
	cr_assert(zero(int, make_plan(&p, args, 3, NULL, 0)), "plan");
	cr_assert(eq(int, p.n_points, 4), "%d", p.n_points);
	expect_point(&p, 0, "fake cells=1 stream depth 1");
	expect_point(&p, 2, "twin cells=99 launches=4 stream depth 1");
	plan_release(&p);
}

Test(small_sweep_own, records_keep_what_each_was_given)
{
	char *args[] = { "twin.cells=7,9", "fake.cells=5" };
	struct plan p, back;
	json_t *o;

	cr_assert(zero(int, make_plan(&p, args, 2, NULL, 0)), "plan");
	o = plan_json(&p);
	cr_assert(zero(int, plan_parse(&back, o, two, "")), "parse");
	for (int i = 0; i < p.n_points; i++)
		cr_assert(eq(str, back.point[i].key, p.point[i].key), "point %d", i);
	expect_point(&back, 3, "twin cells=7 stream depth 64");
	json_decref(o);
	plan_release(&p);
	plan_release(&back);
}

static void expect_refusal(const char *why, char *arg, char *around)
{
	const char *said;
	struct plan p;
	int err;

	divert_stderr();
	err = make_plan(&p, &arg, arg != NULL, &around, around != NULL);
	said = diverted_stderr();
	plan_release(&p);
	cr_assert(eq(int, err, -EINVAL), "%s", why);
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(ne(ptr, strstr(said, why), NULL), "'%s' in %s", why, said);
}

Test(small_sweep_own, what_is_refused)
{
	expect_refusal("'cells'", "twin.cels=1", NULL);
	expect_refusal("'xyzzyxyzzy'", "xyzzyxyzzy.cells=1", NULL);
	expect_refusal("'launch'", "lanch.us=1", NULL);
	expect_refusal("launch.us=1: ", "launch.us=1", NULL);
	expect_refusal("launch.preset=x: ", "launch.preset=x", NULL);
	expect_refusal("twin", "twin.preset=x", NULL);
	expect_refusal("cells=0: ", "twin.cells=0", NULL);
	expect_refusal("'cells'", "twin.cells", NULL);
	expect_refusal("'sovler'", NULL, "twin.sovler=rk4");
	expect_refusal("'twyn'", NULL, "twyn.solver=rk4");
}

Test(small_sweep_own, given_for_all_and_for_one_is_twice)
{
	char *args[] = { "cells=1", "twin.cells=2" };
	struct plan p;
	const char *said;

	divert_stderr();
	cr_assert(eq(int, make_plan(&p, args, 2, NULL, 0), -EINVAL), "refused");
	said = diverted_stderr();
	cr_assert(ne(ptr, strstr(said, "cells "), NULL), "%s", said);
	plan_release(&p);
}

Test(small_sweep_own, around_one_parameter_twice)
{
	char *around[] = { "solver=rk4", "solver=euler" };
	struct plan p;
	const char *said;

	divert_stderr();
	cr_assert(eq(int, make_plan(&p, NULL, 0, around, 2), -EINVAL), "refused");
	said = diverted_stderr();
	cr_assert(ne(ptr, strstr(said, "solver is given twice"), NULL), "%s", said);
	plan_release(&p);
}
