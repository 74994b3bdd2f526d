/*
 * kernels_short.cu - a thread a pair: a band of 32, 64 or 128 rows in registers, which slides down
 * one row with each column (Myers 1999, Hyyro 2003).
 *
 * Bit b of column j is row j - high + b. Every distance up to |d| + 2 spare + 1 is proven, where
 * the band holds `spare` diagonals on either side of those between the two ends; pairs that are
 * not go on to the next kernel's list. With CIGARs a column leaves two bits a cell (letters.cuh), and
 * the walk back sweeps over the columns: which words it needs does not depend on its path, so that
 * many are loaded at once.
 */
#include "workloads/alignment/kernels.h"

#include "workloads/alignment/letters.cuh"

template <int NW> struct short_band {
	uint32_t up[NW], down[NW]; /* vertical steps +1 and -1 */
	uint32_t query[3][NW];	   /* planes of the band's rows */
	int low_bit;		   /* bit of the diagonal d: where the score is followed */
	int high;
};

/* Rows above row 0 fall by one each, so that row 0 comes out as 0, 1, 2, ... */
template <int NW>
static __device__ inline void short_start(struct short_band<NW> &s, const struct letters &query)
{
	for (int w = 0; w < NW; w++) {
		int first = s.high - 32 * w; /* bit of row 1 */
		uint32_t virtual_rows = first <= 0   ? 0
					: first > 31 ? 0xffffffff
						     : (1u << first) - 1;

		s.up[w] = ~virtual_rows;
		s.down[w] = virtual_rows;
		for (int k = 0; k < 3; k++)
			s.query[k][w] = plane_bits(query, 32 * w - s.high, k);
	}
}

/*
 * One column: steps into the band of the next one. Returns the diagonal steps, zero or not, and
 * the horizontal ones.
 */
template <int NW>
static __device__ inline void short_column(struct short_band<NW> &s, uint32_t t0, uint32_t t1,
					   uint32_t t2, uint32_t *zero, uint32_t *left)
{
	uint32_t carry = 0;

	for (int w = 0; w < NW; w++) {
		uint32_t equal =
			~((s.query[0][w] ^ t0) | (s.query[1][w] ^ t1) | (s.query[2][w] ^ t2));
		uint64_t sum = (uint64_t)(equal & s.up[w]) + s.up[w] + carry;

		carry = (uint32_t)(sum >> 32);
		zero[w] = ((uint32_t)sum ^ s.up[w]) | equal | s.down[w];
		left[w] = s.down[w] | ~(zero[w] | s.up[w]);
	}
	for (int w = 0; w < NW; w++) {
		uint32_t next = w + 1 < NW ? zero[w + 1 < NW ? w + 1 : w] : 0;
		uint32_t x = __funnelshift_r(zero[w], next, 1);

		s.up[w] = (s.up[w] & zero[w]) | ~(x | left[w]);
		s.down[w] = left[w] & x;
	}
}

/* The band's rows move down by one; the lowest bit of `next` is the new one. */
template <int NW>
static __device__ inline void short_slide(struct short_band<NW> &s, uint32_t next[3])
{
	for (int k = 0; k < 3; k++) {
		for (int w = 0; w + 1 < NW; w++)
			s.query[k][w] = __funnelshift_r(s.query[k][w], s.query[k][w + 1], 1);
		s.query[k][NW - 1] = __funnelshift_r(s.query[k][NW - 1], next[k], 1);
		next[k] >>= 1;
	}
}

/* Bit b of a number of NW words, without an index that registers cannot have. */
template <int NW> static __device__ inline uint32_t short_bit(const uint32_t *word, int b)
{
	uint32_t found = 0;

	for (int w = 0; w < NW; w++)
		if (b / 32 == w)
			found = word[w] >> (b % 32) & 1;
	return found;
}

/* Where this thread's trace has the words of a column: threads of a block are interleaved. */
template <int NW> static __device__ inline uint2 *short_trace(uint2 *trace, int column)
{
	return trace + (uint64_t)column * (NW * ALIGN_SHORT_THREADS);
}

/* The vertical steps after the column are there in the frame of the next one, a row lower. */
template <int NW>
static __device__ inline void short_store(const struct short_band<NW> &s, const uint32_t *zero,
					  const uint32_t *left, uint2 *to)
{
	for (int w = 0; w < NW; w++) {
		uint32_t up = __funnelshift_l(w ? s.up[w ? w - 1 : 0] : 0, s.up[w], 1);

		to[w * ALIGN_SHORT_THREADS] = trace_word(up, left[w], zero[w]);
	}
}

/* The value at the end of the band. */
template <int NW, bool CIGAR>
static __device__ int short_forward(struct short_band<NW> &s, const struct letters &query,
				    const struct letters &target, int n, int score, uint2 *trace)
{
	short_start(s, query);
	for (int column = 0; column < n; column += 32) {
		uint32_t next[3], letter[3], zero[NW], left[NW];
		int end = n - column < 32 ? n - column : 32;

		for (int k = 0; k < 3; k++) {
			letter[k] = plane_word(target, column / 32, k);
			next[k] = plane_bits(query, 32 * NW - s.high + column, k);
		}
		for (int c = 0; c < end; c++) {
			short_column(s, spread(letter[0], c), spread(letter[1], c),
				     spread(letter[2], c), zero, left);
			score += 1 - (int)short_bit<NW>(zero, s.low_bit);
			if (CIGAR)
				short_store(s, zero, left, short_trace<NW>(trace, column + c));
			short_slide(s, next);
		}
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
				cell[c][w] = short_trace<NW>(trace, j - 1 - c > 0 ? j - 1 - c : 0)
					[w * ALIGN_SHORT_THREADS];
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

static __device__ void spill(const struct alignment_part &part, uint32_t pair, int c)
{
	part.list[c][atomicAdd(&part.counters->listed[c], 1u)] = pair;
}

/* `c` is the class to go to where this band is too narrow. */
template <int NW, bool CIGAR>
static __device__ void short_pair(const struct alignment_part &part, uint32_t pair, int c,
				  uint2 *trace)
{
	const struct alignment_pair &p = part.pair[pair];
	int d = (int)p.n - (int)p.m, gap = d < 0 ? -d : d, spare = (32 * NW - 1 - gap) / 2, score;
	struct short_band<NW> s;

	if (part.result[pair].status != ALIGN_NOT_DONE)
		return;
	part.result[pair].rounds++;
	if (!p.m || !p.n || (part.cap >= 0 && gap > part.cap)) {
		short_finish<NW, CIGAR>(part, pair, gap, 0, trace);
		return;
	}
	if (gap + 1 > 32 * NW) {
		spill(part, pair, c);
		return;
	}
	s.high = (d > 0 ? d : 0) + spare;
	s.low_bit = s.high - d;
	score = short_forward<NW, CIGAR>(s, query_of(part, pair), target_of(part, pair), (int)p.n,
					 gap, trace);
	if (score <= gap + 2 * spare + 1 || (part.cap >= 0 && part.cap <= gap + 2 * spare + 1))
		short_finish<NW, CIGAR>(part, pair, score, s.high, trace);
	else
		spill(part, pair, c);
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
