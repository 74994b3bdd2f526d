/*
 * test_chart_cli.c - `rift plot` of the real binary: what it writes and where, with gnuplot and
 * without. What it refuses is in test_chart_refused.c.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/datafile.h"
#include "harness/base/picture.h"
#include "tests/chart_files.h"
#include "tests/cli.h"
#include "tests/need_gnuplot.h"

#include <signal.h>
#include <sys/time.h>

TestSuite(small_chart_cli, .init = chart_folder_make, .fini = chart_folder_remove, .timeout = 300);

static char path[256], other[256];

static void need_gnuplot(void)
{
	NEED_GNUPLOT();
	draw_each_look_once(chart_folder);
}

static void expect_text(const char *text, const char *want)
{
	cr_assert(ne(ptr, strstr(text, want), NULL), "'%s' in: %s", want, text);
}

static const char *listing(const char *folder)
{
	const char *text;

	shell(&text, "cd '%s/%s' && LC_ALL=C ls -A | tr '\\n' ' '", chart_folder, folder);
	return text;
}

/* What one platform's session leaves; pictures are left out where there is no gnuplot. */
#define DATA                                                                                       \
	"launch-depth-needed-fit.csv launch-depth-needed-points.csv launch-depth-needed.gp "       \
	"launch-latency-depths-fit.csv launch-latency-depths.csv launch-latency-lengths-fit.csv "  \
	"launch-latency-lengths.csv launch-latency.gp launch-overhead-borders.csv "                \
	"launch-overhead-cells.csv launch-overhead.gp launch-stack-parts.csv launch-stack.gp "

/* ---- what is written -------------------------------------------------------------------- */

Test(small_chart_cli, pictures_beside_the_session_in_a_folder_of_its_name)
{
	const char *text;

	need_gnuplot();
	chart_session_write(path, "my run.jsonl", 1, 1);
	cr_assert(zero(int, run_rift(OUT, &text, "plot '%s'", path)), "%s", text);
	expect_text(text, "/my run.plots/launch-overhead.png, .svg\n");
	expect_text(text, "to draw again: cd '");
	cr_assert(eq(ptr, strstr(text, "CPU device"), NULL), "made-up GPU: %s", text);
	text = listing("my run.plots");
	expect_text(text, "launch-overhead.png");
	expect_text(text, "launch-latency.svg");
	expect_text(text, "launch-depth-needed.gp");
	cr_assert(eq(ptr, strstr(text, ".part"), NULL), "%s", text);
	cr_assert(zero(int, run_rift(ERR, &text, "plot '%s'", path)), "again: %s", text);
	cr_assert(eq(str, (char *)text, ""), "%s", text);
}

Test(small_chart_cli, two_sessions_are_a_and_b)
{
	const char *text;

	need_gnuplot();
	chart_session_write(path, "host.jsonl", 1, 1);
	chart_session_write(other, "guest.jsonl", 1, 2);
	cr_assert(zero(int, run_rift(OUT, &text, "plot '%s' '%s'", path, other)), "%s", text);
	text = listing("host-guest.plots");
	expect_text(text, "launch-ratio.png");
	expect_text(text, "launch-overhead-b.png");
	expect_text(text, "workloads.png");
	shell(&text, "grep '^finding' '%s/host-guest.plots/launch-ratio.gp'", chart_folder);
	expect_text(text, "by more than 5 %");
	expect_text(text, "two sessions");
}

