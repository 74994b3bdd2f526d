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

static void draw(json_t *grid)
{
	struct picture p;

	cr_assert(!grid_chart(&p, (json_t *[]){ grid, NULL }, 1, chart_folder) && p.drawn, "drawn");
	cr_assert(!*p.said.s, "%s", p.said.s);
	picture_release(&p);
}

static void draw_two(json_t *a, json_t *b)
{
	struct picture p;

	cr_assert(!grid_chart(&p, (json_t *[]){ a, b }, 2, chart_folder) && p.drawn, "drawn");
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

/* B takes twice as long, and lacks the second width. */
static json_t *make_other(void)
{
	json_t *grid = make_grid(), *row;
	size_t i;

	json_object_set_new(grid, "device", json_pack("{s:s}", "name", "another one"));
	json_object_set_new(grid, "virt", json_pack("{s:s}", "declared_platform", "the guest"));
	json_array_foreach(json_object_get(grid, "rows"), i, row)
	{
		double us = 2 * json_number_value(json_object_get(row, "median"));

		json_object_set_new(row, "median", json_real(us));
		json_object_set_new(row, "values", json_pack("[f,f]", us, us));
	}
	for (i = 3; i < 6; i++)
		json_object_set_new(json_array_get(json_object_get(grid, "configs"), i), "width",
				    json_string("8"));
	return grid;
}

Test(small_grid_chart, two_grids_have_two_lines_in_one_picture)
{
	static const char *const labels[] = { "A, width=1", "B, width=1", "A, width=2",
					      "B, width=8" };
	static const int rows_of[] = { 3, 3, 3, 3 };
	json_t *a = make_grid(), *b = make_other();
	const struct table *t;
	int rows[4] = { 0 };

	NEED_GNUPLOT();
	draw_two(a, b);
	t = table_read("grid-points.csv");
	for (int i = 0; i < t->rows; i++) {
		int number = (int)t->v[i][1] - 1;
		double us = (number < 2 ? 1 : 2) * (2 + t->v[i][2]) * (number % 2 ? 2 : 1);

		rows[number]++;
		cr_assert(t->v[i][3] == us && fabs(t->v[i][6] - us) < 1e-9, "row %d: %g, not %g", i,
			  t->v[i][3], us);
	}
	for (int k = 0; k < 4; k++) {
		char variable[16];

		snprintf(variable, sizeof(variable), "group%d", k + 1);
		cr_assert(rows[k] == rows_of[k], "series %d: %d", k, rows[k]);
		cr_assert(!strcmp(script_value("grid", variable), labels[k]), "%s",
			  script_value("grid", variable));
	}
	script_says("grid", "title", "2.00 µs + 1000 ns per unit *on A, 4.00 µs + 2000 ns on B");
	script_says("grid", "made1", "A: graph*a device");
	script_says("grid", "made2", "B: graph*the guest*another one");
	cr_assert(!strcmp(script_value("grid", "device"), "a device"), "of A");
	json_decref(a);
	json_decref(b);
}

Test(small_grid_chart, two_grids_without_sizes_have_two_marks_a_row)
{
	json_t *a = make_grid(), *b = make_other();
	const struct table *t;

	NEED_GNUPLOT();
	for (size_t i = 0; i < 6; i++) {
		json_object_set_new(json_array_get(json_object_get(a, "configs"), i), "length",
				    json_string("7"));
		json_object_set_new(json_array_get(json_object_get(b, "configs"), i), "length",
				    json_string("7"));
	}
	draw_two(a, b);
	t = table_read("grid-points.csv");
	/* A's six configurations, and the one of B's that A has as well, three times */
	cr_assert(t->rows == 2 * (6 + 3), "%d", t->rows);
	cr_assert(!strcmp(script_value("grid", "name1"), "launch call, idle, A"), "%s",
		  script_value("grid", "name1"));
	cr_assert(!strcmp(script_value("grid", "name2"), "launch call, idle, B"), "%s",
		  script_value("grid", "name2"));
	json_decref(a);
	json_decref(b);
}
