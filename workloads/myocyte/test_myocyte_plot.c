/*
 * test_myocyte_plot.c - `rift run myocyte --plot` of the real binary: which files, what they hold,
 * what the picture says, and what happens without gnuplot.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/need_gnuplot.h"
#include "workloads/myocyte/test_golden.h"

TEST_FOLDER(folder);

TestSuite(small_myocyte_plot, .init = make_folder, .fini = remove_folder, .timeout = 300);
TestSuite(large_myocyte_plot, .init = make_folder, .fini = remove_folder, .timeout = 400);

/* Enough of a run to be drawn: its figures are not looked at. */
#define RUN "run myocyte --depth 1 --samples 1 "

static const char all_files[] = "myocyte-published.csv\nmyocyte-rodinia.csv\nmyocyte.gp\n"
				"myocyte.png\nmyocyte.svg\n";
/* of a span of whole ms */
static const char files_with_solver[] =
	"myocyte-published.csv\nmyocyte-rodinia-solver.csv\nmyocyte-rodinia.csv\nmyocyte.gp\n"
	"myocyte.png\nmyocyte.svg\n";

static void has(const char *text, const char *part)
{
	cr_assert(strstr(text, part), "'%s' is not in:\n%s", part, text);
}

static const char *listing(void)
{
	const char *text;

	shell(&text, "LC_ALL=C ls -A %s", folder);
	return text;
}

/* Is there the text in the picture's SVG, whose apostrophes may be entities? */
static void svg_says(const char *words)
{
	cr_assert(!shell(NULL, "sed \"s/&apos;/'/g\" %s/myocyte.svg | grep -qF \"%s\"", folder,
			 words),
		  "'%s' is not in the SVG", words);
}

Test(small_myocyte_plot, files_are_named_in_the_table_and_there)
{
	const char *text, *err;

	need_device();
	NEED_GNUPLOT();
	cr_assert(!run_rift_once(&text, &err, RUN "span=20 --plot=%s/", folder), "%s", err);
	cr_assert(!*err, "stderr: %s", err);
	has(text, "/myocyte.png, myocyte.svg\n");
	has(text, "/myocyte-rodinia.csv\n");
	cr_assert(!strcmp(listing(), files_with_solver), "%s", listing());
	cr_assert(!shell(&text, "od -An -tx1 -N8 %s/myocyte.png", folder), "%s", text);
	cr_assert(!strcmp(text, " 89 50 4e 47 0d 0a 1a 0a\n"), "%s", text);
	svg_says(" 0.12 mV in 20 ms");
	svg_says("tolerance 1e-6, double; ");
	svg_says("published equations");
}

Test(small_myocyte_plot, the_default_folder_is_made_where_rift_is_started)
{
	const char *text;

	need_device();
	NEED_GNUPLOT();
	cr_assert(!shell(&text, "cd %s && '%s' " RUN "span=0.01 --plot 2>&1", folder, rift()), "%s",
		  text);
	has(text, "results/plots/myocyte.png");
	cr_assert(!shell(NULL, "test -s %s/results/plots/myocyte.png", folder), "PNG");
}

Test(small_myocyte_plot, json_lists_the_paths)
{
	const json_t *picture, *data;

	need_device();
	NEED_GNUPLOT();
	picture = json_object_get(rift_json(RUN "span=0.01 --json"), "picture");
	cr_assert(json_is_null(picture), "no picture was asked for");
	picture = json_object_get(rift_json(RUN "span=0.01 --json --plot=%s", folder), "picture");
	cr_assert(!strcmp(get_text(picture, "folder"), folder), "folder");
	cr_assert(!access(get_text(picture, "png"), R_OK), "%s", get_text(picture, "png"));
	cr_assert(!access(get_text(picture, "svg"), R_OK), "%s", get_text(picture, "svg"));
	cr_assert(!access(get_text(picture, "script"), R_OK), "%s", get_text(picture, "script"));
	data = json_object_get(picture, "data");
	cr_assert(json_array_size(data) == 2, "%zu data files", json_array_size(data));
	for (size_t i = 0; i < 2; i++)
		cr_assert(!access(json_string_value(json_array_get(data, i)), R_OK), "data %zu", i);
}

Test(small_myocyte_plot, without_gnuplot_the_results_stand_and_it_is_3)
{
	const char *text;
	int code;

	need_device();
	code = shell(&text, "PATH=/nonexistent '%s' " RUN "span=0.01 --plot=%s 2>&1 >/dev/null",
		     rift(), folder);
	cr_assert(code == 3, "exit %d: %s", code, text);
	cr_assert(is_one_complaint(text), "%s", text);
	has(text, "apt-get install gnuplot-nox");
	shell(&text, "PATH=/nonexistent '%s' " RUN "span=0.01 --plot=%s 2>/dev/null", rift(),
	      folder);
	has(text, "\ncheck             passed");
	has(text, "\npicture           not drawn\n");
	has(text, "/myocyte-published.csv\n");
	cr_assert(!strcmp(listing(), "myocyte-published.csv\nmyocyte-rodinia.csv\nmyocyte.gp\n"),
		  "%s", listing());
}

