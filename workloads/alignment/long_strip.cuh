/*
 * long_strip.cuh - a strip of rows, held by the lanes of a pair, walks along its columns.
 *
 * Lane g is g columns behind lane 0, so that nothing has to cross lanes within a column: what it
 * needs from the lane above, that lane's last horizontal step, was made one turn ago. The last
 * lane's steps are kept for the strip below.
 *
 * The trace has two words for 32 rows and a column, `up` after the step and `left`, in the order
 * in which turns and lanes write them.
 */
#ifndef RIFT_ALIGNMENT_LONG_STRIP_CUH
#define RIFT_ALIGNMENT_LONG_STRIP_CUH

#include "workloads/alignment/letters.cuh"

/* A pair in the hands of its lanes. */
struct long_task {
	uint32_t pair;
	int m, n;
	struct letters query, target;
	struct alignment_band band;
	uint32_t *edge; /* horizontal steps below a strip, two bits a column; two rows in turns */
	uint32_t *trace;
	int lane;	/* of those of the pair */
	uint32_t lanes; /* of the warp that have this pair, as a mask */
};

/* Rows above + 1 to bottom. */
struct long_strip {
	int above, bottom, number;
	struct alignment_columns columns;
	int edge_last;	/* last column that the strip above computed; 0: there is none */
	int next_first; /* first column of the strip below */
};

/* A lane's rows: vertical steps +1 and -1, horizontal ones of the last column, letters. */
template <int NW> struct long_rows {
	uint32_t up[NW], down[NW], left[NW], right[NW], query[3][NW];
};

/* What a lane hands to the next: bit 0 a step of +1, bit 1 of -1, then a letter's three bits. */
enum { HAND_PLUS = 1, HAND_MINUS = 2, HAND_LETTER = 2 };

/* One column of a lane's rows, as one long number; returns what goes to the next lane. */
template <int NW>
static __device__ inline uint32_t long_column(struct long_rows<NW> &r, uint32_t hand)
{
	uint32_t t0 = spread(hand, HAND_LETTER), t1 = spread(hand, HAND_LETTER + 1);
	uint32_t t2 = spread(hand, HAND_LETTER + 2);
	uint32_t plus = hand & 1, minus = hand >> 1 & 1, carry = 0;

	for (int w = 0; w < NW; w++) {
		uint32_t equal =
			~((r.query[0][w] ^ t0) | (r.query[1][w] ^ t1) | (r.query[2][w] ^ t2));
		uint32_t x = equal | r.down[w], e = equal | (w ? 0 : minus), zero, shifted;
		uint64_t sum = (uint64_t)(e & r.up[w]) + r.up[w] + carry;

		carry = (uint32_t)(sum >> 32);
		zero = ((uint32_t)sum ^ r.up[w]) | e;
		r.left[w] = r.down[w] | ~(zero | r.up[w]);
		r.right[w] = r.up[w] & zero;
		shifted = r.left[w] << 1 | plus;
		r.up[w] = (r.right[w] << 1 | minus) | ~(x | shifted);
		r.down[w] = shifted & x;
		plus = r.left[w] >> 31;
		minus = r.right[w] >> 31;
	}
	return (hand & ~3u) | plus | minus << 1;
}

/* The step at row b of a lane's, which need not be the last. */
template <int NW> static __device__ inline int bottom_step(const struct long_rows<NW> &r, int b)
{
	int step = 0;

	for (int w = 0; w < NW; w++)
		if (b / 32 == w)
			step = (int)(r.left[w] >> b % 32 & 1) - (int)(r.right[w] >> b % 32 & 1);
	return step;
}

template <int NW>
static __device__ inline void long_start(const struct long_task &t, const struct long_strip &s,
					 struct long_rows<NW> &r)
{
	for (int w = 0; w < NW; w++) {
		r.up[w] = 0xffffffff;
		r.down[w] = r.left[w] = r.right[w] = 0;
		for (int k = 0; k < 3; k++)
			r.query[k][w] = plane_word(t.query, s.above / 32 + t.lane * NW + w, k);
	}
}

/* The row that strip number `number` writes and the next one reads. */
static __device__ inline uint32_t *long_edge(const struct long_task &t, int number)
{
	return t.edge + (number & 1 ? alignment_edge_words(t.n) : 0);
}

/* What lane 0 takes in: loaded words of the target and of the edge above. */
struct long_feed {
	uint32_t letter[3], step;
};

/* For column j: the step above it, +1 where the strip above has none, and the letter. */
static __device__ inline uint32_t long_fetch(const struct long_task &t, const struct long_strip &s,
					     struct long_feed &f, int j)
{
	int at = j - 1;
	uint32_t hand = HAND_PLUS;

