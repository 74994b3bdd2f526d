/* test_runtime_update.cu - kernels of test_runtime_update.c. */
#include "common/gpu.h"

/* One thread; *out = 10 * *out + *in. */
extern "C" __global__ void append(int *out, const int *in)
{
	*out = 10 * *out + *in;
}
KERNEL(append);

/* The same with a number instead of *in, so that the order of launches shows. */
extern "C" __global__ void affine(int *p, int factor, int term)
{
	*p = *p * factor + term;
}
KERNEL(affine);

extern "C" const void *k_append(void)
{
	return (const void *)append;
}

extern "C" const void *k_affine(void)
{
	return (const void *)affine;
}
