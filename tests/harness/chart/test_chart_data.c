/*
 * test_chart_data.c - harness/chart/: which charts there are, and what is in their data files, on
 * sessions that were made up from a model.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/chart_files.h"

TestSuite(small_chart_data, .init = chart_folder_make, .fini = chart_folder_remove, .timeout = 300);

static struct chart_files made;

static bool is_file(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", chart_folder, name);
	return !access(path, F_OK);
}

static bool is_absent(const char *name)
{
	return !is_file(name);
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
	{ "launch-overhead-a-borders.csv", "panel column row", 6 },
	{ "launch-overhead-b-borders.csv", "panel column row", 6 },
	{ "launch-ratio-borders.csv", "panel column row", 0 },
	{ "launch-latency-depths.csv", "series depth block_us *block_us_lo *block_us_hi", 30 },
	{ "launch-latency-lengths.csv", "series us step_us *step_us_lo *step_us_hi", 18 },
	{ "launch-latency-depths-fit.csv", "series depth block_us", 100 },
	{ "launch-latency-lengths-fit.csv", "series us step_us", 100 },
	{ "launch-depth-needed-points.csv", "series kernel_us depth enough", 18 },
	{ "launch-depth-needed-fit.csv", "series kernel_us depth", 100 },
	{ "launch-stack-a-parts.csv", "bar part from_percent to_percent ns \"name", 60 },
	{ "launch-stack-b-parts.csv", "bar part from_percent to_percent ns \"name", 60 },
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
	struct fake_session s = chart_session(2);

	s.noise = 0.02;
	s.model[1].v[MODEL_P] = 4000;
	charts_of(&made, &s);
	check_files(true);
	chart_files_release(&made);
}

/* An interval of one side takes 5 processes, of two 3 each; what is not known stays empty and is
 * never made up. */
Test(small_chart_data, without_intervals_their_columns_are_empty)
{
	struct fake_session s = chart_session(2);
	const struct table *t;

	s.processes = 2;
	s.model[1].v[MODEL_P] = 4000;
	charts_of(&made, &s);
	check_files(false);
	t = table_read("launch-ratio-cells.csv");
	for (int i = 0; i < t->rows; i++)
		cr_assert(zero(dbl, t->v[i][6]), "nothing is called even: row %d", i);
	script_figures("launch-ratio", "finding", "60 5");
	chart_files_release(&made);
}

/* ---- which charts there are ------------------------------------------------------------- */

static double cells_take_1_ms_and_more(double cells)
{
	return 1e6 + 1e3 * cells;
}

Test(small_chart_data, a_size_that_is_no_duration_keeps_its_own_axis)
{
	struct fake_session s = chart_session(1);

	s.workload = "myocyte";
	s.size = "1,32,1k";
	s.kernel_ns = cells_take_1_ms_and_more;
	charts_of(&made, &s);
	script_says("myocyte-overhead", "size1", "1: 1.0 ms");
	script_says("myocyte-overhead", "size3", "1k: 2.0 ms");
	script_says("myocyte-overhead", "size", "cells");
	script_says("myocyte-latency", "size", "cells");
	script_says("myocyte-latency", "smallest", "cells=1");
	script_says("myocyte-overhead", "title", "myocyte: ");
	cr_assert(zero(int, strncmp(table_read("myocyte-latency-lengths.csv")->header,
				    "series,cells,", 13)),
		  "axis");
	chart_files_release(&made);
}

Test(small_chart_data, each_workload_has_charts_of_its_own)
{
	struct fake_session s = chart_session(2);

	s.also = "myocyte";
	s.size = "1,8,64";
	charts_of(&made, &s);
	cr_assert(is_file("launch-ratio.gp") && is_file("myocyte-ratio.gp"), "ratio");
	cr_assert(is_file("launch-overhead-a.gp") && is_file("myocyte-overhead-b.gp"), "overhead");
	cr_assert(is_file("launch-latency.gp") && is_file("myocyte-depth-needed.gp"), "others");
	cr_assert(eq(int, table_read("workloads-means.csv")->rows, 6), "both in one");
	chart_files_release(&made);
}

/* In graphs the larger size gets below 5 %. */
Test(small_chart_data, where_no_size_is_enough_at_any_depth)
{
	struct fake_session s = chart_session(1);

	s.size = "2,12";
	s.depth = "1,16,256";
	s.mode = "stream,graph";
	charts_of(&made, &s);
	script_figures("launch-overhead", "title", "5 % stream");
	script_says("launch-overhead", "finding", "graph: *1, ");
	chart_files_release(&made);
}

Test(small_chart_data, what_cannot_be_drawn_is_left_out)
{
	struct fake_session s = chart_session(1);

	s.size = "0";
	charts_of(&made, &s);
	cr_assert(is_absent("launch-overhead.gp") && is_absent("launch-overhead-cells.csv"),
		  "empty kernels have no ideal");
	cr_assert(is_absent("launch-depth-needed.gp"), "one size");
	script_says("launch-latency", "with_depths", "1");
	script_says("launch-latency", "with_lengths", "0");
	chart_files_release(&made);
}

