/*
 * test_runtime_misuse.c - calls that make no sense get CUDA's own error codes, and do nothing;
 * and the lesser calls: priorities, limits, launches by a structure, occupancy. The codes are
 * those of the documentation; see also the tests of each part of the runtime.
 */
#include "tests/plain.h"
#include "tests/cpu/test_runtime.h"

const void *k_count(void);

TestSuite(small_runtime_misuse, .timeout = 300);

static cudaError_t launch_kernel(int *p, dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t s)
{
	return cudaLaunchKernel(k_count(), grid, block, (void *[]){ &p }, shared_bytes, s);
}

/* ---- misuse ----------------------------------------------------------------------------- */

Test(small_runtime_misuse, refused_launches_run_nothing)
{
	static const dim3 bad[][2] = {
		{ { 0, 1, 1 }, { 1, 1, 1 } },	  { { 1, 0, 1 }, { 1, 1, 1 } },
		{ { 1, 1, 0 }, { 1, 1, 1 } },	  { { 1, 1, 1 }, { 0, 1, 1 } },
		{ { 1, 1, 1 }, { 1, 0, 1 } },	  { { 1, 1, 1 }, { 1025, 1, 1 } },
		{ { 1, 1, 1 }, { 1, 1025, 1 } },  { { 1, 1, 1 }, { 1, 1, 65 } },
		{ { 1, 1, 1 }, { 32, 33, 1 } }, /* each fits, but not their product */
		{ { 1, 1, 1 }, { 16, 16, 5 } },	  { { 1, 65536, 1 }, { 1, 1, 1 } },
		{ { 1, 1, 65536 }, { 1, 1, 1 } }, { { 0, 0, 0 }, { 0, 0, 0 } },
	};

	NEED_DEVICE();
	int *p = device_ints(1);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cudaError_t error = launch_kernel(p, bad[i][0], bad[i][1], 0, NULL);

		cr_assert(error == cudaErrorInvalidValue || error == cudaErrorInvalidConfiguration,
			  "case %zu: %s", i, cudaGetErrorName(error));
		EXPECT(error, cudaGetLastError());
	}
	cr_assert(device_int(p) == 0, "%d", device_int(p));
	OK(launch_kernel(p, blocks(1), blocks(1), 0, NULL)); /* no harm done */
	cr_assert(device_int(p) == 1, "%d", device_int(p));
}

Test(small_runtime_misuse, a_refused_launch_spoils_the_capture)
{
	cudaGraph_t graph;
	cudaStream_t s;

	NEED_DEVICE();
	int *p = device_ints(1);

	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	cr_assert(launch_kernel(p, blocks(1), blocks(2000), 0, s) != cudaSuccess, "2000 threads");
	cudaGetLastError();
	REFUSED(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
	cr_assert(!graph, "%p", (void *)graph);
}

Test(small_runtime_misuse, memory_is_freed_once)
{
	void *device, *pinned, *other;

	NEED_DEVICE();
	OK(cudaMalloc(&device, 1000));
	OK(cudaMallocHost(&pinned, 1000));
	OK(cudaMalloc(&other, 1000));
	OK(cudaFree(device));
	REFUSED(cudaErrorInvalidValue, cudaFree(device));
	OK(cudaFreeHost(pinned));
	REFUSED(cudaErrorInvalidValue, cudaFreeHost(pinned));
	OK(cudaMemset(other, 0, 1000));
	OK(cudaFree(other));
}

Test(small_runtime_misuse, shared_memory_has_an_upper_limit)
{
	NEED_DEVICE();
	REFUSED(cudaErrorInvalidValue,
		cudaFuncSetAttribute(k_count(), cudaFuncAttributeMaxDynamicSharedMemorySize,
				     1 << 20));
	cr_assert(launch_kernel(device_ints(1), blocks(1), blocks(1), 1 << 20, NULL) != cudaSuccess,
		  "1 MiB of shared memory");
	cudaGetLastError();
	OK(cudaDeviceSynchronize());
}

Test(small_runtime_misuse, bad_arguments)
{
	unsigned flags;
	int n, priority;
	size_t value;
	cudaEvent_t e;

	NEED_DEVICE();
	OK(cudaEventCreate(&e));
	REFUSED(cudaErrorInvalidValue, cudaEventRecordWithFlags(e, NULL, 64));
	REFUSED(cudaErrorInvalidResourceHandle, cudaEventRecordWithFlags(NULL, NULL, 0));
	REFUSED(cudaErrorInvalidValue, cudaStreamGetFlags(NULL, NULL));
	REFUSED(cudaErrorInvalidValue, cudaStreamGetPriority(NULL, NULL));
	REFUSED(cudaErrorInvalidValue, cudaStreamCreateWithPriority(NULL, 0, 0));
	REFUSED(cudaErrorInvalidValue, cudaDeviceGetLimit(NULL, cudaLimitStackSize));
	REFUSED(cudaErrorInvalidValue,
		cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, k_count(), 32, 0));
	OK(cudaStreamGetFlags(NULL, &flags));
	OK(cudaStreamGetPriority(NULL, &priority));
	OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k_count(), 32, 0));
	OK(cudaGetLastError());
}

