/*
 * mutate.h - damages a sample, as bit rot, editors and enemies do: the same damage for the same
 * state of the generator.
 */
#ifndef RIFT_TESTS_ENEMY_MUTATE_H
#define RIFT_TESTS_ENEMY_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes on the heap, n of them. */
struct bytes {
	char *s;
	size_t n;
};

uint64_t draw(uint64_t *state);			  /* 64 random bits */
size_t draw_below(uint64_t *state, size_t limit); /* 0 to limit - 1; limit is above 0 */

/* *to is freed first. */
void bytes_set(struct bytes *to, const char *s, size_t n);

/* Bits, bytes, cuts, lines that are doubled, swapped and lost, numbers and texts of extremes. */
void mutate_bytes(struct bytes *b, uint64_t *state);

/* A value of one line that is JSON, or of a file that is, becomes another; false: none is. */
bool mutate_json(struct bytes *b, uint64_t *state);

/* Plan and trailers of a session say again what its lines are: else nothing but these is tested. */
void mutate_sign(struct bytes *b);

#endif
