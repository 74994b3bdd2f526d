/* graphs.cuh - kernels of one thread for tests of streams, captures and graphs (graphs.h). */
#ifndef RIFT_TESTS_GRAPHS_CUH
#define RIFT_TESTS_GRAPHS_CUH

#include "common/gpu.h"

extern "C" __global__ void affine(int *p, int factor, int term)
{
	*p = *p * factor + term;
}
KERNEL(affine);

extern "C" __global__ void append(int *out, const int *in)
{
	*out = 10 * *out + *in;
}
KERNEL(append);

extern "C" const void *k_affine(void)
{
	return (const void *)affine;
}

extern "C" const void *k_append(void)
{
	return (const void *)append;
}

#endif
