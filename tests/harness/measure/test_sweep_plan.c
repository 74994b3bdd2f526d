/*
 * test_sweep_plan.c - harness/measure/plan.h: which points, their keys, the plan as a record and
 * back.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/measure/estimate.h"
#include "harness/measure/plan.h"
#include "harness/measure/plan_record.h"
#include "tests/fake_plan.h"
#include "tests/fake_workload.h"
#include "workloads/launch/launch.h"

TestSuite(small_sweep_plan, .timeout = 300);

/*
 * What docs/guide/kernel-length.md and docs/reference/sweep.md say of a sweep, and in parentheses
 * of a quick one.
 */
Test(small_sweep_plan, what_is_measured_by_default)
{
	const struct design full = design_of(false), quick = design_of(true);
	const double ms = 1e6;

	cr_assert(not(full.quick), "full");
	cr_assert(quick.quick, "quick");
	cr_assert(full.sequential && full.processes == 30, "at most 30 processes");
	cr_assert(not(quick.sequential), "a fixed number");
	cr_assert(eq(int, quick.processes, 5), "5 processes");
	cr_assert(full.half_width_max == 0.02 && quick.half_width_max == 0.05, "widths");
	cr_assert(full.rounds == 5 && quick.rounds == 3, "rounds");
	cr_assert(full.visit_ns == 2 * ms && quick.visit_ns == 0.5 * ms, "visits");
	cr_assert(full.blocks_min == 3 && quick.blocks_min == 3, "least blocks of a visit");
	cr_assert(full.blocks_max == 200 && quick.blocks_max == 50, "most blocks of a visit");
	cr_assert(full.warmup_min_ns == 500 * ms && full.warmup_max_ns == 5000 * ms, "warm-up");
	cr_assert(quick.warmup_min_ns == 300 * ms && quick.warmup_max_ns == 1000 * ms, "warm-up");
	cr_assert(full.pause_min_ns == 200 * ms && full.pause_max_ns == 1000 * ms, "pauses");
	cr_assert(quick.pause_min_ns == 200 * ms && quick.pause_max_ns == 400 * ms, "pauses");
	cr_assert(full.check_steps == 256 && quick.check_steps == 256, "steps that are checked");
}

Test(small_sweep_plan, sizes_of_the_workload_depths_of_the_design)
{
	struct plan p = fake_plan(NULL, NULL, NULL, 0);

	cr_assert(eq(int, p.n_configs, 3 + 2), "1,32,1k, and aside launches=4, solver=euler");
	cr_assert(eq(int, p.n_points, 3 * 13 * 3 + 2 * 3), "1 to 4096 by 2, three modes");
	plan_release(&p);
}

/* So many that a pair on the wrong side does not leave each workload open. */
Test(small_sweep_plan, pairs_are_as_many_as_the_workloads_need)
{
	static const int want[][2] = { { 1, 9 }, { 2, 9 }, { 3, 12 }, { 7, 12 }, { 8, 13 } };

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const struct workload *some[16] = { NULL };
		struct plan_request r = { .workload = some,
					  .depth = "1",
					  .mode = "stream",
					  .design = design_of(true),
					  .pairs_by_workloads = true };
		struct plan p;

		design_pairs(&r.design);
		for (int k = 0; k < want[i][0]; k++)
			some[k] = workloads[k];
		cr_assert(zero(int, plan_make(&p, &r)), "%d workloads", want[i][0]);
		cr_assert(eq(int, p.design.processes, want[i][1]), "%d workloads: %d", want[i][0],
			  p.design.processes);
		plan_release(&p);
	}
}

