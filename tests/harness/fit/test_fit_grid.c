/*
 * test_fit_grid.c - harness/fit/grid.h: which points of a session the model is fitted to, and
 * what K is.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/param.h"
#include "harness/fit/fit_parts.h"
#include "tests/cells_session.h"
#include "tests/made_fit.h"

TestSuite(small_fit_grid, .timeout = 300);

/* ---- which points ----------------------------------------------------------------------- */

Test(small_fit_grid, sizes_and_depths_ascend)
{
	struct fake_session s = small_session();
	struct journal j;
	struct grid g;

	s.size = "50,0,2";
	s.depth = "64,1,4";
	s.mode = "stream,graph";
	fake_session_journal(&s, &j);
	cr_assert(zero(int, grid_make(&g, &j, 0, NULL)), "grid");
	cr_assert(g.n_sizes == 3 && g.size[0].value == 0 && g.size[2].value == 50, "sizes");
	cr_assert(g.n_depths == 3 && g.depth[0] == 1 && g.depth[2] == 64, "depths");
	cr_assert(eq(int, g.n_points, 18), "%d", g.n_points);
	cr_assert(g.nominal && g.size[2].kernel_ns == 50000, "K is what us says");
	cr_assert(ne(ptr, (void *)(uintptr_t)grid_find(&g, MODE_GRAPH, 2, 64), NULL), "a point");
	cr_assert(eq(ptr, (void *)(uintptr_t)grid_find(&g, MODE_FUSED, 2, 64), NULL), "no point");
	grid_release(&g);
	journal_release(&j);
}

/* Those with the defaults, where there are any; else those of the first configuration. */
Test(small_fit_grid, one_set_of_other_parameters)
{
	static char both[] = "args=256,8", one[] = "args=256,4096";
	char *given[] = { both };
	struct fake_session s = small_session();
	struct journal j;
	struct grid g;

	s.assignment = given;
	s.n_assignments = 1;
	s.mode = "stream";
	fake_session_journal(&s, &j);
	cr_assert(zero(int, grid_make(&g, &j, 0, NULL)), "grid");
	cr_assert(eq(str, g.others, (char *)""), "defaults: %s", g.others);
	cr_assert(eq(int, g.n_points, g.left_out), "half of them: %d, %d", g.n_points, g.left_out);
	grid_release(&g);
	journal_release(&j);
	given[0] = one;
	fake_session_journal(&s, &j);
	cr_assert(zero(int, grid_make(&g, &j, 0, NULL)), "grid");
	cr_assert(eq(str, g.others, (char *)"args=256"), "%s", g.others);
	grid_release(&g);
	journal_release(&j);
}

Test(small_fit_grid, points_without_a_result_are_left_out)
{
	struct fake_session s = small_session();
	struct journal j;
	struct grid g;
	int all;

	s.mode = "stream";
	fake_session_journal(&s, &j);
	all = j.plan.n_points;
	j.status[2 * all + 3] = POINT_FAILED; /* in one process of five */
	j.status[4 * all + 5] = POINT_CHECK_FAILED;
	j.total_ns[4 * all + 6] = 0;
	j.enq_ns[7] = 0;
	cr_assert(zero(int, grid_make(&g, &j, 0, NULL)), "grid");
	cr_assert(eq(int, g.failed, 4), "%d", g.failed);
	cr_assert(eq(int, g.n_points, all - 4), "%d of %d", g.n_points, all);
	grid_release(&g);
	journal_release(&j);
}

/* Of one size and mode, in whatever order they are. */
Test(small_fit_grid, the_two_deepest_points)
{
	static const double depths[][3] = {
		{ 1, 4, 64 }, { 64, 1, 4 }, { 4, 64, 1 }, { 64, 4, 1 }
	};

	for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
		struct grid_point point[6] = { { .size = 1, .batch.mode = MODE_GRAPH } };
		struct grid g = { .point = point, .n_points = 6 };
		const struct grid_point *first, *second;

		point[0].batch.depth = point[1].batch.depth = point[5].batch.depth = 1000;
		point[1].batch.mode = point[5].batch.mode = MODE_STREAM;
		for (int k = 0; k < 3; k++)
			point[2 + k] = (struct grid_point){
				.size = 1, .batch = { .mode = MODE_GRAPH, .depth = depths[i][k] }
			};
		point[0].size = 2;
		grid_two_deepest(&g, 1, MODE_GRAPH, &first, &second);
		cr_assert(first && second, "%zu", i);
		cr_expect(eq(dbl, first->batch.depth, 64), "%zu: %g", i, first->batch.depth);
		cr_expect(eq(dbl, second->batch.depth, 4), "%zu: %g", i, second->batch.depth);
		grid_two_deepest(&g, 2, MODE_GRAPH, &first, &second);
		cr_expect(first == &point[0] && !second, "%zu: one alone", i);
		grid_two_deepest(&g, 1, MODE_FUSED, &first, &second);
		cr_expect(first == NULL && second == NULL, "%zu: none", i);
	}
}

