/* test_pieces.c - pieces of something long: where they lie, and that none is left out. */
#include "tests/plain.h"
#include "common/pieces.h"

TestSuite(small_pieces, .timeout = 300);

/* In order, apart, inside; the first and the last are there. Returns the units of all. */
static int64_t are_sound(const struct pieces *s)
{
	int64_t end = 0, units = 0;

	for (int64_t i = 0; i < s->count; i++) {
		int64_t at = pieces_at(s, i), n = pieces_units(s, i);

		cr_assert(i ? at >= end : !at, "piece %ld of %ld begins at %ld", (long)i,
			  (long)s->count, (long)at);
		cr_assert(!s->all || at == end, "piece %ld at %ld", (long)i, (long)at);
		cr_assert(n > 0 && n <= s->width, "piece %ld: %ld", (long)i, (long)n);
		end = at + n;
		units += n;
	}
	cr_assert(end == s->length, "ends at %ld of %ld", (long)end, (long)s->length);
	return units;
}

Test(small_pieces, all_that_is_short)
{
	for (int64_t length = 0; length < 40; length++)
		for (int64_t width = 1; width < 12; width++) {
			struct pieces s = pieces_of(length, width, length, 1, 0, 0);

			cr_assert(s.all && are_sound(&s) == length, "%ld", (long)length);
		}
}

Test(small_pieces, some_of_what_is_long)
{
	static const int64_t lengths[] = { 3, 17, 100, 101, 4097, 1000003, (int64_t)1 << 32 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		for (int64_t most = 0; most < lengths[i] && most < 5000; most += 1 + most / 3)
			for (int64_t width = 1; width <= 64; width *= 4) {
				struct pieces s =
					pieces_of(lengths[i], width, most, 7, 3, (uint32_t)most);
				int64_t units = are_sound(&s);

				cr_assert(units <= (most < 2 ? 2 : most), "%ld of %ld", (long)units,
					  (long)most);
				cr_assert(units >= most - most / 16 - 1 && s.count >= 2,
					  "%ld of %ld, %ld pieces", (long)units, (long)most,
					  (long)s.count);
				cr_assert(most < PIECES_LEAST || s.count >= PIECES_LEAST,
					  "%ld pieces", (long)s.count);
			}
}

/* Every seed, slot and use draws others. */
Test(small_pieces, draws_differ)
{
	struct pieces s = pieces_of(1000000, 10, 10000, 1, 1, 1), other[3] = { s, s, s };

	other[0].seed = 2;
	other[1].slot = 2;
	other[2].use = 2;
	for (int k = 0; k < 3; k++) {
		int same = 0;

		for (int64_t i = 0; i < s.count; i++)
			same += pieces_at(&s, i) == pieces_at(&other[k], i);
		cr_assert(same < 20, "%d: %d of %ld", k, same, (long)s.count);
	}
}

/* Whatever is as long as two stretches holds a piece. */
Test(small_pieces, no_place_is_left_out)
{
	struct pieces s = pieces_of(100000, 10, 2000, 1, 0, 0);
	int64_t at = 0;

	cr_assert(pieces_at(&s, 0) == 0, "the first");
	cr_assert(s.count >= 100, "%ld pieces", (long)s.count);
	for (int64_t i = 1; i < s.count; i++) {
		int64_t next = pieces_at(&s, i);

		cr_assert(next - at < 2 * s.length / s.count, "%ld after %ld", (long)next,
			  (long)at);
		at = next;
	}
	cr_assert(at + pieces_units(&s, s.count - 1) == s.length, "the last ends it: %ld",
		  (long)at);
}
