/*
 * test_chart_lines.c - harness/chart/depth_needed.c and latency.c: what is measured and what is
 * fitted, on sessions that were made up from a model.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "harness/measure/plan_record.h"
#include "tests/chart_files.h"
#include "tests/figures.h"

TestSuite(small_chart_lines, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 300);

static struct chart_files made;

/* ---- the depth that is needed ----------------------------------------------------------- */

/* The smallest whole depth of at most 5 % over ideal, by trying. */
static double needed(const struct model *m, enum mode mode, double us)
{
	double depth = 1;

	while (overhead_percent(m, mode, us, depth) > 5 && depth < 256)
		depth++;
	return depth;
}

Test(small_chart_lines, the_depth_needed_is_the_models)
{
	struct fake_session s = chart_session(1);
	const struct table *t;
	int seen = 0;

	charts_of(&made, &s);
	t = table_read("launch-depth-needed-fit.csv");
	for (int i = 0; i < t->rows; i++) {
		enum mode mode = (enum mode)(t->v[i][0] - 1);
		double want = needed(&s.model[0], mode, t->v[i][1]);

		if (mode == MODE_GRAPH || want > 30)
			continue; /* other depths are several graphs; a steep line */
		seen++;
		cr_assert(epsilon_eq(dbl, t->v[i][2], want, 1.001 + 0.05 * want),
			  "%s, %g us: %g, not %g", mode_name(mode), t->v[i][1], t->v[i][2], want);
	}
	cr_assert(lt(int, 80, seen), "%d", seen);
	/* g / 5 % = 18 us, but for the steps of the line */
	script_says("launch-depth-needed", "finding", "below 18 µs (stream)");
	chart_files_release(&made);
}

Test(small_chart_lines, measured_depths_are_between_those_that_were_swept)
{
	struct fake_session s = chart_session(1);
	const struct table *t;

	charts_of(&made, &s);
	t = table_read("launch-depth-needed-points.csv");
	cr_assert(eq(int, t->rows, 9), "3 modes, 3 sizes");
	for (int i = 0; i < t->rows; i++) {
		const double *v = t->v[i];
		enum mode mode = (enum mode)(v[0] - 1);
		double before = pow(4, ceil(log(v[2]) / log(4) - 1e-9) - 1);

		if (v[3] < 0.5) {
			cr_assert(eq(dbl, v[2], 256), "the deepest: %g", v[2]);
			cr_assert(lt(dbl, 5, overhead_percent(&s.model[0], mode, v[1], 256)),
				  "row %d", i);
			continue;
		}
		cr_assert(le(dbl, overhead_percent(&s.model[0], mode, v[1], 4 * before), 5.2),
			  "row %d", i);
		if (v[2] > 1)
			cr_assert(lt(dbl, 4.8, overhead_percent(&s.model[0], mode, v[1], before)),
				  "row %d", i);
	}
	script_says("launch-depth-needed", "title", "5 %");
	chart_files_release(&made);
}

/* Two digits of it, rounded up: 200 us / (5 % of 50 us - 900 ns) are 125 launches, between 64 and
 * 256, which were swept. */
Test(small_chart_lines, a_depth_beyond_a_hundred_has_two_digits)
{
	struct fake_session s = chart_session(1);

	s.model[0].v[MODEL_Z] = 200000;
	s.size = "50,100,200";
	s.mode = "stream";
	s.noise = 0;
	charts_of(&made, &s);
	script_says("launch-depth-needed", "title", ": stream 140");
	chart_files_release(&made);
}

/* ---- latency ---------------------------------------------------------------------------- */

Test(small_chart_lines, latency_is_measured_and_fitted)
{
	struct fake_session s = chart_session(1);
	const struct table *t;

	charts_of(&made, &s);
	t = table_read("launch-latency-depths.csv");
	cr_assert(eq(int, t->rows, 15), "3 modes, 5 depths");
	cr_assert(epsilon_eq(dbl, t->v[0][2], 5.8, 1e-3), "Z of an empty kernel: %g", t->v[0][2]);
	t = table_read("launch-latency-lengths.csv");
	cr_assert(eq(int, t->rows, 9), "3 modes, 3 sizes on a logarithmic axis");
	cr_assert(epsilon_eq(dbl, t->v[2][2], 200.9, 0.1), "K + g: %g", t->v[2][2]);
	script_says("launch-latency", "title", "5.8 µs*256: stream 2.2 µs, graph ");
	script_says("launch-latency", "depth", "256");
	chart_files_release(&made);
}

static int rows_of(const struct table *t, double series)
{
	int n = 0;

	for (int i = 0; i < t->rows; i++)
		n += t->v[i][0] == series;
	return n;
}

