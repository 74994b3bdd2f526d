/*
 * test_chart_heat.c - harness/chart/heat.c: cells and lines of heat maps, and what is said of them,
 * on sessions that were made up from a model.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "harness/chart/heat.h"
#include "harness/measure/run.h"
#include "tests/chart_files.h"
#include "tests/figures.h"
#include "tests/golden.h"

TestSuite(small_chart_heat, .init = chart_folder_make, .fini = chart_folder_remove, .timeout = 300);

static struct chart_files made;

Test(small_chart_heat, cells_are_what_the_model_gives)
{
	static const double us[] = { 2, 20, 200 }, depth[] = { 1, 4, 16, 64, 256 };
	struct fake_session s = chart_session(1);
	const struct table *t;

	charts_of(&made, &s);
	t = table_read("launch-overhead-cells.csv");
	cr_assert(eq(int, t->rows, 45), "3 modes, 3 sizes that take time, 5 depths");
	script_says("launch-overhead", "panels", "3");
	script_says("launch-overhead", "rows", "3");
	script_says("launch-overhead", "columns", "5");
	for (int i = 0; i < t->rows; i++) {
		const double *v = t->v[i];
		double want = overhead_percent(&s.model[0], (enum mode)v[0], us[(int)v[2]],
					       depth[(int)v[1]]);

		/* the fitted clock is a little off 1 */
		cr_assert(epsilon_eq(dbl, v[3], want, 0.2 + 0.002 * want), "row %d: %g, not %g", i,
			  v[3], want);
	}
	chart_files_release(&made);
}

/* Of two cells that a border parts, one is over 5 %; no other neighbours differ so. */
Test(small_chart_heat, borders_part_cells_over_5_percent_from_others)
{
	enum { UP = 1, RIGHT = 2 };
	static int border[MODE_COUNT][3][5];

	static double percent[MODE_COUNT][3][5];
	struct fake_session s = chart_session(1);
	const struct table *t;

	charts_of(&made, &s);
	t = table_read("launch-overhead-cells.csv");
	for (int i = 0; i < t->rows; i++)
		percent[(int)t->v[i][0]][(int)t->v[i][2]][(int)t->v[i][1]] = t->v[i][3];
	t = table_read("launch-overhead-borders.csv");
	for (int i = 0; i + 1 < t->rows; i += 2) {
		const double *from = t->v[i], *to = t->v[i + 1];
		bool up = to[1] > from[1]; /* along the columns: of a cell and the one above */

		cr_assert(eq(dbl, to[1] - from[1] + to[2] - from[2], 1), "row %d", i);
		border[(int)from[0]][(int)floor(to[2] - up * 0.25)][(int)floor(to[1])] |=
			up ? UP : RIGHT;
	}
	cr_assert(eq(int, atoi(script_value("launch-overhead", "bordered")), t->rows / 2));
	for (int mode = 0; mode < MODE_COUNT; mode++)
		for (int row = 0; row < 3; row++)
			for (int column = 0; column < 5; column++) {
				double here = percent[mode][row][column];
				bool up = row < 2 &&
					  (here > 5) != (percent[mode][row + 1][column] > 5);
				bool right = column < 4 &&
					     (here > 5) != (percent[mode][row][column + 1] > 5);

				cr_assert(eq(int, border[mode][row][column],
					     (up ? UP : 0) | (right ? RIGHT : 0)),
					  "mode %d, row %d, column %d", mode, row, column);
			}
	chart_files_release(&made);
}

/* The kernel, in us, for which overhead at depth 1 is 1 %, by trying. */
static double unseen_from(const struct model *m, enum mode mode)
{
	double us = 1;

	while (overhead_percent(m, mode, us, 1) > 1)
		us *= 1.001;
	return us;
}

Test(small_chart_heat, the_size_from_which_on_it_is_under_1_percent)
{
	struct fake_session s = chart_session(1);
	char want[64];

	s.size = "2,200,512,640,2000";
	s.mode = "stream,graph";
	charts_of(&made, &s);
	/* 5.8 and 5.5 us of it */
	snprintf(want, sizeof(want), "1 %%*1: stream *%.0f µs",
		 unseen_from(&s.model[0], MODE_STREAM));
	script_says("launch-overhead", "made3", want);
	snprintf(want, sizeof(want), ", graph *%.0f µs", unseen_from(&s.model[0], MODE_GRAPH));
	script_says("launch-overhead", "made3", want);
	chart_files_release(&made);
	s.size = "2,20,200";
	charts_of(&made, &s);
	script_figures("launch-overhead", "made3", "1 % 1 stream nowhere graph nowhere");
	chart_files_release(&made);
	s.size = "1000,2000";
	charts_of(&made, &s);
	script_figures("launch-overhead", "made3", "1 % 1 stream everywhere graph everywhere");
	chart_files_release(&made);
}

