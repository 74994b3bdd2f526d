/*
 * test_sweep_predict.c - harness/measure/estimate.h, choose.h: how long a session will take, and
 * what is left out for the sake of time.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/cmd/sweep_text.h"
#include "harness/measure/choose.h"
#include "harness/measure/estimate.h"
#include "harness/session/watch.h"
#include "tests/fake_plan.h"
#include "tests/fake_workload.h"

TestSuite(small_sweep_predict, .timeout = 300);

/* Steps that take as long as the fake has cells, in units of this. */
static void set_timing(struct plan *p, double ns)
{
	for (int i = 0; i < p->n_configs; i++) {
		const struct fake_opts *o = p->config[i].params.opts;

		p->config[i].timing[0].setup_ns = 0;
		p->config[i].timing[0].gap_ns = 0;
		p->config[i].timing[0].ends_ns = 5000;
		p->config[i].timing[0].step_ns = ns * (double)o->cells;
	}
	p->start_ns[0] = 0;
	predict_blocks(p);
}

Test(small_sweep_predict, long_blocks_are_no_points_of_a_design)
{
	struct plan p = fake_plan(NULL, "stream", NULL, 0);

	set_timing(&p, 1e6); /* 1, 32 and 1024 ms a step */
	predict_drop_long(&p, 1);
	/* depths 1 to 64 of the first size, 1 and 2 of the second */
	cr_assert(eq(int, p.n_points, 7 + 2), "%d points", p.n_points);
	cr_assert(eq(int, p.n_configs, 2), "the third size has none left");
	for (int i = 0; i < p.n_points; i++)
		cr_assert(le(dbl, p.point[i].block_ns[0], BLOCK_LONGEST_NS), "%d", i);
	plan_release(&p);
}

/* Depths 1 and 4; the first block is as long as any may be, the second a little longer. */
Test(small_sweep_predict, a_block_of_the_longest_time_is_kept)
{
	struct plan p = fake_plan("1,4", "stream", NULL, 0);

	set_timing(&p, 1);
	p.point[0].block_ns[0] = 100e6;
	p.point[1].block_ns[0] = nextafter(100e6, INFINITY);
	cr_assert(eq(int, predict_drop_long(&p, 1), 1), "one");
	cr_assert(eq(dbl, p.point[0].block_ns[0], 100e6), "%g", p.point[0].block_ns[0]);
	cr_assert(ne(dbl, p.point[1].block_ns[0], nextafter(100e6, INFINITY)), "that one");
	/* the side that takes longer counts, where there are two */
	p.point[0].block_ns[1] = 200e6;
	cr_assert(zero(int, predict_drop_long(&p, 1)), "one side");
	cr_assert(eq(int, predict_drop_long(&p, 2), 1), "two");
	plan_release(&p);
}

Test(small_sweep_predict, what_the_user_named_stays)
{
	char *args[] = { "cells=1k" };
	struct plan p = fake_plan(NULL, "stream", args, 1);

	set_timing(&p, 1e6);
	predict_drop_long(&p, 1);
	cr_assert(eq(int, p.n_points, 1), "depth 1 of the size that was named");
	plan_release(&p);
	p = fake_plan("1,8", "stream", args, 1);
	set_timing(&p, 1e6);
	cr_assert(zero(int, predict_drop_long(&p, 1)), "both were named");
	plan_release(&p);
}

Test(small_sweep_predict, launches_over_the_limit_go_and_depth_1_stays_below)
{
	struct plan p = fake_plan(NULL, "stream", NULL, 0);
	double max_ns = 0;

	set_timing(&p, 4e6); /* 4, 128 and 4096 ms */
	for (int i = 0; i < p.n_configs; i++)
		p.config[i].timing[0].launch_max_ns = 1e9;
	cr_assert(eq(int, predict_drop_launches(&p, 1, &max_ns), 13),
		  "all depths of the third size");
	cr_assert(eq(dbl, max_ns, 1e9), "the limit");
	for (int i = 0; i < p.n_configs; i++) /* more than one launch of 4 ms, less than two */
		p.config[i].timing[0].launch_max_ns = i ? 1e9 : 6e6;
	cr_assert(zero(int, predict_drop_launches(&p, 1, &max_ns)), "a launch is one step");
	predict_drop_long(&p, 1);
	cr_assert(eq(int, p.n_points, 5 + 1), "%d points", p.n_points);
	cr_assert(eq(i64, p.point[5].depth, 1), "128 ms");
	plan_release(&p);
}

