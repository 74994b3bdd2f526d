/* test_suggest.c - harness/base/text.h: distances by hand, and who is near enough to be suggested.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/base/text.h"

TestSuite(small_spell, .timeout = 300);

static const struct {
	const char *a, *b;
	int distance;
} pairs[] = {
	{ "", "", 0 },
	{ "", "abc", 3 },
	{ "cells", "cells", 0 },
	{ "cels", "cells", 1 },
	{ "cellls", "cells", 1 },
	{ "cflls", "cells", 1 },
	{ "clels", "cells", 1 },
	{ "CELLS", "cells", 0 },
	{ "ecll", "cells", 2 },
	{ "kitten", "sitting", 3 },
	{ "mycoyte", "myocyte", 1 },
	{ "ab", "ba", 1 },
	{ "ca", "abc", 3 }, /* restricted: no edit inside a swap */
};

Test(small_spell, distances_worked_by_hand)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		const char *a = pairs[i].a, *b = pairs[i].b;

		cr_assert(eq(int, edit_distance(a, b), pairs[i].distance), "'%s' '%s'", a, b);
		cr_assert(eq(int, edit_distance(b, a), pairs[i].distance), "'%s' '%s'", b, a);
	}
}

Test(small_spell, long_words_are_far_and_harmless)
{
	char word[300];

	memset(word, 'a', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	cr_assert(eq(int, edit_distance(word, "cells"), 99), "long against short");
	cr_assert(eq(int, edit_distance("cells", word), 99), "short against long");
	word[64] = '\0';
	cr_assert(eq(int, edit_distance(word, word), 99), "64 bytes");
	word[63] = '\0';
	cr_assert(eq(int, edit_distance(word, word), 0), "63 bytes");
}

static const char *best_for(const char *word)
{
	static const char *const names[] = { "stream", "graph", "fused",      "cells",
					     "dt",     "check", "check-steps" };
	struct suggestion s = suggest_start(word);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		suggest_offer(&s, names[i]);
	return s.best ? s.best : "nothing";
}

Test(small_spell, suggests_the_nearest_name_or_none)
{
	static const char *const want[][2] = {
		{ "grpah", "graph" },
		{ "steam", "stream" },
		{ "Fused", "fused" },
		{ "fuse", "fused" },
		{ "check-step", "check-steps" },
		{ "chekc", "check" },
		{ "d", "dt" },
		{ "xyz", "nothing" },
		{ "", "nothing" },
		{ "s", "nothing" },
		{ "gr", "nothing" },
		{ "graph", "nothing" }, /* it is there: something else is wrong with it */
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		cr_assert(eq(str, (char *)best_for(want[i][0]), (char *)want[i][1]), "'%s'",
			  want[i][0]);
}

Test(small_spell, hint_is_empty_or_a_question)
{
	struct suggestion s = suggest_start("cels");

	cr_assert(eq(str, suggest_hint(&s).s, ""), "nothing offered");
	suggest_offer(&s, "stream");
	cr_assert(eq(str, suggest_hint(&s).s, ""), "nothing near");
	suggest_offer(&s, "cells");
	cr_assert(eq(str, suggest_hint(&s).s, "; did you mean 'cells'?"), "near");
}
