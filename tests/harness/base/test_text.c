/* test_text.c - harness/base/text.h: how wide lines are, and what is said of long parts. */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "harness/base/text.h"
#include "tests/cli.h"

TestSuite(small_text, .timeout = 60);

Test(small_text, lines_are_as_wide_as_columns_says_within_bounds)
{
	static const struct {
		const char *given;
		int columns;
	} rows[] = { { "70", 70 }, { "100", 100 }, { "101", 100 }, { "20", TEXT_COLUMNS_LEAST },
		     { "", 100 },  { "0", 100 },   { "-5", 100 },  { "wide", 100 } };
	int not_a_terminal[2];

	cr_assert(zero(int, pipe(not_a_terminal)), "pipe");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		setenv("COLUMNS", rows[i].given, 1);
		cr_expect(eq(int, text_columns(not_a_terminal[1], 100), rows[i].columns), "'%s'",
			  rows[i].given);
	}
	unsetenv("COLUMNS");
	cr_expect(eq(int, text_columns(not_a_terminal[1], 100), 100), "not set");
}

static size_t widest(const char *text)
{
	size_t most = 0;

	for (; *text; text += strcspn(text, "\n") + 1)
		most = strcspn(text, "\n") < most ? most : strcspn(text, "\n");
	return most;
}

Test(small_text, help_and_rows_keep_to_it)
{
	const char *text;

	setenv("COLUMNS", "64", 1);
	cr_assert(zero(int, run_rift(OUT, &text, "help sweep")));
	cr_expect(le(sz, widest(text), 63), "%s", text);
	setenv("COLUMNS", "200", 1);
	cr_assert(zero(int, run_rift(OUT, &text, "help sweep")));
	cr_expect(lt(sz, 64, widest(text)), "%s", text);
}

/* Cells that are numbers stay; a text at the end of a line is wrapped in its column. */
Test(small_text, a_text_that_ends_a_line_of_a_table_keeps_to_it)
{
	char wrapped[300];
	const char *text;

	snprintf(wrapped, sizeof(wrapped), "%s\n%*s%s\n%*s%s\n",
		 "0 to 10000         clock with which us is", 61, "", "counted; 0: the", 61, "",
		 "device's own");

	setenv("COLUMNS", "84", 1); /* the last column begins at 61 */
	cr_assert(zero(int, run_rift(OUT, &text, "list launch")));
	cr_expect(ne(ptr, strstr(text, wrapped), NULL), "%s", text);
	setenv("COLUMNS", "64", 1);
	cr_assert(zero(int, run_rift(OUT, &text, "layer")));
	cr_expect(le(sz, widest(text), 64), "%s", text);
	/* no room beside the cells: as where nothing bounds lines */
	cr_assert(zero(int, run_rift(OUT, &text, "list launch")));
	cr_expect(ne(ptr, strstr(text, "counted; 0: the device's own\n"), NULL), "%s", text);
	unsetenv("COLUMNS");
	cr_assert(zero(int, run_rift(OUT, &text, "list launch")));
	cr_expect(ne(ptr, strstr(text, "counted; 0: the device's own\n"), NULL), "%s", text);
}

Test(small_text, what_differs_around_two_sides_keeps_to_it)
{
	char fields[4096];
	const char *text, *begin;

	setenv("COLUMNS", "72", 1);
	run_rift(OUT, &text, "compare data/sessions/atlas-h100/shim.jsonl.gz");
	begin = strstr(text, "\nenvironment: ");
	cr_assert(ne(ptr, (void *)begin, NULL), "%s", text);
	snprintf(fields, sizeof(fields), "%.*s", (int)(strstr(begin + 1, "\n\n") - begin), begin);
	cr_expect(le(sz, widest(fields), 72), "%s", fields);
	cr_expect(lt(sz, 60, widest(fields)), "it is made use of: %s", fields);
}

/* Where nobody sees the line that changes. */
Test(small_text, a_part_that_takes_long_is_a_line_where_stderr_is_no_terminal)
{
	for (int quiet = 0; quiet < 2; quiet++) {
		divert_stderr();
		progress_init(quiet);
		progress_part("part %d of %d", 1, 2);
		progress("block %d", 7);
		progress_clear();
		cr_expect(eq(str, (char *)diverted_stderr(), quiet ? "" : "part 1 of 2\n"));
	}
}
