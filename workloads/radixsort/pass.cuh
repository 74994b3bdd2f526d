/*
 * pass.cuh - a pass over all pairs: each is read once and written once, where one digit puts it.
 *
 * A tile sorts what it holds (tile.cuh), finds where each digit's keys go (look_back.cuh) and
 * writes them there. kernels.cu has it in pseudo-code.
 *
 * Source: Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs",
 * 2022.
 */
#ifndef RIFT_RADIXSORT_PASS_CUH
#define RIFT_RADIXSORT_PASS_CUH

#include "common/cuda_check.h"
#include "common/slots.cuh"
#include "workloads/radixsort/look_back.cuh"
#include "workloads/radixsort/kernels.h"

#include <algorithm>

/* ---- a pass ----------------------------------------------------------------------------- */

/* Values arrive while keys are counted and ranked, so counts cannot share their memory. */
template <class S> struct pass_smem {
	uint32_t keys[S::TILE];
	alignas(16) uint32_t values[S::TILE];
	radixsort_counts<S> counts;
	uint32_t offset[DIGITS]; /* index in the output less rank in the tile */
	uint32_t sums[DIGITS / 32];
	uint32_t slot;
	uint32_t one_digit; /* all keys of the tile have one digit */
};

/* Pairs go from the input to the workspace, to the output, to the workspace, to the output. */
struct pass_buffers {
	const uint32_t *from[RADIXSORT_ARRAYS];
	uint32_t *to[RADIXSORT_ARRAYS];
};

static __device__ inline pass_buffers choose_buffers(const radixsort_launch &l, int pass,
						     uint32_t slot)
{
	int64_t at = slot * l.arrays.stride;
	pass_buffers buffers;

	UNROLLED for (int k = 0; k < RADIXSORT_ARRAYS; k++)
	{
		buffers.from[k] =
			pass & 1 ? l.between[k] : (pass ? l.arrays.out[k] : l.arrays.in[k]) + at;
		buffers.to[k] = pass & 1 ? l.arrays.out[k] + at : l.between[k];
	}
	return buffers;
}

template <class S>
static __device__ inline void scatter_pair(const pass_smem<S> &smem, const pass_buffers &buffers,
					   int pass, uint32_t i)
{
	uint32_t key = smem.keys[i], to = smem.offset[key_digit(key, pass)] + i;

	buffers.to[0][to] = key;
	buffers.to[1][to] = smem.values[i];
}

template <class S>
static __device__ inline void scatter_tile(const pass_smem<S> &smem, const pass_buffers &buffers,
					   int pass, uint32_t valid)
{
	constexpr uint32_t WHOLE = S::TILE / S::BLOCK * S::BLOCK;

	if (valid >= S::TILE) {
		UNROLLED for (uint32_t i = 0; i < WHOLE; i += S::BLOCK)
			scatter_pair(smem, buffers, pass, threadIdx.x + i);
		for (uint32_t i = WHOLE + threadIdx.x; i < S::TILE; i += S::BLOCK)
			scatter_pair(smem, buffers, pass, i);
		return;
	}
	for (uint32_t i = threadIdx.x; i < valid; i += S::BLOCK)
		scatter_pair(smem, buffers, pass, i);
}

/* A digit of the tile, as its thread has it in registers. */
struct tile_digit {
	uint32_t count;	 /* keys of the tile */
	uint32_t start;	 /* rank of the first of these in the tile */
	uint32_t before; /* first tile only: index of the first of these in the output */
};

/* Finds where the tile's keys of the thread's digit go, and publishes the inclusive prefix. */
template <class S>
static __device__ inline void find_offsets(pass_smem<S> &smem, uint32_t *statuses, uint32_t tile,
					   const tile_digit &d)
{
	uint32_t before = d.before;

	if (!has_digit<S>())
		return;
	if (tile) {
		before = look_back<S>(statuses, tile);
		publish_status<S>(statuses, tile, INCLUSIVE_PREFIX, before + d.count);
	}
	smem.offset[own_digit<S>()] = before - d.start;
}

/*
 * Only the last launch of a sort counts the step. So the slot is settled once the first launch has
 * been waited for, and can be read before the preceding launch ends; nothing else can. The first
 * pass reads the input, which is there already: it waits `late`, for the counts alone.
 */
template <class S>
static __device__ inline pass_buffers begin_pass(pass_smem<S> &smem, const radixsort_launch &l,
						 int pass, bool late)
{
	if (!threadIdx.x) {
		smem.slot = slots_step_now(l.counter) % l.slots;
		smem.one_digit = 0;
	}
	if (has_items<S>())
		counts_clear(smem.counts);
	__syncthreads();
	if (!late)
		programmatic_wait();
	return choose_buffers(l, pass, smem.slot);
}

/* Counts the keys of each digit. */
template <class S>
static __device__ inline void count_tile(pass_smem<S> &smem, const uint32_t (&key)[S::ITEMS],
					 int pass, tile_digit &d)
{
	if (has_items<S>())
		counts_add(smem.counts, key, pass);
	__syncthreads();
	d.count = counts_sum(smem.counts);
	if (d.count == S::TILE)
		smem.one_digit = 1;
}

