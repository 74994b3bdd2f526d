/*
 * test_cpu_calls.c - what the CPU device answers where CUDA's documentation leaves it open, or
 * where it does less than a GPU.
 */
#include "tests/plain.h"
#include "common/device.h"
#include "tests/cpu/test_runtime.h"

const void *k_count(void);
void *symbol(int with_name);

TestSuite(small_cpu_calls, .timeout = 300);

/* Clusters, cooperative launches, priorities, ... */
Test(small_cpu_calls, launches_with_other_attributes_are_refused)
{
	int *p = device_ints(1);
	cudaLaunchAttribute attribute = { .id = (cudaLaunchAttributeID)2 };
	cudaLaunchConfig_t config = { .gridDim = { 1, 1, 1 }, .blockDim = { 1, 1, 1 } };

	REFUSED(cudaErrorInvalidValue, cudaLaunchKernelExC(NULL, k_count(), (void *[]){ &p }));
	config.numAttrs = 1;
	REFUSED(cudaErrorInvalidValue, cudaLaunchKernelExC(&config, k_count(), (void *[]){ &p }));
	config.attrs = &attribute;
	REFUSED(cudaErrorNotSupported, cudaLaunchKernelExC(&config, k_count(), (void *[]){ &p }));
	config.numAttrs = 0;
	REFUSED(cudaErrorInvalidDeviceFunction,
		cudaLaunchKernelExC(&config, NULL, (void *[]){ &p }));
}

Test(small_cpu_calls, a_worker_runs_one_block_at_a_time)
{
	int n = 9;

	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k_count(), 1024, 48 << 10));
	cr_assert(n == 1, "%d", n);
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k_count(), 1025, 0));
	cr_assert(n == 0, "%d", n);
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k_count(), 32, (48 << 10) + 1));
	cr_assert(n == 0, "%d", n);
	REFUSED(cudaErrorInvalidValue,
		cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k_count(), 0, 0));
	REFUSED(cudaErrorInvalidDeviceFunction,
		cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, NULL, 32, 0));
	cr_assert(device_resident(k_count(), 32, 0) ==
			  device_attribute(cudaDevAttrMultiProcessorCount),
		  "a block for each worker");
	cr_assert(!device_resident(k_count(), 1025, 0), "none fits");
}

Test(small_cpu_calls, the_stack_has_one_size)
{
	size_t bytes = 0;

	OK(cudaDeviceSetLimit(cudaLimitStackSize, 1024));
	OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
	cr_assert(bytes == 24 << 10, "%zu", bytes);
	REFUSED(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20));
	REFUSED(cudaErrorUnsupportedLimit, cudaDeviceSetLimit((enum cudaLimit)5, 64));
	REFUSED(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&bytes, (enum cudaLimit)5));
	OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
	OK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
	cr_assert(bytes == 64 << 20, "%zu", bytes);
}

Test(small_cpu_calls, events_in_graphs_are_not_recorded)
{
	cudaGraph_t graph;
	cudaStream_t s;
	cudaEvent_t e;

	OK(cudaStreamCreate(&s));
	OK(cudaEventCreate(&e));
	REFUSED(cudaErrorInvalidValue, cudaEventRecordWithFlags(e, s, cudaEventRecordExternal));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	REFUSED(cudaErrorNotSupported, cudaEventRecordWithFlags(e, s, cudaEventRecordExternal));
	OK(cudaStreamEndCapture(s, &graph));
}

