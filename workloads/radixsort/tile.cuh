/*
 * tile.cuh - how a block sorts what it holds by one digit of 8 bits: it counts digits, ranks its
 * keys, and puts the pairs in their order in shared memory.
 *
 * Item j of a lane is pair (warp * ITEMS + j) * 32 + lane of the tile. So loads are coalesced, and
 * the items of a warp, one after the other, are in the order of the input: ranks are stable.
 */
#ifndef RIFT_RADIXSORT_TILE_CUH
#define RIFT_RADIXSORT_TILE_CUH

#include "common/gpu.h"
#include "workloads/radixsort/device.h"

/*
 * What may be tuned, with -D (README.md says how). BLOCKS on an SM at a time are what registers
 * are bounded for: 65536 of them, 8 bytes of its 227 KiB of shared memory for each pair.
 *
 * Wide tiles cost less a pair: in shared memory 24 / ITEMS accesses for the counts of warps, in
 * global memory 4 KiB a tile and pass for looking back, and their runs of equal digits are longer.
 * Narrow ones, of fewer pairs, occupy more of the SMs.
 */
#ifndef RADIXSORT_WIDE_THREADS
#define RADIXSORT_WIDE_THREADS 384
#endif
#ifndef RADIXSORT_WIDE_ITEMS
#define RADIXSORT_WIDE_ITEMS 31
#endif
#ifndef RADIXSORT_WIDE_BLOCKS
#define RADIXSORT_WIDE_BLOCKS 2
#endif
#ifndef RADIXSORT_WIDE_LOOK /* as RADIXSORT_LOOK: 1 keeps registers for the items */
#define RADIXSORT_WIDE_LOOK 1
#endif
#ifndef RADIXSORT_WIDE_FROM /* pairs: two wide tiles for each of 132 SMs */
#define RADIXSORT_WIDE_FROM (3 << 20)
#endif
#ifndef RADIXSORT_MIDDLE_THREADS
#define RADIXSORT_MIDDLE_THREADS 512
#endif
#ifndef RADIXSORT_MIDDLE_ITEMS
#define RADIXSORT_MIDDLE_ITEMS 16
#endif
#ifndef RADIXSORT_MIDDLE_BLOCKS
#define RADIXSORT_MIDDLE_BLOCKS 2
#endif
#ifndef RADIXSORT_MIDDLE_FROM /* pairs: a tile for every other SM */
#define RADIXSORT_MIDDLE_FROM (1 << 19)
#endif
#ifndef RADIXSORT_NARROW_THREADS
#define RADIXSORT_NARROW_THREADS 256
#endif
#ifndef RADIXSORT_NARROW_ITEMS
#define RADIXSORT_NARROW_ITEMS 16
#endif
#ifndef RADIXSORT_NARROW_BLOCKS
#define RADIXSORT_NARROW_BLOCKS 4
#endif
#ifndef RADIXSORT_ONE_THREADS /* of the block that sorts a few thousand pairs alone */
#define RADIXSORT_ONE_THREADS 512
#endif
#ifndef RADIXSORT_LOOK /* earlier tiles that are looked at in one go */
#define RADIXSORT_LOOK 8
#endif
#ifndef RADIXSORT_MATCH /* 1: equal digits of a warp by match.any, not by ballots */
#define RADIXSORT_MATCH 0
#endif

static constexpr int DIGITS = RADIXSORT_DIGITS, PASSES = RADIXSORT_PASSES;

template <int THREADS_, int ITEMS_, int BLOCKS_, int LOOK_ = RADIXSORT_LOOK,
	  int MATCH_ = RADIXSORT_MATCH>
struct radixsort_shape {
	static constexpr int THREADS = THREADS_, ITEMS = ITEMS_, BLOCKS = BLOCKS_;
	static constexpr int LOOK = LOOK_, MATCH = MATCH_;
	static constexpr int WARPS = THREADS / 32, TILE = THREADS * ITEMS;
	static_assert(THREADS % 32 == 0 && THREADS >= DIGITS, "a thread for each digit");
};

#ifdef __CUDACC__
#define UNROLLED _Pragma("unroll")
#define LOAD_ONCE(p) __ldcs(p)
#else
#define UNROLLED
#define LOAD_ONCE(p) (*(p))
#endif

static const uint32_t ALL_LANES = 0xffffffff;

/* The largest key: behind the end of the input, where it is the last of its tile in each pass. */
static const uint32_t NO_KEY = 0xffffffff;

static __device__ inline uint32_t digit_of(uint32_t key, int pass)
{
#ifdef __CUDACC__
	uint32_t digit;

	asm volatile("prmt.b32 %0, %1, 0, %2;" : "=r"(digit) : "r"(key), "r"(0x4440 + pass));
	return digit;
#else
	return key >> 8 * pass & 255;
#endif
}

#ifdef __CUDACC__
/* Keeps of `peers` the lanes whose digit has this bit as the thread's own has: 3 instructions. */
template <int BIT> static __device__ inline void keep_peers(uint32_t &peers, uint32_t digit)
{
	asm volatile("{\n\t"
		     ".reg .pred has;\n\t"
		     ".reg .b32 bit, mine, all;\n\t"
		     "and.b32 bit, %1, %2;\n\t"
		     "setp.ne.b32 has, bit, 0;\n\t"
		     "selp.b32 mine, 0, -1, has;\n\t"
		     "vote.sync.ballot.b32 all, has, -1;\n\t"
		     "lop3.b32 %0, %0, all, mine, 0x60;\n\t" /* %0 & (all ^ mine) */
		     "}"
		     : "+r"(peers)
		     : "r"(digit), "n"(1 << BIT));
}
#endif