template <class S>
static __device__ inline void rank_tile(pass_smem<S> &smem, const uint32_t (&key)[S::ITEMS],
					int pass, uint32_t (&rank)[S::ITEMS])
{
	if (smem.one_digit)
		rank_equal_keys<S>(smem.keys, key, rank);
	else
		rank_keys(smem.counts, smem.keys, key, pass, rank);
}

/* Publishes what later tiles wait for. */
template <class S>
static __device__ inline void publish_counts(uint32_t *statuses, uint32_t tile, const tile_digit &d)
{
	publish_status<S>(statuses, tile, tile ? AGGREGATE : INCLUSIVE_PREFIX, d.before + d.count);
}

/*
 * Ranking takes longer than all else, and later blocks wait for counts only: so counts are
 * published before keys are ranked, except where the pass waits late. Values arrive meanwhile; each
 * thread reads its own before any is stored at its rank.
 */
template <class S>
__global__ void __launch_bounds__(S::BLOCK, S::BLOCKS) radixsort_pass(radixsort_launch l, int pass)
{
	DYN_SHARED(pass_smem<S>, smem);
	bool late = l.pdl && !pass && S::LATE;
	pass_buffers buffers = begin_pass(*smem, l, pass, late);
	uint32_t *statuses = tile_statuses(l, pass, S::TILE), tile = blockIdx.x,
		 at = tile * S::TILE;
	uint32_t key[S::ITEMS], rank[S::ITEMS], value[S::ITEMS];
	tile_digit d = { 0, 0, 0 };

	if (has_items<S>()) {
		load_items<S>(buffers.from[0] + at, l.n - at, key);
		stage_items<S>(smem->values, buffers.from[1] + at, l.n - at);
	}
	if (!tile && !late)
		d.before = scan_digit_counts<S>(l.board, pass, smem->sums);
	if (pass == PASSES - 1 && l.advance)
		slots_advance(l.counter, 1);
	count_tile(*smem, key, pass, d);
	if (!late)
		publish_counts<S>(statuses, tile, d);
	d.start = exclusive_sum<S>(d.count, smem->sums);
	counts_to_offsets(smem->counts, d.start);
	__syncthreads();
	if (has_items<S>()) {
		rank_tile(*smem, key, pass, rank);
		staged_items<S>(smem->values, value);
	}
	if (late) {
		programmatic_wait();
		if (!tile)
			d.before = scan_digit_counts<S>(l.board, pass, smem->sums);
		publish_counts<S>(statuses, tile, d);
	}
	if (S::SPECIALIZED)
		find_offsets(*smem, statuses, tile, d);
	__syncthreads();
	if (!S::SPECIALIZED)
		find_offsets(*smem, statuses, tile, d);
	if (has_items<S>())
		scatter_values<S>(smem->values, rank, value);
	__syncthreads();
	programmatic_go();
	scatter_tile(*smem, buffers, pass, l.n - at);
}

/* ---- for the host ----------------------------------------------------------------------- */

template <class S> static int64_t radixsort_tiles(int64_t n)
{
	return (n + S::TILE - 1) / S::TILE;
}

/* Words of the tile statuses of all passes. */
template <class S> static int64_t radixsort_status_words(int64_t n)
{
	return PASSES * radixsort_tiles<S>(n) * DIGITS;
}

template <class S> static int64_t radixsort_board_bytes_of(int64_t n)
{
	return (int64_t)sizeof(struct radixsort_board) +
	       radixsort_status_words<S>(n) * (int64_t)sizeof(uint32_t);
}

/*
 * Shared memory of a block. Where there is an SM for every tile, a programmatic dependent launch
 * asks for so much that a block has an SM to itself: the first SM that is ready would else get two.
 */
template <class S> static size_t radixsort_smem_bytes(const struct radixsort_launch *l)
{
	bool alone = l->pdl && radixsort_tiles<S>(l->n) <= l->processors;

	return std::max(sizeof(pass_smem<S>), (size_t)(alone ? l->alone_bytes : 0));
}

/* Shared memory beyond 48 KiB has to be asked for. */
template <class S> static void radixsort_load_pass(const struct radixsort_launch *l)
{
	CUDA(cudaFuncSetAttribute((const void *)radixsort_pass<S>,
				  cudaFuncAttributeMaxDynamicSharedMemorySize,
				  (int)radixsort_smem_bytes<S>(l)));
}

/* Enqueues a sort: a launch that counts, and the passes. */
template <class S>
static void radixsort_sort_by(const struct radixsort_launch *l, cudaStream_t stream)
{
	radixsort_count_digits(l, (uint32_t)radixsort_status_words<S>(l->n), stream);
	for (int pass = 0; pass < PASSES; pass++)
		CUDA(LAUNCH_PROGRAMMATIC(l->pdl, radixsort_pass<S>,
					 (uint32_t)radixsort_tiles<S>(l->n), S::BLOCK,
					 radixsort_smem_bytes<S>(l), stream, *l, pass));
}

#endif