Test(small_sweep_predict, launches_the_user_named_go_and_fused_ones_are_as_long_as_blocks)
{
	char *args[] = { "cells=32" };
	struct plan p = fake_plan("1,16", "stream,fused", args, 1);
	double max_ns;

	set_timing(&p, 1e6);
	p.config[0].timing[0].launch_max_ns = 1e8;
	cr_assert(eq(int, predict_drop_launches(&p, 1, &max_ns), 1), "16 x 32 ms in one launch");
	for (int i = 0; i < p.n_points; i++)
		cr_assert(p.point[i].mode == MODE_STREAM || p.point[i].depth == 1, "%d", i);
	cr_assert(zero(int, predict_drop_long(&p, 1)), "what else was named stays");
	plan_release(&p);
}

Test(small_sweep_predict, large_and_deep_points_go_first)
{
	char *args[] = { "cells=1:256:x4" };
	struct plan p = fake_plan("1:256:x4", "stream", args, 1);
	int all = p.n_points, dropped, edge = 0;
	double before, least;

	set_timing(&p, 1000);
	before = predict_session_ns(&p, 1);
	dropped = predict_choose(&p, 1, 1, 0.8 * before, &least);
	cr_assert(lt(int, 0, dropped), "something must go");
	cr_assert(eq(int, p.n_points, all - dropped), "count");
	cr_assert(le(dbl, predict_session_ns(&p, 1), 0.8 * before), "limit");
	cr_assert(epsilon_eq(dbl, predict_session_ns(&p, 1), least, 1), "as predicted");
	for (int i = 0; i < p.n_points; i++) {
		const struct fake_opts *o = p.config[p.point[i].config].params.opts;

		edge += p.point[i].depth == 1 || o->cells == 1;
		cr_assert(not(p.point[i].depth == 256 && o->cells == 256), "the corner stayed");
	}
	cr_assert(eq(int, edge, 5 + 4), "depth 1 and the first size stay: %d", edge);
	plan_release(&p);
}

static bool has_stream_point(const struct plan *p, uint64_t cells, int64_t depth)
{
	for (int i = 0; i < p->n_points; i++) {
		const struct fake_opts *o = p->config[p->point[i].config].params.opts;

		if (p->point[i].mode == MODE_STREAM && p->point[i].depth == depth &&
		    (uint64_t)o->cells == cells)
			return true;
	}
	return false;
}

/* Two blocks of larger kernels in a row, which tell a gap between them; a quick design has time. */
Test(small_sweep_predict, an_express_design_keeps_what_tells_a_gap)
{
	for (int express = 0; express < 2; express++) {
		char *args[] = { "cells=1,16,32,64" };
		struct plan p = fake_plan("1,16,64", "stream,graph", args, 1);
		struct plan bare;
		double least, bare_ns;

		p.design.express = express;
		for (int i = 0; i < p.n_configs; i++) /* it has not all sizes of its workload */
			p.config[i].size_index *= 2;
		set_timing(&p, 1); /* all points cost about the same */
		bare = p;
		bare.n_points = bare.n_configs = 0;
		bare_ns = predict_session_ns(&bare, 1);
		/* about 11 of 24 points */
		cr_assert(lt(int, 0,
			     predict_choose(&p, 1, 1,
					    bare_ns + 0.46 * (predict_session_ns(&p, 1) - bare_ns),
					    &least)),
			  "something goes");
		cr_expect(eq(int, has_stream_point(&p, 1, 64), 1), "the smallest size");
		cr_expect(eq(int, has_stream_point(&p, 16, 1), 1), "one of the next");
		cr_expect(eq(int, has_stream_point(&p, 16, 16), express), "design %d", express);
		cr_expect(eq(int, has_stream_point(&p, 32, 16), express), "design %d", express);
		cr_expect(eq(int, has_stream_point(&p, 64, 1), !express), "design %d", express);
		plan_release(&p);
	}
}

