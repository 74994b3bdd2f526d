/*
 * slots.cuh - the step counter of common/slots.h in kernels:
 *
 *   uint32_t k = slots_step(counter);     the step that this launch is, or begins with
 *   ... loads of slot k % slots ...
 *   slots_advance(counter, 1);            all threads of all blocks, once, after slots_step()
 *
 * The counter stays until every block has read it. slots_advance() holds a barrier and an atomic
 * operation that thread 0 waits for: behind loads that are under way it costs little, behind
 * stores it would wait for them.
 */
#ifndef RIFT_SLOTS_CUH
#define RIFT_SLOTS_CUH

#include "common/gpu.h"
#include "common/slots.h"

static __device__ inline uint32_t slots_step(const struct slots_counter *counter)
{
	return counter->steps;
}

/* Is it the last one of n? That one takes the tickets back. */
static __device__ inline bool slots_last(struct slots_tickets *tickets, uint32_t n)
{
	if (atomic_add_acq_rel(&tickets->n, 1) != n - 1)
		return false;
	tickets->n = 0;
	return true;
}

/* The last block to come by advances the counter by n. */
static __device__ inline void slots_advance(struct slots_counter *counter, uint32_t n)
{
	uint32_t blocks = gridDim.x * gridDim.y * gridDim.z;
	uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
	uint32_t part = block % SLOTS_PARTS;
	bool crowd = blocks > SLOTS_PARTS;

	__syncthreads(); /* the whole block has read the counter */
	if (threadIdx.x | threadIdx.y | threadIdx.z)
		return;
	if (crowd && !slots_last(&counter->part[part], (blocks - part - 1) / SLOTS_PARTS + 1))
		return;
	if (slots_last(&counter->all, crowd ? (uint32_t)SLOTS_PARTS : blocks))
		counter->steps += n;
}

#endif
