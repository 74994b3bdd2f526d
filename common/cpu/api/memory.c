/*
 * memory.c - allocation, at once and in stream order, memory that the program registers, copies,
 * and variables of the device.
 */
#include "common/cpu/api/api.h"

#include <stdlib.h>
#include <string.h>

/* ---- allocation ------------------------------------------------------------------------ */

static enum trace_memory side_memory(enum cudaMemoryType type)
{
	return type == cudaMemoryTypeDevice ? TRACE_MEMORY_device
	       : type == cudaMemoryTypeHost ? TRACE_MEMORY_pinned
					    : TRACE_MEMORY_pageable;
}

static cudaError_t allocate(void **ptr, size_t bytes, enum cudaMemoryType type)
{
	if (!ptr)
		return cudaErrorInvalidValue;
	*ptr = NULL;
	call_tells_memory(bytes, side_memory(type));
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
	call_tells_memory(a.bytes, side_memory(type));
	streams_wait_all(false);
	if (!allocation_remove(ptr, type, OWNER_RUNTIME))
		return cudaErrorInvalidValue;
	memory_put(&a);
	return cudaSuccess;
}

cudaError_t cudaMalloc(void **ptr, size_t bytes)
{
	CALL(alloc);
	return charge(COST_ALLOC, result(allocate(ptr, bytes, cudaMemoryTypeDevice)));
}

cudaError_t cudaFree(void *ptr)
{
	CALL(free);
	return charge(COST_ALLOC, result(release(ptr, cudaMemoryTypeDevice)));
}

cudaError_t cudaHostAlloc(void **ptr, size_t bytes, unsigned flags)
{
	CALL(alloc);
	const unsigned known =
		cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;

	if (flags & ~known)
		return result(cudaErrorInvalidValue);
	return charge(COST_ALLOC, result(allocate(ptr, bytes, cudaMemoryTypeHost)));
}

cudaError_t cudaMallocHost(void **ptr, size_t bytes)
{
	CALL(alloc);
	return charge(COST_ALLOC, result(allocate(ptr, bytes, cudaMemoryTypeHost)));
}

cudaError_t cudaFreeHost(void *ptr)
{
	CALL(free);
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

/* ---- memory of the host that the program registers ------------------------------------- */

/* Nothing to pin here; the table makes copies and questions treat it as on a GPU. */
static cudaError_t enter(void *ptr, size_t bytes, unsigned flags)
{
	const unsigned known =
		cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
	struct allocation a = { ptr, bytes, cudaMemoryTypeHost, OWNER_HOST, 0 };
	cudaError_t error = unsafe_call();

	call_tells_memory(bytes, TRACE_MEMORY_pinned);
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
	CALL(alloc);
	return charge(COST_ALLOC, result(enter(ptr, bytes, flags)));
}

static cudaError_t strike_out(void *ptr)
{
	cudaError_t error = unsafe_call();

	if (error)
		return error;
	if (!ptr)
		return cudaErrorInvalidValue;
	call_tells_memory(allocation_find(ptr).bytes, TRACE_MEMORY_pinned);
	streams_wait_all(false); /* the caller may free it next */
	if (!allocation_remove(ptr, cudaMemoryTypeHost, OWNER_HOST))
		return cudaErrorHostMemoryNotRegistered;
	return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *ptr)
{
	CALL(free);
	return charge(COST_ALLOC, result(strike_out(ptr)));
}

/* ---- in stream order ------------------------------------------------------------------- */

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
	CALL(alloc);
	if (!ptr)
		return result(cudaErrorInvalidValue);
	cudaError_t error = may_queue(call_stream(stream));

	call_tells_memory(bytes, TRACE_MEMORY_device);
	call_is_async();
	return charge(COST_ALLOC,
		      result(error ? error : memory_allocate(ptr, bytes, cudaMemoryTypeDevice)));
}

/*
 * The entry of the table goes at once, as nothing submitted from here on may use the memory; the
 * memory itself goes when the stream gets there.
 */
static cudaError_t free_later(void *ptr, cudaStream_t stream)
{
	struct stream *s = call_stream(stream);
	cudaError_t error = may_queue(s);

	if (error)
		return error;
	if (!ptr)
		return cudaSuccess;
	size_t bytes = allocation_find(ptr).bytes;

	call_tells_memory(bytes, TRACE_MEMORY_device);
	call_is_async();
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
	CALL(free);
	return charge(COST_ALLOC, result(free_later(ptr, stream)));
}

