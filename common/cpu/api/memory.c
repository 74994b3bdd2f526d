/*
 * memory.c - allocation: device memory and pinned host memory are both the process's own; the
 * table of allocation.c keeps them apart.
 */
#include "common/cpu/base/base.h"

#include <stdlib.h>

enum { ALIGN_BYTES = 256 }; /* what CUDA promises of cudaMalloc */

static void *get(size_t bytes, enum cudaMemoryType type)
{
	void *p = NULL;

	if (type == cudaMemoryTypeDevice && pages_serve(bytes))
		return pages_new(bytes, ALIGN_BYTES);
	return posix_memalign(&p, ALIGN_BYTES, bytes) ? NULL : p;
}

void memory_put(const struct allocation *a)
{
	if (a->type == cudaMemoryTypeDevice && pages_serve(a->bytes))
		pages_bury(a->base, a->bytes);
	else
		free(a->base);
}

/* Contents are left as they come, as on a GPU. */
cudaError_t memory_allocate(void **ptr, size_t bytes, enum cudaMemoryType type)
{
	struct allocation a = { .bytes = bytes, .type = type, .owner = OWNER_RUNTIME };

	*ptr = NULL;
	if (!bytes)
		return cudaSuccess; /* CUDA gives NULL for nothing, without an error */
	/* Asked beforehand: the system would promise more than it has and fail much later. */
	a.base = bytes > memory_free_bytes() ? NULL : get(bytes, type);
	if (!a.base)
		return cudaErrorMemoryAllocation;
	if (!allocation_add(&a)) {
		memory_put(&a);
		return cudaErrorMemoryAllocation;
	}
	*ptr = a.base;
	return cudaSuccess;
}

static cudaError_t allocate(void **ptr, size_t bytes, enum cudaMemoryType type)
{
	if (!ptr)
		return cudaErrorInvalidValue;
	*ptr = NULL;
	cudaError_t error = unsafe_call();

	return error ? error : memory_allocate(ptr, bytes, type);
}

/* As in CUDA, memory is freed after everything that may use it. */
static cudaError_t release(void *ptr, enum cudaMemoryType type)
{
	cudaError_t error = unsafe_call();

	if (error || !ptr)
		return error;
	struct allocation a = allocation_find(ptr);

	if (a.base != ptr || a.type != type || a.owner != OWNER_RUNTIME)
		return cudaErrorInvalidValue;
	streams_wait_all(false);
	if (!allocation_remove(ptr, type, OWNER_RUNTIME))
		return cudaErrorInvalidValue;
	memory_put(&a);
	return cudaSuccess;
}

cudaError_t cudaMalloc(void **ptr, size_t bytes)
{
	INJECT();
	return charge(COST_ALLOC, result(allocate(ptr, bytes, cudaMemoryTypeDevice)));
}

cudaError_t cudaFree(void *ptr)
{
	INJECT();
	return charge(COST_ALLOC, result(release(ptr, cudaMemoryTypeDevice)));
}

cudaError_t cudaHostAlloc(void **ptr, size_t bytes, unsigned flags)
{
	INJECT();
	const unsigned known =
		cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;

	if (flags & ~known)
		return result(cudaErrorInvalidValue);
	return charge(COST_ALLOC, result(allocate(ptr, bytes, cudaMemoryTypeHost)));
}

cudaError_t cudaMallocHost(void **ptr, size_t bytes)
{
	INJECT();
	return charge(COST_ALLOC, result(allocate(ptr, bytes, cudaMemoryTypeHost)));
}

cudaError_t cudaFreeHost(void *ptr)
{
	INJECT();
	return charge(COST_ALLOC, result(release(ptr, cudaMemoryTypeHost)));
}

/* One address space: pinned memory has the same address on both sides. */
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
	INJECT();
	if (!device || flags || allocation_find(host).type != cudaMemoryTypeHost)
		return result(cudaErrorInvalidValue);
	*device = host;
	return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	INJECT();
	if (free_bytes)
		*free_bytes = memory_free_bytes();
	if (total_bytes)
		*total_bytes = memory_total_bytes();
	return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attr, const void *ptr)
{
	INJECT();
	if (!attr)
		return result(cudaErrorInvalidValue);
	struct allocation a = allocation_find(ptr);
	bool known = a.type != cudaMemoryTypeUnregistered;

	*attr = (struct cudaPointerAttributes){
		.type = a.type,
		.device = known ? 0 : -2, /* cudaInvalidDeviceId */
		.devicePointer = known ? (void *)ptr : NULL,
		.hostPointer = a.type == cudaMemoryTypeDevice ? NULL : (void *)ptr,
	};
	return cudaSuccess;
}