Test(small_cpu_calls, memory_in_stream_order_is_freed_once)
{
	int gate = 0, value = 3;
	cudaGraph_t graph;
	size_t before, during, total;
	cudaStream_t s;
	char *p, *q;

	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	OK(cudaMemGetInfo(&before, &total));
	OK(cudaMallocAsync((void **)&p, 64 << 20, s));
	OK(cudaMemGetInfo(&during, &total));
	cr_assert(during < before, "%zu", during);
	OK(cudaLaunchHostFunc(s, wait_at_gate, &gate));
	OK(cudaMemcpyAsync(p, &value, sizeof(value), cudaMemcpyHostToDevice, s));
	REFUSED(cudaErrorInvalidValue, cudaFreeAsync(p + 256, s));
	REFUSED(cudaErrorInvalidValue, cudaFreeAsync(&value, s));
	OK(cudaFreeAsync(p, s));
	REFUSED(cudaErrorInvalidValue, cudaFreeAsync(p, s));
	REFUSED(cudaErrorInvalidValue, cudaFree(p));
	REFUSED(cudaErrorInvalidValue, cudaMemsetAsync(p, 0, 4, s)); /* a GPU may not notice */
	open_gate(&gate);
	OK(cudaStreamSynchronize(s));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	REFUSED(cudaErrorStreamCaptureUnsupported, cudaMallocAsync((void **)&q, 4, s));
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
	REFUSED(cudaErrorInvalidResourceHandle,
		cudaMallocAsync((void **)&q, 4, (cudaStream_t)&value));
}

Test(small_cpu_calls, registered_memory_is_not_the_runtimes)
{
	char *host = calloc(1, 8192);
	int *p = device_ints(64);
	void *pinned;

	OK(cudaMallocHost(&pinned, 64));
	REFUSED(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(pinned));
	OK(cudaFreeHost(pinned));
	OK(cudaHostRegister(host + 100, 1000, 0));
	REFUSED(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host, 101, 0));
	REFUSED(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host + 1099, 1, 0));
	REFUSED(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host, 8192, 0));
	OK(cudaHostRegister(host + 1100, 100, 0));
	REFUSED(cudaErrorInvalidValue, cudaHostRegister(host, 10, 64));
	REFUSED(cudaErrorInvalidValue, cudaFreeHost(host + 100));
	REFUSED(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host + 101));
	REFUSED(cudaErrorInvalidValue, cudaHostUnregister(NULL));
	/* A range may not reach out of what is registered. */
	REFUSED(cudaErrorInvalidValue, cudaMemcpy(p, host + 1150, 100, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(p, host + 1150, 50, cudaMemcpyHostToDevice));
	OK(cudaDeviceReset());
	OK(cudaHostRegister(host, 8192, 0)); /* a reset forgets them, and frees nothing */
	host[8191] = 1;
	OK(cudaHostUnregister(host));
	free(host);
}

Test(small_cpu_calls, rows_are_checked_as_a_whole)
{
	char host[64];
	char *p = (char *)device_ints(16);

	OK(cudaMemcpy2D(p, 16, host, 16, 16, 4, cudaMemcpyHostToDevice));
	OK(cudaMemcpy2D(p + 8, 16, host, 16, 8, 4, cudaMemcpyHostToDevice));
	REFUSED(cudaErrorInvalidValue,
		cudaMemcpy2D(p + 9, 16, host, 16, 8, 4, cudaMemcpyHostToDevice));
	REFUSED(cudaErrorInvalidValue,
		cudaMemcpy2D(p, SIZE_MAX / 2, host, 16, 8, 4, cudaMemcpyHostToDevice));
	REFUSED(cudaErrorInvalidValue, cudaMemcpy2D(host, 16, p, 16, 8, 4, cudaMemcpyHostToDevice));
}

Test(small_cpu_calls, variables_need_a_name)
{
	int value = 4;
	void *address;

	REFUSED(cudaErrorInvalidSymbol,
		cudaMemcpyToSymbol(symbol(0), &value, sizeof(value), 0, cudaMemcpyHostToDevice));
	OK(cudaMemcpyToSymbol(symbol(1), &value, sizeof(value), 0, cudaMemcpyHostToDevice));
	cr_assert(*(int *)symbol(1) == 4, "%d", *(int *)symbol(1));
	REFUSED(cudaErrorInvalidValue, cudaFree(symbol(1)));
	REFUSED(cudaErrorInvalidValue, cudaFreeAsync(symbol(1), NULL));
	OK(cudaDeviceReset());
	OK(cudaGetSymbolAddress(&address, symbol(1))); /* the program's own: it stays */
	cr_assert(address == symbol(1), "%p", address);
	REFUSED(cudaErrorInvalidValue, cudaGetSymbolAddress(NULL, symbol(1)));
	REFUSED(cudaErrorInvalidValue, cudaGetSymbolSize(NULL, symbol(1)));
}

