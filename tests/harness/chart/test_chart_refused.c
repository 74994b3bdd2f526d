/*
 * test_chart_refused.c - what `rift plot` of the real binary refuses: files, sessions, folders,
 * options.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/chart_files.h"
#include "tests/cli.h"

TestSuite(small_chart_refused, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 300);

static char path[256], other[256];

/* FOLDER/s.jsonl through a shell command into FOLDER/bad.jsonl. */
static const char *spoiled(const char *command)
{
	shell(NULL, "cd '%s' && %s <s.jsonl >bad.jsonl", chart_folder, command);
	snprintf(other, sizeof(other), "plot '%s/bad.jsonl'", chart_folder);
	return other;
}

Test(small_chart_refused, files_that_are_no_session_are_refused)
{
	static const struct {
		const char *command, *says;
	} rows[] = {
		{ "head -c 0", "/bad.jsonl" },
		{ "head -c 100", "/bad.jsonl" },
		{ "head -c -100", "/bad.jsonl" },
		{ "sed '$d'", " 4 *5 " },
		{ "echo '{\"a\":1}'", "/bad.jsonl" },
		{ "printf 'x,y\\n1,2\\n'", "/bad.jsonl:1: " },
		{ "sed '1s/\"schema\":\"[12][.][0-9]\"/\"schema\":\"3.0\"/'", "schema 3.0" },
		{ "sed '2,$s/\"schema\":\"[12][.][0-9]\"/\"schema\":\"3.0\"/'", "schema 3.0" },
	};
	const char *text;

	chart_session_write(path, "s.jsonl", 1, 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		refused(3, rows[i].says, "%s", spoiled(rows[i].command));
	refused(3, "No such file", "plot '%s/none.jsonl'", chart_folder);
	refused(3, "Is a directory", "plot '%s'", chart_folder);
	shell(&text, "ls -A '%s' | tr '\\n' ' '", chart_folder);
	cr_assert(eq(str, (char *)text, "bad.jsonl s.jsonl "), "%s", text);
}

Test(small_chart_refused, a_session_under_way_is_refused)
{
	struct fake_session s = fake_session();

	s.size = "2,20";
	s.depth = "1,16";
	s.processes = 5;
	s.done = 2;
	snprintf(path, sizeof(path), "%s/s.jsonl", chart_folder);
	fake_session_write(&s, path);
	refused(3, "2 *5", "plot '%s.part'", path);
}

Test(small_chart_refused, sessions_that_do_not_go_together_are_refused)
{
	struct fake_session s = fake_session();

	chart_session_write(path, "s.jsonl", 1, 1);
	shell(NULL, "cp '%s' '%s/copy.jsonl'", path, chart_folder);
	refused(3, path, "plot '%s' '%s'", path, path);
	refused(3, "/copy.jsonl ", "plot '%s' '%s/copy.jsonl'", path, chart_folder);
	chart_session_write(other, "both.jsonl", 2, 2);
	refused(3, "both.jsonl ", "plot '%s' '%s'", path, other);
	refused(3, "'c'", "plot a b c");
	s.size = "3,30";
	s.depth = "1,16";
	s.processes = 5;
	snprintf(other, sizeof(other), "%s/apart.jsonl", chart_folder);
	fake_session_write(&s, other);
	refused(5, "launch ", "plot '%s' '%s'", path, other);
	s.workload = "myocyte";
	snprintf(other, sizeof(other), "%s/myocyte.jsonl", chart_folder);
	fake_session_write(&s, other);
	refused(5, "myocyte", "plot '%s' '%s'", path, other);
}

Test(small_chart_refused, folders_that_cannot_be_written_are_refused)
{
	chart_session_write(path, "s.jsonl", 1, 1);
	refused(3, "--output=", "plot '%s' --output '%s'", path, path);
	refused(3, "--output=", "plot '%s' --output '%s/x'", path, path);
	/* not even root can make one there */
	refused(3, "--output=", "plot '%s' --output /proc/self/x", path);
	shell(NULL, "mkdir -p '%s/s.plots/launch-overhead-cells.csv'", chart_folder);
	refused(3, "launch-overhead-cells.csv: ", "plot '%s'", path);
}

Test(small_chart_refused, nothing_to_draw_is_said)
{
	struct fake_session s = fake_session();
	const char *text;

	s.size = "0";
	s.depth = "1";
	s.processes = 5;
	snprintf(path, sizeof(path), "%s/s.jsonl", chart_folder);
	fake_session_write(&s, path);
	cr_assert(eq(int, run_rift(ERR, &text, "plot '%s'", path), 3), "%s", text);
	cr_assert(ne(ptr, strstr(text, "s.jsonl"), NULL), "%s", text);
}

Test(small_chart_refused, options_are_refused)
{
	refused(3, "rift plot", "plot");
	refused(3, "--output: ", "plot x --output ''");
	refused(3, "--output ", "plot x --output a --output b");
	refused(3, "'--output'", "plot x --outptu a");
	chart_session_write(path, "s.jsonl", 2, 1);
	refused(3, "'streams'", "plot '%s' --over steams", path);
	refused(3, "--over=kernel: ", "plot '%s' --over kernel", path);
}
