/*
 * letters.cuh - letters as bit planes, and runs of a CIGAR as a walk yields them.
 *
 * Bit b of word w of plane k is bit k of the code of letter 32 w + b. Codes are A 0, C 1, T 2, G 3,
 * N 4; past either end the code is 7, which no letter of a target has. Which rows of a query equal
 * a letter of the target is then three exclusive ors away: no table has to be built or looked up.
 */
#ifndef RIFT_ALIGNMENT_LETTERS_CUH
#define RIFT_ALIGNMENT_LETTERS_CUH

#include "common/gpu.h"
#include "workloads/alignment/device.h"

struct letters {
	const uint32_t *plane; /* three words for 32 letters */
	int words;	       /* of a plane */
};

static __device__ inline struct letters letters_at(const struct alignment_part &part,
						   uint32_t bytes, uint32_t sequence, uint32_t n)
{
	return { part.planes + alignment_planes_at(bytes, sequence), (int)((n + 31) / 32) };
}

static __device__ inline struct letters query_letters(const struct alignment_part &part,
						      uint32_t pair)
{
	const struct alignment_pair &p = part.pair[pair];

	return letters_at(part, p.query, 2 * pair, p.m);
}

static __device__ inline struct letters target_letters(const struct alignment_part &part,
						       uint32_t pair)
{
	const struct alignment_pair &p = part.pair[pair];

	return letters_at(part, p.target, 2 * pair + 1, p.n);
}

/* Word w of plane k; w may be beyond either end. */
static __device__ inline uint32_t plane_word(const struct letters &l, int w, int k)
{
	return w >= 0 && w < l.words ? l.plane[3 * w + k] : 0xffffffffu;
}

/* 32 bits from letter `at`, which may be below 0: the shift of a negative number floors. */
static __device__ inline uint32_t plane_bits(const struct letters &l, int at, int k)
{
	int w = at >= 0 ? at / 32 : -((31 - at) / 32);

	return __funnelshift_r(plane_word(l, w, k), plane_word(l, w + 1, k), (uint32_t)at & 31);
}

/* All ones where bit b of a word is set, else 0. */
static __device__ inline uint32_t spread(uint32_t word, int b)
{
	return 0u - (word >> b & 1);
}

/* Two words of the lane above; the first lane of G gets its own. On the CPU device, where a lane
 * that shuffles waits for the others, one shuffle brings both. */
template <int G>
static __device__ inline uint2 two_from_above(uint32_t lanes, uint32_t a, uint32_t b)
{
	uint2 two;
#ifdef __CUDACC__
	two.x = __shfl_up_sync(lanes, a, 1, G);
	two.y = __shfl_up_sync(lanes, b, 1, G);
#else
	uint64_t both = __shfl_up_sync(lanes, (uint64_t)b << 32 | a, 1, G);

	two.x = (uint32_t)both;
	two.y = (uint32_t)(both >> 32);
#endif
	return two;
}

/* ---- the trace --------------------------------------------------------------------------- */

/*
 * The step by which a walk from the end leaves a cell, two bits: `x` and `y`. Up before left, and
 * left before the diagonal; of cells that neither leaves, `zero` says whether the letters are
 * equal.
 *
 *   x y
 *   1 0  I, up        0 0  =, diagonal
 *   0 1  D, left      1 1  X, diagonal
 */
static __device__ inline uint2 trace_word(uint32_t up, uint32_t left, uint32_t zero)
{
	uint2 both;

	both.x = up | ~(left | zero);
	both.y = ~up & (left | ~zero);
	return both;
}

/* ---- runs, from the last one on ---------------------------------------------------------- */

struct runs_writer {
	uint32_t *at;  /* the run written last */
	uint32_t open; /* the run that may still grow; 0: none */
};

/* `store` is false on lanes that only follow. */
static __device__ inline void runs_add(struct runs_writer &w, uint32_t op, uint32_t length,
				       bool store)
{
	if (!length)
		return;
	if (w.open && (w.open & 15) == op) {
		w.open += 16 * length;
		return;
	}
	if (w.open) {
		w.at--;
		if (store)
			*w.at = w.open;
	}
	w.open = 16 * length + op;
}

/* `count` diagonal steps, of which bit b of `equal` says whether the b-th has equal letters. */
static __device__ inline void runs_diagonal(struct runs_writer &runs, uint32_t equal, int count,
					    bool store)
{
	while (count) {
		uint32_t other = equal & 1 ? ~equal : equal;
		int same = other ? __ffs((int)other) - 1 : 32;

		same = same < count ? same : count;
		runs_add(runs, equal & 1 ? ALIGN_EQUAL : ALIGN_X, (uint32_t)same, store);
		equal = same < 32 ? equal >> same : 0;
		count -= same;
	}
}

/* Most runs that a CIGAR of this cost has: each edit between two runs of equal letters. */
static __device__ inline uint32_t runs_most(const struct alignment_pair &p, uint32_t distance)
{
	uint32_t most = 2 * distance + 1;

	return most < p.m + p.n ? most : p.m + p.n;
}

/* Reserves staging for a pair's runs. Returns false, and sets the status, where none is left. */
static __device__ inline bool runs_begin(const struct alignment_part &part, uint32_t pair,
					 uint32_t distance, struct runs_writer &w)
{
	uint32_t most = runs_most(part.pair[pair], distance);
	uint64_t end = (uint64_t)atomicAdd(&part.counters->staged, most) + most;

	w.at = part.staging + end;
	w.open = 0;
	if (end <= part.staging_runs)
		return true;
	part.result[pair].status = ALIGN_RESULT_TRUNCATED;
	return false;
}

static __device__ inline void runs_end(const struct alignment_part &part, uint32_t pair,
				       struct runs_writer &w, uint32_t *end)
{
	if (w.open)
		*--w.at = w.open;
	part.slot[pair] = (uint32_t)(w.at - part.staging);
	part.result[pair].runs = (uint32_t)(end - w.at);
}

#endif
