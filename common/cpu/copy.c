/* copy.c - cudaMemcpy and cudaMemset, and whether their pointers may be what they are said. */
#include "runtime.h"

/*
 * A range in memory of the runtime must lie inside one allocation. What is said to be on the
 * device must be memory of the runtime: host and device share one address space here, and a
 * wrong direction would otherwise pass unnoticed. On the host's side CUDA takes any pointer.
 */
static bool range_fits(const void *ptr, size_t bytes, bool on_device)
{
	struct allocation a = allocation_find(ptr);

	if (a.type == cudaMemoryTypeUnregistered)
		return ptr && !on_device;
	return bytes <= a.bytes - (size_t)((const char *)ptr - a.base);
}

/* CUDA looks at kinds only where a pointer could not be what they say. */
static cudaError_t check_copy(const void *dst, const void *src, size_t bytes,
			      enum cudaMemcpyKind kind)
{
	bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
	bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;

	if ((unsigned)kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (!range_fits(dst, bytes, to_device) || !range_fits(src, bytes, from_device))
		return cudaErrorInvalidValue;
	return cudaSuccess;
}

static cudaError_t submit_copy(struct stream *s, void *dst, const void *src, size_t bytes)
{
	struct op *op = stream_new_op(s);

	if (!op)
		return cudaErrorMemoryAllocation;
	op->kind = OP_COPY;
	op->memory.dst = dst;
	op->memory.src = src;
	op->memory.bytes = bytes;
	return stream_submit(s, op);
}

static cudaError_t copy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
			cudaStream_t stream)
{
	struct stream *s = stream_find(stream);

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if (!bytes)
		return cudaSuccess;
	cudaError_t error = check_copy(dst, src, bytes, kind);

	return result(error ? error : submit_copy(s, dst, src, bytes));
}

static cudaError_t submit_set(struct stream *s, void *dst, int value, size_t bytes)
{
	struct op *op = stream_new_op(s);

	if (!op)
		return cudaErrorMemoryAllocation;
	op->kind = OP_SET;
	op->memory.dst = dst;
	op->memory.value = value;
	op->memory.bytes = bytes;
	return stream_submit(s, op);
}

static cudaError_t set(void *dst, int value, size_t bytes, cudaStream_t stream)
{
	struct stream *s = stream_find(stream);

	if (!s)
		return result(cudaErrorInvalidResourceHandle);
	if (!bytes)
		return cudaSuccess;
	if (!range_fits(dst, bytes, true))
		return result(cudaErrorInvalidValue);
	return result(submit_set(s, dst, value, bytes));
}

/* The synchronous forms run on the legacy default stream and wait for it. */
static cudaError_t wait_after(cudaError_t error)
{
	if (!error)
		stream_wait(stream_null());
	return error;
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	return charge(COST_COPY, wait_after(copy(dst, src, bytes, kind, cudaStreamLegacy)));
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	return charge(COST_COPY, copy(dst, src, bytes, kind, stream));
}

cudaError_t cudaMemset(void *dst, int value, size_t bytes)
{
	return charge(COST_COPY, wait_after(set(dst, value, bytes, cudaStreamLegacy)));
}

cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t stream)
{
	return charge(COST_COPY, set(dst, value, bytes, stream));
}