/* Streams of empty kernels take a fifth less at depth 16: the line would not say so. */
static double fast_at_16(const struct batch *b, int side)
{
	(void)side;
	return b->mode == MODE_STREAM && b->depth == 16 && b->kernel_ns == 0 ? 0.8 : 1;
}

Test(small_chart_lines, a_line_that_is_off_its_points_is_not_drawn)
{
	struct fake_session s = chart_session(1);
	const struct table *t;

	s.factor = fast_at_16;
	charts_of(&made, &s);
	t = table_read("launch-latency-depths.csv");
	cr_assert(eq(int, rows_of(t, 1), 5), "its points are");
	t = table_read("launch-latency-depths-fit.csv");
	cr_assert(eq(int, rows_of(t, 1), 0), "stream over depth");
	cr_assert(lt(int, 5, rows_of(t, 2)), "graph over depth");
	t = table_read("launch-latency-lengths-fit.csv");
	cr_assert(lt(int, 5, rows_of(t, 1)), "stream over length");
	cr_assert(eq(str, (char *)script_value("launch-latency", "fitted_depths"), "2"), "two");
	cr_assert(eq(str, (char *)script_value("launch-latency", "fitted_lengths"), "4"), "and 4");
	script_says("launch-latency", "fit", "lines: fitted, within 0.");
	script_says("launch-latency", "fit", "; left out: stream");
	chart_files_release(&made);
}

/* Every other block takes twice as long. */
static double unsteady(const struct batch *b, int side)
{
	(void)side;
	return ((int)(log2(b->depth) / 2) + (b->kernel_ns > 1e4) + (b->kernel_ns > 1e5)) % 2 ? 2
											     : 1;
}

Test(small_chart_lines, no_line_is_left)
{
	struct fake_session s = chart_session(1);

	s.factor = unsteady;
	charts_of(&made, &s);
	cr_assert(eq(str, (char *)script_value("launch-latency", "fitted_depths"), "0"), "none");
	for (int k = 1; k <= 3; k++)
		cr_assert(zero(int, rows_of(table_read("launch-latency-lengths-fit.csv"), k)),
			  "series %d over length", k);
	script_says("launch-latency", "fit", "no fitted lines: up to * % off the points");
	chart_files_release(&made);
}

/* Deep graphs take twice as long, and say K: twice what kernels of streams take. */
static double slow_graphs(const struct batch *b, int side)
{
	(void)side;
	return b->mode == MODE_GRAPH && b->depth >= 64 ? 2 : 1;
}

Test(small_chart_lines, no_ideal_above_what_was_measured)
{
	struct fake_session s = chart_session(1);
	const struct table *t;

	s.workload = "myocyte";
	s.size = "100,400,1600";
	for (int slow = 0; slow <= 1; slow++) {
		s.factor = slow ? slow_graphs : NULL;
		charts_of(&made, &s);
		t = table_read("myocyte-latency-lengths-fit.csv");
		cr_assert(eq(int, rows_of(t, 0), slow ? 0 : 3), "%d rows", rows_of(t, 0));
		cr_assert(
			eq(str, (char *)script_value("myocyte-latency", "ideal"), slow ? "0" : "1"),
			"said");
		chart_files_release(&made);
	}
}

/* The first process has failed at points of this size and depth. */
static void fail_at(double us, int64_t depth)
{
	struct journal *j = &made.journal;
	char want[24], text[160];
	int failed = 0;

	snprintf(want, sizeof(want), "us=%g ", us);
	for (int i = 0; i < j->plan.n_points; i++) {
		plan_point_text(&j->plan, i, text, sizeof(text));
		if (j->plan.point[i].depth != depth || !strstr(text, want))
			continue;
		j->status[i] = POINT_FAILED;
		failed++;
	}
	cr_assert(lt(int, 0, failed), "us=%g depth %ld", us, (long)depth);
}

/* Streams of 200 us are swept at depth 1 alone: at 256 their line ends before. */
Test(small_chart_lines, a_line_ends_where_its_points_do)
{
	struct fake_session s = chart_session(1);
	const struct table *t;
	struct journal *j;
	double longest = 0;

	chart_files_session(&made, &s);
	j = &made.journal;
	for (int i = 0; i < j->plan.n_points; i++) {
		bool stream = j->plan.point[i].mode == MODE_STREAM;
		bool last = j->plan.point[i].config == 3, first = j->plan.point[i].config == 1;

		if (stream ? last && j->plan.point[i].depth > 1
			   : first && j->plan.point[i].depth < 256)
			j->status[i] = POINT_FAILED;
	}
	chart_files_make(&made);
	script_says("launch-latency", "depth", "256");
	t = table_read("launch-latency-lengths-fit.csv");
	cr_assert(lt(int, 5, rows_of(t, 1)), "some of it");
	for (int i = 0; i < t->rows; i++)
		if (t->v[i][0] == 1)
			longest = fmax(longest, t->v[i][1]);
	cr_assert(le(dbl, longest, 20.0001), "%g us", longest);
	chart_files_release(&made);
}

