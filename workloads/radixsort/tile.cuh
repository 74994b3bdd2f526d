/*
 * tile.cuh - how a block sorts its tile by one digit of 8 bits: it counts digits, ranks its keys,
 * and stores the pairs by rank in shared memory.
 *
 * Item j of a lane is pair (warp * ITEMS + j) * 32 + lane of the tile. So loads are coalesced, and
 * the items of a warp, one after the other, are in the order of the input: ranks are stable.
 */
#ifndef RIFT_RADIXSORT_TILE_CUH
#define RIFT_RADIXSORT_TILE_CUH

#include "common/gpu.h"
#include "workloads/radixsort/device.h"
#ifdef __CUDACC__
#include <cuda_pipeline_primitives.h>
#endif

static constexpr int DIGITS = RADIXSORT_DIGITS, PASSES = RADIXSORT_PASSES;

/*
 * A tile of THREADS * ITEMS pairs. Registers are bounded so that BLOCKS fit an SM, which has 65536.
 * A pair takes 8 bytes and a warp 1 KiB of the 227 KiB of an SM's shared memory. LOOK: earlier
 * tiles that are looked at in one go.
 *
 * SPECIALIZED: the warps of 256 more threads look back for the digits while the others rank. That
 * hides most of the latency where an SM has one tile. Where it has several, these hide each other's
 * latency, and want the registers.
 */
template <int THREADS_, int ITEMS_, int BLOCKS_, int LOOK_, bool APART_ = false>
struct radixsort_shape {
	static constexpr int THREADS = THREADS_, ITEMS = ITEMS_, BLOCKS = BLOCKS_, LOOK = LOOK_;
	static constexpr bool SPECIALIZED = APART_;
	static constexpr int WARPS = THREADS / 32, TILE = THREADS * ITEMS;
	static constexpr int BLOCK = THREADS + (SPECIALIZED ? DIGITS : 0); /* threads */
	static constexpr int FIRST_DIGIT = SPECIALIZED ? THREADS : 0; /* the thread that has it */
	static constexpr bool LATE = ITEMS <= 16; /* more leave no registers for it; see pass.cuh */
	static_assert(THREADS % 32 == 0 && THREADS >= DIGITS, "a thread for each digit");
};

/* The digit that the thread counts and looks back for; it has none if this is DIGITS or more. */
template <class S> static __device__ inline uint32_t own_digit()
{
	return threadIdx.x - S::FIRST_DIGIT;
}

template <class S> static __device__ inline bool has_digit()
{
	return own_digit<S>() < DIGITS;
}

template <class S> static __device__ inline bool has_items()
{
	return !S::SPECIALIZED || threadIdx.x < S::THREADS;
}

#ifdef __CUDACC__
#define UNROLLED _Pragma("unroll")
#define LOAD_ONCE(p) __ldcs(p)
#define COPY_ASYNC(to, from) __pipeline_memcpy_async(to, from, sizeof *(to))
#define COPIES_WAIT() (__pipeline_commit(), __pipeline_wait_prior(0))
#else
#define UNROLLED
#define LOAD_ONCE(p) (*(p))
#define COPY_ASYNC(to, from) (*(to) = *(from))
#define COPIES_WAIT() ((void)0)
#endif

static const uint32_t ALL_LANES = 0xffffffff;

/* The largest key pads the last tile: in each pass it stays behind all pairs. */
static const uint32_t NO_KEY = 0xffffffff;

static __device__ inline uint32_t key_digit(uint32_t key, int pass)
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
/* Keeps of `matches` the lanes whose digit agrees with the thread's in this bit: 3 instructions. */
template <int BIT> static __device__ inline void keep_matches(uint32_t &matches, uint32_t digit)
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
		     : "+r"(matches)
		     : "r"(digit), "n"(1 << BIT));
}
#endif

/*
 * The lanes with the same digit. Ballots need not wait for one another; on the CPU device each
 * would switch threads, so there it is one intrinsic.
 */
static __device__ inline uint32_t match_digit(uint32_t digit)
{
#ifdef __CUDACC__
	uint32_t matches = ALL_LANES;

	keep_matches<0>(matches, digit);
	keep_matches<1>(matches, digit);
	keep_matches<2>(matches, digit);
	keep_matches<3>(matches, digit);
	keep_matches<4>(matches, digit);
	keep_matches<5>(matches, digit);
	keep_matches<6>(matches, digit);
	keep_matches<7>(matches, digit);
	return matches;
#else
	return __match_any_sync(ALL_LANES, digit);
#endif
}

/* ---- counts ----------------------------------------------------------------------------- */

/* For each warp and digit: first the number of its keys, then the rank of the next one. */
template <class S> struct radixsort_counts {
	uint32_t of[S::WARPS][DIGITS];
};

template <class S> static __device__ inline void counts_clear(radixsort_counts<S> &counts)
{
	for (int d = threadIdx.x % 32; d < DIGITS; d += 32)
		counts.of[threadIdx.x / 32][d] = 0;
}

/* The caller puts at least a __syncwarp() between counts_clear() and this. */
template <class S>
static __device__ inline void counts_add(radixsort_counts<S> &counts,
					 const uint32_t (&key)[S::ITEMS], int pass)
{
	UNROLLED for (int j = 0; j < S::ITEMS; j++)
		atomicAdd(&counts.of[threadIdx.x / 32][key_digit(key[j], pass)], 1u);
}

/* The number of the block's keys that have the thread's digit; 0: it has no digit. */
template <class S> static __device__ inline uint32_t counts_sum(const radixsort_counts<S> &counts)
{
	uint32_t sum = 0;

	if (has_digit<S>())
		UNROLLED for (int w = 0; w < S::WARPS; w++) sum += counts.of[w][own_digit<S>()];
	return sum;
}

