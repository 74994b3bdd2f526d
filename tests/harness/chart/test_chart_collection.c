/*
 * test_chart_collection.c - harness/chart/collection.c: all workloads of a session on one page, on
 * sessions that were made up from a model.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/chart/words.h"
#include "harness/measure/plan_record.h"
#include "tests/chart_files.h"
#include "tests/need_gnuplot.h"

TestSuite(small_chart_collection, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 300);

static struct chart_files made;

enum { SERIES_DEEP = 2 }; /* of streams */

/* Kernels of 2 and 20 us, and pictures of 10 and 300 us; streams and graphs. */
static struct fake_session two_workloads(const char *depth, char **assignment, int n)
{
	struct fake_session s = fake_session();

	s.also = "pathtrace";
	s.assignment = assignment;
	s.n_assignments = n;
	s.depth = depth;
	s.mode = "stream,graph";
	s.processes = 2;
	s.noise = 0;
	return s;
}

static char *sizes[] = { "launch.us=2,20", "pathtrace.samples=10,300" };

/* The number of the row of that name, from 0. */
static int row_of(const char *name)
{
	for (int i = 0; i < atoi(script_value("collection", "rows")); i++) {
		char variable[16];

		snprintf(variable, sizeof(variable), "row%d", i + 1);
		if (!strcmp(script_value("collection", variable), name))
			return i;
	}
	cr_fatal("no row %s", name);
	return -1;
}

static const double *dot(const char *name, int series)
{
	int row = row_of(name);
	const struct table *t = table_read("collection-dots.csv");

	for (int i = 0; i < t->rows; i++)
		if ((int)t->v[i][0] == row && (int)t->v[i][1] == series)
			return t->v[i];
	cr_fatal("no dot %d of %s", series, name);
	return NULL;
}

static void row_says(const char *what, int row, const char *want)
{
	char variable[16];

	snprintf(variable, sizeof(variable), "%s%d", what, row + 1);
	cr_assert(eq(str, (char *)script_value("collection", variable), (char *)want), "%s: %s",
		  variable, script_value("collection", variable));
}

/* Points that say this have no good result: "pathtrace samples=300 stream depth 64". */
static void fail(const char *what)
{
	struct journal *j = &made.journal;
	char text[160];
	int failed = 0;

	for (int i = 0; i < j->plan.n_points; i++) {
		plan_point_text(&j->plan, i, text, sizeof(text));
		if (strncmp(text, what, strlen(what)))
			continue;
		j->status[i] = POINT_FAILED; /* of the first process */
		failed++;
	}
	cr_assert(lt(int, 0, failed), "%s", what);
}

Test(small_chart_collection, dots_are_what_the_model_gives)
{
	struct fake_session s = two_workloads("1,64", sizes, 2);
	const struct model *m = &s.model[0];
	struct batch one = { MODE_GRAPH, 1, 1, 10e3 }, large = { MODE_GRAPH, 64, 1, 10e3 };
	double kernel = (model_total_ns(m, &large) - model_total_ns(m, &one)) / 63;

	charts_of(&made, &s);
	cr_assert(eq(str, (char *)script_value("collection", "rows"), "4"), "rows");
	cr_assert(eq(int, table_read("collection-dots.csv")->rows, 16), "2 modes, 2 depths");
	cr_assert(epsilon_eq(dbl, 100 * (dot("launch 20 µs kernels", 1)[2] - 1),
			     overhead_percent(m, MODE_STREAM, 20, 1), 0.3),
		  "nominal: %g", dot("launch 20 µs kernels", 1)[2]);
	cr_assert(epsilon_eq(dbl, 100 * (dot("launch 20 µs kernels", 4)[2] - 1),
			     overhead_percent(m, MODE_GRAPH, 20, 64), 0.3),
		  "graph: %g", dot("launch 20 µs kernels", 4)[2]);
	one.mode = MODE_STREAM;
	cr_assert(epsilon_eq(dbl, dot("pathtrace samples=10", 1)[2],
			     model_total_ns(m, &one) / kernel, 1e-3),
		  "measured: %g", dot("pathtrace samples=10", 1)[2]);
	cr_assert(epsilon_eq(dbl, dot("pathtrace samples=10", 1)[6], kernel / 1e3, 1e-3), "ideal");
	chart_files_release(&made);
}

Test(small_chart_collection, rows_are_sorted_and_the_title_counts_them)
{
	struct fake_session s = two_workloads("1,64", sizes, 2);

	charts_of(&made, &s);
	/* over K at depth 1: 5.8 us of 2, 10, 20, and 300 */
	cr_assert(eq(int, row_of("launch 2 µs kernels"), 3), "the most, above");
	cr_assert(eq(int, row_of("pathtrace samples=10"), 2), "sorted");
	cr_assert(eq(int, row_of("pathtrace samples=300"), 0), "the least");
	script_figures("collection", "title", "stream 5 % 3 4 1 1 4 64");
	script_says("collection", "finding", "graph: 3*4*1, 1*4*64; ");
	script_says("collection", "finding", "launch 2 µs ");
	chart_files_release(&made);
}

/* Rows are sorted by streams: the worst graph may be of the row below all others. */
Test(small_chart_collection, the_worst_may_be_below)
{
	char *args[] = { "launch.us=2,20", "pathtrace.samples=300" };
	struct fake_session s = two_workloads("1,64", args, 2);

	s.model[0].v[MODEL_GRAPH_Z] = 900e3;
	chart_files_session(&made, &s);
	fail("launch us=2 graph depth 1");
	fail("launch us=20 graph depth 1");
	chart_files_make(&made);
	cr_assert(eq(int, row_of("pathtrace samples=300"), 0), "streams are near their ideal");
	script_says("collection", "finding", "pathtrace samples=300");
	chart_files_release(&made);
}

