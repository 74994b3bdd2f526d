/* One kernel of one file, an argument of one byte, variables of both kinds. */
#include <cuda_runtime.h>

__device__ int image_counter;
__constant__ float image_factors[16];

extern "C" __global__ void image_plain(char c, int *to)
{
	*to = c + image_counter + (int)image_factors[threadIdx.x];
}

extern "C" int run_plain(int *to)
{
	image_plain<<<dim3(2, 3, 4), dim3(5, 6, 7), 128>>>('x', to);
	return (int)cudaGetLastError();
}

/* What the program copies to and from the variables; returns the counter as it comes back. */
extern "C" int run_variables(void)
{
	const float factors[16] = { 1, 2, 3 };
	int counter = 41, back = 0;

	if (cudaMemcpyToSymbol(image_counter, &counter, sizeof(counter)) ||
	    cudaMemcpyToSymbol(image_factors, factors, sizeof(factors)) ||
	    cudaMemcpyFromSymbol(&back, image_counter, sizeof(back)))
		return -(int)cudaGetLastError();
	return back;
}
