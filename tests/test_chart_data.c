/*
 * test_chart_data.c - harness/chart/: what the data files of charts hold, and what titles say, on
 * sessions that were made up from a model.
 */
#include "tests/capture.h"
#include "tests/chart_files.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

TestSuite(small_chart_data, .init = chart_folder_make, .fini = chart_folder_remove, .timeout = 120);

static struct chart_files made;

/* launch on a grid of 4 sizes and 5 depths, without noise. */
static struct fake_session plain(int sides)
{
	struct fake_session s = fake_session();

	s.size = "0,2,20,200";
	s.depth = "1,4,16,64,256";
	s.processes = 5;
	s.sides = sides;
	s.noise = 0;
	return s;
}

static bool exists(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", chart_folder, name);
	return !access(path, F_OK);
}

static bool absent(const char *name)
{
	return !exists(name);
}

static void says(const char *script, const char *variable, const char *want)
{
	const char *text = script_value(script, variable);

	cr_assert(ne(ptr, strstr(text, want), NULL), "%s, %s: '%s' in '%s'", script, variable, want,
		  text);
}

/* ---- every file ------------------------------------------------------------------------- */

/* The first columns, which scripts know by their numbers; '*': may be empty where no interval is
 * known; '"': a text. */
static const struct {
	const char *file, *columns;
	int rows; /* at least */
} files[] = {
	{ "launch-overhead-a-cells.csv",
	  "panel column row percent *percent_lo *percent_hi even \"label", 45 },
	{ "launch-overhead-b-cells.csv",
	  "panel column row percent *percent_lo *percent_hi even \"label", 45 },
	{ "launch-ratio-cells.csv", "panel column row percent *percent_lo *percent_hi even \"label",
	  60 },
	{ "launch-overhead-a-lines.csv", "panel level_percent column row", 10 },
	{ "launch-overhead-b-lines.csv", "panel level_percent column row", 10 },
	{ "launch-ratio-lines.csv", "panel level_percent column row", 0 },
	{ "launch-latency-depths.csv", "series depth block_us *block_us_lo *block_us_hi", 30 },
	{ "launch-latency-lengths.csv", "series us step_us *step_us_lo *step_us_hi", 18 },
	{ "launch-latency-depths-fit.csv", "series depth block_us", 100 },
	{ "launch-latency-lengths-fit.csv", "series us step_us", 100 },
	{ "launch-depth-needed-points.csv", "series kernel_us depth enough", 18 },
	{ "launch-depth-needed-fit.csv", "series kernel_us depth", 100 },
	{ "workloads-means.csv", "row ratio *ratio_lo *ratio_hi", 3 },
	{ "workloads-points.csv", "row ratio", 60 },
};

static void check_column(const struct table *t, const char *file, int column, bool known)
{
	for (int row = 0; row < t->rows; row++)
		cr_assert(eq(int, !!isfinite(t->v[row][column]), known), "%s: row %d column %d",
			  file, row, column);
}

static void check_file(int i, bool intervals)
{
	const struct table *t = table_read(files[i].file);
	char columns[128], *rest = columns, *name;
	int at = 0;

	cr_assert(le(int, files[i].rows, t->rows), "%s: %d rows", files[i].file, t->rows);
	strcpy(columns, files[i].columns);
	for (; (name = strsep(&rest, " ")); at++) {
		bool is_text = *name == '"', bound = *name == '*';

		cr_assert(eq(int, table_column(t, name + (is_text || bound)), at), "%s: %s",
			  files[i].file, name);
		if (!is_text)
			check_column(t, files[i].file, at, !bound || intervals);
	}
}

static void check_files(bool intervals)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		check_file((int)i, intervals);
}

Test(small_chart_data, every_column_that_is_plotted_is_there_and_finite)
{
	struct fake_session s = plain(2);

	s.noise = 0.02;
	s.model[1].v[MODEL_P] = 4000;
	charts_of(&made, &s);
	check_files(true);
	chart_files_release(&made);
}

/* An interval takes 5 processes; what is not known stays empty and is never made up. */
Test(small_chart_data, without_intervals_their_columns_are_empty)
{
	struct fake_session s = plain(2);
	const struct table *t;

	s.processes = 3;
	s.model[1].v[MODEL_P] = 4000;
	charts_of(&made, &s);
	check_files(false);
	t = table_read("launch-ratio-cells.csv");
	for (int i = 0; i < t->rows; i++)
		cr_assert(zero(dbl, t->v[i][6]), "nothing is called even: row %d", i);
	says("launch-ratio", "finding", "intervals take 5 processes: none is shown to differ");
	chart_files_release(&made);
}

