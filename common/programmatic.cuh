/*
 * programmatic.cuh - launches that overlap (common/programmatic.h), in kernels and for who launches
 * them:
 *
 *   extern "C" __global__ void step(...)
 *   {
 *           ...                          // touches nothing that the launch before writes
 *           programmatic_wait();         // now that one has ended, and all of its writing is seen
 *           ...
 *           programmatic_go();           // the next launch may begin, when all blocks said so
 *           ...
 *   }
 *   CUDA(LAUNCH_PROGRAMMATIC(overlaps, step, grid, block, shared_bytes, stream, ...));
 *
 * overlaps: false launches as LAUNCH does. Both functions then do nothing, as on the CPU device.
 *
 * Every block waits before it ends, as kernels here do: so the end of a launch is the end of all
 * before it, whatever looks at it. Blocks of the next launch take capacity beside those that run;
 * who is waiting does not give it back.
 */
#ifndef RIFT_PROGRAMMATIC_CUH
#define RIFT_PROGRAMMATIC_CUH

#include "common/gpu.h"

#include <stdbool.h>

static __device__ inline void programmatic_wait()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ inline void programmatic_go()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

#define LAUNCH_PROGRAMMATIC(overlaps, kernel, grid, block, shared_bytes, stream, ...)              \
	programmatic_launch(overlaps, kernel, grid, block, shared_bytes, stream, ##__VA_ARGS__)

template <class... P, size_t... I>
static inline cudaError_t
programmatic_launch_tuple(void (*kernel)(P...), const cudaLaunchConfig_t &config,
			  std::tuple<P...> &values, std::index_sequence<I...>)
{
	void *args[] = { (void *)&std::get<I>(values)..., nullptr };

	return cudaLaunchKernelExC(&config, (const void *)kernel, args);
}

template <class... P, class... A>
static inline cudaError_t programmatic_launch(bool overlaps, void (*kernel)(P...), dim3 grid,
					      dim3 block, size_t shared_bytes, cudaStream_t stream,
					      A &&...args)
{
	std::tuple<P...> values{ static_cast<P>(std::forward<A>(args))... };
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};

	if (!overlaps)
		return gpu_launch_tuple(kernel, grid, block, shared_bytes, stream, values,
					std::index_sequence_for<P...>());
	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	config.gridDim = grid;
	config.blockDim = block;
	config.dynamicSmemBytes = shared_bytes;
	config.stream = stream;
	config.attrs = &attribute;
	config.numAttrs = 1;
	return programmatic_launch_tuple(kernel, config, values, std::index_sequence_for<P...>());
}

#endif
