/* test_runtime_nodes.cu - kernels of test_runtime_nodes.c. */
#include "common/gpu.h"

/* One thread; *p = *p * factor + term, so that the order of launches shows. */
extern "C" __global__ void affine(int *p, int factor, int term)
{
	*p = *p * factor + term;
}
KERNEL(affine);

extern "C" const void *k_affine(void)
{
	return (const void *)affine;
}