/* ---- heat maps -------------------------------------------------------------------------- */

/* T / ideal - 1 in per cent, from the model that the session was made from. */
static double overhead(const struct model *m, enum mode mode, double us, double depth)
{
	const struct batch b = {
		.mode = mode, .depth = depth, .launches = 1, .kernel_ns = 1000 * us
	};

	return 100 * (model_total_ns(m, &b) / model_ideal_ns(m, &b) - 1);
}

Test(small_chart_data, cells_are_what_the_model_gives)
{
	static const double us[] = { 2, 20, 200 }, depth[] = { 1, 4, 16, 64, 256 };
	struct fake_session s = plain(1);
	const struct table *t;

	charts_of(&made, &s);
	t = table_read("launch-overhead-cells.csv");
	cr_assert(eq(int, t->rows, 45), "3 modes, 3 sizes that take time, 5 depths");
	for (int i = 0; i < t->rows; i++) {
		const double *v = t->v[i];
		double want =
			overhead(&s.model[0], (enum mode)v[0], us[(int)v[2]], depth[(int)v[1]]);

		/* the fitted clock is a little off 1 */
		cr_assert(epsilon_eq(dbl, v[3], want, 0.2 + 0.002 * want), "row %d: %g, not %g", i,
			  v[3], want);
	}
	chart_files_release(&made);
}

/* Where a line crosses a row or a column, the cells beside it are on both sides of its level. */
Test(small_chart_data, lines_run_between_the_cells_they_part)
{
	static double percent[MODE_COUNT][3][5];
	struct fake_session s = plain(1);
	const struct table *t;

	charts_of(&made, &s);
	t = table_read("launch-overhead-cells.csv");
	for (int i = 0; i < t->rows; i++)
		percent[(int)t->v[i][0]][(int)t->v[i][2]][(int)t->v[i][1]] = t->v[i][3];
	t = table_read("launch-overhead-lines.csv");
	for (int i = 0; i < t->rows; i++) {
		const double *v = t->v[i];
		double a = percent[(int)v[0]][(int)floor(v[3])][(int)floor(v[2])];
		double b = percent[(int)v[0]][(int)ceil(v[3])][(int)ceil(v[2])];

		cr_assert(le(dbl, fmin(a, b), v[1] * 1.001), "row %d", i);
		cr_assert(le(dbl, v[1] * 0.999, fmax(a, b)), "row %d", i);
	}
	chart_files_release(&made);
}

static double slower_by_30_percent(const struct batch *b, int side)
{
	return side && b->mode == MODE_STREAM ? 1.3 : 1;
}

Test(small_chart_data, b_over_a_is_what_was_put_in)
{
	struct fake_session s = plain(2);
	const struct table *t;

	s.factor = slower_by_30_percent;
	charts_of(&made, &s);
	t = table_read("launch-ratio-cells.csv");
	cr_assert(eq(int, t->rows, 60), "empty kernels too");
	for (int i = 0; i < t->rows; i++) {
		bool stream = t->v[i][0] < 0.5;

		cr_assert(epsilon_eq(dbl, t->v[i][3], stream ? 30 : 0, 0.02), "row %d", i);
		cr_assert(eq(int, t->v[i][6] > 0.5, !stream), "row %d", i);
	}
	says("launch-ratio", "title", "B takes up to 30 % longer (stream, ");
	says("launch-ratio", "finding",
	     "slower by more than 2 % at 20 of 60 points, faster at 0; "
	     "same at 40, open at 0");
	t = table_read("workloads-means.csv");
	cr_assert(eq(int, t->rows, 3), "a row a mode");
	cr_assert(epsilon_eq(dbl, t->v[2][1], 1.3, 1e-3), "the largest last");
	cr_assert(epsilon_eq(dbl, t->v[0][1], 1, 1e-3), "%g", t->v[0][1]);
	says("workloads", "title",
	     "B takes 30 % longer in launch, stream mode (mean of 20 points)");
	says("workloads", "row3", "launch, stream");
	says("workloads", "native3", "A: ");
	chart_files_release(&made);
}

