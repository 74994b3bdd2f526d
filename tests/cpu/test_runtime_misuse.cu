/* test_runtime_misuse.cu - the kernel of test_runtime_misuse.c. */
#include "common/gpu.h"

extern "C" __global__ void count(int *p)
{
	atomicAdd(p, 1);
}
KERNEL(count);

extern "C" const void *k_count(void)
{
	return (const void *)count;
}
