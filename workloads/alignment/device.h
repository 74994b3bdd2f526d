/*
 * device.h - what the host and the kernels of the alignment workload share.
 *
 * A query of m letters is the row direction, a target of n letters the column direction,
 * d = n - m. A CIGAR run is a 32-bit word, length * 16 + operation, as in BAM.
 */
#ifndef RIFT_ALIGNMENT_DEVICE_H
#define RIFT_ALIGNMENT_DEVICE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define ALIGN_FN static inline __host__ __device__
#else
#define ALIGN_FN static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
	ALIGN_LENGTH_MAX = 1 << 20, /* letters of a sequence */
	ALIGN_SHORT_MAX = 1024,	    /* longest sequence that short kernels take */
	ALIGN_SHORT_THREADS = 128,  /* of a block, a pair each */
	ALIGN_LONG_THREADS = 128,   /* of a block, at most; 4 to 32 a pair */
	ALIGN_GATHER_THREADS = 256, /* of a block, a pair each */
	ALIGN_ONE_HEAD = 2048,	/* bytes of a batch up to which each of its blocks takes in all */
	ALIGN_ONE_PAIRS = 32,	/* at most, of a batch that is done in one launch */
	ALIGN_WAVE_ROWS = 1024, /* of a strip where many warps share a pair */
	ALIGN_WAVE_LAG = 4,	/* columns that a lane is behind the one above there */
	ALIGN_WAVE_PAIRS = 64,	/* at most, of a batch in which pairs are shared so */
	ALIGN_WAVE_ROUNDS = 24, /* bands tried: costs of 32 to ALIGN_LENGTH_MAX that double, and
				   some that do not */
	ALIGN_WARP_SPARE = 8,	/* columns of its trace beyond the last */
	ALIGN_WARP_RUNS = 260,	/* of a CIGAR there: more than twice what 128 rows prove */
};

/* In alignment_pair.m and .n: not taken along, the sequence is longer than ALIGN_LENGTH_MAX. */
#define ALIGN_TOO_LONG UINT32_MAX
#define ALIGN_UNKNOWN UINT32_MAX /* a distance that is not known */

enum alignment_status {
	ALIGN_OK,
	ALIGN_OVER_CAP,		/* the distance is larger than the cap */
	ALIGN_LONG_SEQUENCE,	/* too_long */
	ALIGN_BAD_CHARACTER,	/* result.at: offset in query, or m + offset in target */
	ALIGN_OUT_OF_MEMORY,	/* `memory` does not hold the trace of one strip of this pair */
	ALIGN_RESULT_TRUNCATED, /* the runs of this pair did not fit */
	ALIGN_NOT_DONE,		/* never in a result that is right */
	ALIGN_STATUS_COUNT,
};

enum alignment_op { ALIGN_I = 1, ALIGN_D = 2, ALIGN_EQUAL = 7, ALIGN_X = 8 };

/* Kernels that a pair may pass, in this order: a band of 32, 64, 128 rows, then strips. */
enum alignment_class { ALIGN_S1, ALIGN_S2, ALIGN_S4, ALIGN_L, ALIGN_CLASSES };

/* Strips of the long kernel: lanes a pair times words a lane. */
enum alignment_strip { ALIGN_L4, ALIGN_L8, ALIGN_L16, ALIGN_L32, ALIGN_L32X4, ALIGN_STRIPS };

struct alignment_pair {
	uint32_t query, target; /* offsets of their letters, in bytes as they are not packed */
	uint32_t m, n;		/* letters */
};

struct alignment_result {
	uint32_t distance; /* ALIGN_UNKNOWN unless the status is ok or result_truncated */
	uint16_t status;   /* enum alignment_status */
	uint16_t rounds;   /* kernels and bands tried */
	uint32_t runs;	   /* of the CIGAR */
	uint32_t at;	   /* of the first run; of the first bad letter; where no CIGAR is wanted,
			    * the cost of the last band of the long kernel */
};

/*
 * A pair that many warps align, strip by strip (long_wave.cuh), in device memory: all 0 at the
 * start of a batch. Rounds are bands that were tried; strips of all rounds are numbered in order.
 * After this, for even rounds and then for odd ones, the steps below each strip.
 */
struct alignment_wave {
	uint32_t ticket; /* the next strip */
	uint32_t left;	 /* blocks that are done with the pair */
	struct {
		uint32_t sum;	/* of what strips add to the value at the end of the band */
		uint32_t done;	/* strips */
		uint32_t value; /* plus 1, once all are done */
	} round[ALIGN_WAVE_ROUNDS];
};