Test(small_chart_data, a_system_against_itself_does_not_differ)
{
	struct fake_session s = plain(2);

	s.noise = 0.02;
	charts_of(&made, &s);
	says("launch-ratio", "title", "B is not shown to differ from A at any of 60 points");
	chart_files_release(&made);
}

/* One point takes twice as long: of 40 that is none from 5 processes, as rift compare says. */
static double one_slow_point(const struct batch *b, int side)
{
	return side && b->mode == MODE_GRAPH && b->depth == 16 && b->kernel_ns == 20000 ? 2 : 1;
}

Test(small_chart_data, verdicts_are_those_of_rift_compare)
{
	struct fake_session s = fake_session();
	const char *finding;

	s.size = "2,5,10,20,50";
	s.depth = "1,4,16,64";
	s.mode = "stream,graph";
	s.processes = 5;
	s.sides = 2;
	s.noise = 0.001;
	s.factor = one_slow_point;
	charts_of(&made, &s);
	finding = script_value("launch-ratio", "finding");
	cr_assert(ne(ptr, strstr(finding, "at 0 of 40 points, faster at 0; same at 39, open at 1"),
		     NULL),
		  "%s", finding);
	chart_files_release(&made);
}

Test(small_chart_data, without_intervals_nothing_is_shown_to_differ)
{
	struct fake_session s = plain(2);

	s.processes = 2;
	s.model[1].v[MODEL_Z] = 26000;
	charts_of(&made, &s);
	says("workloads", "title", ": not shown to differ");
	chart_files_release(&made);
}

Test(small_chart_data, faster_platforms_have_a_minus)
{
	struct fake_session s = plain(2);
	const struct table *t;

	s.model[1].v[MODEL_GRAPH_G] = 0;
	charts_of(&made, &s);
	t = table_read("launch-ratio-cells.csv");
	for (int i = 0; i < t->rows; i++)
		if (t->v[i][0] > 0.5 && t->v[i][0] < 1.5 && t->v[i][1] > 3.5 && t->v[i][2] < 0.5)
			cr_assert(lt(dbl, t->v[i][3], -50), "empty nodes: %g", t->v[i][3]);
	says("launch-ratio", "title", "B takes up to ");
	says("launch-ratio", "title", " % less time (graph, empty kernels, depth 256)");
	cr_assert(zero(int, shell(NULL, "grep -q ',−[0-9]*,graph' %s/launch-ratio-cells.csv",
				  chart_folder)),
		  "label");
	chart_files_release(&made);
}

/* ---- the depth that is needed ----------------------------------------------------------- */

/* The smallest whole depth of at most 5 % over ideal, by trying. */
static double needed(const struct model *m, enum mode mode, double us)
{
	double depth = 1;

	while (overhead(m, mode, us, depth) > 5 && depth < 256)
		depth++;
	return depth;
}

Test(small_chart_data, the_depth_needed_is_the_models)
{
	struct fake_session s = plain(1);
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
	says("launch-depth-needed", "finding", "below 18 µs (stream)");
	chart_files_release(&made);
}

Test(small_chart_data, measured_depths_are_between_those_that_were_swept)
{
	struct fake_session s = plain(1);
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
			cr_assert(lt(dbl, 5, overhead(&s.model[0], mode, v[1], 256)), "row %d", i);
			continue;
		}
		cr_assert(le(dbl, overhead(&s.model[0], mode, v[1], 4 * before), 5.2), "row %d", i);
		if (v[2] > 1)
			cr_assert(lt(dbl, 4.8, overhead(&s.model[0], mode, v[1], before)), "row %d",
				  i);
	}
	says("launch-depth-needed", "title", "depth for 5 % overhead at ");
	chart_files_release(&made);
}

/* ---- latency ---------------------------------------------------------------------------- */

Test(small_chart_data, latency_is_measured_and_fitted)
{
	struct fake_session s = plain(1);
	const struct table *t;

	charts_of(&made, &s);
	t = table_read("launch-latency-depths.csv");
	cr_assert(eq(int, t->rows, 15), "3 modes, 5 depths");
	cr_assert(epsilon_eq(dbl, t->v[0][2], 5.8, 1e-3), "Z of an empty kernel: %g", t->v[0][2]);
	t = table_read("launch-latency-lengths.csv");
	cr_assert(eq(int, t->rows, 9), "3 modes, 3 sizes on a logarithmic axis");
	cr_assert(epsilon_eq(dbl, t->v[2][2], 200.9, 0.1), "K + g: %g", t->v[2][2]);
	says("launch-latency", "title",
	     "launch: empty kernels: one 5.8 µs; each of 256: stream 2.2 µs, graph ");
	says("launch-latency", "depth", "256");
	chart_files_release(&made);
}