Test(small_myocyte_plot, a_picture_that_was_there_stays_until_a_new_one_is_whole)
{
	const char *text;

	need_device();
	NEED_GNUPLOT();
	cr_assert(!shell(NULL, "echo old >%s/myocyte.png", folder), "old");
	shell(NULL, "PATH=/nonexistent '%s' " RUN "span=0.01 --plot=%s >/dev/null 2>&1", rift(),
	      folder);
	cr_assert(!shell(&text, "cat %s/myocyte.png", folder), "%s", text);
	cr_assert(!strcmp(text, "old\n"), "%s", text);
	cr_assert(!run_rift(ERR, &text, RUN "span=0.01 --plot=%s", folder), "%s", text);
	cr_assert(shell(NULL, "grep -q old %s/myocyte.png", folder), "replaced");
	cr_assert(!strcmp(listing(), all_files), "%s", listing());
}

Test(small_myocyte_plot, what_cannot_be_drawn_is_refused_at_once)
{
	/* not even root can make a folder there */
	refused(3, "--plot=/proc/self/p", RUN "--plot=/proc/self/p");
	refused(3, "--plot=/dev/null", RUN "--plot=/dev/null");
	refused(3, "--plot", RUN "states=a.csv derivatives=b.csv --plot=%s", folder);
	cr_assert(!*listing(), "%s", listing());
}

Test(small_myocyte_plot, list_shows_that_there_is_a_picture)
{
	const json_t *entry =
		json_array_get(json_object_get(rift_json("list myocyte --json"), "workloads"), 0);
	const char *text;

	cr_assert(json_is_true(json_object_get(entry, "picture")), "JSON");
	run_rift(OUT, &text, "list myocyte");
	has(text, "rift run myocyte --plot");
}

/* ---- what is drawn ---------------------------------------------------------------------- */

/* The row of time t of a curve's data file against the golden beat. */
static void agrees(const char *file, const char *golden, double t)
{
	double want[MYOCYTE_STATES], V, Ca_i, Ca_SR;
	char path[256];
	int64_t row = 0;
	struct csv csv;

	golden_state(golden, t, want);
	snprintf(path, sizeof(path), "%s/%s", folder, file);
	cr_assert(!csv_read(path, &csv), "%s", path);
	while (golden_number(&csv, row, "t_ms") != t)
		cr_assert(++row < csv.rows, "%s has no row for t=%g ms", path, t);
	V = golden_number(&csv, row, "V_mV") - want[MYOCYTE_V];
	Ca_i = golden_number(&csv, row, "Ca_i_uM") / (1e3 * want[37]) - 1;
	Ca_SR = golden_number(&csv, row, "Ca_SR_mM") / want[30] - 1;
	cr_assert(fabs(V) <= 2e-3, "%s, t=%g ms: V is off by %g mV", file, t, V);
	cr_assert(fabs(Ca_i) <= 4e-4, "%s, t=%g ms: Ca_i is off by %g", file, t, Ca_i);
	cr_assert(fabs(Ca_SR) <= 4e-4, "%s, t=%g ms: Ca_SR is off by %g", file, t, Ca_SR);
	csv_free(&csv);
}

static void both_agree(double t)
{
	agrees("myocyte-published.csv", "golden/reference_published_equations.csv", t);
	agrees("myocyte-rodinia.csv", "golden/reference_benchmark_equations.csv", t);
}

/* By both equations whatever equations= says, and of the cell asked for. */
Test(small_myocyte_plot, curves_are_the_golden_ones)
{
	const char *text;

	need_device();
	NEED_GNUPLOT();
	cr_assert(!run_rift(ERR, &text, RUN "span=20 equations=rodinia cells=3 --plot=%s", folder),
		  "%s", text);
	both_agree(10);
	both_agree(20);
	svg_says("cell, trace=0, over 20 ms");
	cr_assert(!shell(NULL, "cp %s/myocyte-rodinia.csv %s/first", folder, folder), "copy");
	cr_assert(!run_rift(ERR, &text, RUN "span=20 cells=3 trace=2 --plot=%s", folder), "%s",
		  text);
	cr_assert(shell(NULL, "cmp -s %s/myocyte-rodinia.csv %s/first", folder, folder) == 1,
		  "another cell, other parameters");
}

/* Row k of the benchmark's own solver: its rounding on a GPU decides on the steps' last bits. */
static void solver_agrees(double k)
{
	double want[MYOCYTE_STATES], V;
	char path[256];
	struct csv csv, golden = golden_open("golden/rodinia_double_1000ms_every50.csv");
	int64_t row = 0;

	while (golden_number(&golden, row, "k") != k)
		cr_assert(++row < golden.rows, "no golden row %g", k);
	golden_vector(&golden, row, "y", want);
	snprintf(path, sizeof(path), "%s/myocyte-rodinia-solver.csv", folder);
	cr_assert(!csv_read(path, &csv), "%s", path);
	cr_assert(golden_number(&csv, (int64_t)k, "t_ms") == k, "a row each ms");
	V = golden_number(&csv, (int64_t)k, "V_mV");
	cr_assert(fabs(V - want[MYOCYTE_V]) <= 1e-3, "k=%g: V=%g mV, not %g", k, V,
		  want[MYOCYTE_V]);
	csv_free(&csv);
	csv_free(&golden);
}

Test(large_myocyte_plot, the_title_is_the_finding)
{
	const char *text;

	need_device();
	NEED_GNUPLOT();
	cr_assert(!run_rift(ERR, &text, RUN "--plot=%s", folder), "%s", text);
	both_agree(10);
	both_agree(100);
	both_agree(1000);
	solver_agrees(5);
	solver_agrees(100);
	solver_agrees(1000);
	svg_says(" 12.1 ms early");
	svg_says(" −40 mV at 185.3 ms, not at 197.4 ms");
	svg_says(" −0.7 % over 1000 ms, not by 0.0 %");
	/* the enlarged part */
	svg_says(">12.1 ms<");
}
