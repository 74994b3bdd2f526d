/* test_cpu_device.cu - kernels of test_cpu_device.c. */
#include "common/gpu.h"

struct large {
	int value[250];
};

extern "C" __global__ void takes_much(struct large a, struct large b, int *sum)
{
	*sum = 0;
	for (int i = 0; i < 250; i++)
		*sum += a.value[i] - b.value[i];
}
KERNEL(takes_much);

/* Work that grows with `rounds`, the same in each thread. */
extern "C" __global__ void work(unsigned *p, int rounds)
{
	unsigned v = blockIdx.x * blockDim.x + threadIdx.x;

	for (int i = 0; i < rounds; i++)
		v = v * 1664525 + 1013904223;
	p[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
KERNEL(work);

__global__ void without_description(int *p)
{
	*p = 1;
}

#define ENTRY(kernel)                                                                              \
	extern "C" const void *k_##kernel(void)                                                    \
	{                                                                                          \
		return (const void *)kernel;                                                       \
	}
ENTRY(takes_much)
ENTRY(work)
ENTRY(without_description)
