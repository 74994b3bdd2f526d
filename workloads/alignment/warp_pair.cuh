/*
 * warp_pair.cuh - one warp per pair of at most 1,024 letters.
 *
 * In pseudo-code:
 *
 *   for every 32 columns: lane c: equal[c] = rows of the band that equal the letter of column c
 *     for each column c: all lanes: shuffle equal[c]; the bit-vector recurrence (short_band.cuh)
 *       lane 0 stores the column's two bits per cell in shared memory
 *   walk back: lane l looks at cell l of the current diagonal; a ballot gives the number of
 *     diagonal steps before the first other step
 *   store the runs at the end of smem_runs
 *
 * Every lane has the whole band in its registers; lanes share the search for equal letters.
 */
#ifndef RIFT_ALIGNMENT_WARP_PAIR_CUH
#define RIFT_ALIGNMENT_WARP_PAIR_CUH

#include "workloads/alignment/lane_letters.cuh"
#include "workloads/alignment/short_band.cuh"

/* Columns of an unrolled loop without a bounds check: the trace holds as many beyond the last. */
enum { EIGHT = ALIGN_WARP_SPARE };

/* A pair that a warp aligns. */
struct warp_task {
	struct alignment_pair p;
	struct lane_letters query, target;
	struct alignment_result r;
};

/* For this lane's column of the 32 from `column` on: rows of the band that equal its letter. */
template <int NW>
static __device__ inline void warp_equal(const struct warp_task &t, struct short_band<NW> &s,
					 int column, uint32_t *equal)
{
	uint32_t letter[3];

	for (int k = 0; k < 3; k++) {
		letter[k] = spread(lane_word(t.target, column / 32, k), (int)threadIdx.x);
		for (int w = 0; w < NW; w++)
			s.query[k][w] =
				lane_bits(t.query, column + (int)threadIdx.x - s.high + 32 * w, k);
	}
	short_equal(s, letter[0], letter[1], letter[2], equal);
}

/* Up to 32 columns; returns the sum of the steps along the diagonal of the end. */
template <int NW, bool CIGAR>
static __device__ inline int warp_columns(struct short_band<NW> &s, const uint32_t *own_equal,
					  int end, uint2 *trace)
{
	uint32_t zeros = 0;

	for (int eight = 0; eight < end; eight += EIGHT)
		for (int c = 0; c < EIGHT; c++) {
			uint32_t equal[NW], zero[NW], left[NW];

			for (int w = 0; w < NW; w++)
				equal[w] = __shfl_sync(ALL_LANES, own_equal[w], eight + c);
			short_column(s, equal, zero, left);
			zeros = short_zeros(s, zero, zeros);
			for (int w = 0; CIGAR && w < NW; w++)
				if (threadIdx.x == 0)
					trace[(eight + c) * NW + w] =
						trace_word(short_up(s, w), left[w], zero[w]);
		}
	return end - __popc(zeros >> (EIGHT - (uint32_t)end % EIGHT) % EIGHT);
}

template <int NW, bool CIGAR>
static __device__ int warp_forward(const struct warp_task &t, struct short_band<NW> &s, int score,
				   uint2 *trace)
{
	int n = (int)t.p.n;

	short_start(s);
	for (int column = 0; column < n; column += 32) {
		uint32_t equal[NW];

		warp_equal(t, s, column, equal);
		score += warp_columns<NW, CIGAR>(s, equal, n - column < 32 ? n - column : 32,
						 trace + column * NW);
	}
	return score;
}

/* The word of a column that has bit b. */
template <int NW> static __device__ inline uint2 warp_cell(const uint2 *cell, int b)
{
	uint2 found = cell[0];

	for (int w = 1; w < NW; w++)
		if (b / 32 == w)
			found = cell[w];
	return found;
}

/* From the end, by windows of 32 columns, a lane each; a diagonal is the same bit in all of them.
 */
template <int NW>
static __device__ void warp_walk(const struct alignment_pair &p, int high, const uint2 *trace,
				 struct runs_writer &runs)
{
	int i = (int)p.m, j = (int)p.n, from = j + 32, lane = (int)threadIdx.x;
	uint2 cell[NW] = {};

	while (i && j) {
		int b = i - j + high, seen, count;
		uint32_t x, y, other;

		if (from - j >= 32) {
			from = j;
			for (int w = 0; w < NW && lane < j; w++)
				cell[w] = trace[(j - 1 - lane) * NW + w];
		}
		x = __ballot_sync(ALL_LANES, warp_cell<NW>(cell, b).x >> b % 32 & 1) >> (from - j);
		y = __ballot_sync(ALL_LANES, warp_cell<NW>(cell, b).y >> b % 32 & 1) >> (from - j);
		seen = 32 - (from - j);
		seen = seen < i ? seen : i;
		seen = seen < j ? seen : j;
		other = (x ^ y) | (seen < 32 ? 0xffffffff << seen : 0);
		count = other ? __ffs((int)other) - 1 : 32;
		runs_diagonal(runs, ~x, count, lane == 0);
		i -= count;
		j -= count;
		if (count == seen)
			continue;
		runs_add(runs, x >> count & 1 ? ALIGN_I : ALIGN_D, 1, lane == 0);
		i -= (int)(x >> count & 1);
		j -= (int)(y >> count & 1);
	}
	runs_add(runs, ALIGN_I, (uint32_t)i, lane == 0);
	runs_add(runs, ALIGN_D, (uint32_t)j, lane == 0);
}

/* The distance is known; the runs go to the end of `smem_runs`. */
template <int NW, bool CIGAR>
static __device__ inline void warp_finish(const struct alignment_part &part, struct warp_task &t,
					  int distance, int high, const uint2 *trace,
					  uint32_t *smem_runs)
{
	struct runs_writer runs = { smem_runs + ALIGN_WARP_RUNS, 0 };

	t.r.status = part.cap >= 0 && distance > part.cap ? ALIGN_OVER_CAP : ALIGN_OK;
	if (t.r.status != ALIGN_OK)
		return;
	t.r.distance = (uint32_t)distance;
	if (!CIGAR)
		return;
	__syncwarp();
	warp_walk<NW>(t.p, high, trace, runs);
	if (runs.open && threadIdx.x == 0)
		runs.at[-1] = runs.open;
	t.r.runs = (uint32_t)(smem_runs + ALIGN_WARP_RUNS - runs.at) + (runs.open ? 1 : 0);
}

/* False: a wider band is needed. */
template <int NW, bool CIGAR>
static __device__ bool warp_try(const struct alignment_part &part, struct warp_task &t,
				uint2 *trace, uint32_t *smem_runs)
{
	int d = (int)t.p.n - (int)t.p.m, gap = d < 0 ? -d : d, score;
	struct short_band<NW> s;

	t.r.rounds++;
	if (!t.p.m || !t.p.n || (part.cap >= 0 && gap > part.cap)) {
		warp_finish<NW, CIGAR>(part, t, gap, 0, trace, smem_runs);
		return true;
	}
	if (!short_fits(s, d))
		return false;
	score = warp_forward<NW, CIGAR>(t, s, gap, trace);
	if (score > s.proves && (part.cap < 0 || part.cap > s.proves))
		return false;
	warp_finish<NW, CIGAR>(part, t, score, s.high, trace, smem_runs);
	return true;
}

#endif
