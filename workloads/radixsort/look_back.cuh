/*
 * look_back.cuh - decoupled look-back over tile statuses, and the scan of the bins of all keys.
 *
 * In a pass a tile must know how many keys of each digit earlier tiles hold. Each tile publishes
 * its own counts at once as its aggregate. Then it adds up those of the tiles before it until it
 * meets one with an inclusive prefix (decoupled look-back). A status is one word, the count and
 * which of the two it is, so no other memory has to be seen with it: relaxed accesses do. A block
 * has the tile of its index and waits only for lower ones. GPUs start these first, and so does the
 * CPU device (rule 5 of docs/portable-kernels.md). CUDA does not promise it, though CUB's scans
 * rest on it.
 *
 * Source: Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016.
 */
#ifndef RIFT_RADIXSORT_LOOK_BACK_CUH
#define RIFT_RADIXSORT_LOOK_BACK_CUH

#include "workloads/radixsort/tile.cuh"

/* ---- tile statuses ------------------------------------------------------------------- */

/* The two upper bits of a status, beside a count below 2^30; 0: invalid, not published yet. */
static const uint32_t AGGREGATE = 1u << 30, INCLUSIVE_PREFIX = 2u << 30, COUNT = AGGREGATE - 1;

static __device__ inline uint32_t *tile_statuses(const radixsort_launch &l, int pass, int tile)
{
	uint32_t tiles = (l.n + tile - 1) / tile;

	return (uint32_t *)(l.board + 1) + (int64_t)pass * tiles * DIGITS;
}

/* Publishes the tile's status of the thread's digit; state: AGGREGATE or INCLUSIVE_PREFIX. */
template <class S>
static __device__ inline void publish_status(uint32_t *statuses, uint32_t tile, uint32_t state,
					     uint32_t count)
{
	if (has_digit<S>())
		store_relaxed(statuses + (int64_t)tile * DIGITS + own_digit<S>(), state | count);
}

/* ---- looking back ----------------------------------------------------------------------- */

/*
 * The number of keys of this digit in earlier tiles, and of lower digits in all tiles. Several
 * statuses are read at once, as each read has the latency of the L2 cache: when hundreds of blocks
 * start at the same time, the last of them would wait for dozens, one after the other.
 */
template <class S>
static __device__ inline uint32_t look_back(const uint32_t *statuses, uint32_t tile)
{
	const uint32_t *at = statuses + (int64_t)(tile - 1) * DIGITS + own_digit<S>();
	uint32_t sum = 0, status[S::LOOK];

	for (uint32_t left = tile;;) {
		int k = 0;

		UNROLLED for (int j = 0; j < S::LOOK; j++) status[j] =
			(uint32_t)j < left ? load_relaxed(at - j * DIGITS) : 0;
		UNROLLED for (int j = 0; j < S::LOOK; j++)
		{
			if (k < j || !status[j])
				continue;
			k = j + 1;
			sum += status[j] & COUNT;
			if (status[j] & INCLUSIVE_PREFIX)
				return sum;
		}
		at -= k * DIGITS;
		left -= k;
	}
}

/* ---- counts of all keys ------------------------------------------------------------------ */

/*
 * For all threads of the first tile: the number of keys of lower digits than the thread's. Clears
 * the bins for the next sort. Contains a barrier.
 */
template <class S>
static __device__ inline uint32_t scan_digit_counts(radixsort_board *board, int pass,
						    uint32_t (&sums)[DIGITS / 32])
{
	uint32_t count = 0;

	if (has_digit<S>())
		UNROLLED for (int k = 0; k < RADIXSORT_BIN_COPIES; k++)
		{
			uint32_t *at = &board->count[k][pass][own_digit<S>()];

			count += *at;
			*at = 0;
		}
	return exclusive_sum<S>(count, sums);
}

#endif
