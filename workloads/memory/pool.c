/* pool.c - the pool of cudaMallocAsync; the CPU device has none, and gives memory at the call. */
#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/memory/memory.h"

#ifdef RIFT_CPU_DEVICE
const char *memory_call_refused(enum memory_call call)
{
	return call == MEMORY_MISS ? "the CPU device has no pool that could be empty" : NULL;
}

void memory_pool_keep(bool keep)
{
	(void)keep;
}

void memory_pool_trim(void)
{
}
#else
static cudaMemPool_t pool(void)
{
	cudaMemPool_t p;
	int device;

	CUDA(cudaGetDevice(&device));
	CUDA(cudaDeviceGetDefaultMemPool(&p, device));
	return p;
}

static bool has_pools(void)
{
	return device_attribute(cudaDevAttrMemoryPoolsSupported);
}

const char *memory_call_refused(enum memory_call call)
{
	bool wants = call == MEMORY_ASYNC || call == MEMORY_MISS;

	return wants && !has_pools() ? "the device has no memory pools" : NULL;
}

void memory_pool_keep(bool keep)
{
	uint64_t bytes = keep ? UINT64_MAX : 0;

	if (!has_pools())
		return;
	CUDA(cudaMemPoolSetAttribute(pool(), cudaMemPoolAttrReleaseThreshold, &bytes));
}

void memory_pool_trim(void)
{
	CUDA(cudaMemPoolTrimTo(pool(), 0));
}
#endif
