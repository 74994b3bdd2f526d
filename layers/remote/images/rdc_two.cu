/* See rdc_one.cu. */
#include <cuda_runtime.h>

__device__ int image_shared = 5;

__device__ int image_twice(int x)
{
	return 2 * x;
}

extern "C" int run_rdc_variable(void)
{
	size_t bytes = 0;

	return cudaGetSymbolSize(&bytes, image_shared) ? -(int)cudaGetLastError() : (int)bytes;
}
