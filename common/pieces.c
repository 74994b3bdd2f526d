/* pieces.c - pieces of something long, drawn by stretches. */
#include "common/pieces.h"

#include "common/philox.h"

enum { TAG = 31 };

static int64_t at_least(int64_t n, int64_t least)
{
	return n < least ? least : n;
}

struct pieces pieces_of(int64_t length, int64_t width, int64_t most, uint64_t seed, uint32_t slot,
			uint32_t use)
{
	struct pieces s = { length, width, 0, length <= most, seed, slot, use };

	if (!s.all) {
		int64_t fit = at_least(most / PIECES_LEAST, 1);

		s.width = width < fit ? width : fit;
		s.count = at_least(most / s.width, 2);
		s.all = s.count * s.width >= length; /* two units */
	}
	if (s.all)
		s.count = (length + s.width - 1) / s.width;
	return s;
}

/* A piece begins so far behind the start of its stretch: 0 to slack. */
static int64_t draw_offset(const struct pieces *s, int64_t i, int64_t slack)
{
	struct philox r = philox4x32((uint32_t)i, s->slot, TAG, s->use, s->seed);
	uint64_t word = (uint64_t)r.word[1] << 32 | r.word[0];

	return (int64_t)(word % (uint64_t)(slack + 1));
}

int64_t pieces_at(const struct pieces *s, int64_t i)
{
	int64_t begin = s->length * i / s->count, end = s->length * (i + 1) / s->count;

	if (s->all)
		return i * s->width;
	if (!i)
		return 0;
	return i == s->count - 1 ? s->length - s->width
				 : begin + draw_offset(s, i, end - begin - s->width);
}

int64_t pieces_units(const struct pieces *s, int64_t i)
{
	int64_t left = s->length - pieces_at(s, i);

	return left < s->width ? left : s->width;
}