/* What set-ups of configurations that go would have taken is free for other points. */
Test(small_sweep_predict, set_ups_go_with_their_points)
{
	char *args[] = { "cells=1,2,4,8" };
	struct plan p = fake_plan("1:8:x2", "stream", args, 1);
	double least, limit;

	set_timing(&p, 1000);
	for (int i = 0; i < p.n_configs; i++)
		p.config[i].timing[0].setup_ns = i < 2 ? 0 : 1e9;
	limit = predict_session_ns(&p, 1) - 2e9 * p.design.processes + 1e6;
	cr_assert(le(int, 0, predict_choose(&p, 1, 1, limit, &least)), "enough");
	cr_assert(eq(int, p.n_points, 8), "all depths of the two sizes: %d", p.n_points);
	cr_assert(eq(int, p.n_configs, 2), "no set-up is left of the others: %d", p.n_configs);
	plan_release(&p);
}

/* Eight points by size and depth need four sizes; there is time to set up two. */
Test(small_sweep_predict, where_time_is_short_a_workload_has_fewer_sizes)
{
	char *args[] = { "cells=1,2,4,8" };
	struct plan p = fake_plan("1:8:x2", "stream", args, 1);
	double least, limit;

	set_timing(&p, 1000);
	limit = predict_session_ns(&p, 1);
	for (int i = 0; i < p.n_configs; i++)
		p.config[i].timing[0].setup_ns = 1e9;
	limit += 2e9 * p.design.processes;
	cr_assert(le(int, 0, predict_choose(&p, 1, 1, limit, &least)), "%g of %g", least, limit);
	cr_assert(le(dbl, least, limit), "in time");
	cr_assert(eq(int, p.n_configs, 2), "sizes: %d", p.n_configs);
	cr_assert(le(int, QUICK_POINTS_LEAST, p.n_points), "points: %d", p.n_points);
	plan_release(&p);
}

/* Two sizes, two depths; on a machine that is busy each process takes its time to start. */
static struct plan slow_starts(double start_ns)
{
	struct plan p = four_points(fakes, true);

	set_timing(&p, 1000);
	p.design.express = true;
	p.design.processes = 9;
	p.start_ns[0] = start_ns;
	p.calibrate_ns[0] = p.warmup_ns[0] = 0;
	return p;
}

Test(small_sweep_predict, where_time_is_short_there_are_fewer_processes_of_the_designs_own)
{
	for (int own = 0; own < 2; own++) {
		struct plan p = slow_starts(2e9);
		double least;

		cr_expect(eq(int, predict_choose_at_all(&p, 1, 1, own, 15e9, 15e9, &least),
			     own ? 0 : -1),
			  "own %d: %g", own, least);
		cr_expect(eq(int, p.design.processes, own ? 6 : 9), "own %d: %d", own,
			  p.design.processes);
		cr_expect(eq(int, p.n_points, POINTS), "points");
		plan_release(&p);
	}
}

Test(small_sweep_predict, then_it_takes_longer_and_beyond_that_it_is_refused)
{
	for (int enough = 0; enough < 2; enough++) {
		struct plan p = slow_starts(6e9);
		double least;

		cr_expect(eq(int,
			     predict_choose_at_all(&p, 1, 1, true, 15e9, enough ? 30e9 : 17e9,
						   &least),
			     enough ? 0 : -1),
			  "%d", enough);
		cr_expect(eq(int, p.design.processes, QUICK_PROCESSES_LEAST), "%d",
			  p.design.processes);
		cr_expect(lt(dbl, 18e9, least), "%g", least);
		cr_expect(eq(int, p.n_points, POINTS), "points");
		plan_release(&p);
	}
}

Test(small_sweep_predict, a_limit_that_cannot_be_met_drops_nothing)
{
	struct plan p = fake_plan(NULL, "stream", NULL, 0);
	int all = p.n_points;
	double least;

	set_timing(&p, 1000);
	cr_assert(eq(int, predict_choose(&p, 2, 1, 1e9, &least), -1), "8 points take longer");
	cr_assert(eq(int, p.n_points, all), "%d", p.n_points);
	cr_assert(lt(dbl, 1e9, least), "and it says how long: %g", least);
	plan_release(&p);
}

