/*
 * test_runtime.c - the CUDA runtime: device, errors, launches. Memory, streams, graphs and
 * what kernels use have test programs of their own. Where CUDA's documentation leaves an error code
 * open, the test takes what CUDA 13.0 returned on an H200.
 */
#include "tests/plain.h"
#include "tests/cpu/test_runtime.h"

const void *k_sum_parameters(void);
const void *k_fill(void);
const void *k_places(void);

TestSuite(small_runtime, .timeout = 300);

/* ---- device and errors ------------------------------------------------------------------ */

Test(small_runtime, device_describes_itself)
{
	struct cudaDeviceProp prop;
	int device = -1, warp = 0, threads = 0, runtime = 0, driver = 0;

	NEED_DEVICE();
	OK(cudaSetDevice(0));
	OK(cudaGetDevice(&device));
	OK(cudaGetDeviceProperties(&prop, 0));
	OK(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
	OK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, 0));
	OK(cudaRuntimeGetVersion(&runtime));
	OK(cudaDriverGetVersion(&driver));
	cr_assert(device == 0, "device %d", device);
	cr_assert(strlen(prop.name) > 0, "no name");
	cr_assert(warp == 32 && prop.warpSize == 32, "%d %d", warp, prop.warpSize);
	cr_assert(threads == 1024 && prop.maxThreadsPerBlock == 1024, "%d threads", threads);
	cr_assert(prop.multiProcessorCount > 0, "%d", prop.multiProcessorCount);
	cr_assert(runtime >= 12000 && driver >= 12000, "runtime %d driver %d", runtime, driver);
}

Test(small_runtime, device_refuses)
{
	struct cudaDeviceProp prop;
	int value;

	NEED_DEVICE();
	REFUSED(cudaErrorInvalidDevice, cudaSetDevice(99));
	REFUSED(cudaErrorInvalidDevice, cudaSetDevice(-1));
	REFUSED(cudaErrorInvalidDevice, cudaGetDeviceProperties(&prop, 99));
	REFUSED(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99));
	REFUSED(cudaErrorInvalidValue,
		cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 0));
	REFUSED(cudaErrorInvalidValue, cudaGetDevice(NULL));
	REFUSED(cudaErrorInvalidValue, cudaGetDeviceCount(NULL));
	REFUSED(cudaErrorInvalidValue, cudaRuntimeGetVersion(NULL));
	REFUSED(cudaErrorInvalidValue,
		cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceScheduleYield));
}

Test(small_runtime, every_way_to_wait_waits)
{
	static const unsigned flags[] = { cudaDeviceScheduleSpin, cudaDeviceScheduleYield,
					  cudaDeviceScheduleBlockingSync, cudaDeviceScheduleAuto };

	NEED_DEVICE();
	int *p = device_ints(1);

	for (int i = 0; i < 4; i++) {
		int n = 1, value = 10 + i;
		unsigned got;

		OK(cudaSetDeviceFlags(flags[i]));
		OK(cudaGetDeviceFlags(&got));
		cr_assert((got & cudaDeviceScheduleMask) == flags[i], "%u instead of %u", got,
			  flags[i]);
		OK(cudaLaunchKernel(k_fill(), blocks(1), blocks(1), (void *[]){ &p, &n, &value }, 0,
				    NULL));
		OK(cudaDeviceSynchronize());
		cr_assert(device_int(p) == value, "flags %u: %d", flags[i], device_int(p));
	}
}

