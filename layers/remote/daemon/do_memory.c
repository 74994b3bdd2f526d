/* do_memory.c - a daemon's commands about memory: given out, copied, set. */
#include "layers/remote/daemon/session.h"

#include <cuda_runtime_api.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096 };

/* ---- given out ---------------------------------------------------------------------------- */

bool memory_may_take(struct session *s, uint64_t bytes)
{
	hosts_settle(s);
	return bytes <= s->memory_max - s->memory_bytes && s->regions.n < REMOTE_REGIONS;
}

/* Enters it for the client, or gives it back. */
static int hand_out(struct session *s, struct request *r, void *memory, uint64_t bytes)
{
	struct region piece = { word_of(memory), bytes, REGION_DEVICE };

	if (memory && !regions_add(&s->regions, piece)) {
		cudaFree(memory);
		return cudaErrorMemoryAllocation;
	}
	if (memory)
		s->memory_bytes += bytes;
	answer_put(r, &piece.base, sizeof(piece.base));
	return 0;
}

int do_malloc(struct session *s, struct request *r)
{
	void *memory = NULL;
	int err = cudaErrorMemoryAllocation;

	if (memory_may_take(s, r->word[0]))
		err = s->order ? order_malloc(s, &memory, r->word[0])
			       : (int)cudaMalloc(&memory, r->word[0]);
	return err ? err : hand_out(s, r, memory, r->word[0]);
}

int do_malloc_async(struct session *s, struct request *r)
{
	cudaStream_t stream;
	void *memory = NULL;
	int err = session_stream(s, r->word[1], &stream);

	if (err)
		return err;
	if (!memory_may_take(s, r->word[0]))
		return cudaErrorMemoryAllocation;
	err = (int)cudaMallocAsync(&memory, r->word[0], stream);
	return err ? err : hand_out(s, r, memory, r->word[0]);
}

/* A hint, and the pool is the process's: where that is shared, it keeps nothing. */
int do_pool_keep(struct session *s, struct request *r)
{
	if (s->order && s->backend->keep)
		return 0;
	return s->backend->keep ? s->backend->keep(r->word[0]) : (int)cudaErrorNotSupported;
}

int do_pool_trim(struct session *s, struct request *r)
{
	return s->backend->trim ? s->backend->trim(r->word[0]) : (int)cudaErrorNotSupported;
}

/* The piece of that kind which begins there. */
static struct region *find_piece(struct session *s, uint64_t base, enum region_kind kind)
{
	struct region *found = regions_find(&s->regions, base);

	return found && found->base == base && found->kind == kind ? found : NULL;
}

static void forget(struct session *s, struct region *piece)
{
	s->memory_bytes -= piece->bytes;
	regions_remove(&s->regions, piece);
}

int do_free(struct session *s, struct request *r)
{
	struct region *piece = find_piece(s, r->word[0], REGION_DEVICE);
	int err;

	if (r->word[0] && !piece)
		return cudaErrorInvalidValue;
	err = s->order ? order_free(s, pointer_of(r->word[0]))
		       : (int)cudaFree(pointer_of(r->word[0]));
	if (!err && piece)
		forget(s, piece);
	return err;
}

int do_free_async(struct session *s, struct request *r)
{
	struct region *piece = find_piece(s, r->word[0], REGION_DEVICE);
	cudaStream_t stream;
	int err = session_stream(s, r->word[1], &stream);

	if (err)
		return err;
	if (r->word[0] && !piece)
		return cudaErrorInvalidValue;
	err = (int)cudaFreeAsync(pointer_of(r->word[0]), stream);
	if (!err && piece)
		forget(s, piece);
	return err;
}

/* Where pinned memory is not shared, its addresses are without access but for pieces that the
 * client has a copy of. Both begin with zeros. */