Test(small_sweep_predict, prediction_counts_checks_and_calibration)
{
	char *args[] = { "cells=1" };
	struct plan p = fake_plan("1,1k", "stream", args, 1);
	double one, block_ns;

	set_timing(&p, 1000);
	p.calibrate_ns[0] = 0;
	one = predict_session_ns(&p, 1);
	p.calibrate_ns[0] = 1e9;
	cr_assert(epsilon_eq(dbl, predict_session_ns(&p, 1), one + 1e9 * p.design.processes, 1),
		  "each process");
	p.calibrate_ns[0] = 0;
	p.config[0].timing[0].check_ends_ns = 2e6;
	p.config[0].timing[0].check_step_ns = 1e5;
	/* at most 256 steps are checked, in a block of their own where the point's is longer */
	block_ns = p.config[0].timing[0].ends_ns + 256 * p.config[0].timing[0].step_ns;
	cr_assert(epsilon_eq(dbl, predict_check_ns(&p, 0, 0), 2e6, 1), "depth 1");
	cr_assert(epsilon_eq(dbl, predict_check_ns(&p, 0, 1), 256e5 + block_ns, 1), "1k");
	/* all of them once a side (the block was counted before); what comes on top is a share of
	 * the visits */
	cr_assert(epsilon_eq(dbl, predict_session_ns(&p, 2), 2 * (one + 2e6 + 256e5), 1),
		  "each side");
	plan_release(&p);
}

Test(small_sweep_predict, prediction_counts_what_a_session_does)
{
	char *args[] = { "cells=1" };
	struct plan p = fake_plan("1", "stream", args, 1);
	double one;

	set_timing(&p, 1e6);
	one = predict_session_ns(&p, 1);
	cr_assert(epsilon_eq(dbl, predict_session_ns(&p, 2), 2 * one, 1), "two sides");
	p.design.processes *= 3;
	cr_assert(epsilon_eq(dbl, predict_session_ns(&p, 1), 3 * one, 1), "processes");
	/* 3 blocks of 1.005 ms, the smallest number of a visit, and an untimed one */
	cr_assert(le(dbl, 4 * 1.005e6, predict_visit_ns(&p, 0, 0)), "a visit");
	cr_assert(le(dbl, predict_visit_ns(&p, 0, 0), 5 * 1.005e6), "a visit");
	/* what no probe has timed is taken to be as on the other side, or else a block of 10 ms */
	p.point[0].block_ns[1] = NAN;
	cr_assert(eq(dbl, predict_visit_ns(&p, 1, 0), predict_visit_ns(&p, 0, 0)), "side b");
	p.point[0].block_ns[0] = 10e6;
	one = predict_visit_ns(&p, 0, 0);
	p.point[0].block_ns[0] = NAN;
	cr_assert(eq(dbl, predict_visit_ns(&p, 0, 0), one), "neither");
	plan_release(&p);
}

/* ---- each side by its own times ------------------------------------------------------------- */

/* A side that takes that many times as long, whatever it does. */
static void set_side_timing(struct plan *p, int side, double times)
{
	p->start_ns[side] = times * 1e8;
	p->calibrate_ns[side] = times * 2e8;
	for (int i = 0; i < p->n_configs; i++)
		p->config[i].timing[side] = (struct side_timing){ .setup_ns = times * 3e6,
								  .gap_ns = times * 1e5,
								  .ends_ns = times * 8e4,
								  .step_ns = times * 1e4,
								  .check_ends_ns = times * 1e6,
								  .check_step_ns = times * 2e4 };
	predict_blocks(p);
}

/*
 * Blocks of 512 steps: 5.2 and 520 ms. A visit has 3, before short ones an untimed one, with gaps
 * of 0.1 and 10 ms, and 0.6 ms of canaries; a check is of 256 steps, with a block of its own.
 */
