/*
 * lcg.h - the random numbers of the "particlefilter" benchmark: a linear congruential generator
 * whose state is one signed 32-bit integer, one generator a particle.
 *
 * The same integers on the host and on every device. The remainder of the original, by
 * 2147483647, changes three states only.
 */
#ifndef RIFT_PARTICLEFILTER_LCG_H
#define RIFT_PARTICLEFILTER_LCG_H

#include <stdint.h>

#ifdef __CUDACC__
#define LCG_FN static inline __host__ __device__
#else
#define LCG_FN static inline
#endif

LCG_FN int32_t lcg_next(int32_t s)
{
	uint32_t t = 1103515245u * (uint32_t)s + 12345u;

	if (t == 0x7FFFFFFFu || t == 0x80000001u)
		return 0;
	return t == 0x80000000u ? -1 : (int32_t)t;
}

/* The uniform number of a state: in [0, 1), 0 included. */
LCG_FN double lcg_uniform(int32_t s)
{
	return (s < 0 ? -(double)s : (double)s) / 2147483647.0;
}

/* Seeds of generator i: T x i mod 2^32 with the clock T in seconds, or i + 1. */
LCG_FN int32_t lcg_seed(int64_t i, int by_clock, int64_t clock)
{
	return (int32_t)(uint32_t)(by_clock ? (uint64_t)clock * (uint64_t)i : (uint64_t)i + 1);
}

#endif
