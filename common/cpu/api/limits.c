/* limits.c - limits that a program may set, priorities, and the flags of a stream. */
#include "common/cpu/base/base.h"

enum {
	STACK_LIMIT_BYTES = 24 << 10, /* what each thread of a kernel has; see executor.c */
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

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
	INJECT();
	if (!stream_find(stream))
		return result(cudaErrorInvalidResourceHandle);
	if (!priority)
		return result(cudaErrorInvalidValue);
	*priority = 0;
	return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
	INJECT();
	const struct stream *s = stream_find(stream);

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if (!flags)
		return result(cudaErrorInvalidValue);
	*flags = s->blocking ? cudaStreamDefault : cudaStreamNonBlocking;
	return cudaSuccess;
}
