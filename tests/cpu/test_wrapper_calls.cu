/* test_wrapper_calls.cu - the kernel and the variable of test_wrapper_calls.c. */
#include "common/gpu.h"

static __device__ int words[4];
SYMBOL(words);

extern "C" __global__ void count(int *p, int term)
{
	atomicAdd(p, term + words[3]);
}
KERNEL(count);

extern "C" const void *k_count(void)
{
	return (const void *)count;
}

extern "C" const void *symbol_words(void)
{
	return (const void *)words;
}
