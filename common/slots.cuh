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
 *
 * In launches that overlap (common/programmatic.cuh) the step may have to be known before the ones
 * before have ended: slots_step_overlapped(). Where none of those still counts, slots_step_now().
 */
#ifndef RIFT_SLOTS_CUH
#define RIFT_SLOTS_CUH

#include "common/programmatic.cuh"
#include "common/slots.h"

/*
 * A word of the counter: NOW as it is in memory, where another launch may have written it since
 * this one began. Else a GPU may take it from the first-level cache: while others of this launch
 * write it, it is the old or the new one, and either will do: the CPU device has to be told.
 */
template <bool NOW, class T> static __device__ inline T slots_word(const T &word)
{
#ifdef __CUDACC__
	return NOW ? __ldcg(&word) : word;
#else
	return __atomic_load_n(&word, __ATOMIC_RELAXED);
#endif
}

/* The launches before this one; of a block that has not counted. */
template <bool NOW>
static __device__ inline uint32_t slots_launches(const struct slots_counter *counter)
{
	unsigned long long units = 0;

	for (int i = 0; i < SLOTS_PARTS; i++)
		units += slots_word<NOW>(counter->part[i].units);
	return (uint32_t)(units >> 32);
}

static __device__ inline uint32_t slots_step(const struct slots_counter *counter)
{
	return slots_word<false>(counter->part[0].steps[slots_launches<false>(counter) % 2]);
}

/*
 * The words of even and of odd launches, in one load: of two, nvcc 13.0 puts the second behind the
 * branch that wants it, a journey to memory later.
 */
static __device__ inline uint2 slots_steps_now(const struct slots_counter *counter)
{
	const uint32_t *steps = counter->part[0].steps;

	static_assert(offsetof(struct slots_part, steps) % sizeof(uint2) == 0, "one load");
#ifdef __CUDACC__
	return __ldcg((const uint2 *)steps);
#else
	return { slots_word<true>(steps[0]), slots_word<true>(steps[1]) };
#endif
}

/*
 * The same in a launch that overlaps others, when none of these counts any more: all words in one
 * journey to memory. For one thread of a block: a line of the second-level cache that all of them
 * ask for is slow.
 */
static __device__ inline uint32_t slots_step_now(const struct slots_counter *counter)
{
	uint2 steps = slots_steps_now(counter);

	return slots_launches<true>(counter) % 2 ? steps.y : steps.x;
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
		uint32_t *steps = counter->part[0].steps;
		uint32_t now = slots_launches<true>(counter) % 2;

		store_relaxed(&steps[!now], slots_word<true>(steps[now]) + n);
		units = (1ull << 32) - (unsigned long long)(blocks - 1) * share;
	}
	atomicAdd(&counter->part[block % SLOTS_PARTS].units, units);
}

/*
 * The step of a launch that may overlap the ones before and behind it, and counts one: for all
 * threads of all blocks, once; grid and blocks have one dimension. shared: of the block's shared
 * memory; a barrier is within. programmatic_go() comes behind it: so tickets come in the order of
 * launches.
 *
 * From 2^32 tickets on only the lower half is divided, as dividing 64 bits took an H200 0.3 us of a
 * step of 21 us. Blocks then go on with some other slot, and no answer changes.
 */
static __device__ inline uint32_t slots_step_overlapped(struct slots_counter *counter,
							uint32_t &shared)
{
	if (!threadIdx.x) {
		uint32_t part = blockIdx.x % SLOTS_PARTS;
		unsigned long long ticket = atomicAdd(&counter->part[part].tickets, 1ull);

		shared = (uint32_t)ticket / slots_part_blocks(gridDim.x, part);
		if (!blockIdx.x)
			store_relaxed(&counter->part[0].blocks, gridDim.x);
	}
	__syncthreads();
	return shared;
}

#endif
