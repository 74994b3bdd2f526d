/*
 * board.cuh - what tiles of a pass tell each other, and what the launch that counts tells them.
 *
 * In a pass a tile must know how many keys of each digit earlier tiles hold. Each tile makes its
 * own counts known at once, then adds up those of the tiles before it until it meets one that has
 * made known its sum with all before (decoupled look-back). A word holds the count and says which
 * of the two it is, so no other memory has to be seen with it: relaxed accesses do. A block has
 * the tile of its number and waits only for lower ones. GPUs start these first, and the CPU device
 * does (rule 5 of common/cpu/README.md); CUDA does not promise it, though CUB's scans rest on it
 * too.
 *
 * Source: Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016.
 */
#ifndef RIFT_RADIXSORT_BOARD_CUH
#define RIFT_RADIXSORT_BOARD_CUH

#include "workloads/radixsort/tile.cuh"

/* ---- what tiles make known ----------------------------------------------------------- */

/* In a word of the board, beside a count below 2^30; 0: not known yet. */
static const uint32_t OWN = 1u << 30, WITH_ALL_BEFORE = 2u << 30, COUNT = OWN - 1;

static __device__ inline uint32_t *words_of(const radixsort_launch &l, int pass, int tile)
{
	uint32_t tiles = (l.n + tile - 1) / tile;

	return (uint32_t *)(l.board + 1) + (int64_t)pass * tiles * DIGITS;
}

/* Makes the tile's count of the thread's digit known, with all before where these are known. */
template <class S>
static __device__ inline void publish(uint32_t *words, uint32_t tile, uint32_t state,
				      uint32_t count)
{
	if (has_digit<S>())
		store_relaxed(words + (int64_t)tile * DIGITS + own_digit<S>(), state | count);
}

/* ---- looking back ----------------------------------------------------------------------- */

/*
 * Keys of this digit in earlier tiles, and of lower digits in all. Several tiles are read at once,
 * as each reading takes a journey to the second-level cache: when hundreds of blocks start at the
 * same time, the last of them would make dozens.
 */
template <class S> static __device__ inline uint32_t look_back(const uint32_t *words, uint32_t tile)
{
	const uint32_t *at = words + (int64_t)(tile - 1) * DIGITS + own_digit<S>();
	uint32_t sum = 0, word[S::LOOK];

	for (uint32_t left = tile;;) {
		int k = 0;

		UNROLLED for (int j = 0; j < S::LOOK; j++) word[j] =
			(uint32_t)j < left ? load_relaxed(at - j * DIGITS) : 0;
		UNROLLED for (int j = 0; j < S::LOOK; j++)
		{
			if (k < j || !word[j])
				continue;
			k = j + 1;
			sum += word[j] & COUNT;
			if (word[j] & WITH_ALL_BEFORE)
				return sum;
		}
		at -= k * DIGITS;
		left -= k;
	}
}

/* ---- counts of all keys ------------------------------------------------------------------ */

/*
 * For all threads of the first tile: keys of digits lower than the thread's. Leaves no counts for
 * the next sort. A barrier is within.
 */
template <class S>
static __device__ inline uint32_t take_lower_keys(radixsort_board *board, int pass,
						  uint32_t (&sums)[DIGITS / 32])
{
	uint32_t count = 0;

	if (has_digit<S>())
		UNROLLED for (int k = 0; k < RADIXSORT_PLACES; k++)
		{
			uint32_t *at = &board->count[k][pass][own_digit<S>()];

			count += *at;
			*at = 0;
		}
	return sum_before<S>(count, sums);
}

#endif
