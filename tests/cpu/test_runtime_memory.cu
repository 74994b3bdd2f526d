/* test_runtime_memory.cu - kernel of test_runtime_memory.c. */
#include "common/gpu.h"

extern "C" __global__ void fill(int *p, int n, int value)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		p[i] = value;
}
KERNEL(fill);

extern "C" const void *k_fill(void)
{
	return (const void *)fill;
}
