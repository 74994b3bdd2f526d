/*
 * pieces.h - which parts of something long a check looks at: all, or pieces of it where all would
 * take too long. Pieces are of one width: the first, the last, and from each stretch between them
 * one that is drawn, so that they do not overlap.
 */
#ifndef RIFT_PIECES_H
#define RIFT_PIECES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PIECES_LEAST = 16 }; /* at least, where there are as many units to look at */

/* Lengths are in units: words, pairs, pixels. */
struct pieces {
	int64_t length, width, count; /* of all; of a piece; pieces */
	bool all;		      /* pieces touch, and only the last may be short */
	uint64_t seed;
	uint32_t slot, use; /* what else the draw depends on */
};

/*
 * All of it, if it is no longer than `most`, in pieces of `width`. Otherwise about `most` units, in
 * pieces of that width or less: less where there would be fewer than PIECES_LEAST. There are
 * always two, the first and the last.
 */
struct pieces pieces_of(int64_t length, int64_t width, int64_t most, uint64_t seed, uint32_t slot,
			uint32_t use);

/* Where piece i begins, in ascending order; and its units. */
int64_t pieces_at(const struct pieces *s, int64_t i);
int64_t pieces_units(const struct pieces *s, int64_t i);

#ifdef __cplusplus
}
#endif
#endif
