/* test_cpu_threads.cu - kernels of test_cpu_threads.c. */
#include "common/gpu.h"

/* Odd threads wait, even ones return: those count as arrived. */
extern "C" __global__ void odd_ones_wait(int *p)
{
	if (threadIdx.x % 2)
		__syncthreads();
	atomicAdd(p, 1);
}
KERNEL(odd_ones_wait);

/* order[i] = the thread that came i-th, one block. */
extern "C" __global__ void arrival(int *count, int *order)
{
	order[atomicAdd(count, 1)] = threadIdx.x;
}
KERNEL(arrival);

/* Rotates values through shared memory, one barrier a step; 24 KiB of locals a thread. */
extern "C" __global__ void rotate(int *p, int steps)
{
	SHARED_ARRAY(int, ring, [1024]);
	int t = threadIdx.x, n = blockDim.x;
	volatile char locals[20000];

	locals[0] = (char)t;
	locals[sizeof(locals) - 1] = (char)t;
	ring[t] = t;
	for (int i = 0; i < steps; i++) {
		__syncthreads();
		int v = ring[(t + 1) % n];

		__syncthreads();
		ring[t] = v;
	}
	__syncthreads();
	if (locals[0] == (char)t && locals[sizeof(locals) - 1] == (char)t)
		p[blockIdx.x * n + t] = ring[t];
}
KERNEL(rotate);

static __device__ int *other_array()
{
	SHARED_ARRAY(int, same_name, [32]);

	return same_name;
}

/* Arrays of one name, in two functions, and a second one of the same type in one function. */
extern "C" __global__ void arrays(int *p)
{
	SHARED_ARRAY(int, same_name, [32]);
	SHARED_ARRAY(int, second, [32]);
	int t = threadIdx.x;

	same_name[t] = t;
	second[t] = 100 * t;
	other_array()[t] = 10000 * t;
	__syncthreads();
	p[t] = same_name[31 - t] + second[31 - t] + other_array()[31 - t];
}
KERNEL(arrays);

/* Work that grows with `rounds`, the same in each thread. */
extern "C" __global__ void work(unsigned *p, int rounds)
{
	unsigned v = blockIdx.x * blockDim.x + threadIdx.x;

	for (int i = 0; i < rounds; i++)
		v = v * 1664525 + 1013904223;
	p[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
KERNEL(work);

#define ENTRY(kernel)                                                                              \
	extern "C" const void *k_##kernel(void)                                                    \
	{                                                                                          \
		return (const void *)kernel;                                                       \
	}
ENTRY(odd_ones_wait)
ENTRY(arrival)
ENTRY(rotate)
ENTRY(arrays)
ENTRY(work)