Test(small_sweep_predict, a_side_is_predicted_by_its_own_times)
{
	static const double times[2] = { 1, 100 };
	char *args[] = { "cells=1" };
	struct plan p = fake_plan("512", "stream", args, 1);

	p.design.warmup_max_ns = 5000000000;
	p.design.pause_min_ns = 200000000;
	p.design.pause_max_ns = 1000000000;
	p.design.rounds = 5;
	for (int side = 0; side < 2; side++)
		set_side_timing(&p, side, times[side]);
	for (int side = 0; side < 2; side++) {
		double visit = times[side] * (side ? 3 : 4) * 5.3e6 + 0.6e6;
		double check = times[side] * 7.86e6;
		/* 100, 200, 3 and 5.2 ms, and half of what a warm-up may take */
		double start = times[side] * 308.2e6 + 2.5e9;
		/* 5 % of the visits are checks, and 5 % visits that are repeated */
		double process = start + 5 * visit * 1.05;

		cr_assert(epsilon_eq(dbl, predict_visit_ns(&p, side, 0), visit, 1), "%d", side);
		cr_assert(epsilon_eq(dbl, predict_check_ns(&p, side, 0), check, 1), "%d", side);
		cr_assert(epsilon_eq(dbl, predict_start_ns(&p, side), start, 1), "%d", side);
		cr_assert(epsilon_eq(dbl, predict_process_ns(&p, side), process, 1), "%d", side);
		cr_assert(epsilon_eq(dbl, predict_turn_ns(&p, side, 1), process + 600e6, 1), "%d",
			  side);
		cr_assert(epsilon_eq(dbl, predict_turn_ns(&p, side, 0), process + 600e6 + check, 1),
			  "%d", side);
	}
	plan_release(&p);
}

/* Two configurations of a point each, of which every other process is alone with one. */
Test(small_sweep_predict, pairs_and_all_of_a_point)
{
	static const double times[2] = { 1, 100 };
	char *args[] = { "cells=1,2" };
	struct plan p = fake_plan("512", "stream", args, 1);
	double point = 0;

	cr_assert(eq(int, p.n_configs, 2), "%d configurations", p.n_configs);
	p.design.warmup_max_ns = 5000000000;
	p.design.rounds = 5;
	p.design.pairs = true;
	for (int side = 0; side < 2; side++)
		set_side_timing(&p, side, times[side]);
	for (int side = 0; side < 2; side++) {
		double visit = times[side] * (side ? 3 : 4) * 5.3e6 + 0.6e6;
		double visits = 5 * visit * 1.05 + 5 * visit / 2 / 2, block = times[side] * 5.2e6;
		double start = times[side] * (300e6 + 2 * 3e6) + 2.5e9 + 2 * block;

		cr_assert(epsilon_eq(dbl, predict_process_ns(&p, side), start + 2 * visits, 1),
			  "%d", side);
		point += p.design.processes * (visits + block) + times[side] * 7.86e6;
		cr_assert(epsilon_eq(dbl, predict_point_ns(&p, side + 1, 1), point, 1), "%d", side);
	}
	cr_assert(epsilon_eq(dbl, predict_setups_ns(&p, 2, 1), p.design.processes * 303e6, 1), "");
	plan_release(&p);
}

/* Half a second to start and one to calibrate; half of the longest warm-up, or all of a quick one;
 * side b as side a; blocks of 10 ms. */
Test(small_sweep_predict, what_no_probe_has_told)
{
	char *args[] = { "cells=1" };
	struct plan p = fake_plan("512", "stream", args, 1);
	struct side_timing *t = p.config[0].timing;

	p.design.warmup_max_ns = 3000000000;
	for (int side = 0; side < 2; side++) {
		p.start_ns[side] = p.calibrate_ns[side] = p.warmup_ns[side] = NAN;
		t[side] = side_timing_unknown();
		p.point[0].block_ns[side] = NAN;
	}
	for (int side = 0; side < 2; side++) {
		p.design.quick = false;
		cr_expect(epsilon_eq(dbl, predict_start_ns(&p, side), 3.01e9, 1), "%d", side);
		p.design.quick = true;
		cr_expect(epsilon_eq(dbl, predict_start_ns(&p, side), 4.51e9, 1), "%d", side);
		cr_expect(zero(dbl, predict_setups_ns(&p, side + 1, 0)), "%d", side);
		cr_expect(zero(dbl, predict_check_ns(&p, side, 0)), "%d", side);
	}
	p.start_ns[0] = 1e9;
	p.calibrate_ns[0] = 2e9;
	p.warmup_ns[0] = 4e9;
	t[0].setup_ns = 8e9;
	cr_expect(epsilon_eq(dbl, predict_start_ns(&p, 1), 15.01e9, 1), "as side a");
	p.start_ns[1] = 1e8;
	p.calibrate_ns[1] = 2e8;
	p.warmup_ns[1] = 4e8;
	t[1].setup_ns = 8e8;
	cr_expect(epsilon_eq(dbl, predict_start_ns(&p, 1), 1.51e9, 1), "its own");
	plan_release(&p);
}