/* ---- copies, and whether their pointers may be what they are said ---------------------- */

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
cudaError_t copy_check(struct transfer *t, enum cudaMemcpyKind kind)
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

cudaError_t set_check(struct transfer *t)
{
	return range_fits(t->dst, extent(t->rows, t->dst_pitch, t->bytes), true, &t->dst_on_device)
		       ? cudaSuccess
		       : cudaErrorInvalidValue;
}

/*
 * CUDA has read pageable memory when an asynchronous copy from it returns: the program may write
 * there. In a capture the graph's launch reads it.
 */
static bool is_read_at_once(struct stream *s, const struct transfer *t)
{
	return t->src && !t->waits && !stream_captures(s) &&
	       allocation_find(t->src).type == cudaMemoryTypeUnregistered;
}

static bool read_source(struct op *op)
{
	size_t bytes = extent(op->memory.rows, op->memory.src_pitch, op->memory.bytes);

	op->data = malloc(bytes);
	if (op->data)
		op->memory.src = memcpy(op->data, op->memory.src, bytes);
	return op->data != NULL;
}

static cudaError_t submit(struct stream *s, enum op_kind kind, const struct transfer *t)
{
	struct op *op = stream_new_op(s);

	if (!op)
		return cudaErrorMemoryAllocation;
	op->kind = kind;
	op->memory = *t;
	if (is_read_at_once(s, t) && !read_source(op)) {
		op_free(op);
		return cudaErrorMemoryAllocation;
	}
	return stream_submit(s, op);
}

/* What a trace says of a copy: its bytes, and the memory on the host's side. */
static void tell_copy(struct transfer *t)
{
	const void *host = t->dst_on_device ? t->src : t->dst;

	if (!recorder_has_call())
		return;
	t->memory = side_memory(allocation_find(host).type);
	call_tells_memory(t->bytes * t->rows, t->memory);
	recorder_call->is_async = !t->waits;
}

/* Checks the pointers against the kind and the table of allocations, and queues the copy. */
static cudaError_t copy_submit(struct transfer *t, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	struct stream *s = call_stream(stream);

	if (!s)
		return cudaErrorInvalidResourceHandle;
	if (!t->bytes || !t->rows)
		return cudaSuccess;
	cudaError_t error = copy_check(t, kind);

	tell_copy(t);
	return error ? error : submit(s, OP_COPY, t);
}

static cudaError_t copy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
			cudaStream_t stream, bool waits)
{
	struct transfer t = { .dst = dst, .src = src, .bytes = bytes, .rows = 1, .waits = waits };

	return copy_submit(&t, kind, stream);
}

static cudaError_t set(void *dst, int value, size_t bytes, cudaStream_t stream)
{
	struct transfer t = { .dst = dst, .bytes = bytes, .rows = 1, .value = value };
	struct stream *s = call_stream(stream);

	if (!s)
		return cudaErrorInvalidResourceHandle;
	if (!bytes)
		return cudaSuccess;
	cudaError_t error = set_check(&t);

	if (error)
		return error;
	call_tells_memory(bytes, TRACE_MEMORY_device);
	return submit(s, OP_SET, &t);
}

/* For the synchronous forms: without an error waits for the legacy default stream. */
static cudaError_t copy_wait(cudaError_t error)
{
	if (!error)
		stream_wait(stream_null());
	return error;
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	CALL(copy);
	return charge(COST_COPY, result(copy(dst, src, bytes, kind, stream, false)));
}

cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t stream)
{
	CALL(memset);
	return charge(COST_COPY, result(set(dst, value, bytes, stream)));
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	CALL(copy);
	return charge(COST_COPY,
		      result(copy_wait(copy(dst, src, bytes, kind, cudaStreamLegacy, true))));
}

cudaError_t cudaMemset(void *dst, int value, size_t bytes)
{
	CALL(memset);
	return charge(COST_COPY, result(copy_wait(set(dst, value, bytes, cudaStreamLegacy))));
}

/* ---- copies of rows -------------------------------------------------------------------- */

static cudaError_t copy_rows(const struct transfer *rows, enum cudaMemcpyKind kind,
			     cudaStream_t stream)
{
	struct transfer t = *rows;

	if (t.bytes > t.dst_pitch || t.bytes > t.src_pitch)
		return cudaErrorInvalidPitchValue;
	return copy_submit(&t, kind, stream);
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
			      size_t width, size_t height, enum cudaMemcpyKind kind,
			      cudaStream_t stream)
{
	CALL(copy);
	struct transfer t = {
		.dst = dst,
		.src = src,
		.bytes = width,
		.rows = height,
		.dst_pitch = dst_pitch,
		.src_pitch = src_pitch,
	};

	return charge(COST_COPY, result(copy_rows(&t, kind, stream)));
}

