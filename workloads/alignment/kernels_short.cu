/*
 * kernels_short.cu - banded alignment, one thread per pair (Myers' bit vectors).
 *
 * In pseudo-code, for each thread and pair:
 *
 *   band = 32, 64 or 128 rows around the diagonal, one bit per row in registers (short_band.cuh)
 *   for each column j of the target:
 *     equal = rows of the band whose letter is that of column j: three XORs of bit planes
 *     up, down, left, zero = the bit-vector recurrence of one column
 *     score += 1 where the diagonal step of the end is not zero
 *     with CIGARs: store two bits per cell, the step by which the walk leaves it (letters.cuh)
 *   distance proven by the band? else append the pair to the next kernel's list
 *   with CIGARs: walk back from the end, column by column, and store the runs
 *
 * The naive version that it is tested against is alignment_distance() and alignment_path() of
 * reference.c.
 *
 * The words that the walk loads do not depend on its path, so many are loaded at once.
 */
#include "workloads/alignment/kernels.h"

#include "workloads/alignment/short_band.cuh"

/* This thread's words of a column in the trace: threads of a block are interleaved. */
template <int NW> static __device__ inline uint2 *short_trace(uint2 *trace, int column)
{
	return trace + (uint64_t)column * (NW * ALIGN_SHORT_THREADS);
}

/* The value at the end of the band. */
template <int NW, bool CIGAR>
static __device__ int short_forward(struct short_band<NW> &s, const struct letters &query,
				    const struct letters &target, int n, int score, uint2 *trace)
{
	short_start(s);
	for (int w = 0; w < NW; w++)
		for (int k = 0; k < 3; k++)
			s.query[k][w] = plane_bits(query, 32 * w - s.high, k);
	for (int column = 0; column < n; column += 32) {
		uint32_t next[3], letter[3], equal[NW], zero[NW], left[NW], zeros = 0;
		int end = n - column < 32 ? n - column : 32;

		for (int k = 0; k < 3; k++) {
			letter[k] = plane_word(target, column / 32, k);
			next[k] = plane_bits(query, 32 * NW - s.high + column, k);
		}
		for (int c = 0; c < end; c++) {
			short_equal(s, spread(letter[0], c), spread(letter[1], c),
				    spread(letter[2], c), equal);
			short_column(s, equal, zero, left);
			zeros = short_zeros(s, zero, zeros);
			for (int w = 0; CIGAR && w < NW; w++)
				short_trace<NW>(trace, column + c)[w * ALIGN_SHORT_THREADS] =
					trace_word(short_up(s, w), left[w], zero[w]);
			short_slide(s, next);
		}
		score += end - __popc(zeros);
	}
	return score;
}

/* Columns that a walk loads at once. */
template <int NW> static __device__ constexpr int short_sweep(void)
{
	return NW < 4 ? 16 : 8;
}

/* A column's words of the trace, the 32 bits of each that end with bit b uppermost. */
template <int NW> static __device__ inline uint2 short_from(const uint2 *cell, int b)
{
	uint2 high = cell[0], low = { 0, 0 };

	for (int w = 1; w < NW; w++)
		if (b / 32 == w) {
			high = cell[w];
			low = cell[w - 1];
		}
	high.x = __funnelshift_l(low.x, high.x, 31 - ((uint32_t)b & 31));
	high.y = __funnelshift_l(low.y, high.y, 31 - ((uint32_t)b & 31));
	return high;
}

/* All steps up in a column, then one out of it: left or diagonal, unless row 0 is reached. */
template <int NW>
static __device__ inline void short_leave(const uint2 *cell, int high, int *i, int *j,
					  struct runs_writer &runs)
{
	uint32_t op;
	uint2 from;
	int ups;

	do {
		from = short_from<NW>(cell, *i - *j + high);
		ups = __clz((int)~(from.x & ~from.y));
		ups = ups < *i ? ups : *i;
		runs_add(runs, ALIGN_I, (uint32_t)ups, true);
		*i -= ups;
	} while (ups == 32 && *i);
	if (!*i)
		return;
	op = !(from.y << ups >> 31) ? ALIGN_EQUAL : from.x << ups >> 31 ? ALIGN_X : ALIGN_D;
	runs_add(runs, op, 1, true);
	*i -= op != ALIGN_D;
	*j -= 1;
}

