/* test_cpu_nodes.cu - the kernel of test_cpu_nodes.c. */
#include "common/gpu.h"

/* One thread. */
extern "C" __global__ void count(int *p)
{
	++*p;
}
KERNEL(count);

extern "C" const void *k_count(void)
{
	return (const void *)count;
}