/* A bound is no line: how deep blocks must be where a wait may take twenty times as long. */
Test(small_chart_lines, no_line_of_what_is_left_open)
{
	struct fake_session s = chart_session(1);
	const struct table *t;

	chart_files_session(&made, &s);
	chart_side_init(&made.side[0], &made.journal, 0, "");
	cr_assert(zero(int, charts_init(&made.charts, made.side, 1)), "charts");
	made.charts.set[0].fit[0].most.v[MODEL_Z] *= 20;
	cr_assert(zero(int, charts_write(&made.charts, chart_folder)), "files");
	t = table_read("launch-depth-needed-fit.csv");
	cr_assert(lt(int, 5, rows_of(t, 2)), "of graphs");
	cr_assert(zero(int, rows_of(t, 1)), "of streams");
	chart_files_release(&made);
}

/* Where most lengths were measured; empty kernels have no place among lengths. */
Test(small_chart_lines, lengths_are_of_the_depth_that_has_most)
{
	struct fake_session s = chart_session(1);

	chart_files_session(&made, &s);
	fail_at(20, 256);
	for (int64_t depth = 1; depth <= 64; depth *= 4)
		fail_at(0, depth);
	chart_files_make(&made);
	script_says("launch-latency", "depth", "64");
	chart_files_release(&made);
}

/* The second line is the other side's, under its letter; of one side it is no side's. */
Test(small_chart_lines, a_side_is_named_where_there_are_two)
{
	struct fake_session s = chart_session(1);
	const char *said;

	charts_of(&made, &s);
	said = script_value("launch-latency", "finding");
	cr_assert(eq(str, (char *)figures_of(said), "graph faster stream 1"), "%s", said);
	chart_files_release(&made);
	s.sides = 2;
	s.model[1].v[MODEL_Z] = 7800;
	charts_of(&made, &s);
	said = script_value("launch-latency", "finding");
	cr_assert(strstr(said, "B: empty kernels: one 7.8 µs; each of 256: stream ") == said, "%s",
		  said);
	chart_files_release(&made);
}

/* ---- over another parameter ------------------------------------------------------------- */

Test(small_chart_lines, steps_over_another_parameter)
{
	struct fake_session s = chart_session(1);
	char *streams[] = { "streams=1,2,8" };
	const struct table *t;

	s.size = "2,20";
	s.depth = "1,16";
	s.mode = "stream";
	s.assignment = streams;
	s.n_assignments = 1;
	chart_files_session(&made, &s);
	made.over = "streams";
	chart_files_make(&made);
	cr_assert(eq(int, made.charts.pictures, 1), "%d pictures", made.charts.pictures);
	t = table_read("launch-over-lengths.csv");
	cr_assert(eq(int, t->rows, 3), "%d rows", t->rows);
	for (int i = 0; i < t->rows; i++)
		cr_assert(eq(dbl, t->v[i][table_column(t, "streams")], i == 2 ? 8 : i + 1),
			  "row %d", i);
	script_says("launch-over", "size", "streams");
	cr_assert(eq(int, made.charts.set[0].grid[0].left_out, 6), "the other size: %d points",
		  made.charts.set[0].grid[0].left_out);
	chart_files_release(&made);
}

/* Samples of 64 steps take 7 % longer, so that depths beyond it are needed, which no fit says. */
static double slow_at_64(const struct batch *b, int side)
{
	(void)side;
	return b->mode == MODE_STREAM && b->depth == 64 ? 1.07 : 1;
}

Test(small_chart_lines, depths_that_most_points_contradict_have_no_line)
{
	struct fake_session s = chart_session(1);
	const struct table *t;
	int rows[4] = { 0 };

	s.size = "50,100,200";
	s.factor = slow_at_64;
	charts_of(&made, &s);
	t = table_read("launch-depth-needed-fit.csv");
	for (int i = 0; i < t->rows; i++)
		rows[(int)t->v[i][0]]++;
	cr_expect(eq(int, rows[1], 0), "stream");
	cr_expect(lt(int, 50, rows[2]), "graph");
	chart_files_release(&made);
}
