/*
 * long_wave.cuh - one long pair by many warps, a strip of 1,024 rows each, as a wavefront.
 *
 * A strip follows the one above it as closely as the steps between them allow. Each word of these
 * steps, of 32 columns, is its own flag: it is 0 until it is written, in one piece, once in a band.
 * So no fence is needed. Strips are taken in order: a warp waits only for strips that have begun,
 * whichever blocks run at once.
 *
 * The lanes of a strip are four columns apart and do four in a turn. One shuffle then brings the
 * steps of four columns from the lane above, where its latency would else be most of a turn.
 * With CIGARs the trace of each strip is kept, at a place of its own, for one warp to walk back.
 */
#ifndef RIFT_ALIGNMENT_LONG_WAVE_CUH
#define RIFT_ALIGNMENT_LONG_WAVE_CUH

#include "workloads/alignment/long_walk.cuh"

enum { WAVE_LATE = 31 * ALIGN_WAVE_LAG /* columns that the last lane is behind */ };

struct wave_task : long_task {
	uint64_t *steps; /* below all strips, in the round at hand */
	uint64_t row;	 /* words below one */
	uint64_t each;	 /* cells of the trace of a strip */
};

static __device__ inline uint64_t *wave_row(const struct wave_task &t, int number)
{
	return t.steps + (uint64_t)number * t.row;
}

static __device__ inline struct long_strip wave_strip(const struct wave_task &t, int number)
{
	int above = number * ALIGN_WAVE_ROWS, most = above + ALIGN_WAVE_ROWS;
	struct long_strip s = long_before_first();

	s.number = number;
	s.above = above;
	s.bottom = most < t.m ? most : t.m;
	s.columns = alignment_strip_columns(t.band, t.n, above, s.bottom);
	s.next_first = alignment_strip_columns(t.band, t.n, s.bottom, s.bottom).first;
	if (number) {
		struct alignment_columns c =
			alignment_strip_columns(t.band, t.n, above - ALIGN_WAVE_ROWS, above);

		s.edge_first = c.first - WAVE_LATE;
		s.edge_last = c.last;
	}
	return s;
}

/* ---- steps between strips ---------------------------------------------------------------- */

/* No step is +1 and -1, so that no such word is 0. */
static __device__ inline uint64_t wave_word(uint2 steps)
{
	return (uint64_t)~steps.y << 32 | (uint32_t)~steps.x;
}

static const uint64_t WAVE_NONE = ~UINT64_C(0); /* all steps are 0 */

/* What lane 0 reads of the row above, a block of 32 columns at a time. */
struct wave_above {
	const uint64_t *row;
	int next, end; /* number of the word after `low`; words of the row */
	uint64_t high, low;
	uint32_t shift; /* of the block's first column in `high` */
};

/* 0 where it is not there yet. */
static __device__ inline uint64_t wave_look(const struct wave_above &a)
{
	return a.next < a.end ? load_relaxed(a.row + a.next) : WAVE_NONE;
}

static __device__ inline void wave_advance(struct wave_above &a, uint64_t ahead)
{
	while (!ahead) {
		wait_briefly();
		ahead = wave_look(a);
	}
	a.high = a.low;
	a.low = ahead;
	a.next++;
}

static __device__ inline struct wave_above wave_open(const struct wave_task &t,
						     const struct long_strip &s)
{
	int at = s.columns.first - s.edge_first;
	struct wave_above a = { NULL, 0, 0, WAVE_NONE, WAVE_NONE, (uint32_t)at & 31 };

	if (t.lane || s.columns.first > s.edge_last)
		return a;
	a.row = wave_row(t, s.number - 1);
	a.next = at / 32;
	a.end = (s.edge_last - s.edge_first) / 32 + 1;
	wave_advance(a, wave_look(a));
	wave_advance(a, wave_look(a));
	return a;
}

static __device__ inline void wave_letters(const struct wave_task &t, int column,
					   struct long_block &b)
{
	for (int k = 0; k < 3; k++)
		b.letter[k] = plane_bits(t.target, column - 1 - ALIGN_WAVE_LAG * t.lane, k);
}

/* The block that starts at a column, its steps from the row above; all are +1 above columns that
 * no strip computed. */
static __device__ inline void wave_steps(const struct wave_above &a, const struct long_strip &s,
					 int column, struct long_block &b)
{
	int there = s.edge_last - column + 1;
	uint32_t none = there <= 0 ? 0xffffffff : there < 32 ? 0xffffffff >> there : 0;

	b.plus = __funnelshift_l(~(uint32_t)a.low, ~(uint32_t)a.high, a.shift) | none;
	b.minus = __funnelshift_l(~(uint32_t)(a.low >> 32), ~(uint32_t)(a.high >> 32), a.shift) &
		  ~none;
}

