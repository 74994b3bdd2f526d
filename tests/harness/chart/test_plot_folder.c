/* test_plot_folder.c - where pictures go of whom nobody said where. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/plot.h"
#include "harness/chart/charts.h"
#include "harness/record/recorded.h"

TestSuite(small_plot_folder);

static void goes_to(const char *want, const char *a, const char *b, const char *output)
{
	const char *const session[] = { a, b };
	const int side[] = { SIDE_ANY, SIDE_ANY };
	char *folder = plot_folder(session, side, b ? 2 : 1, output);

	cr_assert(eq(str, folder, (char *)want), "%s", a);
	free(folder);
}

Test(small_plot_folder, beside_the_first_session)
{
	goes_to("/tmp/a.plots", "/tmp/a.jsonl", NULL, NULL);
	goes_to("/tmp/a.plots", "/tmp/a.jsonl.part", NULL, NULL);
	goes_to("/tmp/a.plots", "/tmp/a.jsonl.gz", NULL, NULL);
	goes_to("/tmp/a.plots", "/tmp/a.jsonl.part.gz", NULL, NULL);
	goes_to("/tmp/a-b.plots", "/tmp/a.jsonl.gz", "elsewhere/b.jsonl.gz", NULL);
	goes_to("/tmp/a-b.plots", "/tmp/a.jsonl", "elsewhere/b.jsonl", NULL);
	goes_to("there", "/tmp/a.jsonl", NULL, "there//");
}

/* Nothing is written where rift's own files are. */
Test(small_plot_folder, of_kept_sessions_here)
{
	goes_to("results/h200-launch.plots", "data/sessions/h200-launch.jsonl", NULL, NULL);
	goes_to("results/h200-launch-b.plots", "data/sessions/h200-launch.jsonl", "/tmp/b.jsonl",
		NULL);
	goes_to("/tmp/b-h200-launch.plots", "/tmp/b.jsonl", "data/sessions/h200-launch.jsonl",
		NULL);
}

/* The charts of one side of two are not those of both. */
Test(small_plot_folder, named_after_the_side)
{
	static const char *const session[] = { "/tmp/a.jsonl", "/tmp/b.jsonl" };
	const int side[] = { 1, 0 };
	char *one = plot_folder(session, side, 1, NULL), *two = plot_folder(session, side, 2, NULL);

	cr_assert(eq(str, one, "/tmp/a-b.plots"), "one side");
	cr_assert(eq(str, two, "/tmp/a-b-b-a.plots"), "two");
	free(one);
	free(two);
}

/* Of its texts these describe it to those who do not see it. */
Test(small_plot_folder, a_picture_says_its_titles_and_its_finding)
{
	struct plot p;

	plot_begin(&p, "/tmp", "name", "device");
	plot_text(&p, "title", "Time");
	plot_text(&p, "axis", "us");
	plot_text(&p, "title2", "by %s", "depth");
	plot_text(&p, "finding", "it falls");
	cr_expect(eq(str, p.says, "Time. by depth. it falls"), "%s", p.says);
	plot_end(&p);
}
