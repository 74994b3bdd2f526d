/*
 * long_strip.cuh - a strip of rows, held by the lanes of a pair, walks along its columns.
 *
 * The lanes sweep as a wavefront: lane g is g columns behind lane 0. So nothing crosses lanes
 * within a column: the last horizontal step of the lane above was computed one turn ago. The last
 * lane's steps are kept for the strip below.
 *
 * A turn is one column of each lane. Turns go by blocks of 32, whose letters and steps are loaded
 * while the block before is computed. Most blocks are steady: all lanes are within the strip's
 * columns in all turns. In the first and the last blocks lanes have yet to begin or are done.
 *
 * The trace has two words for 32 rows and a column (letters.cuh), in the order in which turns and
 * lanes write them.
 */
#ifndef RIFT_ALIGNMENT_LONG_STRIP_CUH
#define RIFT_ALIGNMENT_LONG_STRIP_CUH

#include "workloads/alignment/letters.cuh"

/* A pair that a group of lanes aligns. */
struct long_task {
	uint32_t pair;
	int m, n;
	struct letters query, target;
	struct alignment_band band;
	uint2 *edge; /* horizontal steps below a strip; two rows of blocks, which strips take in
			turns */
	uint2 *trace;
	int lane;	/* of those of the pair */
	uint32_t lanes; /* of the warp that have this pair, as a mask */
};

/* A constant where it can be one. */
template <int G> static __device__ inline uint32_t long_lanes(const struct long_task &t)
{
	return G == 32 ? 0xffffffff : t.lanes;
}

/* Rows above + 1 to bottom. */
struct long_strip {
	int above, bottom, number;
	struct alignment_columns columns;
	int edge_first, edge_last; /* columns of the first kept step above, and of the last one that
				    * was computed; 0: there is none */
	int next_first;		   /* first column of the strip below */
};

/* A lane's rows: vertical steps +1 and -1, letters; the horizontal steps +1 and -1 of the last
 * column in its lowest word, whose uppermost bit the next lane needs. */
template <int NW> struct long_rows {
	uint32_t up[NW], down[NW], query[3][NW], left, right;
};

/*
 * The inputs of 32 turns. Bit c of letters belongs to turn c, in this lane's column; bit 31 - c of
 * the steps above lane 0, +1 and -1, belongs to it.
 */
struct long_block {
	uint32_t letter[3], plus, minus;
};

/* One column of a lane's rows, as one long number; the uppermost bits of plus and minus are the
 * step above them. */
template <int NW, bool CIGAR>
static __device__ inline void long_column(struct long_rows<NW> &r, const struct long_block &in,
					  int turn, uint32_t plus, uint32_t minus, uint2 *trace)
{
	uint32_t t0 = spread(in.letter[0], turn), t1 = spread(in.letter[1], turn);
	uint32_t t2 = spread(in.letter[2], turn), carry = 0, first = minus >> 31;

	for (int w = 0; w < NW; w++) {
		uint32_t equal =
			~((r.query[0][w] ^ t0) | (r.query[1][w] ^ t1) | (r.query[2][w] ^ t2));
		uint32_t x = equal | r.down[w], e = equal | (w ? 0 : first), zero, left, right,
			 shifted;
		uint64_t sum = (uint64_t)(e & r.up[w]) + r.up[w] + carry;

		carry = (uint32_t)(sum >> 32);
		zero = ((uint32_t)sum ^ r.up[w]) | e;
		left = r.down[w] | ~(zero | r.up[w]);
		right = r.up[w] & zero;
		shifted = __funnelshift_l(plus, left, 1);
		r.up[w] = __funnelshift_l(minus, right, 1) | ~(x | shifted);
		r.down[w] = shifted & x;
		if (CIGAR)
			trace[w] = trace_word(r.up[w], left, zero);
		plus = left;
		minus = right;
	}
	r.left = plus;
	r.right = minus;
}