/* Rounds of a plan whose sides take so many times as long in blocks of 5.2 ms, and nothing else. */
static int rounds_filled(double a, double b)
{
	static const double start_ns = 590e6;
	double times[2] = { a, b };
	char *args[] = { "cells=1" };
	struct plan p = fake_plan("512", "stream", args, 1);
	int rounds;

	p.design.warmup_max_ns = 0;
	for (int side = 0; side < 2; side++) {
		set_side_timing(&p, side, times[side]);
		p.config[0].timing[side].setup_ns = 0;
		p.calibrate_ns[side] = 0;
		p.start_ns[side] = start_ns;
	}
	predict_fill_rounds(&p);
	rounds = p.design.rounds;
	plan_release(&p);
	return rounds;
}

Test(small_sweep_predict, rounds_are_filled_by_both_sides)
{
	/* a start and the first block against a visit: 595.2 / 21.8 ms; twice both */
	cr_assert(eq(int, rounds_filled(1, 1), 27), "alike");
	/* (2 * 590 + 5.2 + 10.4) / (21.8 + 32.4) ms, whichever is slow */
	cr_assert(eq(int, rounds_filled(1, 2), 22), "a slow side b");
	cr_assert(eq(int, rounds_filled(2, 1), 22), "a slow side a");
	cr_assert(eq(int, rounds_filled(1, 100), TURNS_LEAST), "a very slow side b");
	cr_assert(eq(int, rounds_filled(0.01, 0.01), ROUNDS_MAX), "two fast ones");
}

/* As many as there is time for, from those that were asked for on, and never more than may be. */
Test(small_sweep_predict, processes_fill_the_time)
{
	char *args[] = { "cells=1" };
	struct plan p = fake_plan("1,4", "stream", args, 1);

	set_timing(&p, 1000);
	p.design.processes = 3;
	predict_fill_processes(&p, 1, predict_processes_ns(&p, 1, 7));
	cr_assert(eq(int, p.design.processes, 7), "%d", p.design.processes);
	predict_fill_processes(&p, 1, nextafter(predict_processes_ns(&p, 1, 8), 0));
	cr_assert(eq(int, p.design.processes, 7), "not quite eight: %d", p.design.processes);
	predict_fill_processes(&p, 1, 0);
	cr_assert(eq(int, p.design.processes, 7), "what was asked for: %d", p.design.processes);
	predict_fill_processes(&p, 1, INFINITY);
	cr_assert(eq(int, p.design.processes, PROCESSES_ASKED_MAX), "%d", p.design.processes);
	plan_release(&p);
}

Test(small_sweep_predict, rounds_fill_the_time)
{
	char *args[] = { "cells=1" };
	struct plan p = fake_plan("1,4", "stream", args, 1);
	double limit_ns;

	set_timing(&p, 1000);
	p.design.rounds = 9;
	limit_ns = predict_session_ns(&p, 1);
	for (int less = 0; less < 2; less++) {
		p.design.rounds = 4;
		predict_fill_time(&p, 1, less ? nextafter(limit_ns, 0) : limit_ns);
		cr_assert(eq(int, p.design.rounds, 9 - less), "%d", p.design.rounds);
	}
	predict_fill_time(&p, 1, INFINITY);
	cr_assert(eq(int, p.design.rounds, ROUNDS_MAX), "%d", p.design.rounds);
	plan_release(&p);
}

/* What is printed of a plan is all that the command takes: its planning too. */
Test(small_sweep_predict, planning_is_part_of_what_is_predicted)
{
	struct plan p = fake_plan("1", "stream", NULL, 0);
	struct omitted none = { 0 };
	char *text, want[16];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	set_timing(&p, 1);
	p.design.sequential = false;
	plan_print(&p, 1, &none, 50e9, out);
	fclose(out);
	show_duration(50e9 + predict_session_ns(&p, 1), want);
	cr_assert(strstr(text, "\npredicted ") != NULL, "%s", text);
	cr_assert(zero(int, strncmp(strstr(text, "\npredicted ") + 19, want, strlen(want))),
		  "%s: %s", want, text);
	cr_assert(strstr(text, "planning takes 50 s") != NULL, "%s", text);
	free(text);
	plan_release(&p);
}