/* From the end, a column after the other. */
template <int NW>
static __device__ void short_walk(const struct alignment_pair &p, int high, uint2 *trace,
				  struct runs_writer &runs)
{
	const int sweep = short_sweep<NW>();
	int i = (int)p.m, j = (int)p.n;

	while (i && j) {
		uint2 cell[sweep][NW];

		for (int c = 0; c < sweep; c++)
			for (int w = 0; w < NW; w++)
				cell[c][w] = short_trace<NW>(
					trace,
					j - 1 - c > 0 ? j - 1 - c : 0)[w * ALIGN_SHORT_THREADS];
		for (int c = 0; c < sweep; c++)
			if (i && j)
				short_leave<NW>(cell[c], high, &i, &j, runs);
	}
	runs_add(runs, ALIGN_I, (uint32_t)i, true);
	runs_add(runs, ALIGN_D, (uint32_t)j, true);
}

/* The distance is known: it and, where wanted, its CIGAR go to the pair's result. */
template <int NW, bool CIGAR>
static __device__ void short_finish(const struct alignment_part &part, uint32_t pair, int distance,
				    int high, uint2 *trace)
{
	struct alignment_result *r = &part.result[pair];
	struct runs_writer runs;
	uint32_t *end;

	if (part.cap >= 0 && distance > part.cap) {
		r->status = ALIGN_OVER_CAP;
		return;
	}
	r->status = ALIGN_OK;
	r->distance = (uint32_t)distance;
	if (!CIGAR || !runs_begin(part, pair, (uint32_t)distance, runs))
		return;
	end = runs.at;
	short_walk<NW>(part.pair[pair], high, trace, runs);
	runs_end(part, pair, runs, end);
}

/* `c` is the class to go to where this band is too narrow. */
template <int NW, bool CIGAR>
static __device__ void short_pair(const struct alignment_part &part, uint32_t pair, int c,
				  uint2 *trace)
{
	const struct alignment_pair &p = part.pair[pair];
	int d = (int)p.n - (int)p.m, gap = d < 0 ? -d : d, score;
	struct short_band<NW> s;

	if (part.result[pair].status != ALIGN_NOT_DONE)
		return;
	part.result[pair].rounds++;
	if (!p.m || !p.n || (part.cap >= 0 && gap > part.cap)) {
		short_finish<NW, CIGAR>(part, pair, gap, 0, trace);
		return;
	}
	if (!short_fits(s, d)) {
		short_spill(part, pair, c);
		return;
	}
	score = short_forward<NW, CIGAR>(s, query_letters(part, pair), target_letters(part, pair),
					 (int)p.n, gap, trace);
	if (score <= s.proves || (part.cap >= 0 && part.cap <= s.proves))
		short_finish<NW, CIGAR>(part, pair, score, s.high, trace);
	else
		short_spill(part, pair, c);
}

template <int NW, bool CIGAR>
static __device__ inline void short_list(const struct alignment_part &part, int c)
{
	uint2 *trace = (uint2 *)(part.workspace + blockIdx.x * part.short_words) + threadIdx.x;
	uint32_t n = part.counters->listed[c];

	for (uint32_t i = blockIdx.x * ALIGN_SHORT_THREADS + threadIdx.x; i < n;
	     i += gridDim.x * ALIGN_SHORT_THREADS)
		short_pair<NW, CIGAR>(part, part.list[c][i], c + 1, trace);
}

#define SHORT_KERNEL(words, what, cigar)                                                           \
	extern "C" __global__ void __launch_bounds__(ALIGN_SHORT_THREADS)                          \
		alignment_short_##words##_##what(struct alignment_part part)                       \
	{                                                                                          \
		short_list<words, cigar>(part, ALIGN_S##words);                                    \
	}                                                                                          \
	KERNEL(alignment_short_##words##_##what)

SHORT_KERNEL(1, distance, false);
SHORT_KERNEL(2, distance, false);
SHORT_KERNEL(4, distance, false);
SHORT_KERNEL(1, cigar, true);
SHORT_KERNEL(2, cigar, true);
SHORT_KERNEL(4, cigar, true);

const void *alignment_short_kernel(enum alignment_class c, bool cigar)
{
	static const void *const table[][2] = {
		{ (const void *)alignment_short_1_distance, (const void *)alignment_short_1_cigar },
		{ (const void *)alignment_short_2_distance, (const void *)alignment_short_2_cigar },
		{ (const void *)alignment_short_4_distance, (const void *)alignment_short_4_cigar },
	};

	return table[c][cigar];
}
