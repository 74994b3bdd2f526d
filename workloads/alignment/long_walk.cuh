/*
 * long_walk.cuh - the walk from the end of a pair to its start, by all lanes of the pair.
 *
 * The lanes load a window of the trace: words of columns that follow each other, around the
 * diagonal of the cell where the walk is. Each looks at its cell of the diagonal, and as many steps
 * are made at once as are diagonal. A step up or left moves the walk to a diagonal beside, of which
 * the window has most cells too.
 */
#ifndef RIFT_ALIGNMENT_LONG_WALK_CUH
#define RIFT_ALIGNMENT_LONG_WALK_CUH

#include "workloads/alignment/long_strip.cuh"

/* The position of the walk, the same on all lanes. */
struct walk_position {
	int i, j;
	int above; /* the strip is the one of rows above + 1 and on */
	struct alignment_columns columns;
	const uint2 *trace; /* trace of the strip */
	int lag;	    /* columns that a lane was behind the one above */
};

/* Columns of a window that a lane has: 32 in all for 8 lanes and more. */
template <int G> static __device__ constexpr int walk_each(void)
{
	return G > 8 ? 32 / G : 4;
}

/* The words of column j - lane - k G of the strip. */
template <int G> struct walk_window {
	int j;
	int number[walk_each<G>()]; /* of the word in its column; -1: not in the trace */
	uint2 cell[walk_each<G>()];
};

template <int G, int NW>
static __device__ inline struct alignment_columns walk_columns(const struct long_task &t, int above)
{
	int bottom = above + 32 * G * NW;

	return alignment_strip_columns(t.band, t.n, above, bottom < t.m ? bottom : t.m);
}

/* To the last strip: its trace is what the others leave. */
template <int G, int NW>
static __device__ inline void walk_start(const struct long_task &t, struct walk_position &at)
{
	const struct alignment_shape shape = { G, NW };

	at = { t.m, t.n, 0, walk_columns<G, NW>(t, 0), t.trace, 1 };
	while (at.above + 32 * G * NW < t.m) {
		at.trace += alignment_strip_words(shape, at.columns) / 2;
		at.above += 32 * G * NW;
		at.columns = walk_columns<G, NW>(t, at.above);
	}
}

template <int G, int NW>
static __device__ inline void walk_strip_up(const struct long_task &t, struct walk_position &at)
{
	const struct alignment_shape shape = { G, NW };

	at.above -= 32 * G * NW;
	at.columns = walk_columns<G, NW>(t, at.above);
	at.trace -= alignment_strip_words(shape, at.columns) / 2;
}

/* The window whose first cell is (at.i, at.j). */
template <int G, int NW>
static __device__ inline void walk_load(const struct long_task &t, const struct walk_position &at,
					struct walk_window<G> &w)
{
	w.j = at.j;
	for (int k = 0; k < walk_each<G>(); k++) {
		int back = t.lane + k * G, row = at.i - 1 - at.above - back, j = at.j - back;
		int turn = j - at.columns.first + row / (32 * NW) * at.lag;

		w.number[k] = -1;
		if (row < 0 || j < at.columns.first || j > at.columns.last)
			continue;
		w.number[k] = row / 32;
		w.cell[k] = at.trace[(int64_t)turn * (G * NW) + row / 32];
	}
}

/* The bits of this pair's lanes, from bit 0. */
template <int G>
static __device__ inline uint32_t walk_ballot(const struct long_task &t, bool predicate)
{
	uint32_t all = __ballot_sync(long_lanes<G>(t), predicate);

	return G == 32 ? all : (all >> (__ffs((int)t.lanes) - 1)) & ((1u << G % 32) - 1);
}

/* Bits of steps of the cells on the diagonal of (at.i, at.j), from that one on, and which are
 * known. */
struct walk_view {
	uint32_t known, x, y;
};

template <int G>
static __device__ inline struct walk_view
walk_look(const struct long_task &t, const struct walk_position &at, const struct walk_window<G> &w)
{
	struct walk_view v = { 0, 0, 0 };
	int gone = w.j - at.j;

	if (gone >= G * walk_each<G>())
		return v;
	for (int k = 0; k < walk_each<G>(); k++) {
		int row = at.i - 1 - at.above - (t.lane + k * G - gone);
		bool known = row >= 0 && row / 32 == w.number[k];

		v.known |= walk_ballot<G>(t, known) << k * G;
		v.x |= walk_ballot<G>(t, known && (w.cell[k].x >> row % 32 & 1)) << k * G;
		v.y |= walk_ballot<G>(t, known && (w.cell[k].y >> row % 32 & 1)) << k * G;
	}
	v.known >>= gone;
	v.x >>= gone;
	v.y >>= gone;
	return v;
}

/* Diagonal steps up to the first other one, and that one. False: there was none to be seen. */
template <int G>
static __device__ inline bool walk_on(const struct long_task &t, struct walk_position &at,
				      const struct walk_window<G> &w, struct runs_writer &runs)
{
	struct walk_view v = walk_look<G>(t, at, w);
	uint32_t other = ~v.known | (v.x ^ v.y);
	int count = other ? __ffs((int)other) - 1 : 32;

	runs_diagonal(runs, ~v.x, count, t.lane == 0);
	at.i -= count;
	at.j -= count;
	if (count < 32 && v.known >> count & 1) {
		bool up = v.x >> count & 1;

		runs_add(runs, up ? ALIGN_I : ALIGN_D, 1, t.lane == 0);
		at.i -= up;
		at.j -= !up;
	}
	return v.known & 1;
}

/*
 * The CIGAR of a pair whose last forward pass is in the trace. False: the trace is broken. A TASK
 * other than long_task has a walk_start() and a walk_strip_up() of its own.
 */
template <int G, int NW, class TASK>
static __device__ bool long_walk(const TASK &t, struct runs_writer &runs)
{
	struct walk_position at;
	struct walk_window<G> w = {
	};

	walk_start<G, NW>(t, at);
	for (bool load = true; at.i && at.j;) {
		while (at.i <= at.above) {
			walk_strip_up<G, NW>(t, at);
			load = true;
		}
		if (load)
			walk_load<G, NW>(t, at, w);
		if (walk_on<G>(t, at, w, runs))
			load = false;
		else if (load)
			return false;
		else
			load = true;
	}
	runs_add(runs, ALIGN_I, (uint32_t)at.i, t.lane == 0);
	runs_add(runs, ALIGN_D, (uint32_t)at.j, t.lane == 0);
	return true;
}

#endif