/* A session says how many launches a step has, or 0: it does not know. */
Test(small_fit_grid, launches_of_a_step)
{
	struct fake_session s = small_session();
	struct journal j;
	struct grid g;

	s.mode = "stream";
	fake_session_journal(&s, &j);
	j.launches[0] = 0;
	j.launches[1] = 3;
	j.launches[3] = 1.5;
	cr_assert(zero(int, grid_make(&g, &j, 0, NULL)), "grid");
	cr_assert(eq(dbl, g.point[0].batch.launches, 1), "unknown is one");
	cr_assert(eq(dbl, g.point[1].batch.launches, 3), "three");
	cr_assert(eq(dbl, g.point[2].batch.launches, 1), "one");
	cr_assert(eq(dbl, g.point[3].batch.launches, 1.5), "a mean");
	grid_release(&g);
	journal_release(&j);
}

/* One line that says so. */
static void is_refused(const struct fake_session *s, int side, const char *name, const char *says)
{
	struct journal j;
	struct grid g;
	const char *said;
	int err;

	fake_session_journal(s, &j);
	divert_stderr();
	err = grid_make(&g, &j, side, name);
	said = diverted_stderr();
	cr_assert(eq(int, err, -EINVAL), "%s", says);
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(ne(ptr, strstr(said, says), NULL), "%s", said);
	grid_release(&g);
	journal_release(&j);
}

static void is_of(const struct journal *j, const char *name, const char *others)
{
	struct grid g;

	cr_assert(zero(int, grid_make(&g, j, 0, name)), "%s", name);
	cr_assert(zero(int, strcmp(g.others, others)), "%s: %s", name, g.others);
	cr_assert(eq(int, 3 * g.n_points, g.left_out), "one of four: %d, %d", g.n_points,
		  g.left_out);
	grid_release(&g);
}

/* No configuration has the default of args, half of them have that of streams. */
Test(small_fit_grid, parameters_behind_the_name_choose_others)
{
	static char args[] = "args=256,4096", streams[] = "streams=2,1";
	char *given[] = { args, streams };
	struct fake_session s = small_session();
	struct journal j;

	s.assignment = given;
	s.n_assignments = 2;
	s.mode = "stream";
	fake_session_journal(&s, &j);
	is_of(&j, "launch args=4096  streams=2", "args=4096 streams=2");
	is_of(&j, "launch args=4096", "args=4096");
	is_of(&j, "launch args=4096 ", "args=4096");
	is_of(&j, "launch streams=2", "args=256 streams=2");
	journal_release(&j);
	is_refused(&s, 0, "launch arg=8", "unknown parameter 'arg'");
	is_refused(&s, 0, "launch args=8", "launch args=8: the session has no point");
	is_refused(&s, 0, "launc args=8", "launc args=8: not in the session");
	is_refused(&s, 0, "launch args", "args");
}

Test(small_fit_grid, sessions_of_several_workloads)
{
	struct fake_session s = small_session();
	struct journal j;
	struct grid g;

	s.also = "myocyte";
	s.mode = "stream";
	is_refused(&s, 0, NULL, "--workload launch or --workload myocyte");
	is_refused(&s, 0, "lauch", "'launch'");
	is_refused(&s, 1, "launch", "--against");
	fake_session_journal(&s, &j);
	cr_assert(zero(int, grid_make(&g, &j, 0, "myocyte")), "grid");
	cr_assert(eq(str, (char *)g.axis->name, (char *)"cells"), "axis");
	grid_release(&g);
	journal_release(&j);
}

/* ---- K ---------------------------------------------------------------------------------- */