/* ---- the lesser calls ------------------------------------------------------------------- */

Test(small_runtime_misuse, streams_know_how_they_were_made)
{
	int least = 99, greatest = 99, got = 99;
	unsigned flags = 99;
	cudaStream_t s;

	NEED_DEVICE();
	int *p = device_ints(1);

	OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	cr_assert(greatest <= least, "%d is the greatest, %d the least", greatest, least);
	OK(cudaDeviceGetStreamPriorityRange(NULL, NULL));
	for (int priority = -100; priority <= 100; priority += 100) { /* brought into the range */
		OK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, priority));
		OK(cudaStreamGetPriority(s, &got));
		cr_assert(greatest <= got && got <= least, "%d gives %d", priority, got);
		OK(cudaStreamGetFlags(s, &flags));
		cr_assert(flags == cudaStreamNonBlocking, "%u", flags);
		OK(launch_kernel(p, blocks(1), blocks(1), 0, s));
		OK(cudaStreamSynchronize(s));
		OK(cudaStreamDestroy(s));
	}
	OK(cudaStreamCreateWithPriority(&s, cudaStreamDefault, 0));
	OK(cudaStreamGetFlags(s, &flags));
	cr_assert(flags == cudaStreamDefault, "%u", flags);
	OK(cudaStreamGetFlags(NULL, &flags));
	cr_assert(flags == cudaStreamDefault, "%u", flags);
	cr_assert(device_int(p) == 3, "%d", device_int(p));
}

Test(small_runtime_misuse, launches_by_a_structure)
{
	cudaLaunchConfig_t config = { .gridDim = { 2, 3, 1 }, .blockDim = { 4, 5, 1 } };
	cudaStream_t s;

	NEED_DEVICE();
	int *p = device_ints(1);

	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	config.stream = s;
	config.dynamicSmemBytes = 1024;
	OK(cudaLaunchKernelExC(&config, k_count(), (void *[]){ &p }));
	OK(cudaStreamSynchronize(s));
	cr_assert(device_int(p) == 120, "%d", device_int(p));
	config.blockDim.x = 1025;
	cr_assert(cudaLaunchKernelExC(&config, k_count(), (void *[]){ &p }) != cudaSuccess, "1025");
	cudaGetLastError();
}

Test(small_runtime_misuse, limits_and_occupancy)
{
	size_t bytes = 0;
	int n = 0;

	NEED_DEVICE();
	OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
	OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
	cr_assert(bytes >= 4096, "%zu", bytes);
	OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20));
	OK(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
	cr_assert(bytes >= 2 << 20, "%zu", bytes);
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k_count(), 128, 0));
	cr_assert(n >= 1, "%d", n);
}

Test(small_runtime_misuse, recording_with_flags_records)
{
	int gate = 0;
	cudaStream_t s;
	cudaEvent_t e;

	NEED_DEVICE();
	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	OK(cudaEventCreate(&e));
	OK(cudaLaunchHostFunc(s, wait_at_gate, &gate));
	OK(cudaEventRecordWithFlags(e, s, cudaEventRecordDefault));
	EXPECT(cudaErrorNotReady, cudaEventQuery(e));
	open_gate(&gate);
	OK(cudaEventSynchronize(e));
	OK(cudaEventQuery(e));
}

/* A wait in the default stream holds up blocking streams, not the others. */
Test(small_runtime_misuse, waits_in_the_default_stream_pass_on)
{
	cudaStream_t blocking, free_one, source;
	int gate = 0;
	cudaEvent_t e;

	NEED_DEVICE();
	int *p = device_ints(2);

	OK(cudaStreamCreate(&blocking));
	OK(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&source, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
	OK(launch_kernel(p, blocks(1), blocks(1), 0, NULL)); /* loads the kernel */
	OK(cudaDeviceSynchronize());
	OK(cudaLaunchHostFunc(source, wait_at_gate, &gate));
	OK(cudaEventRecord(e, source));
	OK(cudaStreamWaitEvent(NULL, e, 0));
	OK(launch_kernel(p, blocks(1), blocks(1), 0, blocking));
	OK(launch_kernel(p + 1, blocks(1), blocks(1), 0, free_one));
	OK(cudaStreamSynchronize(free_one));
	EXPECT(cudaErrorNotReady, cudaStreamQuery(blocking));
	open_gate(&gate);
	OK(cudaStreamSynchronize(blocking));
	cr_assert(device_int(p) == 2 && device_int(p + 1) == 1, "%d", device_int(p));
}
