/*
 * overloads.cuh - the C++ forms of runtime functions: typed pointers instead of void, kernels
 * instead of addresses, default arguments.
 */
#ifndef RIFT_CPU_OVERLOADS_CUH
#define RIFT_CPU_OVERLOADS_CUH

#include "../cuda_runtime_api.h"

template <class T> static inline cudaError_t cudaMalloc(T **ptr, size_t bytes)
{
	return cudaMalloc((void **)ptr, bytes);
}

template <class T> static inline cudaError_t cudaHostAlloc(T **ptr, size_t bytes, unsigned flags)
{
	return cudaHostAlloc((void **)ptr, bytes, flags);
}

template <class T>
static inline cudaError_t cudaMallocHost(T **ptr, size_t bytes, unsigned flags = 0)
{
	return cudaHostAlloc((void **)ptr, bytes, flags);
}

template <class T>
static inline cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned flags)
{
	return cudaHostGetDevicePointer((void **)device, host, flags);
}

template <class T>
static inline cudaError_t cudaMallocAsync(T **ptr, size_t bytes, cudaStream_t stream)
{
	return cudaMallocAsync((void **)ptr, bytes, stream);
}

/* A variable of the device is named by itself in C++, by its address in C. */
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t bytes,
					     size_t offset = 0,
					     cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
	return cudaMemcpyToSymbol((const void *)&symbol, src, bytes, offset, kind);
}

template <class T>
static inline cudaError_t
cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t bytes, size_t offset = 0,
			cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0)
{
	return cudaMemcpyToSymbolAsync((const void *)&symbol, src, bytes, offset, kind, stream);
}

template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t bytes,
					       size_t offset = 0,
					       cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
	return cudaMemcpyFromSymbol(dst, (const void *)&symbol, bytes, offset, kind);
}

template <class T>
static inline cudaError_t
cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t bytes, size_t offset = 0,
			  cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0)
{
	return cudaMemcpyFromSymbolAsync(dst, (const void *)&symbol, bytes, offset, kind, stream);
}

template <class T> static inline cudaError_t cudaGetSymbolAddress(void **ptr, const T &symbol)
{
	return cudaGetSymbolAddress(ptr, (const void *)&symbol);
}

template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol)
{
	return cudaGetSymbolSize(bytes, (const void *)&symbol);
}

template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n_blocks, T *kernel,
									int block,
									size_t shared_bytes)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(n_blocks, (const void *)kernel, block,
							     shared_bytes);
}

template <class T>
static inline cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **args,
					   size_t shared_bytes = 0, cudaStream_t stream = 0)
{
	return cudaLaunchKernel((const void *)kernel, grid, block, args, shared_bytes, stream);
}

template <class T>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attr, T *kernel)
{
	return cudaFuncGetAttributes(attr, (const void *)kernel);
}

template <class T>
static inline cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attr, int value)
{
	return cudaFuncSetAttribute((const void *)kernel, attr, value);
}

template <class T> static inline cudaError_t cudaFuncGetName(const char **name, T *kernel)
{
	return cudaFuncGetName(name, (const void *)kernel);
}

#endif
