/* device.c - is there a device at all, and what does it say of itself? */
#include "common/device.h"

#include <errno.h>

#include "common/check.h"
#include "common/cuda_check.h"

int device_present(void)
{
	int n = 0;
	cudaError_t err = cudaGetDeviceCount(&n);

	if (!err && n)
		return 0;
	cudaGetLastError(); /* forget it: the next check is not about this */
	return complain(ENODEV, "no CUDA device: %s",
			err ? cudaGetErrorString(err) : "none is visible");
}

int device_attribute(enum cudaDeviceAttr attribute)
{
	int value, device;

	CUDA(cudaGetDevice(&device));
	CUDA(cudaDeviceGetAttribute(&value, attribute, device));
	return value;
}

int64_t device_resident(const void *kernel, int threads, size_t shared_bytes)
{
	int blocks;

	CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes));
	return (int64_t)blocks * device_attribute(cudaDevAttrMultiProcessorCount);
}
