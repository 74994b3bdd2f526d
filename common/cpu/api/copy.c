/* copy.c - cudaMemcpy and cudaMemset, and whether their pointers may be what they are said. */
#include "common/cpu/base/base.h"

/*
 * A range in memory of the runtime must lie inside one allocation. What is said to be on the
 * device must be memory of the runtime: host and device share one address space here, and a
 * wrong direction would otherwise pass unnoticed. On the host's side CUDA takes any pointer.
 */
static bool range_fits(const void *ptr, size_t bytes, bool want_device, bool *on_device)
{
	struct allocation a = allocation_find(ptr);

	*on_device = a.type == cudaMemoryTypeDevice;
	if (a.type == cudaMemoryTypeUnregistered)
		return ptr && !want_device;
	return bytes <= a.bytes - (size_t)((const char *)ptr - a.base);
}

/* Bytes from the first of the first row to the last of the last; SIZE_MAX for more. */
static size_t extent(size_t rows, size_t pitch, size_t bytes)
{
	size_t all;

	if (__builtin_mul_overflow(rows - 1, pitch, &all) ||
	    __builtin_add_overflow(all, bytes, &all))
		return SIZE_MAX;
	return all;
}

/* CUDA looks at kinds only where a pointer could not be what they say. */
static cudaError_t check_copy(struct transfer *t, enum cudaMemcpyKind kind)
{
	bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
	bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
	size_t dst_bytes = extent(t->rows, t->dst_pitch, t->bytes);
	size_t src_bytes = extent(t->rows, t->src_pitch, t->bytes);

	if ((unsigned)kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (!range_fits(t->dst, dst_bytes, to_device, &t->dst_on_device) ||
	    !range_fits(t->src, src_bytes, from_device, &t->src_on_device))
		return cudaErrorInvalidValue;
	return cudaSuccess;
}

static cudaError_t submit(struct stream *s, enum op_kind kind, const struct transfer *t)
{
	struct op *op = stream_new_op(s);

	if (!op)
		return cudaErrorMemoryAllocation;
	op->kind = kind;
	op->memory = *t;
	return stream_submit(s, op);
}

cudaError_t copy_submit(struct transfer *t, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	struct stream *s = stream_find(stream);

	if (!s)
		return cudaErrorInvalidResourceHandle;
	if (!t->bytes || !t->rows)
		return cudaSuccess;
	cudaError_t error = check_copy(t, kind);

	return error ? error : submit(s, OP_COPY, t);
}

static cudaError_t copy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
			cudaStream_t stream)
{
	return copy_submit(&(struct transfer){ .dst = dst, .src = src, .bytes = bytes, .rows = 1 },
			   kind, stream);
}

static cudaError_t set(void *dst, int value, size_t bytes, cudaStream_t stream)
{
	struct transfer t = { .dst = dst, .bytes = bytes, .rows = 1, .value = value };
	struct stream *s = stream_find(stream);

	if (!s)
		return cudaErrorInvalidResourceHandle;
	if (!bytes)
		return cudaSuccess;
	if (!range_fits(dst, bytes, true, &t.dst_on_device))
		return cudaErrorInvalidValue;
	return submit(s, OP_SET, &t);
}

cudaError_t copy_wait(cudaError_t error)
{
	if (!error)
		stream_wait(stream_null());
	return error;
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	INJECT();
	return charge(COST_COPY, result(copy(dst, src, bytes, kind, stream)));
}

cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t stream)
{
	INJECT();
	return charge(COST_COPY, result(set(dst, value, bytes, stream)));
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	INJECT();
	return charge(COST_COPY, result(copy_wait(copy(dst, src, bytes, kind, cudaStreamLegacy))));
}

cudaError_t cudaMemset(void *dst, int value, size_t bytes)
{
	INJECT();
	return charge(COST_COPY, result(copy_wait(set(dst, value, bytes, cudaStreamLegacy))));
}
