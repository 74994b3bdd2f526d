/* Linked on the device with rdc_two.cu: -rdc. */
#include <cuda_runtime.h>

extern __device__ int image_shared;
__device__ int image_twice(int x);

extern "C" __global__ void image_rdc(int *to, int x)
{
	*to = image_twice(x) + image_shared;
}

extern "C" int run_rdc(int *to)
{
	image_rdc<<<9, 8>>>(to, 1234);
	return (int)cudaGetLastError();
}