Test(small_runtime, errors_have_names_and_texts)
{
	cr_assert(!strcmp(cudaGetErrorName(cudaSuccess), "cudaSuccess"), "cudaSuccess");
	cr_assert(!strcmp(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady"), "not ready");
	cr_assert(strlen(cudaGetErrorString(cudaErrorMemoryAllocation)) > 5, "no text");
	cr_assert(!strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code"), "%s",
		  cudaGetErrorName((cudaError_t)12345));
}

Test(small_runtime, reset_leaves_a_usable_device)
{
	NEED_DEVICE();
	device_ints(100);
	OK(cudaDeviceReset());
	int *p = device_ints(1);

	cr_assert(device_int(p) == 0, "%d", device_int(p));
}

/* ---- launches --------------------------------------------------------------------------- */

Test(small_runtime, parameters_arrive)
{
	char a = 1;
	double b = 20;
	short c = 300;
	long long d = 4000;

	NEED_DEVICE();
	int *out = device_ints(1);

	OK(cudaLaunchKernel(k_sum_parameters(), blocks(1), blocks(1),
			    (void *[]){ &a, &b, &out, &c, &d }, 0, NULL));
	a = 99; /* the launch has its own copy */
	cr_assert(device_int(out) == 4321, "%d", device_int(out));
}

Test(small_runtime, kernels_are_described)
{
	static const size_t offsets[] = { 0, 8, 16, 24, 32 }, sizes[] = { 1, 8, 8, 2, 8 };
	struct cudaFuncAttributes attr;
	const char *name = "";

	NEED_DEVICE();
	OK(cudaFuncGetName(&name, k_sum_parameters()));
	cr_assert(!strcmp(name, "sum_parameters"), "%s", name);
	for (size_t i = 0; i < 5; i++) {
		size_t offset = 99, size = 99;

		OK(cudaFuncGetParamInfo(k_sum_parameters(), i, &offset, &size));
		cr_assert(offset == offsets[i] && size == sizes[i], "parameter %zu: %zu, %zu", i,
			  offset, size);
	}
	size_t offset;

	REFUSED(cudaErrorInvalidValue, cudaFuncGetParamInfo(k_sum_parameters(), 5, &offset, NULL));
	OK(cudaFuncGetAttributes(&attr, k_sum_parameters()));
	cr_assert(attr.maxThreadsPerBlock == 1024, "%d", attr.maxThreadsPerBlock);
}

Test(small_runtime, places_are_right_in_three_dimensions)
{
	unsigned got[12 * 60];
	dim3 grid = { 3, 2, 2 }, block = { 4, 5, 3 };

	NEED_DEVICE();
	int *p = device_ints(12 * 60);

	OK(cudaLaunchKernel(k_places(), grid, block, (void *[]){ &p }, 0, NULL));
	OK(cudaMemcpy(got, p, sizeof(got), cudaMemcpyDeviceToHost));
	for (unsigned i = 0; i < 12 * 60; i++) {
		unsigned t = i % 60, b = i / 60;
		unsigned want = t % 4 | t / 4 % 5 << 4 | t / 20 << 8 | b % 3 << 12 |
				b / 3 % 2 << 16 | b / 6 << 20;

		cr_assert(got[i] == want, "thread %u: %x, not %x", i, got[i], want);
	}
}

static cudaError_t launch_kernel(dim3 grid, dim3 block, size_t shared_bytes)
{
	int *p = NULL, n = 0, value = 0;

	return cudaLaunchKernel(k_fill(), grid, block, (void *[]){ &p, &n, &value }, shared_bytes,
				NULL);
}

/* cudaErrorInvalidValue or cudaErrorInvalidConfiguration: it depends on the version. */
static void refuses_launch(dim3 grid, dim3 block, size_t shared_bytes)
{
	cudaError_t error = launch_kernel(grid, block, shared_bytes);

	cr_assert(error == cudaErrorInvalidValue || error == cudaErrorInvalidConfiguration,
		  "grid %u,%u block %u,%u,%u shared %zu: %s", grid.x, grid.y, block.x, block.y,
		  block.z, shared_bytes, cudaGetErrorName(error));
	cr_assert(cudaGetLastError() == error, "not remembered");
}

Test(small_runtime, launches_respect_limits)
{
	dim3 deep = { 2, 2, 65 }, tall = { 1, 65536, 1 };
	int not_a_kernel;

	NEED_DEVICE();
	refuses_launch(blocks(0), blocks(1), 0);
	refuses_launch(blocks(1), blocks(0), 0);
	refuses_launch(blocks(1), blocks(1025), 0);
	refuses_launch(blocks(1), deep, 0);
	refuses_launch(tall, blocks(1), 0);
	OK(launch_kernel(blocks(1), blocks(1024), 48 << 10));
	refuses_launch(blocks(1), blocks(1), (48 << 10) + 1);
	OK(cudaFuncSetAttribute(k_fill(), cudaFuncAttributeMaxDynamicSharedMemorySize, 60 << 10));
	OK(launch_kernel(blocks(1), blocks(1), 60 << 10));
	refuses_launch(blocks(1), blocks(1), (60 << 10) + 1);
	REFUSED(cudaErrorInvalidValue,
		cudaFuncSetAttribute(k_fill(), cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
	cr_assert(cudaLaunchKernel(&not_a_kernel, blocks(1), blocks(1), NULL, 0, NULL), "accepted");
	cudaGetLastError();
	REFUSED(cudaErrorInvalidDeviceFunction,
		cudaLaunchKernel(NULL, blocks(1), blocks(1), NULL, 0, NULL));
	OK(cudaDeviceSynchronize());
}
