/*
 * kernels_long.cu - banded alignment of long pairs, 4 to 32 lanes per pair.
 *
 * In pseudo-code, for each group of lanes, until the list is empty:
 *
 *   k = a first guess of the distance
 *   repeat: band = diagonals that every alignment of cost k stays on
 *     for each strip of 32 rows per lane (long_strip.cuh): the lanes sweep its columns as a
 *       wavefront, lane g being g columns behind lane 0; the last lane's horizontal steps are kept
 *       for the strip below; with CIGARs every cell leaves two bits of trace
 *     until distance <= k; else k = a larger cost
 *   with CIGARs: all lanes walk back through the trace (long_walk.cuh) and store the runs
 *
 * The naive version that it is tested against is alignment_distance() and alignment_path() of
 * reference.c. Where a trace does not fit the workspace, another kernel computes strips a second
 * time (long_kept.cuh).
 */
#include "workloads/alignment/kernels.h"

#include "workloads/alignment/long_bands.cuh"
#include "workloads/alignment/long_kept.cuh"

/* The next pair of the list that is still to be done; ALIGN_UNKNOWN: there is none. */
static __device__ inline uint32_t long_next_pair(const struct alignment_part &part)
{
	for (;;) {
		uint32_t next = atomicAdd(&part.counters->fetched, 1u), pair;

		if (next >= part.counters->listed[ALIGN_L])
			return ALIGN_UNKNOWN;
		pair = part.list[ALIGN_L][next];
		if (part.result[pair].status == ALIGN_NOT_DONE)
			return pair;
	}
}

/* Lane 0 fetches for all; false: there is none. */
template <int G>
static __device__ inline bool long_fetch_pair(const struct alignment_part &part,
					      struct long_task &t)
{
	uint32_t pair = t.lane ? 0 : long_next_pair(part);

	t.pair = __shfl_sync(t.lanes, pair, 0, G);
	if (t.pair == ALIGN_UNKNOWN)
		return false;
	long_load_pair(part, t);
	return true;
}

/* Does the trace of a band of cost k fit the workspace? */
template <int G, int NW, bool CIGAR>
static __device__ inline bool long_fits(const struct alignment_part &part, struct long_task &t,
					int k)
{
	const struct alignment_shape shape = { G, NW };

	return !CIGAR || alignment_long_words(shape, t.m, t.n, k, true) <= part.long_words;
}

/* Do the edges below all strips and the trace of one fit? Sets where they are. */
template <int G, int NW, bool CIGAR>
static __device__ inline bool long_fits(const struct alignment_part &part, struct kept_task &t,
					int k)
{
	const struct alignment_shape shape = { G, NW };
	uint64_t row = alignment_kept_row(shape, t.m, t.n, k);

	t.row = row / 2;
	t.trace = t.edge + t.row * alignment_strip_count(shape, t.m);
	return alignment_kept_words(shape, t.m, t.n, k) <= part.kept_words;
}

template <int G, int NW, bool CIGAR, class TASK>
static __device__ struct long_outcome long_distance(const struct alignment_part &part, TASK &t)
{
	struct long_outcome out;

	for (int k = long_first(part, t, out); k >= 0;) {
		if (!long_fits<G, NW, CIGAR>(part, t, k)) {
			out.status = ALIGN_OUT_OF_MEMORY;
			break;
		}
		t.band = alignment_cost_band(t.m, t.n, k);
		k = long_next_band(part, t, k, long_forward<G, NW, CIGAR>(t), out);
	}
	return out;
}

template <int G, int NW, bool CIGAR>
static __device__ inline void long_list(const struct alignment_part &part)
{
	uint32_t group = threadIdx.x / G, in_warp = threadIdx.x % 32 / G;
	uint32_t *slice =
		part.workspace + (blockIdx.x * (blockDim.x / G) + group) * part.long_words;
	struct long_task t;

	t.lane = (int)(threadIdx.x % G);
	t.lanes = (G == 32 ? 0xffffffffu : (1u << G % 32) - 1) << in_warp * G;
	while (long_fetch_pair<G>(part, t)) {
		t.edge = (uint2 *)slice;
		t.trace = t.edge + alignment_edge_words(t.n);
		long_finish<G, NW, CIGAR>(part, t, long_distance<G, NW, CIGAR>(part, t));
		__syncwarp(t.lanes);
	}
}

/* ---- traces that do not fit ------------------------------------------------------------- */

/* One warp per pair, for pairs of the list whose trace did not fit. */
extern "C" __global__ void __launch_bounds__(32, 16) alignment_long_kept(struct alignment_part part)
{
	struct kept_task t;

	t.lane = (int)threadIdx.x;
	t.lanes = 0xffffffff;
	t.edge = (uint2 *)(part.workspace + blockIdx.x * part.kept_words);
	for (uint32_t i = blockIdx.x; i < part.counters->listed[ALIGN_L]; i += gridDim.x) {
		uint32_t status = 0;

		t.pair = part.list[ALIGN_L][i];
		if (t.lane == 0)
			status = part.result[t.pair].status;
		if (__shfl_sync(t.lanes, status, 0) != ALIGN_OUT_OF_MEMORY)
			continue;
		long_load_pair(part, t);
		long_finish<32, 1, true>(part, t, long_distance<32, 1, false>(part, t));
		__syncwarp();
	}
}
KERNEL(alignment_long_kept);

const void *alignment_kept_kernel(void)
{
	return (const void *)alignment_long_kept;
}

/* ---- the others ------------------------------------------------------------------------- */

#define LONG_KERNEL(name, lanes, words, cigar)                                                     \
	extern "C" __global__ void __launch_bounds__(ALIGN_LONG_THREADS, 4)                        \
		alignment_long_##name(struct alignment_part part)                                  \
	{                                                                                          \
		long_list<lanes, words, cigar>(part);                                              \
	}                                                                                          \
	KERNEL(alignment_long_##name)

LONG_KERNEL(4_distance, 4, 1, false);
LONG_KERNEL(8_distance, 8, 1, false);
LONG_KERNEL(16_distance, 16, 1, false);
LONG_KERNEL(32_distance, 32, 1, false);
LONG_KERNEL(32x4_distance, 32, 4, false);
LONG_KERNEL(4_cigar, 4, 1, true);
LONG_KERNEL(8_cigar, 8, 1, true);
LONG_KERNEL(16_cigar, 16, 1, true);
LONG_KERNEL(32_cigar, 32, 1, true);
LONG_KERNEL(32x4_cigar, 32, 4, true);

const void *alignment_long_kernel(enum alignment_strip strip, bool cigar)
{
	static const void *const table[ALIGN_STRIPS][2] = {
		{ (const void *)alignment_long_4_distance, (const void *)alignment_long_4_cigar },
		{ (const void *)alignment_long_8_distance, (const void *)alignment_long_8_cigar },
		{ (const void *)alignment_long_16_distance, (const void *)alignment_long_16_cigar },
		{ (const void *)alignment_long_32_distance, (const void *)alignment_long_32_cigar },
		{ (const void *)alignment_long_32x4_distance,
		  (const void *)alignment_long_32x4_cigar },
	};

	return table[strip][cigar];
}