static int map_pages(const struct region *piece, int access)
{
	uint64_t pages = (piece->bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	void *got = mmap(pointer_of(piece->base), pages, access,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

	return got == MAP_FAILED ? (int)cudaErrorMemoryAllocation : 0;
}

static int begin_mirror(const struct session *s, const struct region *piece)
{
	int err;

	if (!s->mirrors)
		return 0;
	err = map_pages(piece, PROT_READ | PROT_WRITE);
	if (err || mirrors_add(s->mirrors, piece->base, piece->bytes))
		return err;
	map_pages(piece, PROT_NONE);
	return cudaErrorMemoryAllocation;
}

static void end_mirror(const struct session *s, const struct region *piece)
{
	if (!s->mirrors)
		return;
	mirrors_remove(s->mirrors, piece->base);
	map_pages(piece, PROT_NONE);
}

/* Whole pages of the memory that both sides have mapped. */
int do_pin(struct session *s, struct request *r)
{
	struct region piece = { r->word[0], r->word[1], REGION_PINNED };
	uint64_t offset = piece.base - s->pinned_base;
	int err;

	if (!piece.bytes || piece.base % PAGE_BYTES || offset >= REMOTE_PINNED_BYTES ||
	    piece.bytes > REMOTE_PINNED_BYTES - offset)
		return cudaErrorInvalidValue;
	if (!memory_may_take(s, piece.bytes) || !regions_add(&s->regions, piece))
		return cudaErrorMemoryAllocation;
	err = begin_mirror(s, &piece);
	if (!err) {
		err = (int)cudaHostRegister(pointer_of(piece.base), piece.bytes,
					    cudaHostRegisterMapped | cudaHostRegisterPortable);
		if (err)
			end_mirror(s, &piece);
	}
	if (err)
		regions_remove(&s->regions, regions_find(&s->regions, piece.base));
	else
		s->memory_bytes += piece.bytes;
	return err;
}

int do_unpin(struct session *s, struct request *r)
{
	struct region *piece = find_piece(s, r->word[0], REGION_PINNED);
	int err;

	if (!piece)
		return cudaErrorInvalidValue;
	err = (int)cudaHostUnregister(pointer_of(piece->base));
	if (!err) {
		end_mirror(s, piece);
		forget(s, piece);
	}
	return err;
}

int do_mem_info(struct session *s, struct request *r)
{
	size_t left = 0, total = 0;
	uint64_t allowed = (hosts_settle(s), s->memory_max - s->memory_bytes);
	int err = (int)cudaMemGetInfo(&left, &total);
	uint64_t answer[2] = { left < allowed ? left : allowed,
			       total < s->memory_max ? total : s->memory_max };

	answer_put(r, answer, sizeof(answer));
	return err;
}

/* ---- copies ------------------------------------------------------------------------------- */

static bool holds_rows(const struct session *s, uint64_t base, uint64_t height, uint64_t pitch,
		       uint64_t width)
{
	return regions_hold(&s->regions, base, rows_extent(height, pitch, width)) != NULL;
}

int memory_copy(struct session *s, const struct remote_rows *rows, int kind, uint64_t where)
{
	void *dst = pointer_of(rows->dst), *src = pointer_of(rows->src);
	enum cudaMemcpyKind k = (enum cudaMemcpyKind)kind;
	cudaStream_t stream;
	int err;

	if (where == REMOTE_WAITS && !s->order)
		return (int)(rows->height == 1
				     ? cudaMemcpy(dst, src, rows->width, k)
				     : cudaMemcpy2D(dst, rows->dst_pitch, src, rows->src_pitch,
						    rows->width, rows->height, k));
	err = session_stream(s, where == REMOTE_WAITS ? 0 : where, &stream);
	if (err)
		return err;
	err = (int)(rows->height == 1
			    ? cudaMemcpyAsync(dst, src, rows->width, k, stream)
			    : cudaMemcpy2DAsync(dst, rows->dst_pitch, src, rows->src_pitch,
						rows->width, rows->height, k, stream));
	return err || where != REMOTE_WAITS ? err : (int)cudaStreamSynchronize(stream);
}

int do_copy(struct session *s, struct request *r)
{
	const struct remote_rows rows = { r->word[0], r->word[1], r->word[2],
					  r->word[3], r->word[4], r->word[5] };

	if (r->word[6] > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (!holds_rows(s, rows.dst, rows.height, rows.dst_pitch, rows.width) ||
	    !holds_rows(s, rows.src, rows.height, rows.src_pitch, rows.width))
		return cudaErrorInvalidValue;
	return memory_copy(s, &rows, (int)r->word[6], r->word[7]);
}

/* A graph would read or write the block at each launch, when others use it. */
static int refuse_in_capture(const struct session *s, uint64_t where)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	cudaStream_t stream;
	int err;

	if (where == REMOTE_WAITS)
		return 0;
	err = session_find_stream(s, where, &stream);
	err = err ? err : (int)cudaStreamIsCapturing(stream, &status);
	return err || status == cudaStreamCaptureStatusNone ? err : cudaErrorNotSupported;
}

/* The words of a copy by way of a block: the client's memory, its pitch, width, height | block <<
 * 32. The rows lie in the block without gaps. NULL: they do not fit, or the memory is not its own.
 */
static uint8_t *block_of(const struct session *s, const struct request *r, uint8_t *blocks)
{
	uint64_t width = r->word[2], height = low_of(r->word[3]), block = high_of(r->word[3]), all;

	if (block >= REMOTE_BLOCKS || !width || !height || r->word[1] < width ||
	    __builtin_mul_overflow(width, height, &all) || all > s->block_bytes ||
	    !holds_rows(s, r->word[0], height, r->word[1], width))
		return NULL;
	return blocks + block * s->block_bytes;
}

/* CUDA has read memory that is not pinned when the call returns; pinned blocks are waited for. */
static int free_block(const struct session *s, uint64_t where)
{
	cudaStream_t stream;

	if (!s->pinned_blocks || where == REMOTE_WAITS || session_find_stream(s, where, &stream))
		return 0;
	return (int)cudaStreamSynchronize(stream);
}

int do_copy_in(struct session *s, struct request *r)
{
	const uint8_t *block = block_of(s, r, s->in);
	const struct remote_rows rows = { r->word[0], r->word[1], word_of(block),
					  r->word[2], r->word[2], low_of(r->word[3]) };
	int err = block ? refuse_in_capture(s, r->word[4]) : cudaErrorInvalidValue;

	err = err ? err : memory_copy(s, &rows, cudaMemcpyDefault, r->word[4]);
	return err ? err : free_block(s, r->word[4]);
}

int do_copy_inline(struct session *s, struct request *r)
{
	const struct remote_rows rows = { r->word[0],	    r->payload_bytes, word_of(r->payload),
					  r->payload_bytes, r->payload_bytes, 1 };
	int err = holds_rows(s, rows.dst, 1, 0, rows.width) ? refuse_in_capture(s, r->word[1])
							    : cudaErrorInvalidValue;

	return err ? err : memory_copy(s, &rows, cudaMemcpyDefault, r->word[1]);
}

int do_copy_out(struct session *s, struct request *r)
{
	uint8_t *block = block_of(s, r, s->out);
	const struct remote_rows rows = { word_of(block), r->word[2], r->word[0],
					  r->word[1],	  r->word[2], low_of(r->word[3]) };
	int err = block ? refuse_in_capture(s, r->word[4]) : cudaErrorInvalidValue;
	cudaStream_t stream;

	err = err ? err : memory_copy(s, &rows, cudaMemcpyDefault, r->word[4]);
	if (!err && r->word[4] != REMOTE_WAITS && !session_find_stream(s, r->word[4], &stream))
		err = (int)cudaStreamSynchronize(stream);
	return err;
}

int do_set(struct session *s, struct request *r)
{
	void *dst = pointer_of(r->word[0]);
	int value = (int)r->word[1];
	uint64_t bytes = r->word[2];
	bool waits = r->word[3] == REMOTE_WAITS;
	cudaStream_t stream;
	int err;

	if (bytes && !regions_hold(&s->regions, r->word[0], bytes))
		return cudaErrorInvalidValue;
	if (waits && !s->order)
		return (int)cudaMemset(dst, value, bytes);
	err = session_stream(s, waits ? 0 : r->word[3], &stream);
	err = err ? err : (int)cudaMemsetAsync(dst, value, bytes, stream);
	return err || !waits ? err : (int)cudaStreamSynchronize(stream);
}
