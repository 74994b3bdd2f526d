/* test_cpu_fork.cu - the kernel of test_cpu_fork.c. */
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
