/* test_plural.c - common/plural.h: a number with its noun. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/plural.h"

TestSuite(small_plural, .timeout = 60);

Test(small_plural, one_is_singular_and_all_others_are_not)
{
	static const struct {
		int64_t n;
		const char *noun, *text;
	} rows[] = {
		{ 1, "process", "1 process" },
		{ 0, "process", "0 processes" },
		{ 2, "process", "2 processes" },
		{ -1, "process", "-1 processes" },
		{ 1, "copy", "1 copy" },
		{ 3, "copy", "3 copies" },
		{ 2, "display", "2 displays" },
		{ 2, "launch", "2 launches" },
		{ 2, "hash", "2 hashes" },
		{ 2, "box", "2 boxes" },
		{ 5000000000, "step", "5000000000 steps" },
		{ 2, "logical CPU", "2 logical CPUs" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_assert(eq(str, counted(rows[i].n, rows[i].noun).s, (char *)rows[i].text));
}