/* ---- which charts there are ------------------------------------------------------------- */

static double cells_take_1_ms_and_more(double cells)
{
	return 1e6 + 1e3 * cells;
}

Test(small_chart_data, a_size_that_is_no_duration_keeps_its_own_axis)
{
	struct fake_session s = plain(1);

	s.workload = "myocyte";
	s.size = "1,32,1k";
	s.kernel_ns = cells_take_1_ms_and_more;
	charts_of(&made, &s);
	says("myocyte-overhead", "size1", "1: 1.0 ms");
	says("myocyte-overhead", "size3", "1k: 2.0 ms");
	says("myocyte-overhead", "size", "cells");
	says("myocyte-latency", "size", "cells");
	says("myocyte-latency", "smallest", "cells=1");
	says("myocyte-overhead", "title", "myocyte: at most ");
	cr_assert(zero(int, strncmp(table_read("myocyte-latency-lengths.csv")->header,
				    "series,cells,", 13)),
		  "axis");
	chart_files_release(&made);
}

Test(small_chart_data, each_workload_has_charts_of_its_own)
{
	struct fake_session s = plain(2);

	s.also = "myocyte";
	s.size = "1,8,64";
	charts_of(&made, &s);
	cr_assert(exists("launch-ratio.gp") && exists("myocyte-ratio.gp"), "ratio");
	cr_assert(exists("launch-overhead-a.gp") && exists("myocyte-overhead-b.gp"), "overhead");
	cr_assert(exists("launch-latency.gp") && exists("myocyte-depth-needed.gp"), "others");
	cr_assert(eq(int, table_read("workloads-means.csv")->rows, 6), "both in one");
	chart_files_release(&made);
}

/* In graphs the larger size gets below 5 %. */
Test(small_chart_data, where_no_size_is_enough_at_any_depth)
{
	struct fake_session s = plain(1);

	s.size = "2,12";
	s.depth = "1,16,256";
	s.mode = "stream,graph";
	charts_of(&made, &s);
	says("launch-overhead", "title", "stream: no size at any depth");
	says("launch-overhead", "finding", "graph: no size at depth 1, from ");
	chart_files_release(&made);
}

Test(small_chart_data, what_cannot_be_drawn_is_left_out)
{
	struct fake_session s = plain(1);

	s.size = "0";
	charts_of(&made, &s);
	cr_assert(absent("launch-overhead.gp") && absent("launch-overhead-cells.csv"),
		  "empty kernels have no ideal");
	cr_assert(absent("launch-depth-needed.gp"), "one size");
	says("launch-latency", "with_depths", "1");
	says("launch-latency", "with_lengths", "0");
	chart_files_release(&made);
}

/* A result that failed its check is no result: no cell, and a word about it. */
Test(small_chart_data, points_that_failed_are_counted)
{
	struct fake_session s = plain(2);

	chart_files_session(&made, &s);
	made.journal.status[0] = POINT_CHECK_FAILED;
	chart_files_make(&made);
	cr_assert(eq(int, table_read("launch-ratio-cells.csv")->rows, 59), "one less");
	says("launch-ratio", "finding", "; 1 failed");
	says("launch-overhead-a", "made2", "; failed points, left out: 1");
	cr_assert(eq(int, table_read("launch-latency-depths.csv")->rows, 29), "one less");
	chart_files_release(&made);
}

Test(small_chart_data, the_small_print_names_device_platform_and_n)
{
	struct fake_session s = plain(2);

	s.device[1] = "another GPU";
	charts_of(&made, &s);
	says("launch-ratio", "made1", "A: made-up GPU; no virtualization found; n = 5 processes");
	says("launch-ratio", "made2", "B: another GPU; ");
	says("launch-overhead-b", "device", "another GPU");
	says("launch-overhead-b", "title", "B: launch: ");
	chart_files_release(&made);
}
