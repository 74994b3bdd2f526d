/*
 * properties.c - what the device says about itself. Limits of blocks and grids are those of a
 * GPU, so that the same launches are accepted; clocks and buses, which a CPU has no counterpart
 * of, are 0; the compute capability is 0.0.
 */
#include "common/cpu/base/base.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	THREADS_PER_MULTIPROCESSOR = 2048,
	REGISTERS = 65536,
	CONSTANT_BYTES = 64 << 10,
};

static int l2_bytes(void)
{
	long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);

	return bytes > 0 && bytes <= INT_MAX ? (int)bytes : 0;
}

static void describe(struct cudaDeviceProp *prop)
{
	*prop = (struct cudaDeviceProp){
		.totalGlobalMem = memory_total_bytes(),
		.sharedMemPerBlock = DYNAMIC_BYTES_DEFAULT,
		.regsPerBlock = REGISTERS,
		.warpSize = WARP_THREADS,
		.memPitch = INT_MAX,
		.maxThreadsPerBlock = MAX_THREADS,
		.maxThreadsDim = { MAX_THREADS, MAX_THREADS, 64 },
		.maxGridSize = { INT_MAX, 65535, 65535 },
		.totalConstMem = CONSTANT_BYTES,
		.multiProcessorCount = (int)config()->workers,
		.integrated = 1, /* shares the host's memory */
		.canMapHostMemory = 1,
		.concurrentKernels = 1,
		.asyncEngineCount = 1,
		.unifiedAddressing = 1,
		.l2CacheSize = l2_bytes(),
		.maxThreadsPerMultiProcessor = THREADS_PER_MULTIPROCESSOR,
		.sharedMemPerMultiprocessor = DYNAMIC_BYTES_MAX,
		.regsPerMultiprocessor = REGISTERS,
		.hostNativeAtomicSupported = 1,
		.sharedMemPerBlockOptin = DYNAMIC_BYTES_MAX,
		.maxBlocksPerMultiProcessor = 1,
		.canUseHostPointerForRegisteredMem = 1,
		.hostRegisterSupported = 1,
	};
	snprintf(prop->name, sizeof(prop->name), "CPU device (%u worker%s)", config()->workers,
		 config()->workers == 1 ? "" : "s");
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
	INJECT();
	if (!prop)
		return result(cudaErrorInvalidValue);
	if (device)
		return result(cudaErrorInvalidDevice);
	describe(prop);
	return cudaSuccess;
}

/* The attributes that have a property of their own are read from there. */
static bool attribute(const struct cudaDeviceProp *p, enum cudaDeviceAttr attr, int *value)
{
	const struct {
		enum cudaDeviceAttr attr;
		int value;
	} table[] = {
		{ cudaDevAttrMaxThreadsPerBlock, p->maxThreadsPerBlock },
		{ cudaDevAttrMaxBlockDimX, p->maxThreadsDim[0] },
		{ cudaDevAttrMaxBlockDimY, p->maxThreadsDim[1] },
		{ cudaDevAttrMaxBlockDimZ, p->maxThreadsDim[2] },
		{ cudaDevAttrMaxGridDimX, p->maxGridSize[0] },
		{ cudaDevAttrMaxGridDimY, p->maxGridSize[1] },
		{ cudaDevAttrMaxGridDimZ, p->maxGridSize[2] },
		{ cudaDevAttrMaxSharedMemoryPerBlock, (int)p->sharedMemPerBlock },
		{ cudaDevAttrTotalConstantMemory, (int)p->totalConstMem },
		{ cudaDevAttrWarpSize, p->warpSize },
		{ cudaDevAttrMaxRegistersPerBlock, p->regsPerBlock },
		{ cudaDevAttrClockRate, 0 },
		{ cudaDevAttrMultiProcessorCount, p->multiProcessorCount },
		{ cudaDevAttrKernelExecTimeout, 0 },
		{ cudaDevAttrIntegrated, p->integrated },
		{ cudaDevAttrCanMapHostMemory, p->canMapHostMemory },
		{ cudaDevAttrComputeMode, cudaComputeModeDefault },
		{ cudaDevAttrConcurrentKernels, p->concurrentKernels },
		{ cudaDevAttrEccEnabled, p->ECCEnabled },
		{ cudaDevAttrPciBusId, p->pciBusID },
		{ cudaDevAttrPciDeviceId, p->pciDeviceID },
		{ cudaDevAttrTccDriver, p->tccDriver },
		{ cudaDevAttrMemoryClockRate, 0 },
		{ cudaDevAttrGlobalMemoryBusWidth, p->memoryBusWidth },
		{ cudaDevAttrL2CacheSize, p->l2CacheSize },
		{ cudaDevAttrMaxThreadsPerMultiProcessor, p->maxThreadsPerMultiProcessor },
		{ cudaDevAttrAsyncEngineCount, p->asyncEngineCount },
		{ cudaDevAttrUnifiedAddressing, p->unifiedAddressing },
		{ cudaDevAttrPciDomainId, p->pciDomainID },
		{ cudaDevAttrComputeCapabilityMajor, p->major },
		{ cudaDevAttrComputeCapabilityMinor, p->minor },
		{ cudaDevAttrMaxSharedMemoryPerMultiprocessor, (int)p->sharedMemPerMultiprocessor },
		{ cudaDevAttrManagedMemory, p->managedMemory },
		{ cudaDevAttrPageableMemoryAccess, p->pageableMemoryAccess },
		{ cudaDevAttrConcurrentManagedAccess, p->concurrentManagedAccess },
		{ cudaDevAttrCooperativeLaunch, p->cooperativeLaunch },
		{ cudaDevAttrMaxSharedMemoryPerBlockOptin, (int)p->sharedMemPerBlockOptin },
		{ cudaDevAttrHostRegisterSupported, p->hostRegisterSupported },
		{ cudaDevAttrMemoryPoolsSupported, 1 } /* cudaMallocAsync */,
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (table[i].attr != attr)
			continue;
		*value = table[i].value;
		return true;
	}
	return false;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
	INJECT();
	struct cudaDeviceProp prop;

	if (!value)
		return result(cudaErrorInvalidValue);
	if (device)
		return result(cudaErrorInvalidDevice);
	describe(&prop);
	return result(attribute(&prop, attr, value) ? cudaSuccess : cudaErrorInvalidValue);
}
