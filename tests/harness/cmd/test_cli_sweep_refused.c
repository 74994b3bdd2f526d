/*
 * test_cli_sweep_refused.c - what `rift sweep` and `rift show --check` refuse before they measure
 * or read anything: options, values, files.
 */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/folder.h"

TEST_FOLDER(dir);
static char file[64], part[80];

static void prepare(void)
{
	make_dir();
	snprintf(file, sizeof(file), "%s/s.jsonl", dir);
	snprintf(part, sizeof(part), "%s.part", file);
}

TestSuite(small_cli_sweep_refused, .init = prepare, .fini = remove_dir, .timeout = 300);

Test(small_cli_sweep_refused, help_and_what_is_refused)
{
	const char *w = name(), *text;

	cr_assert(zero(int, run_rift(OUT, &text, "sweep --help")), "help");
	cr_assert(ne(ptr, strstr(text, "--against"), NULL), "%s", text);
	cr_assert(ne(ptr, strstr(text, "--sync=KIND            wait "), NULL), "in one line: %s",
		  text);
	cr_assert(zero(int, run_rift(OUT, &text, "help run")), "help run");
	cr_assert(ne(ptr, strstr(text, "--sync=KIND            wait "), NULL), "%s", text);
	cr_assert(zero(int, run_rift(OUT, &text, "help")), "help");
	cr_assert(ne(ptr, strstr(text, "rift sweep"), NULL), "%s", text);
	cr_assert(eq(ptr, strstr(text, "sweep-worker"), NULL), "%s", text);
	refused(3, "'--quick'", "sweep %s --quik", w);
	refused(3, "'xyzzyxyzzy'", "sweep xyzzyxyzzy");
	refused(3, "launch ", "sweep %s %s", w, w);
	refused(3, "--depth ", "sweep %s --depth 1 --depth 2", w);
	refused(3, "--depth=0: ", "sweep %s --depth 0,1", w);
	refused(3, "stream, graph, fused", "sweep %s --mode steam", w);
	refused(3, "--warm-up=0: ", "sweep %s --warm-up 0", w);
	refused(3, "--processes=0: ", "sweep %s --processes 0", w);
	refused(3, "'xyzzy'", "sweep %s xyzzy=1,2", w);
	refused(3, "trajectory=x: ", "sweep myocyte trajectory=x");
	refused(3, "trajectory=x", "sweep myocyte --around trajectory=x,y");
	refused(3, "stereo", "sweep launch transfer stereo.width=640");
	refused(3, "'us'", "sweep launch transfer launch.uss=1");
	refused(3, "--resume", "sweep %s --resume x", w);
	refused(3, ".part", "sweep --resume '%s'", file);
	refused(3, "--resume: ", "sweep --resume ''");
	refused(3, "--output: ", "sweep %s --output ''", w);
	refused(3, "--against: ", "sweep %s --against ' '", w);
	refused(3, "README.md.part", "sweep --resume README.md");
	refused(3, "stdin", "sweep-worker </dev/null");
	refused(3, "No such file", "show --check '%s'", file);
	refused(3, "rift show FILE", "show --check");
	refused(3, "--csv needs --check", "show --csv '%s/p.csv' '%s'", dir, file);
	refused(3, "--ratios needs --check", "show --ratios '%s/r.csv' '%s'", dir, file);
}

Test(small_cli_sweep_refused, check_replaces_no_file)
{
	const char *text;

	shell(NULL, "echo kept >'%s'; ln -s s.jsonl '%s/link'; echo kept >'%s/old'", file, dir,
	      dir);
	refused(3, "--csv=", "show --check --csv '%s' '%s'", file, file);
	refused(3, "--ratios=", "show --check --ratios '%s/link' '%s'", dir, file);
	refused(3, "/link: ", "show --check --csv '%s/link' '%s/old' '%s'", dir, dir, file);
	refused(3, "/old: ", "show --check --csv '%s/old' '%s'", dir, file);
	refused(3, "/old: ", "show --check --ratios '%s/old' '%s'", dir, file);
	refused(3, "--csv: ", "show --check --csv '' '%s'", file);
	shell(&text, "cat '%s' '%s/old'; ls '%s' | wc -l", file, dir, dir);
	cr_assert(eq(str, (char *)text, "kept\nkept\n3\n"), "%s", text);
}

/* What has no end would be waited for. */
Test(small_cli_sweep_refused, records_are_regular_files)
{
	shell(NULL, "mkfifo '%s/pipe' '%s'", dir, part);
	refused(3, "/pipe: ", "show --check '%s/pipe'", dir);
	refused(3, "Is a directory", "show --check '%s'", dir);
	refused(3, "/pipe: ", "show --check --ratios '%s/r.csv' '%s/pipe'", dir, dir);
	refused(3, "/pipe: ", "sweep --resume '%s/pipe'", dir);
	refused(3, dir, "sweep --resume '%s'", dir);
	refused(3, part, "sweep --resume '%s'", file);
}
