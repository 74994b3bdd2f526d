/*
 * device.c - the device: the processors and the memory that this process may use, what it says of
 * itself, its limits, and the errors of its calls. Where it is shown several times, all are this
 * one: they differ by the number of their bus alone.
 */
#include "common/cpu/api/api.h"
#include "common/plural.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- errors ---------------------------------------------------------------------------- */

cudaError_t cudaGetLastError(void)
{
	return forget_error();
}

cudaError_t cudaPeekAtLastError(void)
{
	return last_result();
}

const char *cudaGetErrorName(cudaError_t error)
{
	return error_name(error);
}

const char *cudaGetErrorString(cudaError_t error)
{
	return error_meaning(error);
}

/* ---- the device ------------------------------------------------------------------------ */

cudaError_t cudaGetDeviceCount(int *count)
{
	INJECT();
	if (!count)
		return result(cudaErrorInvalidValue);
	*count = config()->devices;
	return result(*count ? cudaSuccess : cudaErrorNoDevice);
}

static bool is_device(int device)
{
	return device >= 0 && device < config()->devices;
}

static _Thread_local int current_device;

cudaError_t cudaGetDevice(int *device)
{
	INJECT();
	if (!device)
		return result(cudaErrorInvalidValue);
	*device = current_device;
	return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
	INJECT();
	if (!is_device(device))
		return result(cudaErrorInvalidDevice);
	current_device = device;
	return cudaSuccess;
}

/* As they were set; host memory can always be mapped. */
static atomic_uint device_flags = cudaDeviceMapHost;

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
	INJECT();
	if (!flags)
		return result(cudaErrorInvalidValue);
	*flags = device_flags;
	return cudaSuccess;
}

/* How synchronizing host threads wait. */
cudaError_t cudaSetDeviceFlags(unsigned flags)
{
	INJECT();
	const unsigned known = cudaDeviceScheduleMask | cudaDeviceMapHost |
			       cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;
	unsigned wait = flags & cudaDeviceScheduleMask;

	if (flags & ~known || (wait & (wait - 1)))
		return result(cudaErrorInvalidValue);
	if (wait == cudaDeviceScheduleSpin)
		host_spin_ns = INT64_MAX;
	else if (wait == cudaDeviceScheduleBlockingSync)
		host_spin_ns = 0;
	else
		host_spin_ns = config()->spin_ns; /* polling yields the core in any case */
	device_flags = flags | cudaDeviceMapHost;
	return cudaSuccess;
}

static cudaError_t get_version(int *version)
{
	if (!version)
		return cudaErrorInvalidValue;
	*version = CUDART_VERSION;
	return cudaSuccess;
}

/* There is no driver below; programs compare the two. */
cudaError_t cudaDriverGetVersion(int *version)
{
	INJECT();
	return result(get_version(version));
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	INJECT();
	return result(get_version(version));
}

cudaError_t cudaDeviceSynchronize(void)
{
	CALL(sync_device);
	cudaError_t error = device_wide_call();

	if (error)
		return result(error);
	streams_wait_all(false);
	return charge(COST_SYNC, cudaSuccess);
}

/* Everything of this process goes: handles, memory, the error. */
cudaError_t cudaDeviceReset(void)
{
	CALL(other);
	streams_wait_all(false);
	for (struct stream *s; (s = handle_close_any(HANDLE_STREAM));) {
		capture_drop(s);
		stream_quit(s);
		stream_unref(s);
	}
	events_close_all();
	graphs_close_all();
	execs_close_all();
	allocations_free_all();
	forget_error();
	return cudaSuccess;
}

/* ---- properties ------------------------------------------------------------------------ */

/*
 * Limits of blocks and grids are those of a GPU, so that the same launches are accepted; clocks and
 * buses, which a CPU has no counterpart of, are 0; the compute capability is 0.0.
 */
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

static void describe(struct cudaDeviceProp *prop, int device)
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
		.pciBusID = config()->device[device],
	};
	snprintf(prop->name, sizeof(prop->name), "CPU device (%s)",
		 counted(config()->workers, "worker").s);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
	INJECT();
	if (!prop)
		return result(cudaErrorInvalidValue);
	if (!is_device(device))
		return result(cudaErrorInvalidDevice);
	describe(prop, device);
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
	if (!is_device(device))
		return result(cudaErrorInvalidDevice);
	describe(&prop, device);
	return result(attribute(&prop, attr, value) ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- limits that a program may set ----------------------------------------------------- */

enum {
	STACK_LIMIT_BYTES = 24 << 10, /* what each thread of a kernel has; see kernel/executor.c */
	LIMITS = 3,
};

/* Only the stack has a bound; what kernels print and allocate is the process's own. */
static _Atomic(size_t) limits[LIMITS] = {
	[cudaLimitStackSize] = STACK_LIMIT_BYTES,
	[cudaLimitPrintfFifoSize] = 1 << 20,
	[cudaLimitMallocHeapSize] = 8 << 20,
};

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	INJECT();
	if ((unsigned)limit >= LIMITS)
		return result(cudaErrorUnsupportedLimit);
	if (limit == cudaLimitStackSize && value > STACK_LIMIT_BYTES)
		return result(cudaErrorInvalidValue);
	if (limit != cudaLimitStackSize)
		limits[limit] = value;
	return cudaSuccess; /* a smaller stack is given in full all the same */
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
	INJECT();
	if (!value)
		return result(cudaErrorInvalidValue);
	if ((unsigned)limit >= LIMITS)
		return result(cudaErrorUnsupportedLimit);
	*value = limits[limit];
	return cudaSuccess;
}

/* All streams are equal, which CUDA says by an empty range. */
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	INJECT();
	if (least)
		*least = 0;
	if (greatest)
		*greatest = 0;
	return cudaSuccess;
}
