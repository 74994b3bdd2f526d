/*
 * test_sweep_express.c - rift sweep --express: which points it takes, how its design differs from a
 * quick one, and what it is refused with.
 */
#include "tests/test.h"
#include "harness/base/command.h"
#include "harness/measure/plan.h"
#include "harness/measure/plan_record.h"
#include "tests/cli.h"
#include "workloads/workload.h"

TestSuite(small_sweep_express, .timeout = 300);
TestSuite(large_sweep_express, .timeout = 300);

static struct plan express(const char *name, const char *size, const char *depth)
{
	const struct workload *const w[] = { workload_find(name), NULL };
	struct plan_request r = {
		.workload = w, .size = size, .depth = depth, .design = design_of(true)
	};
	struct plan p;

	design_express(&r.design);
	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	return p;
}

/* Points of the size with this number, of a mode. */
static int count_points(const struct plan *p, int size_index, enum mode mode, int64_t depth_most)
{
	int n = 0;

	for (int i = 0; i < p->n_points; i++)
		n += p->config[p->point[i].config].size_index == size_index &&
		     p->point[i].mode == mode && p->point[i].depth <= depth_most;
	return n;
}

Test(small_sweep_express, the_smallest_kernel_at_all_depths_and_three_larger_at_two)
{
	struct plan p = express("launch", NULL, NULL);
	int all = 0;

	for (int mode = 0; mode < MODE_COUNT; mode++) {
		cr_assert(eq(int, count_points(&p, 0, (enum mode)mode, 256), 4), "mode %d", mode);
		for (int size = 2; size <= 4; size++)
			cr_assert(eq(int, count_points(&p, size, (enum mode)mode, 16), 2),
				  "size %d", size);
		all += 4 + 3 * 2;
	}
	cr_assert(eq(int, p.n_points, all), "and no others: %d", p.n_points);
	plan_release(&p);
}

Test(small_sweep_express, what_is_named_is_taken)
{
	struct plan p = express("launch", "7,300", "1,2,4");

	cr_assert(eq(int, p.n_points, 2 * 3 * MODE_COUNT), "%d", p.n_points);
	plan_release(&p);
}

Test(small_sweep_express, its_design_is_a_quick_one_with_more_processes_in_less_time)
{
	struct design quick = design_of(true), d = quick, pairs;

	design_express(&d);
	cr_assert(d.quick && d.express, "both");
	cr_assert(eq(str, (char *)design_name(&d), "express"), "name");
	cr_assert(eq(str, (char *)design_name(&quick), "quick"), "name");
	cr_assert(lt(int, quick.processes, d.processes), "%d", d.processes);
	cr_assert(lt(i64, d.warmup_max_ns, quick.warmup_max_ns), "warm-up");
	cr_assert(lt(i64, d.pause_max_ns, quick.pause_max_ns), "pauses");
	pairs = d;
	design_pairs(&pairs);
	cr_assert(eq(int, pairs.processes, 9), "%d", pairs.processes);
	design_pairs(&quick);
	cr_assert(lt(i64, pairs.visit_ns, quick.visit_ns), "turns are shorter");
}

Test(small_sweep_express, it_is_read_back)
{
	struct plan p = express("launch", NULL, NULL), again;
	json_t *o = plan_json(&p);

	cr_assert(zero(int, plan_parse(&again, o, workloads, "")), "parse");
	cr_assert(again.design.express && again.design.quick, "express");
	json_decref(o);
	plan_release(&p);
	plan_release(&again);
}

Test(large_sweep_express, quick_and_express_are_two_designs)
{
	refused(3, "--express", "sweep launch --quick --express --dry-run");
	refused(3, "--resume", "sweep --express --resume none.jsonl");
}