Test(small_chart_cli, other_devices_are_told)
{
	char kept[DATAFILE_PATH_BYTES];
	struct fake_session s = fake_session();
	const char *text;

	need_gnuplot();
	chart_session_write(path, "here.jsonl", 1, 1);
	cr_assert(zero(int, datafile_find("data/sessions/h200-launch.jsonl", kept)), "kept");
	cr_assert(zero(int, run_rift(ERR, &text, "plot '%s' '%s' --output '%s/pair'", path, kept,
				     chart_folder)),
		  "%s", text);
	expect_text(text, "B of NVIDIA H200: not only the platform differs");
	/* of few points, as it is drawn again */
	s.size = "2,20";
	s.depth = "1,16";
	s.mode = "stream,graph";
	s.processes = 5;
	s.device[0] = "another GPU";
	snprintf(other, sizeof(other), "%s/elsewhere.jsonl", chart_folder);
	fake_session_write(&s, other);
	cr_assert(zero(int, run_rift(ERR, &text, "plot '%s' '%s' --quiet --output '%s/pair'", path,
				     other, chart_folder)),
		  "%s", text);
	cr_assert(eq(str, (char *)text, ""), "%s", text);
}

Test(small_chart_cli, another_kind_of_waiting_is_told)
{
	struct fake_session s = fake_session();
	const char *text;

	need_gnuplot();
	chart_session_write(path, "spin.jsonl", 1, 1);
	s.size = "2,20,200";
	s.depth = "1,16";
	s.mode = "stream,graph";
	s.processes = 5;
	s.sync = SYNC_BLOCKING;
	snprintf(other, sizeof(other), "%s/blocking.jsonl", chart_folder);
	fake_session_write(&s, other);
	cr_assert(zero(int, run_rift(ERR, &text, "plot '%s' '%s'", path, other)), "%s", text);
	expect_text(text, "rift: A was swept with --sync spin, B with --sync blocking\n");
	cr_assert(eq(ptr, strstr(text, "not only the platform"), NULL), "one device: %s", text);
}

/* Sizes that only one has: what is said of both is about those that both have. */
Test(small_chart_cli, two_sessions_of_other_sizes)
{
	struct fake_session s = fake_session();
	const struct table *t;
	const char *text;

	need_gnuplot();
	s.depth = "1,16";
	s.processes = 5;
	s.size = "0,2,20";
	snprintf(path, sizeof(path), "%s/a.jsonl", chart_folder);
	fake_session_write(&s, path);
	s.size = "2,20,200";
	snprintf(other, sizeof(other), "%s/b.jsonl", chart_folder);
	fake_session_write(&s, other);
	cr_assert(zero(int, run_rift(ERR, &text, "plot '%s' '%s' --output '%s'", path, other,
				     chart_folder)),
		  "%s", text);
	cr_assert(eq(str, (char *)text, ""), "%s", text);
	cr_assert(eq(int, table_read("launch-ratio-cells.csv")->rows, 12), "3 modes, 2 of each");
	t = table_read("launch-latency-depths.csv");
	for (int i = 0; i < t->rows; i++)
		cr_assert(lt(dbl, t->v[i][0], 3.5), "B has no empty kernels: series %g",
			  t->v[i][0]);
	cr_assert(eq(str, (char *)script_value("launch-latency", "finding"), ""), "nothing");
	cr_assert(eq(str, (char *)script_value("launch-depth-needed", "last"), "200.0"),
		  "B's largest: %s", script_value("launch-depth-needed", "last"));
}

Test(small_chart_cli, a_session_with_two_sides_and_a_folder_that_is_named)
{
	const char *text;

	need_gnuplot();
	chart_session_write(path, "both.jsonl", 2, 1);
	cr_assert(zero(int,
		       run_rift(OUT, &text, "plot '%s' --output '%s/a b/c//'", path, chart_folder)),
		  "%s", text);
	expect_text(listing("a b/c"), "launch-ratio.png");
	shell(&text, "grep '^finding' '%s/a b/c/launch-ratio.gp'", chart_folder);
	expect_text(text, "by more than 2 %");
}

/* Under nvshare some lengths of graphs failed: one is left on side b, two on side a. Without
 * gnuplot there are data alone, which is quicker. */
