/* codes.cuh - bytes into codes of letters: A 0, C 1, T 2, G 3, N 4; 7 is no letter. */
#ifndef RIFT_ALIGNMENT_CODES_CUH
#define RIFT_ALIGNMENT_CODES_CUH

#include "common/gpu.h"

/* Code of a byte, 7 where it is none of ACGTN. Bits 1 and 2 tell A, C, T and G apart. */
static __device__ inline uint32_t letter_code(uint32_t byte, bool fold)
{
	uint32_t c = fold && byte >= 'a' && byte <= 'z' ? byte - 'a' + 'A' : byte;
	uint32_t code = c >> 1 & 3;
	const uint32_t acgt = 'A' | 'C' << 8 | 'T' << 16 | (uint32_t)'G' << 24;

	if (c == 'N')
		return 4;
	return c == (acgt >> 8 * code & 255) ? code : 7;
}

/*
 * Codes of four letters, two bits to a byte; false where one of them is not A, C, G or T. Bits 2
 * and 1 of those are the code, and all others those of A but for T, whose bits 4 and 0 are not.
 */
static __device__ inline bool four_codes(uint32_t letters, bool fold, uint32_t *codes)
{
	uint32_t c = fold ? letters & 0xdfdfdfdf : letters, t;

	*codes = c >> 1 & 0x03030303;
	t = *codes >> 1 & ~*codes & 0x01010101;
	return c == ((0x41414141 | *codes << 1) ^ t * 0x11);
}

/* The lowest bits of four bytes side by side: no two products of the factor's bits meet. */
static __device__ inline uint32_t lowest_bits(uint32_t bytes)
{
	return (bytes & 0x01010101) * 0x10204080 >> 28;
}

/* The rare case: codes of `count` letters one by one, three bits to a byte. Returns the first that
 * is bad, or count. */
static __device__ uint32_t slow_codes(uint32_t letters, uint32_t count, bool fold, uint32_t *codes)
{
	uint32_t bad = count;

	*codes = 0;
	for (uint32_t b = count; b--;) {
		uint32_t code = letter_code(letters >> 8 * b & 255, fold);

		bad = code == 7 ? b : bad;
		*codes |= code << 8 * b;
	}
	return bad;
}

#endif
