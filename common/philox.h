/*
 * philox.h - Philox4x32-10, a counter-based random number generator.
 *
 * The same bits on the host, the CPU device and the GPU: integer arithmetic only. There is no
 * state: a number is a function of a 128-bit counter (which number) and a 64-bit key (the
 * seed), so any thread can draw any number in any order.
 *
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11.
 */
#ifndef RIFT_PHILOX_H
#define RIFT_PHILOX_H

#include <stdint.h>

#ifdef __CUDACC__
#define PHILOX_FN static inline __host__ __device__
#else
#define PHILOX_FN static inline
#endif

struct philox {
	uint32_t word[4];
};

/* Four 32-bit words for counter (a, b, c, d), a least significant, and a key. */
PHILOX_FN struct philox philox4x32(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint64_t key)
{
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
	struct philox out = { { a, b, c, d } };

	for (int round = 0; round < 10; round++) {
		uint64_t p0 = (uint64_t)0xD2511F53u * out.word[0];
		uint64_t p1 = (uint64_t)0xCD9E8D57u * out.word[2];

		out.word[0] = (uint32_t)(p1 >> 32) ^ out.word[1] ^ k0;
		out.word[2] = (uint32_t)(p0 >> 32) ^ out.word[3] ^ k1;
		out.word[1] = (uint32_t)p1;
		out.word[3] = (uint32_t)p0;
		k0 += 0x9E3779B9u; /* Weyl sequence of the golden ratio */
		k1 += 0xBB67AE85u; /* and of sqrt(3) - 1 */
	}
	return out;
}

/* A word as a double in (0, 1): never 0, never 1, exact in double. */
PHILOX_FN double philox_uniform(uint32_t word)
{
	return (word + 0.5) * (1.0 / 4294967296.0);
}

/*
 * A word as one of 2^24 values in [lo, hi). The sum is made in double and rounded once, so that
 * the bits are the same with and without fused multiply-add wherever (hi - lo) has few bits, as
 * 25 or 9.75 have.
 */
PHILOX_FN float philox_range(uint32_t word, double lo, double hi)
{
	return (float)(lo + (hi - lo) * ((word >> 8) * (1.0 / 16777216.0)));
}

#endif