/* ---- a strip ----------------------------------------------------------------------------- */

/*
 * 32 columns of each lane, the first of which is number `first` of the strip in lane 0. `kept` has
 * the steps below the lane's rows, the last 32 columns of them.
 */
template <bool STEADY, bool CIGAR>
static __device__ inline void wave_block(const struct wave_task &t, struct long_rows<1> &r,
					 struct long_block in, uint2 &kept, int first, int columns,
					 uint2 *trace)
{
	const int lag = ALIGN_WAVE_LAG;

	first -= lag * t.lane;
	for (int turn = 0; turn < 32; turn += lag) {
		uint32_t both = kept.x << (32 - lag) | (kept.y & ((1u << lag) - 1));
		uint32_t plus = __shfl_up_sync(0xffffffff, both, 1), minus = plus << (32 - lag);

		if (t.lane == 0) {
			plus = in.plus;
			minus = in.minus;
		}
		for (int c = 0; c < lag; c++) {
			int column = first + turn + c;

			if (STEADY || (column >= 0 && column < columns))
				long_column<1, CIGAR>(r, in, c, plus << c, minus << c,
						      trace + (turn + c) * 32);
			kept.x = __funnelshift_l(r.left, kept.x, 1);
			kept.y = __funnelshift_l(r.right, kept.y, 1);
		}
		for (int k = 0; k < 3; k++)
			in.letter[k] >>= lag;
		in.plus <<= lag;
		in.minus <<= lag;
	}
}

/* The sum over all lanes, on lane 0. */
static __device__ inline int wave_sum(int value)
{
	for (int other = 16; other; other /= 2)
		value += __shfl_down_sync(0xffffffff, value, (uint32_t)other);
	return value;
}

/*
 * All columns of a strip. Returns, on lane 0, what it adds to the value at the end of the band: the
 * way from row `above` to row `bottom` in the column before the first, and from there to the column
 * before the first of the strip below; the way to the end where there is none below.
 */
template <bool CIGAR>
static __device__ int wave_run(const struct wave_task &t, const struct long_strip &s)
{
	int columns = s.columns.last - s.columns.first + 1, rows = s.bottom - s.above, own = 0;
	bool more = s.bottom < t.m, first_lane = t.lane == 0, last_lane = t.lane == 31;
	struct wave_above above = wave_open(t, s);
	uint64_t *below = wave_row(t, s.number);
	uint2 *trace = CIGAR ? t.trace + (uint64_t)s.number * t.each + t.lane : NULL;
	struct long_block next;
	struct long_rows<1> r;
	uint2 kept = { 0, 0 };

	long_start(t, s, r);
	wave_letters(t, s.columns.first, next);
	for (int at = 0; at < columns + WAVE_LATE; at += 32) {
		struct long_block now = next;
		uint64_t ahead = wave_look(above);

		wave_steps(above, s, s.columns.first + at, now);
		wave_letters(t, s.columns.first + at + 32, next);
		if (at >= WAVE_LATE && at + 32 <= columns)
			wave_block<true, CIGAR>(t, r, now, kept, at, columns, trace);
		else
			wave_block<false, CIGAR>(t, r, now, kept, at, columns, trace);
		trace += CIGAR ? 32 * 32 : 0;
		if (more && last_lane) {
			store_relaxed(below++, wave_word(kept));
			own += long_sum(kept.x, kept.y,
					s.next_first - s.columns.first + WAVE_LATE - at);
		}
		if (!more && first_lane)
			own += long_sum(now.plus, now.minus, columns - at);
		if (first_lane)
			wave_advance(above, ahead);
	}
	return wave_sum(more ? own + (first_lane ? rows : 0)
			     : own + long_rows_sum(r, t.lane, rows));
}

/* ---- the walk ---------------------------------------------------------------------------- */

template <int G, int NW>
static __device__ inline void walk_start(const struct wave_task &t, struct walk_position &at)
{
	int last = (t.m - 1) / ALIGN_WAVE_ROWS, above = last * ALIGN_WAVE_ROWS;

	at = { t.m,
	       t.n,
	       above,
	       walk_columns<G, NW>(t, above),
	       t.trace + (uint64_t)last * t.each,
	       ALIGN_WAVE_LAG };
}

template <int G, int NW>
static __device__ inline void walk_strip_up(const struct wave_task &t, struct walk_position &at)
{
	at.above -= ALIGN_WAVE_ROWS;
	at.columns = walk_columns<G, NW>(t, at.above);
	at.trace -= t.each;
}

#endif