/* A plan of one point is enough; one of none has no workload. */
Test(small_sweep_plan, a_plan_has_the_workloads_of_its_points)
{
	static const struct workload other = { .name = "other" };
	const struct workload *const table[] = { &workload_fake, workloads[0], NULL };
	struct plan_request r = {
		.workload = table, .depth = "1,4", .mode = "stream", .design = design_of(true)
	};
	struct plan p = fake_plan("1", "stream", NULL, 0);

	while (p.n_points > 1)
		p.n_points--;
	cr_expect(plan_has_workload(&p, &workload_fake), "its only one");
	cr_expect(not(plan_has_workload(&p, workloads[0])), "of one point");
	p.n_points = 0;
	cr_expect(not(plan_has_workload(&p, &workload_fake)), "no point");
	plan_release(&p);
	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	cr_expect(plan_has_workload(&p, &workload_fake), "the first");
	cr_expect(plan_has_workload(&p, workloads[0]), "the last");
	cr_expect(not(plan_has_workload(&p, &other)), "another");
	for (int i = 0; i < p.n_configs; i++)
		cr_expect(eq(int, plan_is_first(&p, i),
			     !i || p.config[i].workload != p.config[i - 1].workload),
			  "%d", i);
	plan_release(&p);
}

Test(small_sweep_plan, what_express_and_pairs_change)
{
	struct design d = design_of(true), pairs = design_of(true), full = design_of(false);
	const int64_t ms = 1000000;

	cr_assert(eq(str, (char *)design_name(&d), "quick"), "name");
	cr_assert(eq(str, (char *)design_name(&full), "full"), "name");
	cr_assert(not(design_gave_pairs_up(&d)), "no pairs");
	design_express(&d);
	cr_assert(d.express && !d.pairs, "express");
	cr_assert(eq(str, (char *)design_name(&d), "express"), "name");
	cr_assert(eq(int, d.processes, 9), "%d processes", d.processes);
	cr_assert(d.warmup_min_ns == 100 * ms && d.warmup_max_ns == 1000 * ms / 3, "warm-up");
	cr_assert(d.pause_min_ns == 50 * ms && d.pause_max_ns == 100 * ms, "pauses");
	design_pairs(&d);
	cr_assert(d.pairs && d.visit_ns == ms, "short visits");
	design_pairs(&pairs);
	cr_assert(pairs.pairs && pairs.visit_ns == 4 * ms, "visits");
	cr_assert(eq(int, pairs.processes, 9), "%d processes", pairs.processes);
	cr_assert(eq(int, pairs.rounds, TURNS_LEAST), "%d rounds", pairs.rounds);
	design_pairs(&full);
	cr_assert(eq(int, full.processes, 30), "%d processes", full.processes);
	for (int side = 0; side < 2; side++) {
		pairs.company[0] = pairs.company[1] = 0;
		pairs.company[side] = 1.2;
		cr_assert(design_gave_pairs_up(&pairs), "%d", side);
		pairs.company[side] = NAN;
		cr_assert(design_gave_pairs_up(&pairs), "%d: not known", side);
	}
}

/* By the user, or by the workload where the user names none. */
Test(small_sweep_plan, depths_that_were_named)
{
	char *asks[] = { "asked=25", "cells=1" };
	struct plan p = fake_plan(NULL, "stream", asks + 1, 1);

	cr_assert(not(p.depth_given), "of the design");
	plan_release(&p);
	p = fake_plan("1,4", "stream", asks + 1, 1);
	cr_assert(p.depth_given, "named");
	plan_release(&p);
	p = fake_plan(NULL, "stream", asks, 2);
	cr_assert(p.depth_given && p.n_points == 1 && p.point[0].depth == 25, "asked for");
	plan_release(&p);
	p = fake_plan("1,4", "stream", asks, 2);
	cr_assert(p.depth_given && p.n_points == 2 && p.point[0].depth == 1, "named all the same");
	plan_release(&p);
}

Test(small_sweep_plan, nobody_knows_yet_what_blocks_take)
{
	struct plan p = fake_plan("1,4", NULL, NULL, 0);

	for (int i = 0; i < p.n_points; i++)
		for (int side = 0; side < 2; side++)
			cr_assert(isnan(p.point[i].block_ns[side]), "%d of %d: %g", i, side,
				  p.point[i].block_ns[side]);
	plan_release(&p);
}