/* Counters of a part, in device memory; all but batches start over with each batch. */
struct alignment_counters {
	uint32_t listed[ALIGN_CLASSES]; /* pairs in the list of each class */
	uint32_t staged;		/* runs that are reserved in staging */
	uint32_t fetched;		/* pairs taken from the list of the long kernel */
	uint32_t batches;		/* since the reset */
	/* By the kernel that does all in one launch: of each pair the batch, so that counts of an
	 * earlier one are none, and the number of runs. */
	uint32_t counted[ALIGN_ONE_PAIRS];
};

/*
 * A part of the batch, as a kernel sees it: all of it, or one of several where the batch is
 * spread over streams. Everything is device memory.
 */
struct alignment_part {
	const struct alignment_pair *pair;
	const uint32_t *order; /* pairs by class, then as their kernel wants them */
	const uint8_t *letters;
	uint32_t n;
	uint32_t bytes; /* of pairs, order and letters, which lie in one piece; at most 4 GiB - 1 */
	uint32_t first[ALIGN_CLASSES +
		       1]; /* of each class in order; after the last: those with none */
	uint32_t *planes;  /* letters as three bits, 32 to three words: see alignment_planes_at() */
	uint32_t *list[ALIGN_CLASSES];
	struct alignment_counters *counters;
	struct alignment_result *result;
	uint32_t *slot;	   /* per pair: its first run in staging */
	uint32_t *staging; /* runs, pairs in any order */
	uint32_t staging_runs;
	uint32_t *partial; /* sums of runs of ALIGN_GATHER_THREADS pairs each */
	uint32_t *runs;	   /* what goes back to the host: pairs in order */
	uint32_t runs_max;
	uint32_t *workspace; /* slices: one a block of the short kernels, one a pair in flight of
				the long one */
	uint64_t short_words, long_words;		  /* of a slice, in 32-bit words */
	uint32_t short_blocks, long_blocks, long_threads; /* grids, threads of a block */
	uint32_t pack_lanes;				  /* of a pair: 4 to 32 */
	int32_t cap;	/* largest distance of interest; below 0: none */
	uint32_t band;	/* first band, in millionths of the shorter sequence */
	uint8_t fold;	/* lower-case letters count as upper case */
	uint8_t packed; /* letters come as two words for 32 (packed.c), offsets count letters */
	uint8_t cigar;	/* runs are wanted, not only distances */
	/* The same for traces of one strip at a time: a slice for each pair in flight. */
	uint64_t kept_words;
	uint32_t kept_blocks;
	/* Pairs of the long kernel's list that many warps share: a slice and a row of blocks each.
	 */
	uint8_t *wave;
	uint64_t wave_bytes; /* of a slice */
	uint64_t
		wave_words; /* of the workspace, for the trace of a pair; all strips have as much */
	uint32_t wave_blocks;
};

/*
 * Where the planes of a sequence begin, in words: `bytes` of letters and `sequences` sequences come
 * before it. What 32 letters take is never split, so each sequence may waste one group.
 */
ALIGN_FN uint64_t alignment_planes_at(uint64_t bytes, uint64_t sequences)
{
	return 3 * (bytes / 32 + sequences);
}

/* Lanes that share a pair, and words of 32 rows that each of them holds. */
struct alignment_shape {
	int lanes, words;
};

ALIGN_FN struct alignment_shape alignment_strip_shape(enum alignment_strip strip)
{
	const struct alignment_shape shapes[ALIGN_STRIPS] = {
		{ 4, 1 }, { 8, 1 }, { 16, 1 }, { 32, 1 }, { 32, 4 }
	};

	return shapes[strip];
}

/* The diagonals j - i, low to high, that every alignment of cost k stays on. */
struct alignment_band {
	int low, high;
};

ALIGN_FN struct alignment_band alignment_cost_band(int m, int n, int k)
{
	int d = n - m, spare = (k - (d < 0 ? -d : d)) / 2;
	struct alignment_band band = { (d < 0 ? d : 0) - spare, (d > 0 ? d : 0) + spare };

	return band;
}

/* Columns first to last, from 1, of the strip of rows above + 1 to above + rows that is in a band.
 */
struct alignment_columns {
	int first, last;
};

ALIGN_FN struct alignment_columns alignment_strip_columns(struct alignment_band band, int n,
							  int above, int bottom)
{
	int first = above + 1 + band.low, last = bottom + band.high;
	struct alignment_columns c = { first > 1 ? first : 1, last < n ? last : n };

	return c;
}

/* Words of a strip's trace: two for 32 rows in a step; the last lane starts lanes - 1 steps late.
 */
ALIGN_FN uint64_t alignment_strip_words(struct alignment_shape s, struct alignment_columns c)
{
	return (uint64_t)(c.last - c.first + s.lanes) * (uint64_t)(2 * s.lanes * s.words);
}

/* Words of one row of horizontal steps: two for the 32 columns of a block, of which lanes that are
 * late make some more, and an empty one at the end. */
ALIGN_FN uint64_t alignment_edge_words(int n)
{
	return ((uint64_t)n / 32 + 4) * 2;
}

