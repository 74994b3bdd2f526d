/*
 * test_chart_pictures.c - the scripts in plots/: every chart is drawn, without a word of gnuplot's,
 * whatever a session has.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/chart_files.h"
#include "tests/need_gnuplot.h"

TestSuite(small_chart_pictures, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 300);

/* Fits of hundreds of points take seconds. */
TestSuite(large_chart_pictures, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 300);

static struct chart_files made;

/* PNG header: width and height. */
static void check_png(const char *name)
{
	const char *text;
	int width, height;

	shell(&text,
	      "od -An -j16 -N8 -t u1 '%s/%s.png' | awk '{ print $3 * 256 + $4, $7 * 256 + $8 }'",
	      chart_folder, name);
	cr_assert(eq(int, sscanf(text, "%d %d", &width, &height), 2), "%s: %s", name, text);
	cr_assert(eq(int, width, 900), "%s: %d wide", name, width);
	cr_assert(lt(int, 150, height), "%s: %d high", name, height);
}

/* The title is in the SVG as text; XML has names for quotes and the like. */
static void check_svg(const char *name)
{
	char title[512];

	strcpy(title, script_value(name, "title"));
	title[strcspn(title, "'&<>")] = '\0';
	cr_assert(zero(int, shell(NULL, "grep -qF '%s' '%s/%s.svg'", title, chart_folder, name)),
		  "%s: no '%s'", name, title);
}

static void draw_charts(const struct fake_session *s, int pictures)
{
	charts_of(&made, s);
	cr_assert(eq(int, made.charts.pictures, pictures), "%d pictures", made.charts.pictures);
	cr_assert(zero(int, charts_draw(&made.charts)), "drawn");
	for (int i = 0; i < pictures; i++) {
		const struct picture *p = &made.charts.picture[i];

		cr_assert(eq(str, (char *)p->said.s, ""), "%s", p->plot.name);
		check_png(p->plot.name);
		check_svg(p->plot.name);
	}
	chart_files_release(&made);
}

static struct fake_session session(const char *size, const char *depth, int sides)
{
	struct fake_session s = fake_session();

	s.size = size;
	s.depth = depth;
	s.processes = 5;
	s.sides = sides;
	s.noise = 0.02;
	s.model[1].v[MODEL_P] = 6300;
	s.model[1].v[MODEL_Z] = 26000;
	return s;
}

Test(small_chart_pictures, one_platform)
{
	struct fake_session s = session("0,2,20,200", "1,16,256", 1);

	NEED_GNUPLOT();
	draw_charts(&s, 4);
}

Test(small_chart_pictures, two_platforms)
{
	struct fake_session s = session("0,2,20,200", "1,16,256", 2);

	NEED_GNUPLOT();
	draw_charts(&s, 8);
}

Test(large_chart_pictures, a_full_grid)
{
	struct fake_session s = session(NULL, NULL, 2);

	NEED_GNUPLOT();
	s.assignment = (char *[]){ "kernel=work" };
	s.n_assignments = 1;
	draw_charts(&s, 8);
}

Test(small_chart_pictures, few_processes_one_mode_one_size_or_depth)
{
	struct fake_session one_size = session("10", "1,16,256", 2);
	struct fake_session one_depth = session("1,10,100", "16", 1);
	struct fake_session empty = session("0", "1,4", 1);

	NEED_GNUPLOT();
	one_size.processes = 2;
	draw_charts(&one_size, 7);
	one_depth.mode = "stream";
	draw_charts(&one_depth, 2);
	draw_charts(&empty, 1);
}

/* One cell, dark and light: gnuplot 5.4 is ended by a signal by too little to draw. */
Test(small_chart_pictures, one_point)
{
	struct fake_session light = session("200", "16", 1), dark = session("1", "1", 2);

	NEED_GNUPLOT();
	light.mode = dark.mode = "stream";
	draw_charts(&light, 1);
	draw_charts(&dark, 4);
}

/* Every ratio is 1: a range of nothing is none. */
Test(small_chart_pictures, two_that_are_equal)
{
	struct fake_session s = session("2,20", "1,16", 2);

	NEED_GNUPLOT();
	s.mode = "stream";
	s.noise = 0;
	s.model[1] = s.model[0];
	draw_charts(&s, 8);
}

static double cells_take_0_3_ms_and_more(double cells)
{
	return 3e5 + 1e3 * cells;
}

Test(small_chart_pictures, nothing_over_5_percent_and_a_size_that_is_no_duration)
{
	struct fake_session s = session("1,32,1k", "1,4,16", 2);

	NEED_GNUPLOT();
	s.workload = "myocyte";
	s.kernel_ns = cells_take_0_3_ms_and_more;
	draw_charts(&s, 7); /* every depth is enough: none is needed */
}

/* Names as a device or a user may have them. */
Test(small_chart_pictures, names_are_taken_as_they_are)
{
	struct fake_session s = session("2,20", "1,16", 1);

	NEED_GNUPLOT();
	s.device[0] = "it's a_{GPU} \"%d\" & more\n";
	draw_charts(&s, 4);
	cr_assert(zero(int, shell(NULL, "grep -q 'a_{GPU}' %s/launch-overhead.svg", chart_folder)),
		  "no markup");
}

Test(small_chart_pictures, a_person_without_rift_draws_them_again)
{
	struct fake_session s = session("2,20", "1,16", 1);
	const char *text;

	NEED_GNUPLOT();
	charts_of(&made, &s);
	chart_files_release(&made);
	cr_assert(zero(int, shell(&text,
				  "mv %s %s-moved && cd %s-moved && RIFT_HOME=/nowhere "
				  "gnuplot launch-overhead.gp launch-latency.gp "
				  "launch-depth-needed.gp "
				  "launch-stack.gp 2>&1",
				  chart_folder, chart_folder, chart_folder)),
		  "%s", text);
	cr_assert(eq(str, (char *)text, ""), "%s", text);
	shell(&text, "cd %s-moved && LC_ALL=C ls *.png *.svg; rm -r %s-moved", chart_folder,
	      chart_folder);
	cr_assert(eq(str, (char *)text,
		     "launch-depth-needed.png\nlaunch-depth-needed.svg\nlaunch-latency.png\n"
		     "launch-latency.svg\nlaunch-overhead.png\nlaunch-overhead.svg\nlaunch-stack."
		     "png\n"
		     "launch-stack.svg\n"),
		  "%s", text);
}
