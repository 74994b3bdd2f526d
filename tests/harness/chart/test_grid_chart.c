/* test_grid_chart.c - harness/chart/grid_chart.c: what is drawn of a grid, by its data file. */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "harness/chart/grid_chart.h"
#include "tests/chart_files.h"
#include "tests/need_gnuplot.h"

TestSuite(small_grid_chart, .init = chart_folder_make, .fini = chart_folder_remove, .timeout = 300);

static void add_row(json_t *grid, int config, const char *name, double us)
{
	json_array_append_new(json_object_get(grid, "rows"),
			      json_pack("{s:s, s:i, s:s, s:s, s:[f,f], s:f, s:f, s:f}", "workload",
					"graph", "config", config, "name", name, "unit", "us",
					"values", us, us, "median", us, "lo", us - 0.5, "hi",
					us + 0.5));
}

/* Two widths of three lengths: width * (2 us + 1 us a node). */
static json_t *make_grid(void)
{
	static const char *const length[] = { "1", "2", "4" };
	json_t *grid =
		json_pack("{s:s, s:s, s:s, s:i, s:i, s:{s:s}, s:[], s:[]}", "record", "probe_grid",
			  "start_utc", "2026-05-04T10:00:00Z", "workload", "graph", "processes", 2,
			  "seed", 1, "device", "name", "a device", "configs", "rows");

	for (int i = 0; i < 6; i++) {
		json_array_append_new(json_object_get(grid, "configs"),
				      json_pack("{s:s, s:s}", "width", i < 3 ? "1" : "2", "length",
						length[i % 3]));
		add_row(grid, i, "launch call, idle", (1 + i / 3) * (2 + atof(length[i % 3])));
		add_row(grid, i, "set one node", 5);
	}
	return grid;
}

static void draw(const json_t *grid)
{
	struct picture p;

	cr_assert(!grid_chart(&p, grid, chart_folder) && p.drawn, "drawn");
	cr_assert(!*p.said.s, "%s", p.said.s);
	picture_release(&p);
}

Test(small_grid_chart, lines_over_the_size)
{
	json_t *grid = make_grid();
	const struct table *t;

	NEED_GNUPLOT();
	draw(grid);
	t = table_read("grid-points.csv");
	cr_assert(t->rows == 6, "%d", t->rows);
	for (int i = 0; i < t->rows; i++) {
		double us = t->v[i][3];

		cr_assert(t->v[i][0] == 1 && t->v[i][1] == 1 + i / 3, "row %d", i);
		cr_assert(us == (1 + i / 3) * (2 + t->v[i][2]), "row %d: %g", i, us);
		cr_assert(t->v[i][4] == us - 0.5 && t->v[i][5] == us + 0.5, "row %d", i);
		cr_assert(fabs(t->v[i][6] - us) < 1e-9, "row %d: %g", i, t->v[i][6]);
	}
	cr_assert(!strcmp(script_value("grid", "group2"), "width=2"), "%s",
		  script_value("grid", "group2"));
	cr_assert(!strcmp(script_value("grid", "fit1_2"), "4.00 µs + 2000 ns"), "%s",
		  script_value("grid", "fit1_2"));
	cr_assert(strstr(script_value("grid", "made2"), ", 2026-05-04; "), "%s",
		  script_value("grid", "made2"));
	json_decref(grid);
}

/* Without several sizes each configuration has a row. */
Test(small_grid_chart, configurations_without_a_size)
{
	json_t *grid = make_grid();
	const struct table *t;

	NEED_GNUPLOT();
	for (size_t i = 0; i < 6; i++)
		json_object_set_new(json_array_get(json_object_get(grid, "configs"), i), "length",
				    json_string("7"));
	add_row(grid, 2, "first chain's end", 9);
	draw(grid);
	t = table_read("grid-points.csv");
	cr_assert(t->rows == 1 && t->v[0][0] == 1 && t->v[0][1] == 3 && t->v[0][2] == 9, "%d, %g",
		  t->rows, t->v[0][2]);
	cr_assert(!strcmp(script_value("grid", "rows"), "6"), "%s", script_value("grid", "rows"));
	cr_assert(!strcmp(script_value("grid", "row6"), "width=2"), "%s",
		  script_value("grid", "row6"));
	json_decref(grid);
}
