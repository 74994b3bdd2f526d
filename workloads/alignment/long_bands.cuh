/*
 * long_bands.cuh - the bands that a long pair is tried with, until one proves its distance.
 *
 * A value of at most k is the distance. A larger one bounds it, and a band of that cost proves it;
 * where that is much wider, twice the band may do. The last band holds every path.
 */
#ifndef RIFT_ALIGNMENT_LONG_BANDS_CUH
#define RIFT_ALIGNMENT_LONG_BANDS_CUH

#include "workloads/alignment/long_walk.cuh"

static __device__ inline void long_load_pair(const struct alignment_part &part, struct long_task &t)
{
	t.m = (int)part.pair[t.pair].m;
	t.n = (int)part.pair[t.pair].n;
	t.query = query_letters(part, t.pair);
	t.target = target_letters(part, t.pair);
}

/* The outcome of all bands of a pair. */
struct long_outcome {
	int distance, status, rounds, band;
};

static __device__ inline int smaller(int a, int b)
{
	return a < b ? a : b;
}

/* Cost of the first band; below 0: none is allowed. */
static __device__ inline int long_first(const struct alignment_part &part,
					const struct long_task &t, struct long_outcome &out)
{
	int k = alignment_first_band(part.band, t.m, t.n);
	int gap = t.m > t.n ? t.m - t.n : t.n - t.m;

	out = { 0, ALIGN_OK, 0, 0 };
	if (part.cap >= 0 && gap > part.cap) {
		out.status = ALIGN_OVER_CAP;
		return -1;
	}
	return part.cap >= 0 ? smaller(k, part.cap) : k;
}

/* Cost of the next band, after one of cost k has given a value; below 0: there is none. */
static __device__ inline int long_next_band(const struct alignment_part &part,
					    const struct long_task &t, int k, int value,
					    struct long_outcome &out)
{
	int longest = t.m > t.n ? t.m : t.n, next;

	out.distance = value;
	out.rounds++;
	out.band = k;
	if (value <= k)
		return -1;
	if (part.cap >= 0 && k >= part.cap) {
		out.status = ALIGN_OVER_CAP;
		return -1;
	}
	next = smaller(value <= 3 * k ? value : 2 * k, longest);
	return part.cap >= 0 ? smaller(next, part.cap) : next;
}

/* Where there will be no CIGAR, the result has the last band. */
static __device__ inline void long_store(const struct alignment_part &part, uint32_t pair,
					 const struct long_outcome &out, bool cigar)
{
	struct alignment_result *r = &part.result[pair];

	r->rounds += (uint16_t)out.rounds;
	r->status = (uint16_t)out.status;
	if (out.status == ALIGN_OK)
		r->distance = (uint32_t)out.distance;
	if (!cigar)
		r->at = (uint32_t)out.band;
}

/* The result of a pair; its runs, where its trace is that of the band which proved the distance. */
template <int G, int NW, bool CIGAR, class TASK>
static __device__ void long_finish(const struct alignment_part &part, const TASK &t,
				   const struct long_outcome &out)
{
	struct alignment_result *r = &part.result[t.pair];
	struct runs_writer runs;
	uint32_t *end;
	uint64_t offset = 0;
	bool is_stored = false;

	if (t.lane == 0)
		long_store(part, t.pair, out, CIGAR);
	if (!CIGAR || out.status != ALIGN_OK)
		return;
	if (t.lane == 0) {
		is_stored = runs_begin(part, t.pair, (uint32_t)out.distance, runs);
		offset = (uint64_t)(runs.at - part.staging);
	}
	offset = __shfl_sync(t.lanes, is_stored ? offset + 1 : (uint64_t)0, 0, G);
	if (!offset)
		return;
	runs = { part.staging + (offset - 1), 0 };
	end = runs.at;
	if (!long_walk<G, NW>(t, runs)) {
		if (t.lane == 0)
			r->status = ALIGN_NOT_DONE;
	} else if (t.lane == 0) {
		runs_end(part, t.pair, runs, end);
	}
}

#endif
