/* test_warmup_chart.c - harness/chart/warmup_chart.c: what is drawn of curves, by the data files.
 */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "harness/chart/warmup_chart.h"
#include "harness/probe/warmup.h"
#include "tests/chart_files.h"
#include "tests/need_gnuplot.h"

TestSuite(small_warmup_chart, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 300);

/* Blocks of 8, 4, 4 and 4 ms. */
static json_t *make_curve(int depth, const char *beginning)
{
	return json_pack(
		"{s:i, s:s, s:[i,i,i,i], s:[i,i,i,i], s:[i,i,i,i], s:{}, s:{s:[i,i], s:[i,i], "
		"s:[i,i]}, s:{s:[i,i], s:[i,i], s:[i,n]}}",
		"depth", depth, "beginning", beginning, "begin_ns", 0, 8000000, 12000000, 16000000,
		"enq_ns", 1, 1, 1, 1, "total_ns", 8000000, 4000000, 4000000, 4000000, "bins",
		"samples", "at_ns", 8500000, 20000000, "canary_ns", 300000, 200000,
		"host_canary_ns", 100000, 100000, "gpu", "t_ms", 1, 20, "power_mw", 100000, 400000,
		"sm_mhz", 345);
}

static json_t *make_curves(void)
{
	json_t *curves =
		json_pack("{s:s, s:s, s:i, s:i, s:{s:s}, s:[], s:[], s:s}", "record",
			  "warmup_curves", "workload", "launch", "processes", 1, "seed", 1,
			  "device", "name", "a device", "params", "curves", "mode", "stream");
	json_t *array = json_object_get(curves, "curves");

	for (int b = 0; b < BEGINNINGS; b++)
		for (int depth = 1; depth <= 10; depth *= 10)
			json_array_append_new(array, make_curve(depth, beginning_names[b]));
	return curves;
}

static void draw(const json_t *curves)
{
	struct picture p;

	cr_assert(!warmup_chart(&p, curves, chart_folder) && p.drawn, "drawn");
	cr_assert(!*p.said.s, "%s", p.said.s);
	picture_release(&p);
}

Test(small_warmup_chart, blocks_by_their_ends)
{
	static const double us[] = { 8000, 4000, 4000, 4000 }, ms[] = { 8, 12, 16, 20 };
	json_t *curves = make_curves();
	const struct table *t;

	NEED_GNUPLOT();
	draw(curves);
	t = table_read("warmup-blocks.csv");
	cr_assert(t->rows == 2 * BEGINNINGS * 4, "%d", t->rows);
	for (int i = 0; i < t->rows; i++) {
		int column = i / 4 % 2 + 1;

		cr_assert(t->v[i][0] == column && t->v[i][1] == 1 + i / 8, "row %d", i);
		cr_assert(fabs(t->v[i][2] - ms[i % 4]) < 1e-9, "row %d: %g", i, t->v[i][2]);
		cr_assert(fabs(t->v[i][3] - us[i % 4] / (column == 1 ? 1 : 10)) < 1e-9,
			  "row %d: %g", i, t->v[i][3]);
	}
	script_figures("warmup", "title", "10 2.0");
	json_decref(curves);
}

static json_t *with_first_block(int64_t ns)
{
	json_t *curves = make_curves(), *curve;
	size_t i;

	json_object_set_new(curves, "start_utc", json_string("2026-05-04T10:00:00Z"));
	json_array_foreach(json_object_get(curves, "curves"), i, curve)
	{
		json_array_set_new(json_object_get(curve, "total_ns"), 0, json_integer(ns));
	}
	return curves;
}

static const char *title_of(int64_t first_ns)
{
	json_t *curves = with_first_block(first_ns);

	draw(curves);
	json_decref(curves);
	return script_value("warmup", "title");
}

Test(small_warmup_chart, the_title_says_what_there_is_to_say)
{
	NEED_GNUPLOT();
	cr_assert(strstr(title_of(8000000), " steps take 2.0 times as long as later ones"), "%s",
		  script_value("warmup", "title"));
	cr_assert(strstr(title_of(5000000), " steps take 25 % longer than later ones"), "%s",
		  script_value("warmup", "title"));
	cr_assert(strstr(title_of(4000000), " steps take as long as later ones"), "%s",
		  script_value("warmup", "title"));
	cr_assert(strstr(script_value("warmup", "made2"), ", 2026-05-04; "), "%s",
		  script_value("warmup", "made2"));
}

/* What is null, or whose last value is, is not drawn. */
Test(small_warmup_chart, clocks_over_their_last_values)
{
	static const double want[][4] = {
		{ 1, 1, 8.5, 1.5 }, { 1, 1, 20, 1 },   { 1, 2, 8.5, 1 },
		{ 1, 2, 20, 1 },    { 1, 4, 1, 0.25 }, { 1, 4, 20, 1 },
	};
	json_t *curves = make_curves();
	const struct table *t;

	NEED_GNUPLOT();
	draw(curves);
	t = table_read("warmup-samples.csv");
	cr_assert(t->rows == 12, "%d", t->rows);
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < 4; k++)
			cr_assert(fabs(t->v[i][k] - want[i][k]) < 1e-9, "row %d, column %d: %g", i,
				  k, t->v[i][k]);
	cr_assert(!strcmp(script_value("warmup", "name4"), "power"), "power");
	cr_assert(!strcmp(script_value("warmup", "name3"), ""), "no clock");
	json_decref(curves);
}
