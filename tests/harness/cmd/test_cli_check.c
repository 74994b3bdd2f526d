/*
 * test_cli_check.c - `rift show --check` and `rift show` of the real binary on a kept session: its
 * tables, its summaries as CSV, and what was done to it since.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "common/datafile.h"
#include "tests/cli.h"
#include "tests/fake_session.h"
#include "tests/folder.h"

TEST_FOLDER(dir);
static char file[64];

/* A copy in a folder whose name has a blank. */
static void prepare(void)
{
	char kept[4096];

	make_dir();
	snprintf(file, sizeof(file), "%s/s.jsonl", dir);
	cr_assert(zero(int, datafile_find("data/sessions/h200-myocyte.jsonl", kept)),
		  "the kept session");
	cr_assert(zero(int, shell(NULL, "cp '%s' '%s' && chmod u+w '%s'", kept, file, file)),
		  "copy");
}

TestSuite(small_cli_check, .init = prepare, .fini = remove_dir, .timeout = 300);

Test(small_cli_check, kept_sessions_are_valid)
{
	static const char *const names[] = { "launch", "myocyte" };
	static const char *const says[] = { " 515 points ok, 0 failed\n",
					    " 295 points ok, 0 failed\n" };
	char kept[4096], name[64];
	const char *text;

	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "data/sessions/h200-%s.jsonl", names[i]);
		cr_assert(zero(int, datafile_find(name, kept)), "%s", name);
		cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", kept)), "%s", text);
		cr_assert(ne(ptr, strstr(text, ": valid; "), NULL), "%s", text);
		cr_assert(ne(ptr, strstr(text, says[i]), NULL), "%s", text);
	}
}

Test(small_cli_check, summaries_as_csv)
{
	static const char whole[] = "data/sessions/h200-pathtrace.jsonl";
	const char *text;

	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s' --csv '%s/s.csv'", whole, dir)),
		  "csv");
	shell(&text, "awk -F, 'NR == 1 { n = NF } NF != n { print NR }' '%s/s.csv'", dir);
	cr_assert(eq(str, (char *)text, ""), "columns of line %s", text);
	shell(&text, "wc -l <'%s/s.csv'", dir);
	cr_assert(eq(int, atoi(text), 221), "%s", text);
	shell(&text, "head -n 1 '%s/s.csv'", dir);
	cr_assert(ne(ptr, strstr(text, ",t_total_ns_median,"), NULL), "%s", text);
}

Test(small_cli_check, ratios_take_two_sides)
{
	const char *text;

	cr_assert(eq(int, run_rift(ERR, &text, "show --check '%s' --ratios '%s/r.csv'", file, dir),
		     3),
		  "one side");
	cr_assert(tells(text, "--against"), "%s", text);
	shell(&text, "ls '%s'", dir);
	cr_assert(eq(str, (char *)text, "s.jsonl\n"), "%s", text);
}

Test(small_cli_check, a_changed_record_is_found_out)
{
	shell(NULL, "sed -i '3s/\"rounds\":3/\"rounds\":4/' '%s'", file);
	refused(3, "lines_sha256", "show --check '%s'", file);
	shell(NULL, "sed -i '1s/\"depth\":4/\"depth\":5/' '%s'", file);
	refused(3, "plan_sha256", "show --check '%s'", file);
}

Test(small_cli_check, a_record_without_its_last_process_is_incomplete)
{
	const char *text;

	shell(NULL, "head -n 62 '%s' >'%s/half.jsonl'", file, dir); /* plan; header, 59, trailer */
	cr_assert(eq(int, run_rift(OUT, &text, "show --check '%s/half.jsonl' '%s'", dir, file), 2),
		  "%s", text);
	cr_assert(ne(ptr, strstr(text, "half.jsonl: incomplete; "), NULL), "%s", text);
	cr_assert(ne(ptr, strstr(text, "s.jsonl: valid; "), NULL), "%s", text);
}

Test(small_cli_check, a_kept_session_is_shown)
{
	const char *text;

	cr_assert(zero(int, run_rift(OUT, &text, "show '%s'", file)), "show");
	cr_assert(ne(ptr,
		     strstr(text, "measured on        NVIDIA H200, driver 580.159.04, CUDA 13.0, "
				  "passthrough, kvm, docker, 2026-11-21T"),
		     NULL),
		  "%s", text);
	/* medians of the processes: 393107, 393734, 393833, 393930, 394483 ns */
	cr_assert(ne(ptr, strstr(text, "\n       1     394 us ±0.2%"), NULL), "%s", text);
	cr_assert(tells(text, "\n295 points ok, 0 "), "%s", text);
	cr_assert(eq(ptr, strstr(text, "not GPU figures"), NULL), "%s", text);
	cr_assert(eq(ptr, strstr(text, "not complete"), NULL), "%s", text);
}

Test(small_cli_check, what_is_shown_of_a_part_says_so)
{
	const char *text;

	shell(NULL, "sed -i '/\"record\":\"trailer\",.*\"process_index\":2/,$d' '%s'", file);
	cr_assert(zero(int, run_rift(OUT, &text, "show '%s'", file)), "show");
	cr_assert(tells(text, "2 of 5 processes"), "%s", text);
}

Test(small_cli_check, what_cannot_be_shown)
{
	refused(3, "rift show FILE", "show");
	refused(3, "rift show", "show '%s' '%s'", file, file);
	refused(3, "No such file", "show '%s/none'", dir);
	shell(NULL, ": >'%s'", file);
	refused(3, "s.jsonl", "show '%s'", file);
	shell(NULL, "echo '{\"record\":\"plan\",\"schema\":\"3.0\"}' >'%s'", file);
	refused(3, "schema 3.0", "show '%s'", file);
}

/* Whoever adds a field to a record says in harness/record/fields.c what it is. */
Test(small_cli_check, a_field_that_its_schema_does_not_have_is_named)
{
	struct fake_session s = fake_session();
	char made[128];
	const char *text;

	snprintf(made, sizeof(made), "%s/made.jsonl", dir);
	s.depth = "1";
	s.size = "0";
	fake_session_write(&s, made);
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", made)), "%s", text);
	shell(NULL, "sed -i '2s/\"record\":\"header\"/&,\"colour\":1/' '%s'", made);
	refused(3, "made.jsonl:2: *does not have: colour", "show --check '%s'", made);
}