template <int NW>
static __device__ inline void long_start(const struct long_task &t, const struct long_strip &s,
					 struct long_rows<NW> &r)
{
	r.left = r.right = 0;
	for (int w = 0; w < NW; w++) {
		r.up[w] = 0xffffffff;
		r.down[w] = 0;
		for (int k = 0; k < 3; k++)
			r.query[k][w] = plane_word(t.query, s.above / 32 + t.lane * NW + w, k);
	}
}

/* The row that strip number `number` writes and the next one reads. */
static __device__ inline uint2 *long_edge(const struct long_task &t, int number)
{
	return t.edge + (number & 1 ? alignment_edge_words(t.n) / 2 : 0);
}

/* The block that starts at a turn. Above columns that no strip computed all steps are +1. TASK: a
 * long_task, or one that keeps edges elsewhere, with a long_edge() of its own. */
template <class TASK>
static __device__ inline struct long_block long_load(const TASK &t, const struct long_strip &s,
						     int turn)
{
	int column = s.columns.first + turn, there = s.edge_last - column + 1;
	uint32_t none = there <= 0 ? 0xffffffff : there < 32 ? 0xffffffff >> there : 0;
	struct long_block b = { { 0, 0, 0 }, none, 0 };

	for (int k = 0; k < 3; k++)
		b.letter[k] = plane_bits(t.target, column - 1 - t.lane, k);
	if (there > 0) {
		int at = column - s.edge_first;
		const uint2 *edge = long_edge(t, s.number - 1) + at / 32;
		uint2 high = edge[0], low = edge[1];

		b.plus |= __funnelshift_l(low.x, high.x, (uint32_t)at & 31);
		b.minus = __funnelshift_l(low.y, high.y, (uint32_t)at & 31) & ~none;
	}
	return b;
}

/* The sum of the uppermost `count` steps. */
static __device__ inline int long_sum(uint32_t plus, uint32_t minus, int count)
{
	uint32_t mask = count >= 32 ? 0xffffffff : count <= 0 ? 0 : ~(0xffffffff >> count);

	return __popc(plus & mask) - __popc(minus & mask);
}

/* One turn of all lanes; lanes that are not `active` keep their rows. */
template <int G, int NW, bool CIGAR>
static __device__ inline void long_turn(const struct long_task &t, struct long_rows<NW> &r,
					const struct long_block &in, int turn, bool active,
					uint2 &kept, uint2 *trace)
{
	uint2 above = two_from_above<G>(long_lanes<G>(t), r.left, r.right);
	uint32_t plus = above.x, minus = above.y;

	if (t.lane == 0) {
		plus = in.plus << turn;
		minus = in.minus << turn;
	}
	if (active)
		long_column<NW, CIGAR>(r, in, turn, plus, minus, trace);
	kept.x = __funnelshift_l(r.left, kept.x, 1);
	kept.y = __funnelshift_l(r.right, kept.y, 1);
}

/* 32 turns, all lanes active. The eight in a row have constants for shifts and offsets. */
template <int G, int NW, bool CIGAR>
static __device__ inline void long_steady(const struct long_task &t, struct long_rows<NW> &r,
					  struct long_block in, uint2 &kept, uint2 *trace)
{
	for (int eight = 0; eight < 4; eight++) {
		for (int c = 0; c < 8; c++)
			long_turn<G, NW, CIGAR>(t, r, in, c, true, kept, trace + c * G * NW);
		for (int k = 0; k < 3; k++)
			in.letter[k] >>= 8;
		in.plus <<= 8;
		in.minus <<= 8;
		trace += 8 * G * NW;
	}
}

