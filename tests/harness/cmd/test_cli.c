/*
 * test_cli.c - the real binary: what it refuses and how, help, list.
 *
 * Takes the workloads as they are: names, parameters and ranges come from `rift list --json`, so
 * that a workload may come or go without an edit here.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/cli.h"
#include "workloads/workload.h"

#include <signal.h>

TestSuite(small_cli, .timeout = 300);

Test(small_cli, commands_that_do_not_exist)
{
	refused(3, "rift help", "%s", "");
	refused(3, "'run'", "rnu");
	refused(3, "'xyzzy'", "xyzzy");
	refused(3, "'list'", "help lits");
	refused(3, "'--jsno'", "--jsno");
	refused(3, "rift run", "%s", name());
	refused(3, "'x'", "--version x");
	refused(3, "'x'", "--help x");
	refused(3, "'x'", "help run x");
}

Test(small_cli, workloads_that_do_not_exist)
{
	char quoted[64];

	refused(3, "rift run WORKLOAD", "run");
	snprintf(quoted, sizeof(quoted), "'%s'", name());
	refused(3, quoted, "run %sx", name());
	refused(3, "'xyzzyxyzzy'", "run xyzzyxyzzy");
	refused(3, "'xyzzyxyzzy'", "list xyzzyxyzzy");
	refused(3, "'more'", "list %s more", name());
}

Test(small_cli, options_that_are_wrong)
{
	refused(3, "'--mode'", "run %s --moed=x", name());
	refused(3, "'--xyzzyxyzzy'", "run %s --xyzzyxyzzy=5", name());
	refused(3, "'-x'", "run %s -x", name());
	refused(3, "'--depth'", "run %s --depth", name());
	refused(3, "'--json'", "run %s --json=yes", name());
	refused(3, "'graph'", "run %s --mode grpah", name());
	refused(3, "'spin'", "run %s --sync spn", name());
	refused(3, "--sync poll", "run %s sync=poll", name());
	refused(3, "--depth=0: ", "run %s --depth 0", name());
	refused(3, "--depth=-1: ", "run %s --depth=-1", name());
	refused(3, "--depth=1e3: ", "run %s --depth 1e3", name());
	refused(3, "--samples=nan: ", "run %s --samples nan", name());
	refused(3, "--depth ", "run %s --depth 1 --depth 1", name());
	refused(3, "--mode graph", "run %s mode=graph", name());
	refused(3, "--depth 64", "run %s depth=64", name());
	refused(3, "--plot=: ", "run %s --plot=", name());
	refused(3, "--plot ", "run %s --plot --plot=x", name());
	refused(3, "--plot=x", "run %s plot=x", name());
	/* its value is optional, so what follows is none */
	refused(3, "'x'", "run %s --plot x", name());
	refused(3, "'--moed'", "run %s --plot --moed=x", name());
	refused(3, "'--json'", "list --jsn");
}

Test(small_cli, parameters_that_are_wrong)
{
	const char *axis_name = get_text(axis(), "name");
	char quoted[64];
	long max = (long)json_integer_value(json_object_get(axis(), "max"));

	snprintf(quoted, sizeof(quoted), "'%s'", axis_name);
	refused(3, quoted, "run %s %sx=1", name(), axis_name);
	snprintf(quoted, sizeof(quoted), "%s=%ld: ", axis_name, max + 1);
	refused(3, quoted, "run %s %s=%ld", name(), axis_name, max + 1);
	refused(3, "=nan: ", "run %s %s=nan", name(), axis_name);
	refused(3, "=1x: ", "run %s %s=1x", name(), axis_name);
	refused(3, "=: ", "run %s %s=", name(), axis_name);
	refused(3, axis_name, "run %s %s=1 %s=1", name(), axis_name, axis_name);
	refused(3, "=VALUE", "run %s %s", name(), axis_name);
	refused(3, "'1024'", "run %s 1024", name());
	refused(3, "''", "run %s ''", name());
	refused(3, "a\\nb", "run %s \"$(printf 'a\\nb=1')\"", name());
}