Test(small_sweep_plan, any_parameter_is_an_axis)
{
	char *args[] = { "cells=1:4:x2", "solver=rk4,euler", "rate=2" };
	struct plan p = fake_plan("1,8", "stream,fused", args, 3);
	char text[160];

	cr_assert(eq(int, p.n_configs, 6), "3 sizes, 2 solvers");
	cr_assert(eq(int, p.n_points, 24), "2 depths, 2 modes");
	plan_point_text(&p, 23, text, sizeof(text));
	cr_assert(eq(str, text, "fake cells=4 rate=2 solver=euler fused depth 8"), "%s", text);
	plan_release(&p);
}

Test(small_sweep_plan, limits_take_points_away)
{
	char *modes[] = { "modes=nofused" }, *depths[] = { "depth_max=4" };
	struct plan p = fake_plan("1,8", NULL, modes, 1);

	cr_assert(eq(int, p.n_points, 3 * 2 * 2), "no fused");
	cr_assert(eq(int, p.refused, 3), "one a configuration");
	cr_assert(ne(ptr, strstr(p.refused_why, "cannot be fused"), NULL), "%s", p.refused_why);
	plan_release(&p);
	p = fake_plan("1,8", NULL, depths, 1);
	cr_assert(eq(int, p.n_points, 3 * 3), "depth 8 refused");
	plan_release(&p);
}

static void expect_refusal(int err, const char *why, const char *depth, char *arg, char *around)
{
	struct plan_request r = { .workload = fakes,
				  .assignment = &arg,
				  .n_assignments = arg != NULL,
				  .around = &around,
				  .n_arounds = around != NULL,
				  .depth = depth,
				  .design = design_of(false) };
	struct plan p;
	const char *said;
	int got;

	divert_stderr();
	got = plan_make(&p, &r);
	said = diverted_stderr();
	plan_release(&p);
	cr_assert(eq(int, got, -err), "%s", why);
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(ne(ptr, strstr(said, why), NULL), "%s", said);
}

Test(small_sweep_plan, what_is_refused)
{
	expect_refusal(EINVAL, "'cells'", NULL, "cels=1", NULL);
	expect_refusal(EINVAL, "'cells'", NULL, "cells", NULL);
	expect_refusal(EINVAL, "cells=0: ", NULL, "cells=1,0", NULL);
	expect_refusal(EINVAL, "--depth=0: ", "0", NULL, NULL);
	expect_refusal(EINVAL, "rift run", NULL, "action=yes", NULL);
	expect_refusal(ENODEV, "likes none", NULL, "device=none", NULL);
	expect_refusal(EINVAL, "nothing is allowed", NULL, "modes=none", NULL);
	expect_refusal(EINVAL, "--around", NULL, NULL, "cells=1,2");
	expect_refusal(EINVAL, "rate=2 ", NULL, "rate=2", NULL);
	expect_refusal(EINVAL, "'sovler'", NULL, NULL, "sovler=rk4");
}

Test(small_sweep_plan, a_parameter_around_the_centre)
{
	char *around[] = { "solver=rk4,rkf78,euler" }, *args[] = { "cells=1,2,4" };
	struct plan_request r = { .workload = fakes,
				  .assignment = args,
				  .n_assignments = 1,
				  .around = around,
				  .n_arounds = 1,
				  .depth = "1,4,16",
				  .mode = "stream",
				  .design = design_of(false) };
	struct plan p;
	char text[160];

	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	/* rkf78, the default, is the centre of the grid already */
	cr_assert(eq(int, p.n_points, 9 + 2), "%d points", p.n_points);
	plan_point_text(&p, 10, text, sizeof(text));
	cr_assert(eq(str, text, "fake cells=2 solver=euler stream depth 4"), "%s", text);
	plan_release(&p);
}

/* How many points a full or quick plan has with one assignment or around, or none. */
static int count_points(bool quick, const char *size, char *arg, char *around)
{
	struct plan_request r = { .workload = fakes,
				  .assignment = &arg,
				  .n_assignments = arg != NULL,
				  .around = &around,
				  .n_arounds = around != NULL,
				  .size = size,
				  .mode = "stream",
				  .design = design_of(quick) };
	struct plan p;
	int n;

	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	n = p.n_points;
	plan_release(&p);
	return n;
}