/* The sum of the values of threads of lower digits. Contains a barrier. */
template <class S>
static __device__ inline uint32_t exclusive_sum(uint32_t value, uint32_t (&sums)[DIGITS / 32])
{
	uint32_t lane = threadIdx.x % 32, warp = own_digit<S>() / 32, sum = value;

	if (has_digit<S>()) {
		for (int d = 1; d < 32; d *= 2) {
			uint32_t other = __shfl_up_sync(ALL_LANES, sum, d);

			sum += lane >= (uint32_t)d ? other : 0;
		}
		if (lane == 31)
			sums[warp] = sum;
	}
	__syncthreads();
	if (has_digit<S>())
		for (uint32_t w = 0; w < warp; w++)
			sum += sums[w];
	return sum - value;
}

/* Counts become ranks: warps follow each other within a digit, which begins at `start`. */
template <class S>
static __device__ inline void counts_to_offsets(radixsort_counts<S> &counts, uint32_t start)
{
	if (has_digit<S>())
		UNROLLED for (int w = 0; w < S::WARPS; w++)
		{
			uint32_t count = counts.of[w][own_digit<S>()];

			counts.of[w][own_digit<S>()] = start;
			start += count;
		}
}

/* ---- ranks ------------------------------------------------------------------------------ */

/*
 * The item's rank in the tile: the warp's next rank of its digit, plus the number of lower lanes
 * with the same digit. The last of these lanes advances next[]; no atomic addition is needed, as no
 * other warp uses it.
 */
static __device__ inline uint32_t rank_item(uint32_t (&next)[DIGITS], uint32_t digit)
{
	uint32_t lane = threadIdx.x % 32, first = next[digit], matches = match_digit(digit);
	uint32_t rank = first + (uint32_t)__popc(matches & ((1u << lane) - 1));

	__syncwarp();
	if (!(matches & ALL_LANES << lane << 1))
		next[digit] = rank + 1;
	__syncwarp();
	return rank;
}

/* Stores each key at its rank at once, which frees its register. */
template <class S>
static __device__ inline void rank_keys(radixsort_counts<S> &counts, uint32_t (&smem)[S::TILE],
					const uint32_t (&key)[S::ITEMS], int pass,
					uint32_t (&rank)[S::ITEMS])
{
	UNROLLED for (int j = 0; j < S::ITEMS; j++)
	{
		rank[j] = rank_item(counts.of[threadIdx.x / 32], key_digit(key[j], pass));
		smem[rank[j]] = key[j];
	}
}

/* Index of a lane's first item in the tile; the next ones are 32 further on each. */
template <class S> static __device__ inline uint32_t first_item()
{
	return threadIdx.x / 32 * (S::ITEMS * 32) + threadIdx.x % 32;
}

/* Keys that all have the same digit stay where they are. */
template <class S>
static __device__ inline void rank_equal_keys(uint32_t (&smem)[S::TILE],
					      const uint32_t (&key)[S::ITEMS],
					      uint32_t (&rank)[S::ITEMS])
{
	UNROLLED for (int j = 0; j < S::ITEMS; j++)
	{
		rank[j] = first_item<S>() + 32 * j;
		smem[rank[j]] = key[j];
	}
}

/* ---- items ------------------------------------------------------------------------------ */

/* The tile that begins at `from`; NO_KEY for items beyond its first `valid`. */
template <class S>
static __device__ inline void load_items(const uint32_t *from, uint32_t valid,
					 uint32_t (&item)[S::ITEMS])
{
	uint32_t at = first_item<S>();

	if (valid >= S::TILE) {
		UNROLLED for (int j = 0; j < S::ITEMS; j++) item[j] = LOAD_ONCE(from + at + 32 * j);
		return;
	}
	UNROLLED for (int j = 0; j < S::ITEMS; j++) item[j] =
		at + 32 * j < valid ? from[at + 32 * j] : NO_KEY;
}

/*
 * Starts an asynchronous copy of the tile at `from` to shared memory: it takes no registers, and
 * runs while keys are ranked. A warp copies its own items, 16 bytes a lane, to which the arrays of
 * a slot and all tiles are aligned; 0 for items beyond the first `valid`.
 */
template <class S>
static __device__ inline void stage_items(uint32_t (&smem)[S::TILE], const uint32_t *from,
					  uint32_t valid)
{
	constexpr int VEC4S = S::ITEMS * 32 / 4; /* of a warp */
	uint32_t at = first_item<S>(), warp = at - threadIdx.x % 32;

	if (valid >= S::TILE) {
		UNROLLED for (int i = threadIdx.x % 32; i < VEC4S; i += 32)
			COPY_ASYNC((uint4 *)(smem + warp) + i, (const uint4 *)(from + warp) + i);
		return;
	}
	for (int j = 0; j < S::ITEMS; j++)
		smem[at + 32 * j] = at + 32 * j < valid ? from[at + 32 * j] : 0;
}

/* Waits for what the warp has staged and reads the items of its lanes. */
template <class S>
static __device__ inline void staged_items(const uint32_t (&smem)[S::TILE],
					   uint32_t (&item)[S::ITEMS])
{
	COPIES_WAIT();
	__syncwarp();
	UNROLLED for (int j = 0; j < S::ITEMS; j++) item[j] = smem[first_item<S>() + 32 * j];
}

template <class S>
static __device__ inline void scatter_values(uint32_t (&smem)[S::TILE],
					     const uint32_t (&rank)[S::ITEMS],
					     const uint32_t (&value)[S::ITEMS])
{
	UNROLLED for (int j = 0; j < S::ITEMS; j++) smem[rank[j]] = value[j];
}

#endif