Test(small_chart_heat, sizes_that_are_no_durations_are_named)
{
	struct fake_session s = chart_session(1);

	s.workload = "pathtrace";
	s.size = "16,512,640,2k";
	s.depth = "1,64";
	s.mode = "stream";
	charts_of(&made, &s);
	/* K and g of 1 us a path, and Z - g = 4.9 us of them */
	script_says("pathtrace-overhead", "made3", "1 %*1: stream ");
	script_says("pathtrace-overhead", "made3", " µs (samples=");
	chart_files_release(&made);
	s.depth = "1";
	charts_of(&made, &s);
	for (int i = 0; i < made.charts.pictures; i++)
		cr_assert(
			ne(int, strcmp(made.charts.picture[i].plot.name, "pathtrace-overhead"), 0),
			"one depth alone has no ideal");
	chart_files_release(&made);
}

static double slower_by_30_percent(const struct batch *b, int side)
{
	return side && b->mode == MODE_STREAM ? 1.3 : 1;
}

Test(small_chart_heat, b_over_a_is_what_was_put_in)
{
	struct fake_session s = chart_session(2);
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
	script_says("launch-ratio", "title", "B *30 %*(stream, ");
	cr_assert(zero(int, strncmp(script_value("launch-ratio", "title"), "launch: B", 9)),
		  "of both sides: %s", script_value("launch-ratio", "title"));
	script_figures("launch-ratio", "finding",
		       "slower 2 % 20 60 faster 0 same 40 inconclusive 0");
	t = table_read("workloads-means.csv");
	cr_assert(eq(int, t->rows, 3), "a row a mode");
	cr_assert(epsilon_eq(dbl, t->v[2][1], 1.3, 1e-3), "the largest last");
	cr_assert(epsilon_eq(dbl, t->v[0][1], 1, 1e-3), "%g", t->v[0][1]);
	script_figures("workloads", "title", "30 % stream 20 1.300 1.300 90.5 %");
	script_says("workloads", "row3", "launch, stream");
	script_says("workloads", "native3", "A: ");
	chart_files_release(&made);
}

Test(small_chart_heat, a_system_against_itself_does_not_differ)
{
	struct fake_session s = chart_session(2);

	s.noise = 0.02;
	charts_of(&made, &s);
	script_figures("launch-ratio", "title", "not 60");
	chart_files_release(&made);
}

/* One point takes twice as long: of 40 that is none from 5 processes, as rift compare says. */
static double one_slow_point(const struct batch *b, int side)
{
	return side && b->mode == MODE_GRAPH && b->depth == 16 && b->kernel_ns == 20000 ? 2 : 1;
}

Test(small_chart_heat, verdicts_are_those_of_rift_compare)
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
	cr_assert(eq(str, (char *)figures_of(finding),
		     "slower 2 % 0 40 faster 0 same 39 inconclusive 1"),
		  "%s", finding);
	chart_files_release(&made);
}

Test(small_chart_heat, without_intervals_nothing_is_shown_to_differ)
{
	struct fake_session s = chart_session(2);

	s.processes = 2;
	s.model[1].v[MODEL_Z] = 26000;
	charts_of(&made, &s);
	cr_assert(eq(ptr, strstr(script_value("workloads", "title"), " %)"), NULL), "no interval");
	script_figures("launch-ratio", "title", "not 60");
	chart_files_release(&made);
}

Test(small_chart_heat, faster_platforms_have_a_minus)
{
	struct fake_session s = chart_session(2);
	const struct table *t;

	s.model[1].v[MODEL_GRAPH_G] = 0;
	charts_of(&made, &s);
	t = table_read("launch-ratio-cells.csv");
	for (int i = 0; i < t->rows; i++)
		if (t->v[i][0] > 0.5 && t->v[i][0] < 1.5 && t->v[i][1] > 3.5 && t->v[i][2] < 0.5)
			cr_assert(lt(dbl, t->v[i][3], -50), "empty nodes: %g", t->v[i][3]);
	script_says("launch-ratio", "title", "B * % *(graph, *256)");
	cr_assert(zero(int, shell(NULL, "grep -q ',−[0-9]*,graph' %s/launch-ratio-cells.csv",
				  chart_folder)),
		  "label");
	chart_files_release(&made);
}

/* ---- what is said of a map, cell by cell ------------------------------------------------- */

enum { PANELS = 2, ROWS = 3, COLUMNS = 3, CELLS = PANELS * ROWS * COLUMNS };

struct made_heat {
	struct chart_side side[CHART_SIDES];
	struct grid_size size[ROWS + 1];
	int64_t depth[COLUMNS];
	struct chart_set set;
	struct interval cell[CELLS];
	struct judged judged[CELLS];
	struct heat heat;
};

