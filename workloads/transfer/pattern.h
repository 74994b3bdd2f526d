/*
 * pattern.h - what is copied: 8-byte words that each say where they belong, the same on host and
 * device, so that each end is checked by code that the copy has nothing to do with.
 */
#ifndef RIFT_TRANSFER_PATTERN_H
#define RIFT_TRANSFER_PATTERN_H

#include <stdint.h>

#ifdef __CUDACC__
#define TRANSFER_FN static inline __host__ __device__
#else
#define TRANSFER_FN static inline
#endif

/* What stands where nothing was copied to. */
#define TRANSFER_GUARD 0xa5a5a5a5a5a5a5a5ull
enum { TRANSFER_GUARD_BYTE = 0xa5 };

/*
 * The word at this place: the finalizer of MurmurHash3 (Appleby), a bijection in which half of the
 * bits change with each bit of the place. No place is shifted onto another.
 */
TRANSFER_FN uint64_t transfer_word(uint64_t place)
{
	uint64_t v = place + 0x9e3779b97f4a7c15ull;

	v = (v ^ v >> 33) * 0xff51afd7ed558ccdull;
	v = (v ^ v >> 33) * 0xc4ceb9fe1a85ec53ull;
	return v ^ v >> 33;
}

/*
 * Word k of a slot to which so many bytes were copied, the source beginning at word `first` of the
 * pattern. Behind the copy are guards, up to the slot's end; with bytes 0 all of it is.
 */
TRANSFER_FN uint64_t transfer_expected(uint64_t k, uint64_t first, uint64_t bytes)
{
	uint64_t copied = bytes > 8 * k ? bytes - 8 * k : 0, mask;

	if (copied >= 8)
		return transfer_word(first + k);
	mask = (1ull << 8 * copied) - 1; /* of the lower addresses: little-endian */
	return (transfer_word(first + k) & mask) | (TRANSFER_GUARD & ~mask);
}

#endif
