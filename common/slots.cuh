/*
 * slots.cuh - the step counter of common/slots.h in kernels:
 *
 *   uint32_t k = slots_step(counter);     the step that this launch is, or begins with
 *   ... loads of slot k % slots ...
 *   slots_advance(counter, 1);            all threads of all blocks, once, after slots_step()
 *
 * Launches that count follow one another on a stream: two at a time would count one step.
 *
 * A block waits for no other one and for nothing that it writes, but its threads for each other
 * once: behind loads that are under way that costs least.
 */
#ifndef RIFT_SLOTS_CUH
#define RIFT_SLOTS_CUH

#include "common/gpu.h"
#include "common/slots.h"

/*
 * While others add to it the word is the old or the new one, and either will do. So a GPU may take
 * it from the first-level cache; that of the CPU device has to say that it knows.
 */
static __device__ inline unsigned long long slots_units(const struct slots_part *part)
{
#ifdef __CUDACC__
	return part->units;
#else
	return __atomic_load_n(&part->units, __ATOMIC_RELAXED);
#endif
}

/* The launches before this one; of a block that has not counted. */
static __device__ inline uint32_t slots_launches(const struct slots_counter *counter)
{
	unsigned long long units = 0;

	for (int i = 0; i < SLOTS_PARTS; i++)
		units += slots_units(&counter->part[i]);
	return (uint32_t)(units >> 32);
}

static __device__ inline uint32_t slots_step(const struct slots_counter *counter)
{
	return counter->part[0].steps[slots_launches(counter) % 2];
}

/* By n steps. The first block takes what is left of 2^32 units when the others have theirs. */
static __device__ inline void slots_advance(struct slots_counter *counter, uint32_t n)
{
	uint32_t blocks = gridDim.x * gridDim.y * gridDim.z;
	uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
	uint32_t share = UINT32_MAX / blocks;
	unsigned long long units = share;

	__syncthreads(); /* the whole block has read the counter */
	if (threadIdx.x | threadIdx.y | threadIdx.z)
		return;
	if (!block) {
		uint32_t *steps = counter->part[0].steps, now = slots_launches(counter) % 2;

		steps[!now] = steps[now] + n;
		units = (1ull << 32) - (unsigned long long)(blocks - 1) * share;
	}
	atomicAdd(&counter->part[block % SLOTS_PARTS].units, units);
}

#endif
