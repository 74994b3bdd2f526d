/*
 * calls.h - the calls that a preloaded recorder sees: class, function, how many words its arguments
 * are, which of them is the stream, the event and the number of bytes (-1: none), the memory that
 * it is about, and whether the call waits for no device. Words are counted as registers and stack
 * hold them: a dim3 is two. Include with PRELOAD_CALL defined.
 *
 * Not here, as their arguments are structs by value on the stack: cudaMalloc3D, cudaMemset3D.
 */
#ifndef PRELOAD_CALL
#define PRELOAD_CALL(class, function, words, stream, event, bytes, memory, async)
#endif

/* clang-format off */
/* Both variants: on the legacy default stream, and on that of the thread. */
#define BOTH_STREAMS(class, function, words, stream, event, bytes, memory, async) \
	PRELOAD_CALL(class, function, words, stream, event, bytes, memory, async) \
	PRELOAD_CALL(class, function##_ptsz, words, stream, event, bytes, memory, async)
#define BOTH_BLOCKING(class, function, words, stream, event, bytes, memory, async) \
	PRELOAD_CALL(class, function, words, stream, event, bytes, memory, async) \
	PRELOAD_CALL(class, function##_ptds, words, stream, event, bytes, memory, async)

BOTH_STREAMS(launch, cudaLaunchKernel, 8, 7, -1, -1, none, false)
BOTH_STREAMS(launch, __cudaLaunchKernel, 8, 7, -1, -1, none, false)
BOTH_STREAMS(launch, cudaLaunchCooperativeKernel, 8, 7, -1, -1, none, false)
BOTH_STREAMS(launch, cudaLaunchKernelExC, 3, -1, -1, -1, none, false)
BOTH_STREAMS(graph_launch, cudaGraphLaunch, 2, 1, -1, -1, none, false)
BOTH_BLOCKING(copy, cudaMemcpy, 4, -1, -1, 2, none, false)
BOTH_BLOCKING(copy, cudaMemcpy2D, 7, -1, -1, -1, none, false)
BOTH_BLOCKING(copy, cudaMemcpy3D, 1, -1, -1, -1, none, false)
BOTH_BLOCKING(copy, cudaMemcpyToSymbol, 5, -1, -1, 2, none, false)
BOTH_BLOCKING(copy, cudaMemcpyFromSymbol, 5, -1, -1, 2, none, false)
PRELOAD_CALL(copy, cudaMemcpyPeer, 5, -1, -1, 4, none, false)
BOTH_STREAMS(copy, cudaMemcpyAsync, 5, 4, -1, 2, none, true)
BOTH_STREAMS(copy, cudaMemcpy2DAsync, 8, 7, -1, -1, none, true)
BOTH_STREAMS(copy, cudaMemcpy3DAsync, 2, 1, -1, -1, none, true)
BOTH_STREAMS(copy, cudaMemcpyToSymbolAsync, 6, 5, -1, 2, none, true)
BOTH_STREAMS(copy, cudaMemcpyFromSymbolAsync, 6, 5, -1, 2, none, true)
PRELOAD_CALL(copy, cudaMemcpyPeerAsync, 6, 5, -1, 4, none, true)
BOTH_BLOCKING(memset, cudaMemset, 3, -1, -1, 2, none, false)
BOTH_BLOCKING(memset, cudaMemset2D, 5, -1, -1, -1, none, false)
BOTH_STREAMS(memset, cudaMemsetAsync, 4, 3, -1, 2, none, true)
BOTH_STREAMS(memset, cudaMemset2DAsync, 6, 5, -1, -1, none, true)
BOTH_STREAMS(record, cudaEventRecord, 2, 1, 0, -1, none, false)
BOTH_STREAMS(record, cudaEventRecordWithFlags, 3, 1, 0, -1, none, false)
BOTH_STREAMS(wait_event, cudaStreamWaitEvent, 3, 0, 1, -1, none, false)
BOTH_STREAMS(sync_stream, cudaStreamSynchronize, 1, 0, -1, -1, none, false)
PRELOAD_CALL(sync_event, cudaEventSynchronize, 1, -1, 0, -1, none, false)
PRELOAD_CALL(sync_device, cudaDeviceSynchronize, 0, -1, -1, -1, none, false)
PRELOAD_CALL(sync_device, cudaThreadSynchronize, 0, -1, -1, -1, none, false)
BOTH_STREAMS(query, cudaStreamQuery, 1, 0, -1, -1, none, false)
PRELOAD_CALL(query, cudaEventQuery, 1, -1, 0, -1, none, false)
PRELOAD_CALL(alloc, cudaMalloc, 2, -1, -1, 1, device, false)
PRELOAD_CALL(alloc, cudaMallocPitch, 4, -1, -1, -1, device, false)
PRELOAD_CALL(alloc, cudaMallocHost, 2, -1, -1, 1, pinned, false)
PRELOAD_CALL(alloc, cudaHostAlloc, 3, -1, -1, 1, pinned, false)
PRELOAD_CALL(alloc, cudaHostRegister, 3, -1, -1, 1, pinned, false)
PRELOAD_CALL(alloc, cudaMallocManaged, 3, -1, -1, 1, managed, false)
BOTH_STREAMS(alloc, cudaMallocAsync, 3, 2, -1, 1, device, true)
BOTH_STREAMS(alloc, cudaMallocFromPoolAsync, 4, 3, -1, 1, device, true)
PRELOAD_CALL(free, cudaFree, 1, -1, -1, -1, device, false)
PRELOAD_CALL(free, cudaFreeHost, 1, -1, -1, -1, pinned, false)
PRELOAD_CALL(free, cudaHostUnregister, 1, -1, -1, -1, pinned, false)
BOTH_STREAMS(free, cudaFreeAsync, 2, 1, -1, -1, device, true)
BOTH_STREAMS(hostfunc, cudaLaunchHostFunc, 3, 0, -1, -1, none, false)
PRELOAD_CALL(module, cudaLibraryLoadData, 8, -1, -1, -1, none, false)
PRELOAD_CALL(module, cudaLibraryLoadFromFile, 8, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaSetDevice, 1, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaInitDevice, 3, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaGetDeviceCount, 1, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaDeviceReset, 0, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaStreamCreate, 1, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaStreamCreateWithFlags, 2, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaStreamCreateWithPriority, 3, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaStreamDestroy, 1, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaEventCreate, 1, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaEventCreateWithFlags, 2, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaEventDestroy, 1, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaGraphInstantiate, 3, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaGraphInstantiateWithFlags, 3, -1, -1, -1, none, false)
BOTH_STREAMS(other, cudaGraphInstantiateWithParams, 3, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaGraphExecDestroy, 1, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaGraphExecUpdate, 3, -1, -1, -1, none, false)
BOTH_STREAMS(other, cudaGraphUpload, 2, 1, -1, -1, none, false)
BOTH_STREAMS(other, cudaStreamBeginCapture, 2, 0, -1, -1, none, false)
BOTH_STREAMS(other, cudaStreamBeginCaptureToGraph, 6, 0, -1, -1, none, false)
BOTH_STREAMS(other, cudaStreamEndCapture, 2, 0, -1, -1, none, false)
PRELOAD_CALL(other, cudaProfilerStart, 0, -1, -1, -1, none, false)
PRELOAD_CALL(other, cudaProfilerStop, 0, -1, -1, -1, none, false)
/* clang-format on */

#undef BOTH_STREAMS
#undef BOTH_BLOCKING