/* n (K + gn) + ...: what a node takes. */
Test(small_fit_grid, k_is_measured_where_the_axis_is_no_duration)
{
	struct fake_session s = cells_session();
	struct journal j;
	struct grid g;
	int seen = 0;

	fake_session_journal(&s, &j);
	cr_assert(zero(int, grid_make(&g, &j, 0, NULL)), "grid");
	cr_assert(not(g.nominal), "cells");
	for (int i = 0; i < g.n_sizes; i++)
		cr_assert(epsilon_eq(dbl, g.size[i].kernel_ns, cells_ns(g.size[i].value) + 500 + 30,
				     1),
			  "%g: %g", g.size[i].value, g.size[i].kernel_ns);
	for (int i = 0; i < g.n_points; i++)
		seen += g.point[i].is_k;
	cr_assert(eq(int, seen, 8), "two graphs of each size: %d", seen);
	grid_release(&g);
	journal_release(&j);
}

Test(small_fit_grid, k_without_graphs_is_that_of_fused_or_stream_blocks)
{
	struct fake_session s = cells_session();
	struct journal j;
	struct grid g;

	s.mode = "stream,fused";
	fake_session_journal(&s, &j);
	cr_assert(zero(int, grid_make(&g, &j, 0, NULL)), "grid");
	cr_assert(epsilon_eq(dbl, g.size[1].kernel_ns, cells_ns(100) + 60, 1), "fused: %g",
		  g.size[1].kernel_ns);
	grid_release(&g);
	journal_release(&j);
	s.mode = "stream";
	s.depth = "16";
	fake_session_journal(&s, &j);
	cr_assert(zero(int, grid_make(&g, &j, 0, NULL)), "grid");
	/* one depth: all of the block */
	cr_assert(epsilon_eq(dbl, g.size[1].kernel_ns,
			     (5800 + cells_ns(100) + 15 * (cells_ns(100) + 900)) / 16, 1),
		  "stream: %g", g.size[1].kernel_ns);
	grid_release(&g);
	journal_release(&j);
}

/* K is a launch's: of steps of three launches a third of what a step takes. */
Test(small_fit_grid, k_of_steps_of_three_launches)
{
	static const char *const modes[] = { "graph", "fused", "stream" };
	static const double beyond_ns[] = { 500 + 30, 60, 900 };
	struct fake_session s = cells_session();
	struct journal j;
	struct grid g;

	s.launches = 3;
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		s.mode = modes[i];
		fake_session_journal(&s, &j);
		cr_assert(zero(int, grid_make(&g, &j, 0, NULL)), "grid");
		cr_expect(epsilon_eq(dbl, g.size[1].kernel_ns, cells_ns(100) + beyond_ns[i], 1),
			  "%s: %g", modes[i], g.size[1].kernel_ns);
		cr_expect(eq(int, grid_is_of_streams(&g), i == 2), "%s", modes[i]);
		grid_release(&g);
		journal_release(&j);
	}
	s.depth = "16";
	fake_session_journal(&s, &j);
	cr_assert(zero(int, grid_make(&g, &j, 0, NULL)), "grid");
	/* one depth: all of the block, 48 launches */
	cr_expect(epsilon_eq(dbl, g.size[1].kernel_ns,
			     (5800 + cells_ns(100) + 47 * (cells_ns(100) + 900)) / 48, 1),
		  "one depth: %g", g.size[1].kernel_ns);
	grid_release(&g);
	journal_release(&j);
}

/* ---- points enough ---------------------------------------------------------------------- */

/* Three points at two depths; what the list held before does not count. */
Test(small_fit_grid, points_of_one_depth_are_not_enough)
{
	struct fake_session s = small_session();
	struct made made = { 0 };
	struct fit_part p;
	int n = 0, other = -1;

	s.mode = "stream";
	made_grid(&made, &s);
	part_init(&p, &made.grid);
	for (int i = 0; i < made.grid.n_points; i++) {
		if (made.grid.point[i].batch.depth != made.grid.point[0].batch.depth)
			other = i;
		else if (n < POINTS_MIN && ++n)
			part_take(&p, i);
	}
	cr_assert(n == POINTS_MIN && other >= 0, "%d points, %d", n, other);
	part_take(&p, other);
	cr_assert(part_is_enough(&p), "two depths");
	p.n--;
	cr_assert(not(part_is_enough(&p)), "one depth");
	p.at[1] = other;
	p.n--;
	cr_assert(not(part_is_enough(&p)), "two points");
	part_release(&p);
	made_release(&made);
}