/* Sizes of 16, 1000 and 70000 behind an empty one, which take 2 to 200 us; depths 1, 16 and 64. */
static struct made_heat *made_heat(bool ratio)
{
	static struct made_heat m;

	m = (struct made_heat){ .side = { { .letter = "A" }, { .letter = "B" } },
				.size = { { 0, 0, 1, -1, -1 },
					  { 16, 2e3, 1, -1, -1 },
					  { 1000, 2e4, 1, -1, -1 },
					  { 70000, 2e5, 1, -1, -1 } },
				.depth = { 1, 16, 64 } };
	m.set = (struct chart_set){ .side = m.side, .sides = 2, .subject = "made" };
	m.set.grid[0] = (struct grid){ .axis = workload_axis(workload_find("pathtrace")),
				       .size = m.size,
				       .n_sizes = ROWS + 1,
				       .depth = m.depth,
				       .n_depths = COLUMNS };
	m.heat = (struct heat){ .set = &m.set,
				.ratio = ratio,
				.margin = 0.02,
				.panels = PANELS,
				.mode = { MODE_STREAM, MODE_GRAPH },
				.first = 1,
				.rows = ROWS,
				.columns = COLUMNS,
				.cell = m.cell,
				.judged = ratio ? m.judged : NULL };
	return &m;
}

/* Cells in lines of the map, what each says, and the title, the finding and the small print. */
static void say_heat(const struct made_heat *m, const char *cells, const char *unseen)
{
	struct plot p;
	char text[2 * PLOT_SAYS_BYTES];

	plot_begin(&p, chart_folder, "made", "made-up GPU");
	if (m->heat.ratio)
		heat_label_ratio(&m->heat, &p);
	else
		heat_label_overhead(&m->heat, &p);
	snprintf(text, sizeof(text), "%s  %s  [%s]\n", cells, p.says, unseen);
	golden_said(text);
	plot_end(&p);
}

/* 0.5, 1.2, 3, 8 and 50 % over ideal; a dot was not measured. */
static void say_overheads(struct made_heat *m, const char *cells)
{
	static const char kinds[] = "aebcd.";
	static const double value[] = { 1.005, 1.012, 1.03, 1.08, 1.5, NAN };
	char unseen[160];

	for (int i = 0; i < CELLS; i++) {
		int kind = (int)(strchr(kinds, cells[i]) - kinds);

		m->cell[i] = (struct interval){ value[kind], NAN, NAN, cells[i] != '.', false };
	}
	heat_unseen(&m->heat, unseen, sizeof(unseen));
	say_heat(m, cells, unseen);
}

/* A row a size, from short kernels to long ones, in streams and then in graphs. */
Test(small_chart_heat, a_map_says_from_which_size_on_overhead_is_small)
{
	static const char *const maps[] = {
		"aaaaaaaaaaaaaaaaaa", "bbaababbaaaaababaa", "cddddccdcccddccdcc",
		"cddcbccdddbbdbcddc", "dddad.bcdcbbbac..a", "dcccddabbccdbdbbcb",
		"accaaacbacbbbabcbc", "ca.ca.aaabbadcbc..", "bbccbccccccbccbbcb",
		"bbddbcddbdddbbdcbb", "aabddccbacbccbbbbb", "bccbcabbaccccbbaaa",
		"eccabcabbdccebbaba", "...bcb.bb.cccbb.ba",
	};
	struct made_heat *m = made_heat(false);

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		m->set.grid[0].nominal = i % 2;
		say_overheads(m, maps[i]);
	}
}

/* The same, slower, faster, neither shown; a dot was not measured. */
static void say_ratios(struct made_heat *m, const char *cells)
{
	static const char kinds[] = "=+-~.";
	static const double value[] = { 1, 1.3, 0.8, 1.1, NAN };

	for (int i = 0; i < CELLS; i++) {
		int kind = (int)(strchr(kinds, cells[i]) - kinds);
		double ratio = value[kind] + 0.01 * i;

		m->judged[i] = judged_unknown();
		m->judged[i].verdict = kind < 4 ? (enum ratio_verdict)kind : VERDICT_INCONCLUSIVE;
		m->cell[i] = (struct interval){ ratio, NAN, NAN, kind < 4, true };
	}
	say_heat(m, cells, "");
}

Test(small_chart_heat, a_map_says_where_b_differs_most)
{
	static const char *const maps[] = {
		"==================", "~-.--+=+~-.-.--~+.", "~=~==-~~-=~==~-~=~",
		"+=.-~-~--=~=.=-.++", "++++++++++++++++++", "------------------",
	};
	struct made_heat *m = made_heat(true);

	for (int i = 0; i < (int)(sizeof(maps) / sizeof(*maps)); i++) {
		m->set.two_sessions = i % 3 == 0;
		m->set.grid[0].failed = i % 4;
		m->set.grid[1].failed = i % 5;
		say_ratios(m, maps[i]);
	}
}
