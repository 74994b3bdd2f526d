/*
 * reference.c - what the kernels of the launch workload must have left behind, worked out on the
 * host.
 *
 * fmaf() rounds once, as IEEE 754 says and as the device's fused multiply-add does, so ends of
 * chains are compared bit by bit.
 */
#include <math.h>
#include <string.h>

#include "workloads/launch/launch.h"

uint32_t launch_chain_end(int start, int64_t chain)
{
	float x = (float)(2 + start) / 16; /* 0.125 and up */
	uint32_t bits;

	for (int64_t i = 0; i < chain; i++)
		x = fmaf(x, x, -15.0f / 8);
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

uint64_t launch_args_sum(const uint64_t *word, int words)
{
	uint64_t sum = word[0] << 32 >> 32; /* without the units */

	for (int i = 1; i < words; i++)
		sum += word[i] * (uint64_t)(2 * i + 1);
	return sum;
}
