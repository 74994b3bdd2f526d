/* strip.cuh - what a block does with the rows of its strip, for the disparities of a pass. */
#ifndef RIFT_STEREO_STRIP_CUH
#define RIFT_STEREO_STRIP_CUH

#include "common/gpu.h"
#include "workloads/stereo/device.h"

#ifdef __CUDACC__
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED
#endif

enum {
	RADIUS = STEREO_RADIUS,
	WINDOW = STEREO_WINDOW,
	COLUMNS = 128,			/* outputs and the 8 on each side */
	OUTPUTS = COLUMNS - 2 * RADIUS, /* of a row of the strip */
	GROUPS = 3,
	EACH = 6, /* disparities of a thread */
	PASS = GROUPS * EACH,
	PAIRS = PASS / 2,
	THREADS = GROUPS * COLUMNS,
	VEC4S = OUTPUTS / 4,	     /* vec4s of outputs */
	FINDERS = THREADS - OUTPUTS, /* threads from here on find the least key */
	BOTH = 2 * COLUMNS + PASS -
	       1,	      /* pixels of a row: left, then those they are compared with */
	RING = WINDOW + 2,    /* rows: 17, the one that comes in, and the next */
	PITCH = COLUMNS + 16, /* a warp's vec4s of two pairs fall into different banks */
	KEY_BITS = 8,	      /* low bits of a key: the number of the disparity */
};

static_assert(BOTH <= THREADS, "a thread loads one pixel of a row");
static_assert(PAIRS * VEC4S <= FINDERS, "who has outputs does not find");

/* Keys of no disparity are above this; a cost is below 2^18. */
static const uint32_t none = 0xf0000000;

/* Shared memory of a block; sums and keys are double buffered by row. */
struct strip_smem {
	uint32_t ring[RING][BOTH];
	uint4 sum[2][PAIRS][PITCH / 4]; /* sums of columns, two disparities a word */
	uint4 key[2][PAIRS][VEC4S];
};

/* What a thread computes in a pass. */
struct thread_task {
	const uint32_t *from; /* column that it loads, of either image */
	int32_t *to;	      /* column of disparities that it stores; NULL: none */
	int32_t w;	      /* width of the image */
	int32_t rows;	      /* rows that may be read: later ones may still be copied */
	int32_t dmin;	      /* least of all disparities */
	bool goes_on;	      /* there were passes before */
	bool ends;	      /* this is the last pass */
	int32_t at;	      /* index of its left pixel in a row of the ring */
	int32_t right;	      /* index of the first right pixel that this is compared with */
	uint32_t *sum;	      /* its sums in buffer 0 */
	int32_t pair, vec4;   /* whose windows it adds; vec4 VEC4S: none */
	uint32_t number[2];   /* numbers of the pair's disparities, or `none` */
};

static __device__ inline int32_t clamp(int32_t v, int32_t n)
{
	return v < 0 ? 0 : v < n ? v : n - 1;
}

static __device__ inline uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The sum of absolute differences of the four bytes of two pixels. */
static __device__ inline uint32_t difference(uint32_t a, uint32_t b)
{
#ifdef __CUDACC__
	return __vsadu4(a, b); /* one instruction */
#else
	uint32_t sum = 0;

	for (int c = 0; c < 32; c += 8) {
		int32_t v = (int32_t)(a >> c & 255) - (int32_t)(b >> c & 255);

		sum += (uint32_t)(v < 0 ? -v : v);
	}
	return sum;
#endif
}

/* ---- a row ------------------------------------------------------------------------------ */

static __device__ inline uint32_t load_pixel(const thread_task &p, int32_t row)
{
	return p.from[(int64_t)clamp(row, p.rows) * p.w];
}

static __device__ inline void store_to_smem(strip_smem *smem, int slot, uint32_t pixel)
{
	if (threadIdx.x < BOTH)
		smem->ring[slot][threadIdx.x] = pixel;
}

/* A row enters the window, and after the first 17 one leaves. */
static __device__ inline void slide_sums(uint32_t sum[EACH], const uint32_t *in,
					 const uint32_t *out, const thread_task &p, bool leaves)
{
	UNROLLED for (int k = 0; k < EACH; k++)
	{
		sum[k] += difference(in[p.at], in[p.right + k]);
		if (leaves)
			sum[k] -= difference(out[p.at], out[p.right + k]);
	}
}