Test(small_cli, help_and_version)
{
	static const char *const all[] = { "rift list", "rift run", "Exit codes:", "75", NULL };
	static const char *const of_run[] = { "--mode", "--depth", "--check-steps", "--json",
					      NULL };
	static const char *const version[] = { "rift ", NULL };
	const char *const of_workload[] = { "--mode", get_text(axis(), "name"),
					    get_text(axis(), "help"), NULL };
	char args[256];

	says("--help", all);
	says("help", all);
	says("run --help", of_run);
	says("help run", of_run);
	says("run -h", of_run);
	says("--version", version);
	snprintf(args, sizeof(args), "run %s --help", name());
	says(args, of_workload);
	snprintf(args, sizeof(args), "list %s", name());
	says(args, of_workload + 1);
}

Test(small_cli, list_names_every_workload_that_is_not_hidden)
{
	const char *text;

	for (const struct workload *const *w = workloads; *w; w++) {
		int listed = !(*w)->hidden;

		run_rift(OUT, &text, "list");
		cr_assert(eq(int, strstr(text, (*w)->summary) != NULL, listed), "%s in\n%s",
			  (*w)->name, text);
		run_rift(OUT, &text, "list --json");
		cr_assert(eq(int, strstr(text, (*w)->summary) != NULL, listed), "%s in\n%s",
			  (*w)->name, text);
		cr_assert(zero(int, run_rift(OUT, &text, "list %s --json", (*w)->name)), "%s",
			  (*w)->name);
		cr_assert(ne(ptr, strstr(text, (*w)->source), NULL), "%s in\n%s", (*w)->name, text);
	}
}

/* Before anything takes time, so that --depth need not be small. */
Test(small_cli, a_picture_of_a_workload_that_has_none_is_refused)
{
	const json_t *list = json_object_get(rift_json("list --json"), "workloads"), *w;
	size_t i;

	json_array_foreach(list, i, w)
	{
		const json_t *picture = json_object_get(w, "picture");

		cr_assert(eq(int, json_is_boolean(picture), 1), "%s", get_text(w, "name"));
		if (json_is_false(picture))
			refused(3, "--plot", "run %s --plot", get_text(w, "name"));
	}
}

/* Options may stand behind words, and help has an end, whatever variables of libraries say. */
Test(small_cli, variables_of_libraries_change_no_command)
{
	const char *text;

	setenv("POSIXLY_CORRECT", "1", 1);
	refused(3, "--depth=0", "run %s --depth 0", name());
	refused(3, "--depth=0", "run --depth 0 %s", name());
	refused(3, "--depth=0", "run %s %s=1 --depth 0", name(), get_text(axis(), "name"));
	refused(3, "'--depth'", "run %s -- --depth 0", name());
	setenv("ARGP_HELP_FMT", "rmargin=20", 1);
	/* what prints for ever must not fill the memory of the test */
	cr_assert(zero(int, shell(&text, "'%s' run --help | head -c 100000 | wc -c", rift())), "%s",
		  text);
	cr_assert(lt(int, atoi(text), 50000), "%s bytes", text);
}

Test(small_cli, a_stack_that_is_too_small_is_told)
{
	const char *text;

	cr_assert(eq(int, shell(&text, "ulimit -s 64; '%s' list 2>&1", rift()), 3), "%s", text);
	cr_assert(ne(ptr, strstr(text, "ulimit -s"), NULL), "%s", text);
}

Test(small_cli, output_that_cannot_be_written_is_no_success)
{
	const char *text;

	cr_assert(eq(int, shell(&text, "'%s' list >/dev/full 2>&1", rift()), 3), "full disk");
	cr_assert(eq(int, shell(&text, "'%s' list 2>&1 >/dev/full", rift()), 3), "full disk");
	cr_assert(is_one_complaint(text), "%s", text);
	/* a line is written as the stream is closed, and fails no sooner */
	cr_assert(eq(int, shell(&text, "'%s' --version 2>&1 >/dev/full", rift()), 3), "full disk");
	cr_assert(is_one_complaint(text), "%s", text);
}

Test(small_cli, a_reader_that_leaves_early_is_no_crash)
{
	const char *text;

	/* the shell tells how rift itself ended; dash and bash have no pipefail in common */
	shell(&text, "{ { sleep 0.2; '%s' list --json; echo $? >&3; } | true; } 3>&1", rift());
	cr_assert(eq(int, atoi(text), 128 + SIGPIPE), "ended with %s", text);
}
