/* inputs.h - which matrices are multiplied: the same bits on the device and on the host. */
#ifndef RIFT_MATMUL_INPUTS_H
#define RIFT_MATMUL_INPUTS_H

#include "common/philox.h"
#include "workloads/matmul/device.h"

/* Tags of the random numbers of either matrix. */
enum matmul_tag { MATMUL_TAG_A = 18, MATMUL_TAG_B = 19 };

/* Elements 4 i to 4 i + 3 of a matrix of a slot, as words. */
PHILOX_FN struct philox matmul_words(uint32_t i, uint32_t slot, enum matmul_tag tag, uint64_t seed)
{
	return philox4x32(i, slot, tag, 0, seed);
}

/* An integer from -8 to 7: sums of up to 2^18 products are exact in float, in any order. */
PHILOX_FN float matmul_small(uint32_t word)
{
	return (float)((int32_t)(word >> 28) - 8);
}

/* One of 2^24 values in [-1, 1), which float has exactly. */
PHILOX_FN float matmul_uniform(uint32_t word)
{
	return (float)((int32_t)(word >> 8) - 8388608) * (1.0f / 8388608.0f);
}

PHILOX_FN float matmul_value(uint32_t word, enum matmul_fill fill)
{
	return fill == MATMUL_SMALL ? matmul_small(word) : matmul_uniform(word);
}

#endif