Test(small_sweep_plan, side_axes_of_the_workload)
{
	char text[160];
	struct plan p = fake_plan(NULL, "fused", NULL, 0);

	plan_point_text(&p, 39, text, sizeof(text));
	cr_assert(eq(str, text, "fake cells=32 launches=4 fused depth 64"), "%s", text);
	plan_point_text(&p, 40, text, sizeof(text));
	cr_assert(eq(str, text, "fake cells=32 solver=euler fused depth 64"), "%s", text);
	plan_release(&p);
	cr_assert(eq(int, count_points(false, NULL, NULL, NULL), 3 * 13 + 2), "full");
	cr_assert(eq(int, count_points(true, NULL, NULL, NULL), 3 * 7), "quick: none");
	cr_assert(eq(int, count_points(false, "1,32", NULL, NULL), 2 * 13), "a grid of the user");
	cr_assert(eq(int, count_points(false, NULL, "cells=1,32", NULL), 2 * 13), "the same");
	/* named, once as an axis of the grid, once around it with other values */
	cr_assert(eq(int, count_points(false, NULL, "launches=1,2", NULL), 2 * 3 * 13 + 1), "axis");
	cr_assert(eq(int, count_points(false, NULL, NULL, "launches=2,3,5"), 3 * 13 + 3 + 1),
		  "around");
}

Test(small_sweep_plan, side_axes_of_every_workload_are_values_it_takes)
{
	for (size_t i = 0; workloads[i]; i++) {
		const struct workload *const one[] = { workloads[i], NULL };
		struct plan_request r = { .workload = one, .design = design_of(false) };
		struct plan p;

		cr_assert(zero(int, plan_make(&p, &r)), "%s", workloads[i]->name);
		plan_release(&p);
	}
}

Test(small_sweep_plan, keys_are_of_the_configuration_not_of_the_plan)
{
	char *two[] = { "cells=1,2" }, *one[] = { "cells=2" };
	struct plan a = fake_plan("1,8", "stream", two, 1), b = fake_plan("8", "stream", one, 1);

	cr_assert(eq(str, a.point[3].key, b.point[0].key), "cells=2 stream depth 8 in both");
	for (int i = 0; i < a.n_points; i++)
		for (int k = 0; k < i; k++)
			cr_assert(ne(int, strcmp(a.point[i].key, a.point[k].key), 0), "%d %d", i,
				  k);
	plan_release(&a);
	plan_release(&b);
}

/* The key of the first point of data/sessions/h200-launch.jsonl, which knows nothing of hold_*. */
Test(small_sweep_plan, keys_from_before_a_parameter_are_kept)
{
	static const char kept[] =
		"b44b01f48c588f386aeeb834fd1a869b1df772c74601bda6121640b1238a8006";
	static const struct workload *const launch[] = { &workload_launch, NULL };
	char *words[] = { "us=0", "hold_pinned=0,1M" };
	struct plan_request r = { .workload = launch,
				  .assignment = words,
				  .n_assignments = 2,
				  .depth = "1",
				  .mode = "stream",
				  .design = design_of(false) };
	struct plan p;

	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	cr_assert(eq(int, p.n_points, 2));
	cr_assert(eq(str, p.point[0].key, (char *)kept));
	cr_assert(ne(int, strcmp(p.point[1].key, kept), 0), "hold_pinned=1M");
	plan_release(&p);
}

Test(small_sweep_plan, a_plan_survives_its_record)
{
	char *args[] = { "cells=1,2", "layers=7,8/9,10", "depth_max=9", "launches=2" };
	struct plan p = fake_plan("1,8", NULL, args, 4), back;
	json_t *o, *again;
	char want[HASH_TEXT], got[HASH_TEXT];

	p.config[1].timing[0].step_ns = 1234;
	p.config[1].timing[0].ends_ns = 99;
	predict_blocks(&p);
	o = plan_json(&p);
	cr_assert(zero(int, plan_parse(&back, o, fakes, "s.jsonl:1: ")), "parse");
	again = plan_json(&back);
	hash_json(o, want);
	hash_json(again, got);
	cr_assert(eq(str, got, want), "the same text");
	cr_assert(eq(int, ((struct fake_opts *)back.config[1].params.opts)->layers.n, 2), "list");
	json_decref(o);
	json_decref(again);
	plan_release(&p);
	plan_release(&back);
}