Test(small_cpu_calls, kernels_with_parameters_need_arguments)
{
	cudaLaunchConfig_t config = { .gridDim = { 1, 1, 1 }, .blockDim = { 1, 1, 1 } };

	REFUSED(cudaErrorInvalidValue,
		cudaLaunchKernel(k_count(), blocks(1), blocks(1), NULL, 0, NULL));
	REFUSED(cudaErrorInvalidValue, cudaLaunchKernelExC(&config, k_count(), NULL));
}

Test(small_cpu_calls, freed_memory_is_no_devices)
{
	int *p = device_ints(64), host[64];

	OK(cudaFree(p));
	REFUSED(cudaErrorInvalidValue, cudaMemcpy(p, host, 4, cudaMemcpyHostToDevice));
	REFUSED(cudaErrorInvalidValue, cudaMemcpy(host, p, 4, cudaMemcpyDeviceToHost));
	REFUSED(cudaErrorInvalidValue, cudaMemcpy2D(p, 4, host, 4, 4, 2, cudaMemcpyHostToDevice));
	REFUSED(cudaErrorInvalidValue, cudaMemset(p, 0, 4));
	REFUSED(cudaErrorInvalidValue, cudaFreeAsync(p, NULL));
}

Test(small_cpu_calls, destroyed_events_are_refused)
{
	cudaEvent_t e, other;
	float ms;

	OK(cudaEventCreate(&e));
	OK(cudaEventCreate(&other));
	OK(cudaEventRecord(other, NULL));
	OK(cudaEventRecord(e, NULL));
	OK(cudaEventDestroy(e));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventDestroy(e));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventRecord(e, NULL));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventQuery(e));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventSynchronize(e));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(NULL, e, 0));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, other, e));
}

Test(small_cpu_calls, closed_handles_are_refused_everywhere)
{
	cudaGraphExecUpdateResultInfo info;
	struct cudaKernelNodeParams params;
	enum cudaStreamCaptureStatus status;
	int *p = device_ints(1), priority;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	cudaStream_t s;
	cudaEvent_t e;
	unsigned flags;
	size_t n;

	OK(cudaStreamCreate(&s));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	OK(cudaStreamEndCapture(s, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaEventCreate(&e));
	OK(cudaStreamDestroy(s));
	OK(cudaGraphExecDestroy(exec));
	REFUSED(cudaErrorInvalidValue, cudaGraphExecDestroy(exec));
	REFUSED(cudaErrorInvalidValue, cudaGraphLaunch(exec, NULL));
	REFUSED(cudaErrorInvalidValue, cudaGraphExecUpdate(exec, graph, &info));
	REFUSED(cudaErrorInvalidValue, cudaGraphKernelNodeGetParams(NULL, &params));
	REFUSED(cudaErrorInvalidResourceHandle,
		cudaLaunchKernel(k_count(), blocks(1), blocks(1), (void *[]){ &p }, 0, s));
	REFUSED(cudaErrorInvalidResourceHandle, cudaMemsetAsync(p, 0, 4, s));
	REFUSED(cudaErrorInvalidResourceHandle, cudaFreeAsync(p, s));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamGetFlags(s, &flags));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamGetPriority(s, &priority));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamIsCapturing(s, &status));
	REFUSED(cudaErrorInvalidResourceHandle,
		cudaStreamGetCaptureInfo(s, &status, NULL, NULL, NULL, NULL, NULL));
	REFUSED(cudaErrorInvalidResourceHandle,
		cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamEndCapture(s, &graph));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamQuery(s));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(s));
	REFUSED(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(s, e, 0));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventRecord(e, s));
	REFUSED(cudaErrorInvalidResourceHandle, cudaLaunchHostFunc(s, do_nothing, NULL));
	OK(cudaGraphDestroy(graph));
	REFUSED(cudaErrorInvalidValue, cudaGraphDestroy(graph));
	REFUSED(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
	REFUSED(cudaErrorInvalidValue, cudaGraphGetNodes(graph, NULL, &n));
}
