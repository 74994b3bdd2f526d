/*
 * short_band.cuh - a band of 32, 64 or 128 rows in registers, which slides down one row with each
 * column (Myers 1999, Hyyro 2003).
 *
 * Bit b of column j is row j - high + b. The band holds `spare` diagonals on either side of those
 * between the two ends. So it proves every distance up to |d| + 2 spare + 1.
 */
#ifndef RIFT_ALIGNMENT_SHORT_BAND_CUH
#define RIFT_ALIGNMENT_SHORT_BAND_CUH

#include "workloads/alignment/letters.cuh"

template <int NW> struct short_band {
	uint32_t up[NW], down[NW]; /* vertical steps +1 and -1 */
	uint32_t query[3][NW];	   /* planes of the band's rows */
	int low_bit;		   /* bit of the diagonal d: where the score is followed */
	int high, proves;	   /* cost */
};

/* Where a pair lies in the band, d being n - m; false: it is too narrow for the two ends. */
template <int NW> static __device__ inline bool short_fits(struct short_band<NW> &s, int d)
{
	int gap = d < 0 ? -d : d, spare = (32 * NW - 1 - gap) / 2;

	s.high = (d > 0 ? d : 0) + spare;
	s.low_bit = s.high - d;
	s.proves = gap + 2 * spare + 1;
	return gap + 1 <= 32 * NW;
}

/* Rows above row 0 fall by one each, so that row 0 comes out as 0, 1, 2, ... */
template <int NW> static __device__ inline void short_start(struct short_band<NW> &s)
{
	for (int w = 0; w < NW; w++) {
		int first = s.high - 32 * w; /* bit of row 1 */
		uint32_t virtual_rows = first <= 0   ? 0
					: first > 31 ? 0xffffffff
						     : (1u << first) - 1;

		s.up[w] = ~virtual_rows;
		s.down[w] = virtual_rows;
	}
}

/* Rows of the band whose letters equal one of the target, given as its three bits spread out. */
template <int NW>
static __device__ inline void short_equal(const struct short_band<NW> &s, uint32_t t0, uint32_t t1,
					  uint32_t t2, uint32_t *equal)
{
	for (int w = 0; w < NW; w++)
		equal[w] = ~((s.query[0][w] ^ t0) | (s.query[1][w] ^ t1) | (s.query[2][w] ^ t2));
}

/*
 * One column: steps into the band of the next one. Returns the diagonal steps, zero or not, and
 * the horizontal ones.
 */
template <int NW>
static __device__ inline void short_column(struct short_band<NW> &s, const uint32_t *equal,
					   uint32_t *zero, uint32_t *left)
{
	uint32_t carry = 0;

	for (int w = 0; w < NW; w++) {
		uint64_t sum = (uint64_t)(equal[w] & s.up[w]) + s.up[w] + carry;

		carry = (uint32_t)(sum >> 32);
		zero[w] = ((uint32_t)sum ^ s.up[w]) | equal[w] | s.down[w];
		left[w] = s.down[w] | ~(zero[w] | s.up[w]);
	}
	for (int w = 0; w < NW; w++) {
		uint32_t next = w + 1 < NW ? zero[w + 1 < NW ? w + 1 : w] : 0;
		uint32_t x = __funnelshift_r(zero[w], next, 1);

		s.up[w] = (s.up[w] & zero[w]) | ~(x | left[w]);
		s.down[w] = left[w] & x;
	}
}

/* Vertical steps +1 into the column's rows: they are there in the frame of the next, a row lower.
 */
template <int NW> static __device__ inline uint32_t short_up(const struct short_band<NW> &s, int w)
{
	return __funnelshift_l(w ? s.up[w ? w - 1 : 0] : 0, s.up[w], 1);
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

/* The word of a number that has bit b, that bit uppermost; no index that registers cannot have. */
template <int NW> static __device__ inline uint32_t short_top(const uint32_t *word, int b)
{
	uint32_t found = word[0];

	for (int w = 1; w < NW; w++)
		if (b / 32 == w)
			found = word[w];
	return found << (31 - ((uint32_t)b & 31));
}

/* Whether the diagonal of the ends had steps of zero, the last one in bit 0: its sum is the score.
 */
template <int NW>
static __device__ inline uint32_t short_zeros(const struct short_band<NW> &s, const uint32_t *zero,
					      uint32_t before)
{
	return __funnelshift_l(short_top<NW>(zero, s.low_bit), before, 1);
}

/* To the list of the class after this band's. */
static __device__ inline void short_spill(const struct alignment_part &part, uint32_t pair, int c)
{
	part.list[c][atomicAdd(&part.counters->listed[c], 1u)] = pair;
}

#endif