	if (at % 32 == 0 || j == s.columns.first)
		for (int k = 0; k < 3; k++)
			f.letter[k] = plane_word(t.target, at / 32, k);
	if (j <= s.edge_last) {
		if (at % 16 == 0 || j == s.columns.first)
			f.step = long_edge(t, s.number - 1)[at / 16];
		hand = f.step >> 2 * (at % 16) & 3;
	}
	for (int k = 0; k < 3; k++)
		hand |= (f.letter[k] >> at % 32 & 1) << (HAND_LETTER + k);
	return hand;
}

/* The last lane's step below column j. */
static __device__ inline void long_keep(const struct long_task &t, const struct long_strip &s,
					uint32_t &kept, uint32_t hand, int j)
{
	int at = j - 1;

	kept = (at % 16 ? kept : 0) | (hand & 3) << 2 * (at % 16);
	if (at % 16 == 15 || j == s.columns.last)
		long_edge(t, s.number)[at / 16] = kept;
}

template <int G, int NW>
static __device__ inline void long_store(const struct long_rows<NW> &r, uint32_t *trace, int turn,
					 int lane)
{
	uint2 *to = (uint2 *)trace + ((uint64_t)turn * G + (uint32_t)lane) * NW;

	for (int w = 0; w < NW; w++) {
		uint2 both;

		both.x = r.up[w];
		both.y = r.left[w];
		to[w] = both;
	}
}

/*
 * All columns of a strip. `value` is the one at row `above` in the column before the first;
 * becomes the one at row `bottom` in the column before the first of the strip below, or in the
 * last column where there is none below.
 */
template <int G, int NW, bool CIGAR>
static __device__ void long_strip_run(const struct long_task &t, const struct long_strip &s,
				      uint32_t *trace, int *value)
{
	int columns = s.columns.last - s.columns.first + 1, rows = s.bottom - s.above;
	int bottom_lane = (rows - 1) / (32 * NW), bottom_bit = (rows - 1) % (32 * NW);
	int score = *value + rows, next = score;
	bool more = s.bottom < t.m;
	uint32_t hand = 0, kept = 0;
	struct long_rows<NW> r;
	struct long_feed feed = { { 0, 0, 0 }, 0 };

	long_start(t, s, r);
	for (int turn = 0; turn < columns + G - 1; turn++) {
		int j = s.columns.first + turn - t.lane;

		hand = __shfl_up_sync(t.lanes, hand, 1, G);
		if (j < s.columns.first || j > s.columns.last)
			continue;
		if (t.lane == 0)
			hand = long_fetch(t, s, feed, j);
		hand = long_column(r, hand);
		if (CIGAR)
			long_store<G>(r, trace, turn, t.lane);
		if (t.lane == G - 1 && more)
			long_keep(t, s, kept, hand, j);
		if (t.lane == bottom_lane)
			score += bottom_step(r, bottom_bit);
		if (j == s.next_first - 1)
			next = score;
	}
	*value = __shfl_sync(t.lanes, more ? next : score, bottom_lane, G);
	__syncwarp(t.lanes);
}

/* The strip below s; .above is at least t.m where there is none. */
template <int G, int NW>
static __device__ inline struct long_strip long_next(const struct long_task &t,
						     const struct long_strip &s)
{
	int rows = 32 * NW * G;
	struct long_strip next = s;

	next.above = s.bottom;
	next.bottom = s.bottom + rows < t.m ? s.bottom + rows : t.m;
	next.number = s.number + 1;
	next.edge_last = s.columns.last;
	next.columns = alignment_columns_of(t.band, t.n, next.above, next.bottom);
	next.next_first = alignment_columns_of(t.band, t.n, next.bottom, next.bottom).first;
	return next;
}

/* Strip number 0 is the one below this. */
static __device__ inline struct long_strip long_before_first(void)
{
	return { 0, 0, -1, { 0, 0 }, 0, 0 };
}

/* The value at the end of the band; *trace becomes the end of what was written. */
template <int G, int NW, bool CIGAR> static __device__ int long_forward(const struct long_task &t)
{
	const struct alignment_shape shape = { G, NW };
	struct long_strip s = long_next<G, NW>(t, long_before_first());
	uint32_t *trace = t.trace;
	int value = 0;

	for (; s.above < t.m; s = long_next<G, NW>(t, s)) {
		long_strip_run<G, NW, CIGAR>(t, s, trace, &value);
		trace += CIGAR ? alignment_strip_words(shape, s.columns) : 0;
	}
	return value;
}

#endif
