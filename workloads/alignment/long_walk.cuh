/*
 * long_walk.cuh - the walk from the end of a pair to its start, by all lanes of the pair: each
 * looks at another cell of the diagonal, and as many steps are made at once as are diagonal.
 */
#ifndef RIFT_ALIGNMENT_LONG_WALK_CUH
#define RIFT_ALIGNMENT_LONG_WALK_CUH

#include "workloads/alignment/long_strip.cuh"

/* Where the walk is, the same on all lanes. */
struct long_place {
	int i, j;
	int above; /* the strip is the one of rows above + 1 and on */
	struct alignment_columns columns;
	const uint32_t *trace; /* of the strip */
	bool lost;	       /* a cell that was not computed: never where the trace is right */
};

static const uint32_t WALK_STOP = 0;

template <int G, int NW>
static __device__ inline struct alignment_columns walk_columns(const struct long_task &t, int above)
{
	int bottom = above + 32 * G * NW;

	return alignment_columns_of(t.band, t.n, above, bottom < t.m ? bottom : t.m);
}

/* To the last strip: its trace is what the others leave. */
template <int G, int NW>
static __device__ inline void walk_start(const struct long_task &t, struct long_place &at)
{
	const struct alignment_shape shape = { G, NW };

	at = { t.m, t.n, 0, walk_columns<G, NW>(t, 0), t.trace, false };
	while (at.above + 32 * G * NW < t.m) {
		at.trace += alignment_strip_words(shape, at.columns);
		at.above += 32 * G * NW;
		at.columns = walk_columns<G, NW>(t, at.above);
	}
}

template <int G, int NW>
static __device__ inline void walk_strip_up(const struct long_task &t, struct long_place &at)
{
	const struct alignment_shape shape = { G, NW };

	at.above -= 32 * G * NW;
	at.columns = walk_columns<G, NW>(t, at.above);
	at.trace -= alignment_strip_words(shape, at.columns);
}

/* The operation that leaves cell (i, j) of this strip; WALK_STOP where it is not of it. */
template <int G, int NW>
static __device__ inline uint32_t walk_look(const struct alignment_part &part,
					    const struct long_task &t, const struct long_place &at,
					    int i, int j)
{
	int row = i - 1 - at.above, lane = row / (32 * NW);
	uint2 both;

	if (row < 0 || j < at.columns.first || j > at.columns.last)
		return WALK_STOP;
	both = ((const uint2 *)
			at.trace)[((uint64_t)(j - at.columns.first + lane) * G + (uint32_t)lane) *
					  NW +
				  (uint32_t)(row / 32 % NW)];
	if (both.x >> row % 32 & 1)
		return ALIGN_I;
	if (both.y >> row % 32 & 1)
		return ALIGN_D;
	return same_letter(part, part.pair[t.pair], i, j) ? ALIGN_EQUAL : ALIGN_X;
}

/* The bits of this pair's lanes, from bit 0. */
template <int G>
static __device__ inline uint32_t walk_ballot(const struct long_task &t, bool predicate)
{
	uint32_t all = __ballot_sync(t.lanes, predicate);

	return all >> (__ffs((int)t.lanes) - 1);
}

/* `count` diagonal steps, of which bit b of `equal` says whether the b-th has equal letters. */
static __device__ inline void walk_diagonal(struct runs_writer &runs, uint32_t equal, int count,
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

/* As many diagonal steps as there are up to the first other one, and that one. */
template <int G, int NW>
static __device__ inline void walk_on(const struct alignment_part &part, const struct long_task &t,
				      struct long_place &at, struct runs_writer &runs)
{
	int i = at.i - t.lane, j = at.j - t.lane, count;
	uint32_t op = i > 0 && j > 0 ? walk_look<G, NW>(part, t, at, i, j) : WALK_STOP;
	uint32_t stops = walk_ballot<G>(t, op != ALIGN_EQUAL && op != ALIGN_X);
	uint32_t equal = walk_ballot<G>(t, op == ALIGN_EQUAL);

	count = stops ? __ffs((int)stops) - 1 : G;
	walk_diagonal(runs, equal, count, t.lane == 0);
	at.i -= count;
	at.j -= count;
	op = __shfl_sync(t.lanes, op, count < G ? count : 0, G);
	if (count == G)
		return;
	if (op == ALIGN_I || op == ALIGN_D) {
		runs_add(runs, op, 1, t.lane == 0);
		at.i -= op == ALIGN_I;
		at.j -= op == ALIGN_D;
	} else {
		at.lost = !count;
	}
}

/* The CIGAR of a pair whose last forward pass is in the trace. False: the trace is broken. */
template <int G, int NW>
static __device__ bool long_walk(const struct alignment_part &part, const struct long_task &t,
				 struct runs_writer &runs)
{
	struct long_place at;

	walk_start<G, NW>(t, at);
	while (at.i && at.j && !at.lost) {
		while (at.i <= at.above)
			walk_strip_up<G, NW>(t, at);
		walk_on<G, NW>(part, t, at, runs);
	}
	runs_add(runs, ALIGN_I, (uint32_t)at.i, t.lane == 0);
	runs_add(runs, ALIGN_D, (uint32_t)at.j, t.lane == 0);
	return !at.lost;
}

#endif
