/*
 * regions.h - pieces of memory by address: what a client has been given, as the daemon and the
 * client each know it. Pieces do not overlap. Without locks: who calls has one.
 */
#ifndef RIFT_REMOTE_REGIONS_H
#define RIFT_REMOTE_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum region_kind {
	REGION_DEVICE = 1,
	REGION_PINNED,
	REGION_SYMBOL,	   /* a variable of the program's, on the device */
	REGION_REGISTERED, /* the client's own memory, which the daemon does not have */
	REGION_STAGED,	   /* the same, but given out as pinned: too large to be mirrored */
};

struct region {
	uint64_t base, bytes;
	enum region_kind kind;
};

/* Sorted by base. */
struct regions {
	struct region *at;
	size_t n, room;
};

/* How many begin at or before the address. */
static inline size_t regions_up_to(const struct regions *r, uint64_t address)
{
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (r->at[middle].base <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The piece that the address lies in; NULL: none. */
static inline struct region *regions_find(const struct regions *r, uint64_t address)
{
	size_t n = regions_up_to(r, address);
	struct region *last = n ? &r->at[n - 1] : NULL;

	return last && address - last->base < last->bytes ? last : NULL;
}

/* The piece in which all of the range lies. */
static inline struct region *regions_hold(const struct regions *r, uint64_t address, uint64_t bytes)
{
	struct region *found = regions_find(r, address);

	return found && bytes <= found->bytes - (address - found->base) ? found : NULL;
}

/* Does any piece touch the range? bytes > 0, and the range does not wrap. */
static inline bool regions_touch(const struct regions *r, uint64_t address, uint64_t bytes)
{
	size_t n = regions_up_to(r, address + bytes - 1);

	return n && r->at[n - 1].base + r->at[n - 1].bytes > address;
}

/* False where there is no memory for it, or it touches another. */
static inline bool regions_add(struct regions *r, struct region piece)
{
	size_t at, room = r->room ? 2 * r->room : 64;

	if (!piece.bytes || piece.base + piece.bytes < piece.base ||
	    regions_touch(r, piece.base, piece.bytes))
		return false;
	if (r->n == r->room) {
		struct region *larger = realloc(r->at, room * sizeof(*larger));

		if (!larger)
			return false;
		r->at = larger;
		r->room = room;
	}
	at = regions_up_to(r, piece.base);
	memmove(r->at + at + 1, r->at + at, (r->n - at) * sizeof(*r->at));
	r->at[at] = piece;
	r->n++;
	return true;
}

/* The piece must be one of these. */
static inline void regions_remove(struct regions *r, const struct region *piece)
{
	size_t at = (size_t)(piece - r->at);

	memmove(r->at + at, r->at + at + 1, (r->n - at - 1) * sizeof(*r->at));
	r->n--;
}

static inline void regions_release(struct regions *r)
{
	free(r->at);
	*r = (struct regions){ 0 };
}

/* Bytes from the first of the first row to the last of the last; UINT64_MAX for more. */
static inline uint64_t rows_extent(uint64_t height, uint64_t pitch, uint64_t width)
{
	uint64_t all;

	if (!height || !width)
		return 0;
	if (__builtin_mul_overflow(height - 1, pitch, &all) ||
	    __builtin_add_overflow(all, width, &all))
		return UINT64_MAX;
	return all;
}

#endif
