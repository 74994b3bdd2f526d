/* device.c - is there a device at all, and what does it say of itself? */
#include "common/device.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "common/typed.h"

const char *device_why_none(cudaError_t err)
{
	static char why[160];
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	int n = snprintf(why, sizeof(why), "%s",
			 err ? cudaGetErrorString(err) : "the driver shows none");

	if (visible)
		snprintf(why + n, sizeof(why) - (size_t)n,
			 "; CUDA_VISIBLE_DEVICES is set, to '%.40s'", text_shown(visible).s);
	return why;
}

int device_present(void)
{
	int n = 0;
	cudaError_t err = cudaGetDeviceCount(&n);

	if (!err && n)
		return 0;
	cudaGetLastError(); /* forget it: the next check is not about this */
	return complain(ENODEV, "no CUDA device: %s", device_why_none(err));
}

int device_attribute(enum cudaDeviceAttr attribute)
{
	int value, device;

	CUDA(cudaGetDevice(&device));
	CUDA(cudaDeviceGetAttribute(&value, attribute, device));
	return value;
}

int device_new(void *at, size_t bytes, const char *fmt, ...)
{
	char what[160];
	va_list args;
	void *p = NULL;

	if (cudaMalloc(&p, bytes ? bytes : 1)) {
		cudaGetLastError();
		p = NULL;
	}
	memcpy(at, &p, sizeof(p));
	if (p)
		return 0;
	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return complain(ENOMEM, "cannot allocate %zu bytes on the device: %s", bytes, what);
}

void device_free(void *memory)
{
	if (memory)
		CUDA(cudaFree(memory));
}

int device_steps_fit(int64_t n)
{
	if (n <= UINT32_MAX)
		return 0;
	return complain(ENOTSUP, "%ld steps: at most %ld fit one launch", (long)n,
			(long)UINT32_MAX);
}

void device_load_kernel(const void *kernel)
{
	struct cudaFuncAttributes ignored;

	CUDA(cudaFuncGetAttributes(&ignored, kernel));
}

int64_t device_resident(const void *kernel, int threads, size_t shared_bytes)
{
	int blocks;

	CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes));
	return (int64_t)blocks * device_attribute(cudaDevAttrMultiProcessorCount);
}