cudaError_t cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
			 size_t width, size_t height, enum cudaMemcpyKind kind)
{
	CALL(copy);
	struct transfer t = {
		.dst = dst,
		.src = src,
		.bytes = width,
		.rows = height,
		.dst_pitch = dst_pitch,
		.src_pitch = src_pitch,
		.waits = true,
	};

	return charge(COST_COPY, result(copy_wait(copy_rows(&t, kind, cudaStreamLegacy))));
}

/* ---- variables of the device ----------------------------------------------------------- */

/*
 * A variable is one of the program's own that SYMBOL() has entered into the table of allocations:
 * its address names it on the host and is its address on the device.
 */
void cpudev_symbol(void *address, size_t bytes)
{
	struct allocation a = { address, bytes, cudaMemoryTypeDevice, OWNER_PROGRAM, 0 };

	/* An inline variable may come from several object files. */
	if (!allocation_overlaps(address, bytes) && !allocation_add(&a))
		starve("no memory for the table of symbols");
}

/* The variable that starts there; without bytes when there is none. */
static struct allocation find(const void *symbol)
{
	struct allocation a = allocation_find(symbol);

	return a.owner == OWNER_PROGRAM && a.base == symbol ? a : (struct allocation){ .bytes = 0 };
}

cudaError_t cudaGetSymbolAddress(void **ptr, const void *symbol)
{
	INJECT();
	struct allocation a = find(symbol);

	if (!ptr)
		return result(cudaErrorInvalidValue);
	if (!a.bytes)
		return result(cudaErrorInvalidSymbol);
	*ptr = a.base;
	return cudaSuccess;
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
	INJECT();
	struct allocation a = find(symbol);

	if (!bytes)
		return result(cudaErrorInvalidValue);
	if (!a.bytes)
		return result(cudaErrorInvalidSymbol);
	*bytes = a.bytes;
	return cudaSuccess;
}

static cudaError_t check(struct allocation a, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
			 enum cudaMemcpyKind with_host)
{
	if (!a.bytes)
		return cudaErrorInvalidSymbol;
	if (kind != with_host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (offset > a.bytes || bytes > a.bytes - offset)
		return cudaErrorInvalidValue;
	return cudaSuccess;
}

static cudaError_t to_symbol(const void *symbol, const void *src, size_t bytes, size_t offset,
			     enum cudaMemcpyKind kind, cudaStream_t stream, bool waits)
{
	struct allocation a = find(symbol);
	cudaError_t error = check(a, bytes, offset, kind, cudaMemcpyHostToDevice);

	if (error)
		return error;
	struct transfer t = {
		.dst = a.base + offset, .src = src, .bytes = bytes, .rows = 1, .waits = waits
	};

	return copy_submit(&t, kind, stream);
}

static cudaError_t from_symbol(void *dst, const void *symbol, size_t bytes, size_t offset,
			       enum cudaMemcpyKind kind, cudaStream_t stream, bool waits)
{
	struct allocation a = find(symbol);
	cudaError_t error = check(a, bytes, offset, kind, cudaMemcpyDeviceToHost);

	if (error)
		return error;
	struct transfer t = {
		.dst = dst, .src = a.base + offset, .bytes = bytes, .rows = 1, .waits = waits
	};

	return copy_submit(&t, kind, stream);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset,
			       enum cudaMemcpyKind kind)
{
	CALL(copy);
	return charge(COST_COPY, result(copy_wait(to_symbol(symbol, src, bytes, offset, kind,
							    cudaStreamLegacy, true))));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes,
				    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	CALL(copy);
	return charge(COST_COPY,
		      result(to_symbol(symbol, src, bytes, offset, kind, stream, false)));
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset,
				 enum cudaMemcpyKind kind)
{
	CALL(copy);
	return charge(COST_COPY, result(copy_wait(from_symbol(dst, symbol, bytes, offset, kind,
							      cudaStreamLegacy, true))));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes, size_t offset,
				      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	CALL(copy);
	return charge(COST_COPY,
		      result(from_symbol(dst, symbol, bytes, offset, kind, stream, false)));
}
