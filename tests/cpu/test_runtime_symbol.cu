/* test_runtime_symbol.cu - variables of the device, and a kernel that uses them. */
#include "common/gpu.h"

static __constant__ int factors[8];
static __device__ int total;
SYMBOL(factors);
SYMBOL(total);

/* One thread; *out = the sum of the factors, and total counts what was summed up so far. */
extern "C" __global__ void sum_factors(int *out)
{
	*out = 0;
	for (int i = 0; i < 8; i++)
		*out += factors[i];
	total += *out;
}
KERNEL(sum_factors);

extern "C" const void *k_sum_factors(void)
{
	return (const void *)sum_factors;
}

extern "C" const void *symbol_factors(void)
{
	return (const void *)factors;
}

extern "C" const void *symbol_total(void)
{
	return (const void *)&total;
}

/* By the forms that C++ has: the variable itself names it. */
extern "C" cudaError_t set_total(int value)
{
	return cudaMemcpyToSymbol(total, &value, sizeof(value));
}

extern "C" cudaError_t get_factor(int *value, int index)
{
	return cudaMemcpyFromSymbol(value, factors, sizeof(*value), index * sizeof(*value));
}
