/* test_bench.c - bench/accept_atlas.sh goes on with what was cut off. No figure is measured. */
/* sanitizers: one thread */
#include "tests/capture.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * A rift that measures nothing. Its sweep is cut off and leaves a .part; one that goes on is whole,
 * or with machine=another begins NAME-2 instead and is cut off, as rift's is on another machine.
 */
static const char rift[] = "#!/bin/sh\n"
			   "case \"$*\" in\n"
			   "'sweep --resume '*)\n"
			   "	if [ \"$machine\" = another ]; then\n"
			   "		echo anew >\"${3%.jsonl}-2.jsonl.part\"\n"
			   "		exit 75\n"
			   "	fi\n"
			   "	mv \"$3.part\" \"$3\" ;;\n"
			   "'sweep '*)\n"
			   "	for last; do :; done\n"
			   "	echo begun >\"$last.part\"\n"
			   "	exit 75 ;;\n"
			   "esac\n";

/* A folder with that rift and the sessions of the tests. */
static char folder[] = "/tmp/rift-bench-XXXXXX";

static void make_folder(void)
{
	char path[64];
	FILE *f;

	cr_assert(ne(ptr, mkdtemp(folder), NULL), "mkdtemp");
	snprintf(path, sizeof(path), "%s/rift", folder);
	f = fopen(path, "w");
	cr_assert(f && fputs(rift, f) >= 0 && !fclose(f), "%s", path);
	cr_assert(zero(int, shell(NULL, "chmod +x %s", path)), "chmod");
}

static void remove_folder(void)
{
	shell(NULL, "rm -rf %s", folder);
}

TestSuite(small_bench, .init = make_folder, .fini = remove_folder, .timeout = 120);

/* One call of the script for one row, and then which sessions there are and what they hold. */
static const char *sessions_after(const char *variables)
{
	const char *text;

	shell(&text, "%s ROWS=none bash bench/accept_atlas.sh %s/rift %s %s/out", variables, folder,
	      folder, folder);
	shell(&text,
	      "cd %s/out && for f in *.jsonl *.part; do [ ! -e $f ] || echo $f: $(cat $f); done",
	      folder);
	return text;
}

Test(small_bench, a_row_that_was_cut_off_goes_on)
{
	cr_assert(eq(str, (char *)sessions_after(""), "atlas-none.jsonl.part: begun\n"));
	cr_assert(eq(str, (char *)sessions_after(""), "atlas-none.jsonl: begun\n"));
}

Test(small_bench, a_row_that_is_whole_is_not_measured_again)
{
	for (int i = 0; i < 3; i++)
		sessions_after("");
	cr_assert(eq(str, (char *)sessions_after(""), "atlas-none.jsonl: begun\n"));
}

Test(small_bench, on_another_machine_the_row_is_the_session_that_was_begun_there)
{
	sessions_after("");
	cr_assert(eq(str, (char *)sessions_after("machine=another"),
		     "atlas-none.jsonl.part: anew\n"));
	cr_assert(eq(str, (char *)sessions_after(""), "atlas-none.jsonl: anew\n"));
}

Test(small_bench, what_is_held_is_measured_in_sessions_of_its_own)
{
	sessions_after("");
	cr_assert(eq(str, (char *)sessions_after("WHAT=holds"),
		     "atlas-none.jsonl.part: begun\nholds-none.jsonl.part: begun\n"));
}
