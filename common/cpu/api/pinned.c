/* pinned.c - memory of the host that the program registers, and memory in stream order. */
#include "common/cpu/base/base.h"

#include <stdlib.h>

/* Nothing to pin here; the table makes copies and questions treat it as on a GPU. */
static cudaError_t enter(void *ptr, size_t bytes, unsigned flags)
{
	const unsigned known =
		cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
	struct allocation a = { ptr, bytes, cudaMemoryTypeHost, OWNER_HOST, 0 };
	cudaError_t error = unsafe_call();

	if (error)
		return error;
	if (!ptr || !bytes || flags & ~known)
		return cudaErrorInvalidValue;
	if (allocation_overlaps(ptr, bytes))
		return cudaErrorHostMemoryAlreadyRegistered;
	return allocation_add(&a) ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaHostRegister(void *ptr, size_t bytes, unsigned flags)
{
	INJECT();
	return charge(COST_ALLOC, result(enter(ptr, bytes, flags)));
}

static cudaError_t strike_out(void *ptr)
{
	cudaError_t error = unsafe_call();

	if (error)
		return error;
	if (!ptr)
		return cudaErrorInvalidValue;
	streams_wait_all(false); /* the caller may free it next */
	if (!allocation_remove(ptr, cudaMemoryTypeHost, OWNER_HOST))
		return cudaErrorHostMemoryNotRegistered;
	return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *ptr)
{
	INJECT();
	return charge(COST_ALLOC, result(strike_out(ptr)));
}

/* ---- in stream order -------------------------------------------------------------------- */

static cudaError_t may_queue(struct stream *s)
{
	if (!s)
		return cudaErrorInvalidResourceHandle;
	cudaError_t error = stream_accepts(s);

	if (!error && stream_captures(s))
		error = capture_forbids(s); /* would be a node that allocates */
	return error;
}

/* Memory that is there before the stream gets to it does no harm. */
cudaError_t cudaMallocAsync(void **ptr, size_t bytes, cudaStream_t stream)
{
	INJECT();
	if (!ptr)
		return result(cudaErrorInvalidValue);
	cudaError_t error = may_queue(stream_find(stream));

	return charge(COST_ALLOC,
		      result(error ? error : memory_allocate(ptr, bytes, cudaMemoryTypeDevice)));
}

/*
 * The entry of the table goes at once, as nothing submitted from here on may use the memory; the
 * memory itself goes when the stream gets there.
 */
static cudaError_t free_later(void *ptr, cudaStream_t stream)
{
	struct stream *s = stream_find(stream);
	cudaError_t error = may_queue(s);

	if (error)
		return error;
	if (!ptr)
		return cudaSuccess;
	size_t bytes = allocation_find(ptr).bytes;
	struct op *op = stream_new_op(s);

	if (!op)
		return cudaErrorMemoryAllocation;
	if (!allocation_remove(ptr, cudaMemoryTypeDevice, OWNER_RUNTIME)) {
		op_free(op);
		return cudaErrorInvalidValue;
	}
	op->kind = OP_FREE;
	op->memory.dst = ptr;
	op->memory.bytes = bytes;
	return stream_submit(s, op);
}

cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream)
{
	INJECT();
	return charge(COST_ALLOC, result(free_later(ptr, stream)));
}
