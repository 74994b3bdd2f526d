/*
 * lane_letters.cuh - a sequence of at most 1,024 letters in the registers of a warp: lane w has
 * word w of each bit plane (letters.cuh). All lanes call these functions together.
 */
#ifndef RIFT_ALIGNMENT_LANE_LETTERS_CUH
#define RIFT_ALIGNMENT_LANE_LETTERS_CUH

#include "workloads/alignment/codes.cuh"
#include "workloads/alignment/letters.cuh"

enum { LANE_LETTERS = 4, WARP_LETTERS = 128 /* that lanes load at once */ };

struct lane_letters {
	uint32_t plane[3];
};

static const uint32_t ALL_LANES = 0xffffffff;

/* Word w of plane k; w may be another on each lane, and beyond either end. */
static __device__ inline uint32_t lane_word(const struct lane_letters &l, int w, int k)
{
	uint32_t word = __shfl_sync(ALL_LANES, l.plane[k], w & 31);

	return w >= 0 && w < 32 ? word : 0xffffffff;
}

/* 32 bits from letter `at`, as plane_bits(). */
static __device__ inline uint32_t lane_bits(const struct lane_letters &l, int at, int k)
{
	int w = at >= 0 ? at / 32 : -((31 - at) / 32);
	uint32_t low = lane_word(l, w, k), high = lane_word(l, w + 1, k);

	return __funnelshift_r(low, high, (uint32_t)at & 31);
}

/* This lane's four of n letters from `first` on. */
static __device__ inline uint32_t lane_load(const uint8_t *letters, uint32_t first, uint32_t n)
{
	uint32_t at = first + LANE_LETTERS * threadIdx.x;

	return at < n ? *(const uint32_t *)(letters + at) : 0;
}

/*
 * Lanes' words of letters, from `first` on, into the planes: bits of eight lanes make a word.
 * `bad` is the first bad letter that this lane has seen.
 */
static __device__ inline void lane_pack(uint32_t word, uint32_t first, uint32_t n, bool fold,
					struct lane_letters &l, uint32_t &bad)
{
	uint32_t lane = threadIdx.x, at = first + LANE_LETTERS * lane, codes;
	uint32_t left = at < n ? n - at : 0, count = left < 4 ? left : 4;

	if (count < LANE_LETTERS || !four_codes(word, fold, &codes)) {
		uint32_t b = slow_codes(word, count, fold, &codes);

		bad = b < count && at + b < bad ? at + b : bad;
	}
	for (int k = 0; k < 3; k++) {
		uint32_t bits = lowest_bits(codes >> k) | (0xfu << count & 0xf);

		bits <<= 4 * (lane % 8);
		for (int other = 1; other < 8; other *= 2)
			bits |= __shfl_xor_sync(ALL_LANES, bits, other);
		bits = __shfl_sync(ALL_LANES, bits, (int)(lane % 4 * 8));
		if (lane / 4 == first / WARP_LETTERS)
			l.plane[k] = bits;
	}
}

static __device__ inline uint32_t lane_least(uint32_t value)
{
	for (int other = 16; other; other /= 2) {
		uint32_t theirs = __shfl_xor_sync(ALL_LANES, value, other);

		value = theirs < value ? theirs : value;
	}
	return value;
}

/* This lane's word of each plane of n packed letters (packed.c). */
static __device__ inline struct lane_letters lane_packed(const uint8_t *packed, uint32_t n)
{
	const uint32_t w = threadIdx.x, left = 32 * w < n ? n - 32 * w : 0;
	const uint32_t beyond = left < 32 ? 0xffffffff << left : 0;
	const uint32_t *word = (const uint32_t *)packed + 2 * w;

	return { { left ? word[0] | beyond : beyond, left ? word[1] | beyond : beyond, beyond } };
}

/* Both sequences of a pair. Returns the first bad letter, query first, or m + n. */
static __device__ inline uint32_t lane_pair(const uint8_t *letters, bool fold,
					    const struct alignment_pair &p,
					    struct lane_letters &query, struct lane_letters &target)
{
	const uint8_t *q = letters + p.query, *t = letters + p.target;
	uint32_t longest = p.m > p.n ? p.m : p.n, bad = p.m, bad_target = p.n;

	query = target = { { 0xffffffff, 0xffffffff, 0xffffffff } };
	for (uint32_t first = 0; first < longest; first += WARP_LETTERS) {
		uint32_t a = lane_load(q, first, p.m), b = lane_load(t, first, p.n);

		lane_pack(a, first, p.m, fold, query, bad);
		lane_pack(b, first, p.n, fold, target, bad_target);
	}
	return lane_least(bad < p.m ? bad : p.m + bad_target);
}

#endif
