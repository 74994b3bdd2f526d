/*
 * none.c - preloaded, takes the device away: CUDA's runtime says what it says where there is no
 * driver. $FAKE_CUDA_ERROR is another error.
 */
#include <cuda_runtime_api.h>
#include <stdlib.h>

cudaError_t cudaGetDeviceCount(int *count)
{
	const char *error = getenv("FAKE_CUDA_ERROR");

	*count = 0;
	return error ? (cudaError_t)atoi(error) : cudaErrorInsufficientDriver;
}
