/* test_runtime_copies.cu - the kernel of test_runtime_copies.c. */
#include "common/gpu.h"

/* p[i] += term. */
extern "C" __global__ void add(int *p, int n, int term)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		p[i] += term;
}
KERNEL(add);

extern "C" const void *k_add(void)
{
	return (const void *)add;
}
