/*
 * long_kept.cuh - a walk back without the trace of the whole pair.
 *
 * The forward pass leaves no trace. It keeps the horizontal steps below every strip, two bits a
 * column, where otherwise two rows are double buffered. From the steps above it a strip can be
 * computed again: the walk does so with each strip that it comes to, from the last one up, and then
 * has that strip's trace. Cells are computed twice, the workspace holds the trace of one strip, and
 * the path is the same.
 */
#ifndef RIFT_ALIGNMENT_LONG_KEPT_CUH
#define RIFT_ALIGNMENT_LONG_KEPT_CUH

#include "workloads/alignment/long_walk.cuh"

struct kept_task : long_task {
	uint64_t row; /* blocks of the steps below a strip */
};

static __device__ inline uint2 *long_edge(const struct kept_task &t, int number)
{
	return t.edge + (int64_t)number * (int64_t)t.row;
}

/* The strip of rows above + 1 and on, with its trace. */
template <int G, int NW>
static __device__ void kept_strip(const struct kept_task &t, struct walk_position &at, int above)
{
	const int rows = 32 * G * NW;
	struct long_strip before = long_before_first();
	int value = 0;

	if (above)
		before = { above - rows,
			   above,
			   above / rows - 1,
			   walk_columns<G, NW>(t, above - rows),
			   0,
			   0,
			   0 };
	at.above = above;
	at.columns = walk_columns<G, NW>(t, above);
	long_strip_run<G, NW, true>(t, long_next<G, NW>(t, before), t.trace, &value);
}

template <int G, int NW>
static __device__ inline void walk_start(const struct kept_task &t, struct walk_position &at)
{
	const int rows = 32 * G * NW;

	at.i = t.m;
	at.j = t.n;
	at.trace = t.trace;
	at.lag = 1;
	kept_strip<G, NW>(t, at, (t.m - 1) / rows * rows);
}

/* All lanes have read what they need of the strip below before its trace is overwritten. */
template <int G, int NW>
static __device__ inline void walk_strip_up(const struct kept_task &t, struct walk_position &at)
{
	__syncwarp(long_lanes<G>(t));
	kept_strip<G, NW>(t, at, at.above - 32 * G * NW);
}

#endif
