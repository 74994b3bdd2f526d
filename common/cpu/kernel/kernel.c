/* kernel.c - the registry of kernels and of their static shared arrays; what hosts ask of it. */
#include "common/cpu/base/base.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024, SHARED_SLOTS_MAX = 4096 };

/* Lists that only grow, before main() or when a library is loaded; read without a lock. */
static _Atomic(struct cpudev_kernel *) buckets[BUCKETS];
static struct lock registry_lock;

static struct {
	size_t bytes, align;
} shared_slots[SHARED_SLOTS_MAX];
static atomic_uint n_shared_slots;

static unsigned bucket_of(const void *function)
{
	return (unsigned)((uintptr_t)function >> 4) * 2654435761u >> 22; /* Knuth, TAOCP 6.4 */
}

struct cpudev_kernel *kernel_find(const void *function)
{
	struct cpudev_kernel *k =
		atomic_load_explicit(&buckets[bucket_of(function)], memory_order_acquire);

	while (k && k->function != function)
		k = k->next;
	return k;
}

void cpudev_register(struct cpudev_kernel *kernel)
{
	_Atomic(struct cpudev_kernel *) *bucket = &buckets[bucket_of(kernel->function)];

	lock_acquire(&registry_lock);
	/* A template instantiated in two object files registers twice. */
	if (!kernel_find(kernel->function)) {
		kernel->next = *bucket;
		atomic_store_explicit(bucket, kernel, memory_order_release);
	}
	lock_release(&registry_lock);
}

/* Called by initialisers, so running out of slots ends the program before main(). */
unsigned cpudev_shared_slot(size_t bytes, size_t align)
{
	lock_acquire(&registry_lock);
	unsigned slot = n_shared_slots;

	if (slot == SHARED_SLOTS_MAX)
		fatal("more than %d SHARED_ARRAYs in one program", SHARED_SLOTS_MAX);
	shared_slots[slot].bytes = bytes;
	shared_slots[slot].align = align;
	atomic_store_explicit(&n_shared_slots, slot + 1, memory_order_release);
	lock_release(&registry_lock);
	return slot;
}

unsigned shared_slot_count(void)
{
	return atomic_load_explicit(&n_shared_slots, memory_order_acquire);
}

void shared_slot_get(unsigned slot, size_t *bytes, size_t *align)
{
	*bytes = shared_slots[slot].bytes;
	*align = shared_slots[slot].align;
}

/* ---- what hosts ask --------------------------------------------------------------------- */

/* As CUDA 13.0 did on an H200: only NULL is "no device function". */
static cudaError_t not_a_kernel(const void *func)
{
	return func ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaFuncGetName(const char **name, const void *func)
{
	INJECT();
	const struct cpudev_kernel *k = kernel_find(func);

	if (!name)
		return result(cudaErrorInvalidValue);
	if (!k)
		return result(not_a_kernel(func));
	*name = k->name;
	return cudaSuccess;
}

cudaError_t cudaFuncGetParamInfo(const void *func, size_t index, size_t *offset, size_t *size)
{
	INJECT();
	const struct cpudev_kernel *k = kernel_find(func);

	if (!k)
		return result(not_a_kernel(func));
	if (!offset || index >= k->n_params)
		return result(cudaErrorInvalidValue);
	*offset = k->offset[index];
	if (size)
		*size = k->size[index];
	return cudaSuccess;
}

/* What a launch may ask for; cudaFuncSetAttribute raises it, as on a GPU beyond 48 KiB. */
static int dynamic_limit(const struct cpudev_kernel *k)
{
	return k->dynamic_limit_bytes ? k->dynamic_limit_bytes : DYNAMIC_BYTES_DEFAULT;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
	INJECT();
	const struct cpudev_kernel *k = kernel_find(func);

	if (!attr)
		return result(cudaErrorInvalidValue);
	if (!k)
		return result(not_a_kernel(func));
	memset(attr, 0, sizeof(*attr)); /* registers and the like: a CPU has no such numbers */
	attr->maxThreadsPerBlock = MAX_THREADS;
	attr->maxDynamicSharedSizeBytes = dynamic_limit(k);
	return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
	INJECT();
	struct cpudev_kernel *k = kernel_find(func);

	if (!k)
		return result(not_a_kernel(func));
	if (attr == cudaFuncAttributePreferredSharedMemoryCarveout)
		return cudaSuccess; /* a hint */
	if (attr != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
	    value > DYNAMIC_BYTES_MAX)
		return result(cudaErrorInvalidValue);
	k->dynamic_limit_bytes = value;
	return cudaSuccess;
}

void cpudev_fence(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

int64_t cpudev_clock(void)
{
	return clock_ns();
}