static __device__ inline void store_sums(const uint32_t sum[EACH], const thread_task &p, int buffer)
{
	UNROLLED for (int k = 0; k < EACH; k += 2)
	{
		p.sum[(buffer * PAIRS + k / 2) * PITCH] = sum[k] + (sum[k + 1] << 16);
	}
}

/* Sums of packed words: the words themselves, and their upper halves; the rest is the lower. */
struct packed_sums {
	uint32_t all, upper;
};

static __device__ inline uint32_t window_key(const thread_task &p, packed_sums inner,
					     uint32_t edges)
{
	uint32_t upper = inner.upper + (edges >> 16);
	uint32_t lower = inner.all + edges - (upper << 16);

	return lesser((lower << KEY_BITS) + p.number[0], (upper << KEY_BITS) + p.number[1]);
}

static __device__ inline uint32_t vec4_sum(uint4 v)
{
	return v.x + v.y + v.z + v.w;
}

/* Four windows share the 13 columns in the middle: 12 are added once, and 5 in each window. */
static __device__ inline void store_keys(strip_smem *smem, const thread_task &p, int buffer)
{
	const uint4 *s = &smem->sum[buffer][p.pair][p.vec4];
	uint4 first = s[0], last = s[4], key;
	uint32_t a = vec4_sum(s[1]), b = vec4_sum(s[2]), c = vec4_sum(s[3]);
	packed_sums inner = { a + b + c, (a >> 16) + (b >> 16) + (c >> 16) };
	uint32_t edges = vec4_sum(first) + last.x;

	key.x = window_key(p, inner, edges);
	edges += last.y - first.x;
	key.y = window_key(p, inner, edges);
	edges += last.z - first.y;
	key.z = window_key(p, inner, edges);
	edges += last.w - first.z;
	key.w = window_key(p, inner, edges);
	smem->key[buffer][p.pair][p.vec4] = key;
}

/* The least key of all pairs and of earlier passes; in the last pass its disparity. */
static __device__ inline void store_disparity(const strip_smem *smem, const thread_task &p,
					      int buffer, int32_t row)
{
	const uint32_t *key = &smem->key[buffer][0][0].x + threadIdx.x - FINDERS;
	int32_t *to = p.to + (int64_t)row * p.w;
	uint32_t best = UINT32_MAX;

	UNROLLED for (int k = 0; k < PAIRS; k++)
	{
		best = lesser(best, key[k * OUTPUTS]);
	}
	if (p.goes_on)
		best = lesser(best, (uint32_t)*to);
	*to = p.ends ? p.dmin + (int32_t)(best & ((1 << KEY_BITS) - 1)) : (int32_t)best;
}

/* ---- a strip ---------------------------------------------------------------------------- */

static __device__ inline int next_row(int slot)
{
	return slot + 1 == RING ? 0 : slot + 1;
}

/*
 * Rows [y, end) for the disparities of a pass. Row i of those that enter, from y - 8 on, lies in
 * slot i mod 19 of the ring. Row i - 19 lay there, which left the window two rows ago.
 */
static __device__ inline void match_strip(strip_smem *smem, const thread_task &p, int32_t y,
					  int32_t end)
{
	int32_t rows = end - y + WINDOW - 1, first = y - RADIUS;
	uint32_t sum[EACH] = {};
	uint32_t pixel;
	int in = 0;

	__syncthreads(); /* the pass before has ended */
	store_to_smem(smem, 0, load_pixel(p, first));
	pixel = load_pixel(p, first + 1);
	__syncthreads();
	for (int32_t i = 0; i <= rows; i++) {
		int next = next_row(in), buffer = i % 2;
		bool full = i >= WINDOW - 1 && i < rows;

		if (i < rows)
			slide_sums(sum, smem->ring[in], smem->ring[next_row(next)], p, i >= WINDOW);
		if (full)
			store_sums(sum, p, buffer);
		store_to_smem(smem, next, pixel);
		pixel = load_pixel(p, first + i + 2);
		__syncthreads();
		if (full && p.vec4 < VEC4S)
			store_keys(smem, p, buffer);
		if (i >= WINDOW && p.to)
			store_disparity(smem, p, 1 - buffer, y + i - WINDOW);
		in = next;
	}
}

#endif