/*
 * The lanes with the same digit. Ballots need not wait for one another; on the CPU device each
 * would be a switch of threads.
 */
template <class S> static __device__ inline uint32_t peers_of(uint32_t digit)
{
#ifdef __CUDACC__
	uint32_t peers = ALL_LANES;

	if (S::MATCH)
		return __match_any_sync(ALL_LANES, digit);
	keep_peers<0>(peers, digit);
	keep_peers<1>(peers, digit);
	keep_peers<2>(peers, digit);
	keep_peers<3>(peers, digit);
	keep_peers<4>(peers, digit);
	keep_peers<5>(peers, digit);
	keep_peers<6>(peers, digit);
	keep_peers<7>(peers, digit);
	return peers;
#else
	return __match_any_sync(ALL_LANES, digit);
#endif
}

/* ---- counts ----------------------------------------------------------------------------- */

/* Of each warp: first how many of its keys have a digit, then where the next one goes. */
template <class S> struct radixsort_counts {
	uint32_t of[S::WARPS][DIGITS];
};

template <class S> static __device__ inline void counts_clear(radixsort_counts<S> &counts)
{
	for (int d = threadIdx.x % 32; d < DIGITS; d += 32)
		counts.of[threadIdx.x / 32][d] = 0;
}

/* Between clearing and this stands at least a __syncwarp(). */
template <class S>
static __device__ inline void counts_add(radixsort_counts<S> &counts,
					 const uint32_t (&key)[S::ITEMS], int pass)
{
	UNROLLED for (int j = 0; j < S::ITEMS; j++)
		atomicAdd(&counts.of[threadIdx.x / 32][digit_of(key[j], pass)], 1u);
}

/* Of the block's keys; every thread of the first 256 has its digit, the others 0. */
template <class S> static __device__ inline uint32_t counts_sum(const radixsort_counts<S> &counts)
{
	uint32_t sum = 0;

	if (threadIdx.x < DIGITS)
		UNROLLED for (int w = 0; w < S::WARPS; w++) sum += counts.of[w][threadIdx.x];
	return sum;
}

/* The sum of what threads before this one have; the first 256 get it. A barrier is within. */
static __device__ inline uint32_t sum_before(uint32_t value, uint32_t (&sums)[DIGITS / 32])
{
	uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = value;

	if (threadIdx.x < DIGITS) {
		for (int d = 1; d < 32; d *= 2) {
			uint32_t other = __shfl_up_sync(ALL_LANES, sum, d);

			sum += lane >= (uint32_t)d ? other : 0;
		}
		if (lane == 31)
			sums[warp] = sum;
	}
	__syncthreads();
	if (threadIdx.x < DIGITS)
		for (uint32_t w = 0; w < warp; w++)
			sum += sums[w];
	return sum - value;
}

/* Counts become places: warps follow each other within a digit, which begins at `start`. */
template <class S>
static __device__ inline void counts_place(radixsort_counts<S> &counts, uint32_t start)
{
	if (threadIdx.x < DIGITS)
		UNROLLED for (int w = 0; w < S::WARPS; w++)
		{
			uint32_t count = counts.of[w][threadIdx.x];

			counts.of[w][threadIdx.x] = start;
			start += count;
		}
}

/* ---- ranks ------------------------------------------------------------------------------ */

/*
 * Where each key goes in the tile, to which it is written at once: a register less for each item.
 * The last lane of each digit moves the warp's next place on; the next item does so after it, as
 * all lanes wait for what it found.
 */
template <class S>
static __device__ inline void place_keys(radixsort_counts<S> &counts, uint32_t (&room)[S::TILE],
					 const uint32_t (&key)[S::ITEMS], int pass,
					 uint32_t (&rank)[S::ITEMS])
{
	uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, lower = (1u << lane) - 1;

	UNROLLED for (int j = 0; j < S::ITEMS; j++)
	{
		uint32_t digit = digit_of(key[j], pass), peers = peers_of<S>(digit);
		uint32_t before = __popc(peers & lower), leader = 31 - __clz((int)peers);
		uint32_t first = 0;

		if (lane == leader)
			first = atomicAdd(&counts.of[warp][digit], before + 1);
		rank[j] = __shfl_sync(ALL_LANES, first, (int)leader) + before;
		room[rank[j]] = key[j];
	}
}

/* ---- items ------------------------------------------------------------------------------ */

/* The tile that begins at `from`; `none` for items beyond its first `valid`. */
template <class S>
static __device__ inline void load_items(const uint32_t *from, uint32_t valid, uint32_t none,
					 uint32_t (&item)[S::ITEMS])
{
	uint32_t at = threadIdx.x / 32 * (S::ITEMS * 32) + threadIdx.x % 32;

	if (valid >= S::TILE) {
		UNROLLED for (int j = 0; j < S::ITEMS; j++) item[j] = LOAD_ONCE(from + at + 32 * j);
		return;
	}
	UNROLLED for (int j = 0; j < S::ITEMS; j++) item[j] =
		at + 32 * j < valid ? from[at + 32 * j] : none;
}

template <class S>
static __device__ inline void place_values(uint32_t (&room)[S::TILE],
					   const uint32_t (&rank)[S::ITEMS],
					   const uint32_t (&value)[S::ITEMS])
{
	UNROLLED for (int j = 0; j < S::ITEMS; j++) room[rank[j]] = value[j];
}

#endif
