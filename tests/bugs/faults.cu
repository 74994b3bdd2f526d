/*
 * faults.cu - kernels that cannot go on: the CPU device itself names kernel, block and thread
 * (see bugs.cuh).
 */
#include "tests/bugs/bugs.cuh"

/* Half of a warp waits at a barrier, the other half for the whole warp: never ends. */
extern "C" __global__ void half_at_barrier(int *p)
{
	if (threadIdx.x % 32 < 16)
		__syncthreads();
	else
		*p = __ballot_sync(0xffffffff, 1);
}
KERNEL(half_at_barrier);

static void deadlock(void)
{
	CUDA(LAUNCH(half_at_barrier, 2, 64, 0, 0, zeroed_ints(1)));
}

extern "C" __global__ void vote_or_shuffle(int *p)
{
	if (threadIdx.x < 16)
		*p = __any_sync(0xffffffff, 1);
	else
		*p = __shfl_sync(0xffffffff, 1, 0);
}
KERNEL(vote_or_shuffle);

static void mismatch(void)
{
	CUDA(LAUNCH(vote_or_shuffle, 2, 32, 0, 0, zeroed_ints(1)));
}

extern "C" __global__ void half_mask(int *p)
{
	*p = __any_sync(0x0000ffff, 1);
}
KERNEL(half_mask);

static void outside_mask(void)
{
	CUDA(LAUNCH(half_mask, 2, 32, 0, 0, zeroed_ints(1)));
}

#define DEVICE(name)                                                                               \
	{                                                                                          \
#name, "device", name                                                              \
	}
const struct bug fault_bugs[] = {
	DEVICE(deadlock),
	DEVICE(mismatch),
	DEVICE(outside_mask),
	{},
};