/* Words of the workspace that the long kernel needs for a pair and a band of cost k. */
ALIGN_FN uint64_t alignment_long_words(struct alignment_shape s, int m, int n, int k, bool cigar)
{
	int rows = 32 * s.lanes * s.words;
	uint64_t words = 2 * alignment_edge_words(n);

	for (int above = 0; cigar && above < m; above += rows) {
		int bottom = above + rows < m ? above + rows : m;

		words += alignment_strip_words(
			s, alignment_strip_columns(alignment_cost_band(m, n, k), n, above, bottom));
	}
	return words;
}

/* ---- traces of one strip at a time (long_kept.cuh) --------------------------------------- */

ALIGN_FN uint64_t alignment_strip_count(struct alignment_shape s, int m)
{
	uint64_t rows = 32 * (uint64_t)s.lanes * (uint64_t)s.words;

	return ((uint64_t)m + rows - 1) / rows;
}

/* Columns that a strip has at most in a band of cost k, as a range from 1. */
ALIGN_FN struct alignment_columns alignment_widest(struct alignment_shape s, int m, int n, int k)
{
	struct alignment_band band = alignment_cost_band(m, n, k);
	int64_t most = (int64_t)band.high - band.low + 32 * s.lanes * s.words;
	struct alignment_columns c = { 1, most < n ? (int)most : n };

	return c;
}

/* Words of the horizontal steps below one strip. */
ALIGN_FN uint64_t alignment_kept_row(struct alignment_shape s, int m, int n, int k)
{
	return alignment_edge_words(alignment_widest(s, m, n, k).last);
}

/* Words that a pair needs: the steps below all strips, and the trace of one. */
ALIGN_FN uint64_t alignment_kept_words(struct alignment_shape s, int m, int n, int k)
{
	return alignment_strip_count(s, m) * alignment_kept_row(s, m, n, k) +
	       alignment_strip_words(s, alignment_widest(s, m, n, k));
}

/* ---- pairs that many warps share (long_wave.cuh) ----------------------------------------- */

ALIGN_FN uint32_t alignment_wave_strips(int m)
{
	return ((uint32_t)m + ALIGN_WAVE_ROWS - 1) / ALIGN_WAVE_ROWS;
}

/* 64-bit words of the steps below a strip: 32 columns each, and some more as lanes are late. */
ALIGN_FN uint64_t alignment_wave_row(int n)
{
	return (uint64_t)(n + 31 * ALIGN_WAVE_LAG + 31) / 32;
}

/* Bytes before the steps of a pair. */
ALIGN_FN uint64_t alignment_wave_head(void)
{
	return (sizeof(struct alignment_wave) + 7) / 8 * 8;
}

ALIGN_FN uint64_t alignment_wave_bytes(int m, int n)
{
	return alignment_wave_head() + 2 * alignment_wave_strips(m) * alignment_wave_row(n) * 8;
}

/* 32-bit words of the trace of any strip in a band of cost k. */
ALIGN_FN uint64_t alignment_wave_trace(int m, int n, int k)
{
	const struct alignment_shape shape = { 32, ALIGN_WAVE_ROWS / 32 / 32 };

	return (uint64_t)(alignment_widest(shape, m, n, k).last + 31 * ALIGN_WAVE_LAG) * 64;
}

/* ---- where a pair starts ---------------------------------------------------------------- */

/* `band` millionths of the shorter sequence. */
ALIGN_FN int alignment_share(uint32_t band, int m, int n)
{
	return (int)((uint64_t)(n < m ? n : m) * band / 1000000);
}

/* Class that a pair starts in, the narrowest band of registers that has both ends and the first
 * guess of a distance in it; ALIGN_CLASSES: it is not aligned. */
ALIGN_FN enum alignment_class alignment_first_class(uint32_t band, const struct alignment_pair *p)
{
	uint32_t gap = p->m > p->n ? p->m - p->n : p->n - p->m, guess;

	if (p->m == ALIGN_TOO_LONG)
		return ALIGN_CLASSES;
	if (!p->m || !p->n)
		return ALIGN_S1;
	if (p->m > ALIGN_SHORT_MAX || p->n > ALIGN_SHORT_MAX)
		return ALIGN_L;
	guess = gap + (uint32_t)alignment_share(band, (int)p->m, (int)p->n);
	return guess < 32 ? ALIGN_S1 : guess < 64 ? ALIGN_S2 : guess < 128 ? ALIGN_S4 : ALIGN_L;
}

/* First band of the long kernel: of 32, or that share; at least |n - m|. */
ALIGN_FN int alignment_first_band(uint32_t band, int m, int n)
{
	int d = n < m ? m - n : n - m, k = alignment_share(band, m, n);

	k = k > 32 ? k : 32;
	return k > d ? k : d;
}

#ifdef __cplusplus
}
#endif
#endif