/* At most 32 turns, the first of which is number `turn` of the strip. */
template <int G, int NW, bool CIGAR>
static __device__ inline void long_ragged(const struct long_task &t, struct long_rows<NW> &r,
					  const struct long_block &in, uint2 &kept, uint2 *trace,
					  int turn, int columns)
{
	int left = columns + G - 1 - turn, end = left < 32 ? left : 32;

	for (int c = 0; c < end; c++) {
		int column = turn + c - t.lane;

		long_turn<G, NW, CIGAR>(t, r, in, c, column >= 0 && column < columns, kept,
					trace + c * G * NW);
	}
	kept.x <<= 32 - end;
	kept.y <<= 32 - end;
}

/* The sum of a lane's vertical steps down to row `rows` of the strip. */
template <int NW>
static __device__ inline int long_rows_sum(const struct long_rows<NW> &r, int lane, int rows)
{
	int sum = 0;

	for (int w = 0; w < NW; w++) {
		int above = 32 * (lane * NW + w), here = rows - above;

		if (here > 0)
			sum += long_sum(__brev(r.up[w]), __brev(r.down[w]), here);
	}
	return sum;
}

/*
 * All columns of a strip. `value` is the one at row `above` in the column before the first. Becomes
 * the one at row `bottom` in the column before the first of the strip below; in the last column
 * where there is none below.
 */
template <int G, int NW, bool CIGAR, class TASK>
static __device__ void long_strip_run(const TASK &t, const struct long_strip &s, uint2 *trace,
				      int *value)
{
	int columns = s.columns.last - s.columns.first + 1, rows = s.bottom - s.above;
	int into_top = 0, below = 0, sum;
	bool more = s.bottom < t.m;
	uint2 *edge = long_edge(t, s.number);
	struct long_block next = long_load(t, s, 0);
	struct long_rows<NW> r;

	long_start(t, s, r);
	trace += t.lane * NW;
	for (int turn = 0; turn < columns + G - 1; turn += 32) {
		struct long_block now = next;
		uint2 kept = { 0, 0 };

		next = long_load(t, s, turn + 32);
		into_top += long_sum(now.plus, now.minus, columns - turn);
		if (turn && turn + 32 <= columns)
			long_steady<G, NW, CIGAR>(t, r, now, kept, trace);
		else
			long_ragged<G, NW, CIGAR>(t, r, now, kept, trace, turn, columns);
		if (CIGAR)
			trace += 32 * G * NW;
		below += long_sum(kept.x, kept.y, s.next_first - s.columns.first + G - 1 - turn);
		if (more && t.lane == G - 1)
			*edge++ = kept;
	}
	if (more && t.lane == G - 1)
		*edge = { 0, 0 };
	sum = long_rows_sum(r, t.lane, rows);
	for (int other = G / 2; other; other /= 2)
		sum += __shfl_xor_sync(long_lanes<G>(t), sum, other, G);
	*value += more ? rows + __shfl_sync(long_lanes<G>(t), below, G - 1, G) : into_top + sum;
	__syncwarp(long_lanes<G>(t));
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
	next.edge_first = s.columns.first - (G - 1);
	next.edge_last = s.columns.last;
	next.columns = alignment_strip_columns(t.band, t.n, next.above, next.bottom);
	next.next_first = alignment_strip_columns(t.band, t.n, next.bottom, next.bottom).first;
	return next;
}

/* Strip number 0 is the one below this. */
static __device__ inline struct long_strip long_before_first(void)
{
	return { 0, 0, -1, { 0, 0 }, 0, 0, 0 };
}

/* The value at the end of the band. */
template <int G, int NW, bool CIGAR, class TASK> static __device__ int long_forward(const TASK &t)
{
	const struct alignment_shape shape = { G, NW };
	struct long_strip s = long_next<G, NW>(t, long_before_first());
	uint2 *trace = t.trace;
	int value = 0;

	for (; s.above < t.m; s = long_next<G, NW>(t, s)) {
		long_strip_run<G, NW, CIGAR>(t, s, trace, &value);
		trace += CIGAR ? alignment_strip_words(shape, s.columns) / 2 : 0;
	}
	return value;
}

#endif
