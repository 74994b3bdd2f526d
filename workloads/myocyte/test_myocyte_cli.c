/*
 * test_myocyte_cli.c - `rift run myocyte` as a whole, where files and signals meet: the real
 * binary in a folder of its own.
 */
#include "tests/plain.h"
#include "tests/folder.h"

#include <signal.h>

#include "tests/cli.h"

TEST_FOLDER(folder);

TestSuite(small_myocyte_cli, .init = make_folder, .fini = remove_folder, .timeout = 300);

/* What a script says and how it ends; in the folder, with $rift for the binary. */
static int script(const char **text, const char *commands)
{
	return shell(text, "rift=$(realpath '%s'); cd %s || exit; { %s; } 2>&1", rift(), folder,
		     commands);
}

/* The folder holds these files, and no other: names with a blank between. */
static void holds(const char *names)
{
	const char *text;

	script(&text, "echo $(ls -A)");
	cr_assert(!strncmp(text, names, strlen(names)) && text[strlen(names)] == '\n',
		  "%s is left, not %s", text, names);
}

Test(small_myocyte_cli, parameters_without_effect_are_refused)
{
	refused(3, "solver=fixed", "run myocyte step=0.01");
	refused(3, "solver=adaptive", "run myocyte solver=fixed tolerance=1e-7");
	refused(3, "trajectory=", "run myocyte every=2");
	refused(3, "states=", "run myocyte states=a derivatives=b cells=2");
	refused(3, "--depth ", "run myocyte states=a derivatives=b --depth 2");
}

/* SIGTERM: shells let what they start in the background ignore SIGINT. */
Test(small_myocyte_cli, waiting_for_a_pipe_can_be_interrupted)
{
	const char *text;
	int code;

	need_device();
	code = script(&text, "mkfifo pipe; $rift run myocyte states=pipe derivatives=out.csv & "
			     "pid=$!; exec 3>pipe; sleep 0.2; kill -TERM $pid; wait $pid");
	cr_assert(code == 75 && is_one_complaint(text), "exit %d: %s", code, text);
	cr_assert(tells(text, "interrupted * 0 "), "%s", text);
	holds("pipe");
}

/* A trajectory that takes an hour: its part is there until the second signal. */
Test(small_myocyte_cli, signals_leave_no_part)
{
	const char *text;
	int code;

	need_device();
	code = script(&text,
		      "$rift run myocyte --depth 1 --samples 1 span=9e5 trajectory=out.csv & "
		      "pid=$!; until ls | grep -q part; do kill -0 $pid || exit; done; "
		      "kill -TERM $pid; kill -HUP $pid; wait $pid");
	/* 75: between the two it had come to an end */
	cr_assert(code == 128 + SIGHUP || code == 128 + SIGTERM || code == 75, "exit %d: %s", code,
		  text);
	holds("");
}

/* 8 blocks of 512 bytes: the header and a row do not fit. */
Test(small_myocyte_cli, a_limit_to_file_sizes_is_told_and_leaves_no_part)
{
	const char *text;
	int code;

	need_device();
	code = script(&text, "ulimit -f 8; $rift run myocyte --depth 1 --samples 1 span=30 "
			     "trajectory=out.csv");
	cr_assert(code == 3 && is_one_complaint(text), "exit %d: %s", code, text);
	cr_assert(strstr(text, "out.csv: File too large"), "%s", text);
	holds("");
}