/* Readers reserve memory for all of them; 2^32 + 1 is what an int takes for 1. */
Test(small_sweep_plan, more_processes_than_anybody_plans_are_refused)
{
	static const json_int_t bad[] = { 2000000000, 4294967297 };
	char *args[] = { "cells=1,2" };
	struct plan p = fake_plan("1,8", NULL, args, 1), back;
	json_t *o = plan_json(&p);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		json_object_set_new(json_object_get(o, "design"), "processes",
				    json_integer(bad[i]));
		divert_stderr();
		cr_assert(eq(int, plan_parse(&back, o, fakes, "s.jsonl:1: "), -EINVAL), "%ld",
			  (long)bad[i]);
		cr_assert(is_one_complaint(diverted_stderr()), "%ld", (long)bad[i]);
		plan_release(&back);
	}
	json_decref(o);
	plan_release(&p);
}

/* Changes something in a plan's record: the line that refuses it names the file and says this. */
static void damaged(const char *change, const char *want)
{
	char *args[] = { "cells=1,2" };
	struct plan p = fake_plan("1,8", NULL, args, 1), back;
	json_t *o = plan_json(&p), *with = json_loads(change, 0, NULL);
	const char *said;
	int err;

	cr_assert(ne(ptr, with, NULL), "%s", change);
	json_object_update(json_object_get(o, "design"), json_object_get(with, "design"));
	json_object_update(json_array_get(json_object_get(o, "points"), 3),
			   json_object_get(with, "point"));
	json_object_update(json_array_get(json_object_get(o, "configs"), 1),
			   json_object_get(with, "config"));
	if (json_object_get(with, "points"))
		json_object_set(o, "points", json_object_get(with, "points"));
	divert_stderr();
	err = plan_parse(&back, o, fakes, "s.jsonl:1: ");
	said = diverted_stderr();
	cr_assert(eq(int, err, -EINVAL), "%s", change);
	cr_assert(is_one_complaint(said), "%s: %s", change, said);
	cr_assert(zero(int, strncmp(said, "rift: s.jsonl:1: ", 17)), "%s: %s", change, said);
	cr_assert(ne(ptr, strstr(said, want), NULL), "'%s' in %s", want, said);
	plan_release(&back);
	plan_release(&p);
	json_decref(with);
	json_decref(o);
}

/* A design with this value there: is it read? */
static bool is_read(const char *field, json_int_t value)
{
	char *args[] = { "cells=1" };
	struct plan p = fake_plan("1", "stream", args, 1), back;
	json_t *o = plan_json(&p);
	int err;

	json_object_set_new(json_object_get(o, "design"), field, json_integer(value));
	divert_stderr();
	err = plan_parse(&back, o, fakes, "s.jsonl:1: ");
	diverted_stderr();
	plan_release(&back);
	plan_release(&p);
	json_decref(o);
	return !err;
}

/* Both ends belong to it; a day is 86400 s. */
Test(small_sweep_plan, fields_of_a_design_have_ranges)
{
	static const json_int_t day = INT64_C(86400000000000);
	static const struct {
		const char *field;
		json_int_t least, most;
	} rows[] = { { "processes", 1, 100000 },     { "rounds", 1, 100 },
		     { "visit_ns", 1, day },	     { "blocks_min", 1, 200 },
		     { "blocks_max", 3, 1000000 },   { "warmup_min_ns", 0, day },
		     { "warmup_max_ns", 0, day },    { "pause_min_ns", 0, day },
		     { "pause_max_ns", 0, day },     { "check_steps", 1, 16777216 },
		     { "lock_clocks_mhz", 1, 10000 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cr_assert(is_read(rows[i].field, rows[i].least), "%s, least", rows[i].field);
		cr_assert(is_read(rows[i].field, rows[i].most), "%s, most", rows[i].field);
		cr_assert(not(is_read(rows[i].field, rows[i].least - 1)), "%s", rows[i].field);
		cr_assert(not(is_read(rows[i].field, rows[i].most + 1)), "%s", rows[i].field);
	}
}

/* Nothing is shorter than no time; nobody knows is another thing. */
Test(small_sweep_plan, blocks_may_take_no_time)
{
	static const double times[] = { 0, 0.5, NAN };
	char *args[] = { "cells=1" };

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct plan p = fake_plan("1", "stream", args, 1), back;
		json_t *o = plan_json(&p);
		json_t *point = json_array_get(json_object_get(o, "points"), 0);

		json_object_set_new(point, "block_ns",
				    isnan(times[i]) ? json_null() : json_real(times[i]));
		cr_assert(zero(int, plan_parse(&back, o, fakes, "s.jsonl:1: ")), "%g", times[i]);
		plan_release(&back);
		plan_release(&p);
		json_decref(o);
	}
}