/* What one grid leaves out of the other charts is here. */
Test(small_chart_collection, every_set_of_parameters_has_its_rows)
{
	char *args[] = { "launch.us=20", "pathtrace.samples=10", "launch.kernel=spin,work",
			 "bounces=8,2" };
	struct fake_session s = two_workloads("1,64", args, 4);

	charts_of(&made, &s);
	cr_assert(eq(str, (char *)script_value("collection", "rows"), "4"), "rows");
	row_of("launch 20 µs kernels");
	row_of("launch kernel=work 20 µs kernels");
	row_of("pathtrace samples=10");
	row_of("pathtrace bounces=2 samples=10");
	chart_files_release(&made);
}

Test(small_chart_collection, what_gives_no_ideal_is_listed)
{
	char *args[] = { "launch.us=0,20", "pathtrace.samples=10,300" };
	struct fake_session s = two_workloads("1,64", args, 2);

	chart_files_session(&made, &s);
	fail("pathtrace samples=300 stream depth 64");
	fail("pathtrace samples=300 graph depth 64");
	chart_files_make(&made);
	cr_assert(eq(str, (char *)script_value("collection", "rows"), "4"), "none is dropped");
	row_says("why", row_of("launch empty kernels"), "no ideal: empty kernels take no time");
	row_says("why", row_of("pathtrace samples=300"),
		 "no ideal: one depth alone, or no slope between two");
	row_says("why", row_of("pathtrace samples=10"), "");
	cr_assert(eq(int, table_read("collection-dots.csv")->rows, 8), "of two rows");
	script_figures("collection", "title", "stream 5 % 2 2 1 0 2 64");
	chart_files_release(&made);
}

Test(small_chart_collection, a_workload_without_any_result_is_listed)
{
	struct fake_session s = two_workloads("1,64", sizes, 2);

	chart_files_session(&made, &s);
	fail("pathtrace");
	chart_files_make(&made);
	row_says("why", row_of("pathtrace"), "no good result of every process");
	cr_assert(eq(int, row_of("pathtrace"), 0), "below");
	chart_files_release(&made);
}

Test(small_chart_collection, another_depth_than_64_is_said)
{
	struct fake_session s = two_workloads("1,16,64", sizes, 2);
	int over;

	chart_files_session(&made, &s);
	fail("pathtrace samples=300 stream depth 64");
	chart_files_make(&made);
	cr_assert(eq(dbl, dot("pathtrace samples=300", SERIES_DEEP)[5], 16), "the deepest");
	over = 4 * row_of("pathtrace samples=300") + SERIES_DEEP - 1;
	cr_assert(ne(ptr,
		     strstr(script_value("collection", words_name("over", over + 1).s), "(16)"),
		     NULL),
		  "%s", script_value("collection", words_name("over", over + 1).s));
	script_says("collection", "note2", "in brackets");
	chart_files_release(&made);
	s = two_workloads("1,16", sizes, 2);
	charts_of(&made, &s);
	cr_assert(eq(str, (char *)script_value("collection", "deep"), "16"), "the session's");
	cr_assert(eq(str, (char *)script_value("collection", "note2"), ""), "of all");
	chart_files_release(&made);
}

Test(small_chart_collection, without_graphs_ideals_have_a_star)
{
	struct fake_session s = two_workloads("1,64", sizes, 2);

	s.mode = "stream";
	charts_of(&made, &s);
	cr_assert(ne(ptr, strstr(script_value("collection", "note1"), "no graphs"), NULL), "note");
	cr_assert(ne(ptr, strchr(script_value("collection", "ideal1"), '*'), NULL), "%s",
		  script_value("collection", "ideal1"));
	row_says("ideal", row_of("launch 20 µs kernels"), "20 µs");
	script_says("collection", "title", "stream: ");
	cr_assert(
		eq(int, strncmp(script_value("collection", "finding"), "most at depth 1: ", 17), 0),
		"%s", script_value("collection", "finding"));
	chart_files_release(&made);
}

static bool has_collection(void)
{
	for (int i = 0; i < made.charts.pictures; i++)
		if (!strcmp(made.charts.picture[i].plot.name, "collection"))
			return true;
	return false;
}

Test(small_chart_collection, of_one_workload_or_two_platforms_there_is_none)
{
	struct fake_session s = two_workloads("1,64", sizes, 1);

	s.also = NULL;
	charts_of(&made, &s);
	cr_assert(not(has_collection()), "one workload");
	chart_files_release(&made);
	s = two_workloads("1,64", sizes, 2);
	s.sides = 2;
	charts_of(&made, &s);
	cr_assert(not(has_collection()), "two sides");
	chart_files_release(&made);
}

Test(small_chart_collection, the_picture_is_drawn_without_a_word)
{
	struct fake_session s = two_workloads("1,64", sizes, 2);

	NEED_GNUPLOT();
	charts_of(&made, &s);
	cr_assert(has_collection(), "drawn");
	for (int i = 0; i < made.charts.pictures; i++) {
		struct picture *p = &made.charts.picture[i];

		if (strcmp(p->plot.name, "collection"))
			continue;
		cr_assert(zero(int, picture_draw(p)), "drawn");
		cr_assert(eq(str, (char *)p->said.s, ""), "%s", p->said.s);
	}
	chart_files_release(&made);
}