Test(small_chart_cli, a_side_that_has_one_length)
{
	char kept[DATAFILE_PATH_BYTES];
	const char *text;
	int status;

	cr_assert(zero(int, datafile_find("data/sessions/turns-h200/nvshare.jsonl.gz", kept)),
		  "kept");
	status = shell(&text, "PATH=/nonexistent '%s' plot '%s' --quiet --output '%s/turns' 2>&1",
		       rift(), kept, chart_folder);
	cr_assert(eq(int, status, 3), "no gnuplot: %d, %s", status, text);
	expect_text(listing("turns"), "graph-latency-lengths-fit.csv ");
}

/* ---- without gnuplot -------------------------------------------------------------------- */

static void plot_without(const char *bin, const char *says)
{
	const char *text;

	chart_session_write(path, "s.jsonl", 1, 1);
	cr_assert(eq(int,
		     shell(&text, "PATH='%s' '%s' plot '%s' 2>&1 >/dev/null", bin, rift(), path),
		     3),
		  "%s", text);
	cr_assert(is_one_complaint(text), "%s", text);
	expect_text(text, says);
	expect_text(text, "s.plots' && gnuplot *.gp");
	cr_assert(eq(str, (char *)listing("s.plots"), DATA), "%s", listing("s.plots"));
}

Test(small_chart_cli, without_gnuplot_all_data_and_scripts_are_there)
{
	plot_without("/nonexistent", "PATH");
}

Test(small_chart_cli, an_old_gnuplot_is_named_once)
{
	char bin[128];

	snprintf(bin, sizeof(bin), "%s/bin", chart_folder);
	shell(NULL,
	      "mkdir %s && printf '#!/bin/sh\\necho gnuplot 5.0 patchlevel 7\\n' >%s/gnuplot && "
	      "chmod +x %s/gnuplot",
	      bin, bin, bin);
	plot_without(bin, "5.2");
}

static void ignore(int signal)
{
	(void)signal;
}

/* Nor does it end the words of a gnuplot that is still at work. */
Test(small_chart_cli, a_signal_that_is_caught_ends_nothing)
{
	struct sigaction caught = { .sa_handler = ignore }; /* without SA_RESTART */
	struct itimerval soon = { .it_value.tv_usec = 50000 };
	struct gnuplot_words version;
	char bin[128];

	snprintf(bin, sizeof(bin), "%s/bin", chart_folder);
	shell(NULL,
	      "mkdir %s && printf '#!/bin/sh\nsleep 0.3; echo gnuplot 5.4\n' >%s/gnuplot && "
	      "chmod +x %s/gnuplot",
	      bin, bin, bin);
	strcat(bin, ":/usr/bin:/bin");
	setenv("PATH", bin, 1);
	cr_assert(
		zero(int, sigaction(SIGALRM, &caught, NULL) || setitimer(ITIMER_REAL, &soon, NULL)),
		"timer");
	cr_assert(zero(int, gnuplot_ask(&version)), "asked");
	cr_assert(eq(str, version.s, "gnuplot 5.4"), "%s", version.s);
}

/* A shell takes the line that draws again as it stands. */
Test(small_chart_cli, a_folder_with_a_quote_in_its_name)
{
	const char *text;

	need_gnuplot();
	chart_session_write(path, "s.jsonl", 1, 1);
	shell(NULL, "mv '%s' '%s/-a \"b\" $c.jsonl'", path, chart_folder);
	cr_assert(
		zero(int, run_rift(OUT, &text, "plot '%s/-a \"b\" $c.jsonl' --output '%s/it'\\''s'",
				   chart_folder, chart_folder)),
		"%s", text);
	expect_text(text, "it'\\''s' && gnuplot NAME.gp");
	shell(NULL, "rm %s/it\\'s/*.png", chart_folder);
	cr_assert(zero(int, shell(&text, "cd '%s/it'\\''s' && gnuplot launch-latency.gp 2>&1",
				  chart_folder)),
		  "%s", text);
}