/* A result that failed its check is no result: no cell, and a word about it. */
Test(small_chart_data, points_that_failed_are_counted)
{
	struct fake_session s = chart_session(2);

	chart_files_session(&made, &s);
	made.journal.status[0] = POINT_CHECK_FAILED;
	chart_files_make(&made);
	cr_assert(eq(int, table_read("launch-ratio-cells.csv")->rows, 59), "one less");
	script_says("launch-ratio", "finding", "; 1 failed");
	script_says("launch-overhead-a", "made2", "; failed points, left out: 1");
	cr_assert(eq(int, table_read("launch-latency-depths.csv")->rows, 29), "one less");
	chart_files_release(&made);
}

Test(small_chart_data, the_small_print_names_device_platform_and_n)
{
	struct fake_session s = chart_session(2);

	s.device[1] = "another GPU";
	charts_of(&made, &s);
	script_says("launch-ratio", "made1",
		    "A: made-up GPU; no virtualization found; n = 5 processes");
	script_says("launch-ratio", "made2", "B: another GPU; ");
	script_says("launch-overhead-b", "device", "another GPU");
	script_says("launch-overhead-b", "title", "B: launch: ");
	chart_files_release(&made);
}

/* Lengths of a bar's parts are 100 % in all, and those to the right of 0 stand end to end. */
Test(small_chart_data, parts_of_a_step_add_up)
{
	struct fake_session s = chart_session(1);
	const struct table *t;
	double sum = 100, right = 0;

	charts_of(&made, &s);
	t = table_read("launch-stack-parts.csv");
	for (int i = 0; i < t->rows; i++) {
		double from = t->v[i][2], to = t->v[i][3];

		if (!i || t->v[i][0] != t->v[i - 1][0]) {
			cr_assert(eq(int, fabs(sum - 100) < 0.01, 1), "row %d: %g %%", i, sum);
			sum = right = 0;
		}
		sum += to - from;
		if (to >= from) {
			cr_assert(eq(int, fabs(from - right) < 0.01, 1), "row %d: %g", i, from);
			right = to;
		}
	}
	cr_assert(eq(int, fabs(sum - 100) < 0.01, 1), "%g %%", sum);
	script_says("launch-stack", "bars", "18");
	script_says("launch-stack", "bar1", "stream, empty kernels, depth 1");
	chart_files_release(&made);
}

/* One block takes 9 % longer than its parts: of these the most is said all the same. */
static double slow_at_256(const struct batch *b, int side)
{
	(void)side;
	return b->mode == MODE_STREAM && b->depth == 256 && b->kernel_ns > 3e5 ? 1.09 : 1;
}

Test(small_chart_data, what_is_not_explained_is_no_part_to_name)
{
	struct fake_session s = chart_session(1);

	s.size = "100,200,400";
	s.factor = slow_at_256;
	charts_of(&made, &s);
	script_says("launch-stack", "finding", "kernel 92 to 100 %; other ");
	script_says("launch-stack", "finding", " 8.5 %");
	script_says("launch-stack", "title", "sync*4.3 % of a step (100 µs*, graph, *1)");
	chart_files_release(&made);
}

/* 200 us at depth 256 take half of what the others say. */
static double fast_at_256(const struct batch *b, int side)
{
	(void)side;
	return b->mode == MODE_STREAM && b->depth == 256 && b->kernel_ns > 1e5 ? 0.5 : 1;
}

Test(small_chart_data, a_stack_that_contradicts_its_block_is_no_bar)
{
	struct fake_session s = chart_session(1);

	s.factor = fast_at_256;
	charts_of(&made, &s);
	script_says("launch-stack", "bars", "17");
	script_says("launch-stack", "bar5", "stream, 200 µs kernels, depth 1");
	script_says("launch-stack", "bar6", "graph, empty kernels, depth 1");
	chart_files_release(&made);
}

Test(small_chart_data, no_stack_is_left)
{
	struct fake_session s = chart_session(1);
	struct model *m;
	char path[512];

	chart_files_session(&made, &s);
	chart_side_init(&made.side[0], &made.journal, 0, "");
	cr_assert(zero(int, charts_init(&made.charts, made.side, 1)), "charts");
	m = &made.charts.set[0].fit[0].model;
	m->v[MODEL_CLOCK] = m->v[MODEL_FUSED_PHI] = 2;
	m->v[MODEL_Z] = m->v[MODEL_GRAPH_Z] = m->v[MODEL_FUSED_Z] = 1e6;
	cr_assert(zero(int, charts_write(&made.charts, chart_folder)), "files");
	snprintf(path, sizeof(path), "%s/launch-stack.gp", chart_folder);
	cr_assert(ne(int, access(path, F_OK), 0), "a chart");
	snprintf(path, sizeof(path), "%s/launch-latency.gp", chart_folder);
	cr_assert(zero(int, access(path, F_OK)), "but others");
	chart_files_release(&made);
}
