/* test_cpu_costs.cu - the kernel and the variable of test_cpu_costs.c. */
#include "common/gpu.h"

static __device__ int variable;
SYMBOL(variable);

extern "C" __global__ void nothing()
{
}
KERNEL(nothing);

extern "C" const void *k_nothing()
{
	return (const void *)nothing;
}

extern "C" const void *symbol_variable()
{
	return (const void *)&variable;
}
