/*
 * pass.cuh - a pass over all pairs: each is read once and written once, to its place by one digit.
 *
 * A tile sorts what it holds (tile.cuh), finds where each digit's keys go (board.cuh) and writes
 * them there.
 *
 * Source: Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs",
 * 2022.
 */
#ifndef RIFT_RADIXSORT_PASS_CUH
#define RIFT_RADIXSORT_PASS_CUH

#include "common/cuda_check.h"
#include "common/slots.cuh"
#include "workloads/radixsort/board.cuh"
#include "workloads/radixsort/kernels.h"

#include <algorithm>

/* ---- a pass ----------------------------------------------------------------------------- */

/* Values come while keys are counted and ranked, so counts cannot have their room. */
template <class S> struct pass_room {
	uint32_t keys[S::TILE];
	alignas(16) uint32_t values[S::TILE];
	radixsort_counts<S> counts;
	uint32_t to[DIGITS]; /* from places in the tile to places in the output */
	uint32_t sums[DIGITS / 32];
	uint32_t slot;
	uint32_t alike; /* all keys of the tile have one digit */
};

/* Pairs go from the input to the room between, to the output, back between, to the output. */
struct pass_way {
	const uint32_t *from[RADIXSORT_ARRAYS];
	uint32_t *to[RADIXSORT_ARRAYS];
};

static __device__ inline pass_way way_of(const radixsort_launch &l, int pass, uint32_t slot)
{
	int64_t at = slot * l.arrays.stride;
	pass_way way;

	UNROLLED for (int k = 0; k < RADIXSORT_ARRAYS; k++)
	{
		way.from[k] =
			pass & 1 ? l.between[k] : (pass ? l.arrays.out[k] : l.arrays.in[k]) + at;
		way.to[k] = pass & 1 ? l.arrays.out[k] + at : l.between[k];
	}
	return way;
}

template <class S>
static __device__ inline void write_pair(const pass_room<S> &room, const pass_way &way, int pass,
					 uint32_t i)
{
	uint32_t key = room.keys[i], to = room.to[digit_of(key, pass)] + i;

	way.to[0][to] = key;
	way.to[1][to] = room.values[i];
}

template <class S>
static __device__ inline void write_tile(const pass_room<S> &room, const pass_way &way, int pass,
					 uint32_t valid)
{
	constexpr uint32_t WHOLE = S::TILE / S::BLOCK * S::BLOCK;

	if (valid >= S::TILE) {
		UNROLLED for (uint32_t i = 0; i < WHOLE; i += S::BLOCK)
			write_pair(room, way, pass, threadIdx.x + i);
		for (uint32_t i = WHOLE + threadIdx.x; i < S::TILE; i += S::BLOCK)
			write_pair(room, way, pass, i);
		return;
	}
	for (uint32_t i = threadIdx.x; i < valid; i += S::BLOCK)
		write_pair(room, way, pass, i);
}

/* What the thread that has a digit knows of it. */
struct tile_digit {
	uint32_t count;	 /* keys of the tile */
	uint32_t start;	 /* the first of these in the tile */
	uint32_t before; /* of the first tile: the first of these in the output */
};

/* Finds where the tile's keys of the thread's digit go. */
template <class S>
static __device__ inline void direct(pass_room<S> &room, uint32_t *words, uint32_t tile,
				     const tile_digit &d)
{
	uint32_t before = d.before;

	if (!has_digit<S>())
		return;
	if (tile) {
		before = look_back<S>(words, tile);
		publish<S>(words, tile, WITH_ALL_BEFORE, before + d.count);
	}
	room.to[own_digit<S>()] = before - d.start;
}

/*
 * No launch of a sort counts a step but the last, so the slot stands when the first launch has been
 * waited for: it is asked for before the launch before this one ends, as nothing else can be. Of
 * the first pass, which reads the input, more can: it is `late` to wait.
 */
template <class S>
static __device__ inline pass_way open_room(pass_room<S> &room, const radixsort_launch &l, int pass,
					    bool late)
{
	if (!threadIdx.x) {
		room.slot = slots_step_now(l.counter) % l.slots;
		room.alike = 0;
	}
	if (has_items<S>())
		counts_clear(room.counts);
	__syncthreads();
	if (!late)
		programmatic_wait();
	return way_of(l, pass, room.slot);
}

/* Counts the keys of each digit. */
template <class S>
static __device__ inline void count_tile(pass_room<S> &room, const uint32_t (&key)[S::ITEMS],
					 int pass, tile_digit &d)
{
	if (has_items<S>())
		counts_add(room.counts, key, pass);
	__syncthreads();
	d.count = counts_sum(room.counts);
	if (d.count == S::TILE)
		room.alike = 1;
}

