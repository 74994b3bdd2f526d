/* test_runtime.cu - kernels of test_runtime.c. */
#include "common/gpu.h"

/* Parameters with gaps between them. */
extern "C" __global__ void sum_parameters(char a, double b, int *out, short c, long long d)
{
	*out = (int)(a + b + c + d);
}
KERNEL(sum_parameters);

extern "C" __global__ void fill(int *p, int n, int value)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		p[i] = value;
}
KERNEL(fill);

/* p[thread] = its place in grid and block, four bits a coordinate. */
extern "C" __global__ void places(unsigned *p)
{
	unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
	unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);

	p[b * blockDim.x * blockDim.y * blockDim.z + t] = threadIdx.x | threadIdx.y << 4 |
							  threadIdx.z << 8 | blockIdx.x << 12 |
							  blockIdx.y << 16 | blockIdx.z << 20;
}
KERNEL(places);

extern "C" const void *k_sum_parameters(void)
{
	return (const void *)sum_parameters;
}

extern "C" const void *k_fill(void)
{
	return (const void *)fill;
}

extern "C" const void *k_places(void)
{
	return (const void *)places;
}
