/*
 * per_thread.c - the functions of programs that nvcc has compiled with a default stream for each
 * thread (--default-stream per-thread): 0 is then cudaStreamPerThread. The daemon has one for all
 * threads of a program.
 */
#include "layers/remote/preload/client.h"

#define PER_THREAD ((void *)2)

static void *own(void *stream)
{
	return stream ? stream : PER_THREAD;
}

/* (the function, its parameters before the stream, those as arguments) */
#define WITH_STREAM(function, parameters, ...)                                                     \
	int function parameters;                                                                   \
	SHOWN int function##_ptsz parameters;                                                      \
	int function##_ptsz parameters                                                             \
	{                                                                                          \
		return function(__VA_ARGS__, own(stream));                                         \
	}

WITH_STREAM(cudaLaunchKernel,
	    (const void *function, struct cuda_dim grid, struct cuda_dim block, void **arguments,
	     size_t shared_bytes, void *stream),
	    function, grid, block, arguments, shared_bytes)
WITH_STREAM(__cudaLaunchKernel,
	    (const void *kernel, struct cuda_dim grid, struct cuda_dim block, void **arguments,
	     size_t shared_bytes, void *stream),
	    kernel, grid, block, arguments, shared_bytes)
WITH_STREAM(cudaLaunchCooperativeKernel,
	    (const void *function, struct cuda_dim grid, struct cuda_dim block, void **arguments,
	     size_t shared_bytes, void *stream),
	    function, grid, block, arguments, shared_bytes)
WITH_STREAM(cudaMemcpyAsync, (void *dst, const void *src, size_t bytes, int kind, void *stream),
	    dst, src, bytes, kind)
WITH_STREAM(cudaMemcpy2DAsync,
	    (void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
	     size_t height, int kind, void *stream),
	    dst, dst_pitch, src, src_pitch, width, height, kind)
WITH_STREAM(cudaMemcpyToSymbolAsync,
	    (const void *symbol, const void *src, size_t bytes, size_t offset, int kind,
	     void *stream),
	    symbol, src, bytes, offset, kind)
WITH_STREAM(cudaMemcpyFromSymbolAsync,
	    (void *dst, const void *symbol, size_t bytes, size_t offset, int kind, void *stream),
	    dst, symbol, bytes, offset, kind)
WITH_STREAM(cudaMemsetAsync, (void *dst, int value, size_t bytes, void *stream), dst, value, bytes)
WITH_STREAM(cudaMallocAsync, (void **memory, size_t bytes, void *stream), memory, bytes)
WITH_STREAM(cudaFreeAsync, (void *memory, void *stream), memory)
WITH_STREAM(cudaEventRecord, (void *event, void *stream), event)
WITH_STREAM(cudaGraphUpload, (void *exec, void *stream), exec)
WITH_STREAM(cudaGraphLaunch, (void *exec, void *stream), exec)

/* The stream is the first parameter: (the function, its parameters, what follows the stream). */
#define OF_STREAM(function, parameters, ...)                                                       \
	int function parameters;                                                                   \
	SHOWN int function##_ptsz parameters;                                                      \
	int function##_ptsz parameters                                                             \
	{                                                                                          \
		return function(own(stream), ##__VA_ARGS__);                                       \
	}

OF_STREAM(cudaStreamSynchronize, (void *stream))
OF_STREAM(cudaStreamQuery, (void *stream))
OF_STREAM(cudaLaunchHostFunc, (void *stream, void (*function)(void *data), void *data), function,
	  data)
OF_STREAM(cudaStreamAddCallback,
	  (void *stream, void (*function)(void *stream, int error, void *data), void *data,
	   unsigned flags),
	  function, data, flags)
OF_STREAM(cudaStreamGetFlags, (void *stream, unsigned *flags), flags)
OF_STREAM(cudaStreamWaitEvent, (void *stream, void *event, unsigned flags), event, flags)
OF_STREAM(cudaStreamBeginCapture, (void *stream, int mode), mode)
OF_STREAM(cudaStreamEndCapture, (void *stream, void **graph), graph)
OF_STREAM(cudaStreamIsCapturing, (void *stream, int *status), status)

int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags);
SHOWN int cudaEventRecordWithFlags_ptsz(void *event, void *stream, unsigned flags);
int cudaEventRecordWithFlags_ptsz(void *event, void *stream, unsigned flags)
{
	return cudaEventRecordWithFlags(event, own(stream), flags);
}

int cudaLaunchKernelExC(const struct cuda_launch_config *config, const void *function,
			void **arguments);
SHOWN int cudaLaunchKernelExC_ptsz(const struct cuda_launch_config *config, const void *function,
				   void **arguments);
int cudaLaunchKernelExC_ptsz(const struct cuda_launch_config *config, const void *function,
			     void **arguments)
{
	struct cuda_launch_config c;

	if (!config)
		return client_result(CUDA_INVALID_VALUE);
	c = *config;
	c.stream = own(c.stream);
	return cudaLaunchKernelExC(&c, function, arguments);
}

/* ---- without a stream: they wait for theirs ----------------------------------------------- */

/* (the function, its parameters, those of the asynchronous one) */
#define WAITING(function, parameters, ...)                                                         \
	SHOWN int function##_ptds parameters;                                                      \
	int function##_ptds parameters                                                             \
	{                                                                                          \
		int error = function##Async(__VA_ARGS__, PER_THREAD);                              \
                                                                                                   \
		return error ? error : cudaStreamSynchronize(PER_THREAD);                          \
	}

WAITING(cudaMemcpy, (void *dst, const void *src, size_t bytes, int kind), dst, src, bytes, kind)
WAITING(cudaMemcpy2D,
	(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
	 size_t height, int kind),
	dst, dst_pitch, src, src_pitch, width, height, kind)
WAITING(cudaMemset, (void *dst, int value, size_t bytes), dst, value, bytes)
WAITING(cudaMemcpyToSymbol,
	(const void *symbol, const void *src, size_t bytes, size_t offset, int kind), symbol, src,
	bytes, offset, kind)
WAITING(cudaMemcpyFromSymbol,
	(void *dst, const void *symbol, size_t bytes, size_t offset, int kind), dst, symbol, bytes,
	offset, kind)