template <class S>
static __device__ inline void place_tile(pass_room<S> &room, const uint32_t (&key)[S::ITEMS],
					 int pass, uint32_t (&rank)[S::ITEMS])
{
	if (room.alike)
		place_alike<S>(room.keys, key, rank);
	else
		place_keys(room.counts, room.keys, key, pass, rank);
}

/* What the tiles behind wait for. */
template <class S>
static __device__ inline void make_known(uint32_t *words, uint32_t tile, const tile_digit &d)
{
	publish<S>(words, tile, tile ? OWN : WITH_ALL_BEFORE, d.before + d.count);
}

/*
 * The tile's counts become known before its keys are ranked, which takes longer than all else, as
 * the blocks behind wait for the former only; not so where it is late to wait. Its values come
 * meanwhile; each thread takes its own before any is put in its place.
 */
template <class S>
__global__ void __launch_bounds__(S::BLOCK, S::BLOCKS) radixsort_pass(radixsort_launch l, int pass)
{
	DYN_SHARED(pass_room<S>, room);
	bool late = l.overlaps && !pass && S::LATE;
	pass_way way = open_room(*room, l, pass, late);
	uint32_t *words = words_of(l, pass, S::TILE), tile = blockIdx.x, at = tile * S::TILE;
	uint32_t key[S::ITEMS], rank[S::ITEMS], value[S::ITEMS];
	tile_digit d = { 0, 0, 0 };

	if (has_items<S>()) {
		load_items<S>(way.from[0] + at, l.n - at, key);
		stage_items<S>(room->values, way.from[1] + at, l.n - at);
	}
	if (!tile && !late)
		d.before = take_lower_keys<S>(l.board, pass, room->sums);
	if (pass == PASSES - 1 && l.advance)
		slots_advance(l.counter, 1);
	count_tile(*room, key, pass, d);
	if (!late)
		make_known<S>(words, tile, d);
	d.start = sum_before<S>(d.count, room->sums);
	counts_place(room->counts, d.start);
	__syncthreads();
	if (has_items<S>()) {
		place_tile(*room, key, pass, rank);
		take_items<S>(room->values, value);
	}
	if (late) {
		programmatic_wait();
		if (!tile)
			d.before = take_lower_keys<S>(l.board, pass, room->sums);
		make_known<S>(words, tile, d);
	}
	if (S::APART)
		direct(*room, words, tile, d);
	__syncthreads();
	if (!S::APART)
		direct(*room, words, tile, d);
	if (has_items<S>())
		place_values<S>(room->values, rank, value);
	__syncthreads();
	programmatic_go();
	write_tile(*room, way, pass, l.n - at);
}

/* ---- for the host ----------------------------------------------------------------------- */

template <class S> static int64_t radixsort_tiles(int64_t n)
{
	return (n + S::TILE - 1) / S::TILE;
}

/* Of all passes. */
template <class S> static int64_t radixsort_words(int64_t n)
{
	return PASSES * radixsort_tiles<S>(n) * DIGITS;
}

template <class S> static int64_t radixsort_board_bytes_of(int64_t n)
{
	return (int64_t)sizeof(struct radixsort_board) +
	       radixsort_words<S>(n) * (int64_t)sizeof(uint32_t);
}

/*
 * Shared memory of a block. Where there is an SM for every tile, tiles of launches that overlap
 * want one to themselves, or the first SM that is ready would take two.
 */
template <class S> static size_t radixsort_room_bytes(const struct radixsort_launch *l)
{
	bool alone = l->overlaps && radixsort_tiles<S>(l->n) <= l->processors;

	return std::max(sizeof(pass_room<S>), (size_t)(alone ? l->alone_bytes : 0));
}

/* Shared memory beyond 48 KiB has to be asked for. */
template <class S> static void radixsort_load_pass(const struct radixsort_launch *l)
{
	CUDA(cudaFuncSetAttribute((const void *)radixsort_pass<S>,
				  cudaFuncAttributeMaxDynamicSharedMemorySize,
				  (int)radixsort_room_bytes<S>(l)));
}

/* Enqueues a sort: a launch that counts, and the passes. */
template <class S>
static void radixsort_sort_by(const struct radixsort_launch *l, cudaStream_t stream)
{
	radixsort_count_digits(l, (uint32_t)radixsort_words<S>(l->n), stream);
	for (int pass = 0; pass < PASSES; pass++)
		CUDA(LAUNCH_PROGRAMMATIC(l->overlaps, radixsort_pass<S>,
					 (uint32_t)radixsort_tiles<S>(l->n), S::BLOCK,
					 radixsort_room_bytes<S>(l), stream, *l, pass));
}

#endif
