/*
 * symbol.c - variables of the device, and copies of rows. A variable is one of the program's own
 * that SYMBOL() has entered into the table of allocations: its address names it on the host and
 * is its address on the device.
 */
#include "common/cpu/base/base.h"

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
			     enum cudaMemcpyKind kind, cudaStream_t stream)
{
	struct allocation a = find(symbol);
	cudaError_t error = check(a, bytes, offset, kind, cudaMemcpyHostToDevice);

	if (error)
		return error;
	struct transfer t = { .dst = a.base + offset, .src = src, .bytes = bytes, .rows = 1 };

	return copy_submit(&t, kind, stream);
}

static cudaError_t from_symbol(void *dst, const void *symbol, size_t bytes, size_t offset,
			       enum cudaMemcpyKind kind, cudaStream_t stream)
{
	struct allocation a = find(symbol);
	cudaError_t error = check(a, bytes, offset, kind, cudaMemcpyDeviceToHost);

	if (error)
		return error;
	struct transfer t = { .dst = dst, .src = a.base + offset, .bytes = bytes, .rows = 1 };

	return copy_submit(&t, kind, stream);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset,
			       enum cudaMemcpyKind kind)
{
	INJECT();
	return charge(COST_COPY, result(copy_wait(to_symbol(symbol, src, bytes, offset, kind,
							    cudaStreamLegacy))));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes,
				    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	INJECT();
	return charge(COST_COPY, result(to_symbol(symbol, src, bytes, offset, kind, stream)));
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset,
				 enum cudaMemcpyKind kind)
{
	INJECT();
	return charge(COST_COPY, result(copy_wait(from_symbol(dst, symbol, bytes, offset, kind,
							      cudaStreamLegacy))));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes, size_t offset,
				      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	INJECT();
	return charge(COST_COPY, result(from_symbol(dst, symbol, bytes, offset, kind, stream)));
}

/* ---- rows ------------------------------------------------------------------------------- */

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
	INJECT();
	struct transfer t = { dst, src, width, height, dst_pitch, src_pitch, 0, false, false };

	return charge(COST_COPY, result(copy_rows(&t, kind, stream)));
}

cudaError_t cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
			 size_t width, size_t height, enum cudaMemcpyKind kind)
{
	INJECT();
	struct transfer t = { dst, src, width, height, dst_pitch, src_pitch, 0, false, false };

	return charge(COST_COPY, result(copy_wait(copy_rows(&t, kind, cudaStreamLegacy))));
}
