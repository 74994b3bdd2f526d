/* test_cpu_calls.cu - the kernel and a variable of test_cpu_calls.c. */
#include "common/gpu.h"

extern "C" __global__ void count(int *p)
{
	++*p;
}
KERNEL(count);

static __device__ int named, nameless;
SYMBOL(named);

extern "C" const void *k_count(void)
{
	return (const void *)count;
}

extern "C" void *symbol(int with_name)
{
	return with_name ? &named : &nameless;
}