Test(small_sweep_plan, a_damaged_plan_is_refused)
{
	damaged("{\"points\":[]}", ": points ");
	damaged("{\"design\":{\"rounds\":0}}", "design.rounds ");
	damaged("{\"design\":{\"rounds\":101}}", "design.rounds");
	damaged("{\"design\":{\"rounds\":\"5\"}}", "design.rounds");
	damaged("{\"design\":{\"rounds\":null}}", "design.rounds");
	damaged("{\"design\":{\"visit_ns\":0}}", "design.visit_ns");
	damaged("{\"design\":{\"blocks_min\":0}}", "design.blocks_min");
	damaged("{\"design\":{\"blocks_max\":2}}", "design.blocks_max ");
	damaged("{\"design\":{\"warmup_max_ns\":-1}}", "design.warmup_max_ns");
	damaged("{\"design\":{\"check_steps\":0}}", "design.check_steps ");
	damaged("{\"design\":{\"sync\":\"sleep\"}}", "design.sync");
	damaged("{\"design\":{\"lock_clocks_mhz\":0}}", "design.lock_clocks_mhz ");
	damaged("{\"design\":{\"lock_clocks_mhz\":\"low\"}}", "lock_clocks_mhz");
	damaged("{\"point\":{\"depth\":0}}", "points[3].depth ");
	damaged("{\"point\":{\"depth\":16777217}}", "points[3].depth");
	damaged("{\"point\":{\"depth\":1.5}}", "points[3].depth");
	damaged("{\"point\":{\"config\":2}}", "points[3].config ");
	damaged("{\"point\":{\"config\":-1}}", "points[3].config");
	damaged("{\"point\":{\"config\":4294967296}}", "points[3].config");
	damaged("{\"point\":{\"mode\":\"steam\"}}", "points[3].mode ");
	damaged("{\"point\":{\"key\":\"12\"}}", "points[3].key");
	damaged("{\"point\":{\"block_ns\":-1}}", "points[3].block_ns");
	damaged("{\"config\":{\"workload\":\"gone\"}}", "'gone'");
	damaged("{\"config\":{\"set\":{\"cells\":\"0\"}}}", "cells=0: ");
	damaged("{\"config\":{\"set\":{\"sells\":\"2\"}}}", "'sells'");
}

Test(small_sweep_plan, a_record_holds_how_long_each_side_takes_to_begin)
{
	struct plan p = fake_plan("1", "stream", NULL, 0), again;
	json_t *o;

	for (int side = 0; side < 2; side++) {
		p.start_ns[side] = 1e9 + side;
		p.calibrate_ns[side] = 2e9 + side;
		p.warmup_ns[side] = 3e9 + side;
	}
	o = plan_json(&p);
	cr_assert(zero(int, plan_parse(&again, o, fakes, "")), "parse");
	for (int side = 0; side < 2; side++) {
		cr_assert(eq(dbl, again.start_ns[side], 1e9 + side), "%d", side);
		cr_assert(eq(dbl, again.calibrate_ns[side], 2e9 + side), "%d", side);
		cr_assert(eq(dbl, again.warmup_ns[side], 3e9 + side), "%d", side);
	}
	json_decref(o);
	plan_release(&p);
	plan_release(&again);
}
