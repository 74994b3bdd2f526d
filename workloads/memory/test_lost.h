/* test_lost.h - a layer below the workload that loses a launch. */
#ifndef RIFT_MEMORY_TEST_LOST_H
#define RIFT_MEMORY_TEST_LOST_H

#include <cuda_runtime_api.h>
#include <dlfcn.h>

static int lost = -1; /* so many launches later; -1: none */

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
			     cudaStream_t stream)
{
	cudaError_t (*real)(const void *, dim3, dim3, void **, size_t, cudaStream_t) =
		(cudaError_t(*)(const void *, dim3, dim3, void **, size_t, cudaStream_t))dlsym(
			RTLD_NEXT, "cudaLaunchKernel");

	if (lost >= 0 && !lost--)
		return cudaSuccess;
	return real(func, grid, block, args, shared, stream);
}

#endif
