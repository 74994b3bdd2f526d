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
	COLUMNS = 128,			/* with those beside the outputs */
	OUTPUTS = COLUMNS - 2 * RADIUS, /* of a row of the strip */
	GROUPS = 3,
	EACH = 6, /* disparities of a thread */
	PASS = GROUPS * EACH,
	PAIRS = PASS / 2,
	THREADS = GROUPS * COLUMNS,
	QUADS = OUTPUTS / 4,	     /* of outputs */
	FINDERS = THREADS - OUTPUTS, /* threads from here on find the least key */
	BOTH = 2 * COLUMNS + PASS -
	       1,	      /* pixels of a row: left, then those they are compared with */
	RING = WINDOW + 2,    /* rows: 17, the one that comes in, and the next */
	PITCH = COLUMNS + 16, /* a warp's quads of two pairs fall into different banks */
	KEY_BITS = 8,	      /* of a key, for the number of the disparity */
};

static_assert(BOTH <= THREADS, "a thread fetches one pixel of a row");
static_assert(PAIRS * QUADS <= FINDERS, "who has outputs does not find");

/* What a key of no disparity is above; a cost is below 2^18. */
static const uint32_t none = 0xf0000000;

/* Shared memory of a block; of sums and keys those of two rows, in turn. */
struct room {
	uint32_t ring[RING][BOTH];
	uint4 sum[2][PAIRS][PITCH / 4]; /* of columns */
	uint4 key[2][PAIRS][QUADS];
};

/* What a thread has to do in a pass. */
struct place {
	const uint32_t *from; /* the column that it fetches, of either image */
	int32_t *to;	      /* the column where it writes what it finds; NULL: none */
	int32_t w;	      /* of the image */
	int32_t rows;	      /* of it that may be read: later ones may still be on their way */
	int32_t dmin;	      /* of all disparities */
	bool goes_on;	      /* there were passes before */
	bool ends;	      /* there are none behind */
	int32_t at;	      /* words from the start of a row of the ring: of its left pixel */
	int32_t right;	      /* and of the first right one that this is compared with */
	uint32_t *sum;	      /* where its sums go, of turn 0 */
	int32_t pair, quad;   /* whose windows it adds; quad QUADS: none */
	uint32_t number[2];   /* of the pair's disparities among all, or `none` */
};

static __device__ inline int32_t clamp(int32_t v, int32_t n)
{
	return v < 0 ? 0 : v < n ? v : n - 1;
}

static __device__ inline uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Of the four bytes of two pixels. */
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

static __device__ inline uint32_t fetch(const place &p, int32_t row)
{
	return p.from[(int64_t)clamp(row, p.rows) * p.w];
}

static __device__ inline void lay_down(room *r, int slot, uint32_t pixel)
{
	if (threadIdx.x < BOTH)
		r->ring[slot][threadIdx.x] = pixel;
}

/* A row comes in, and after the first 17 one leaves. */
static __device__ inline void move(uint32_t sum[EACH], const uint32_t *in, const uint32_t *out,
				   const place &p, bool leaves)
{
	UNROLLED for (int k = 0; k < EACH; k++)
	{
		sum[k] += difference(in[p.at], in[p.right + k]);
		if (leaves)
			sum[k] -= difference(out[p.at], out[p.right + k]);
	}
}

static __device__ inline void share(const uint32_t sum[EACH], const place &p, int turn)
{
	UNROLLED for (int k = 0; k < EACH; k += 2)
	{
		p.sum[(turn * PAIRS + k / 2) * PITCH] = sum[k] + (sum[k + 1] << 16);
	}
}

/* Of sums of pairs: all of it, and the upper halves; the lower half is what those leave. */
struct both {
	uint32_t all, upper;
};

static __device__ inline uint32_t key_of(const place &p, both inner, uint32_t edges)
{
	uint32_t upper = inner.upper + (edges >> 16);
	uint32_t lower = inner.all + edges - (upper << 16);

	return lesser((lower << KEY_BITS) + p.number[0], (upper << KEY_BITS) + p.number[1]);
}

static __device__ inline uint32_t sum_of(uint4 v)
{
	return v.x + v.y + v.z + v.w;
}

/* Four windows share 13 columns in the middle, of which 12 are added once; 5 are each one's own. */
static __device__ inline void find_keys(room *r, const place &p, int turn)
{
	const uint4 *s = &r->sum[turn][p.pair][p.quad];
	uint4 first = s[0], last = s[4], key;
	uint32_t a = sum_of(s[1]), b = sum_of(s[2]), c = sum_of(s[3]);
	both inner = { a + b + c, (a >> 16) + (b >> 16) + (c >> 16) };
	uint32_t edges = sum_of(first) + last.x;

	key.x = key_of(p, inner, edges);
	edges += last.y - first.x;
	key.y = key_of(p, inner, edges);
	edges += last.z - first.y;
	key.z = key_of(p, inner, edges);
	edges += last.w - first.z;
	key.w = key_of(p, inner, edges);
	r->key[turn][p.pair][p.quad] = key;
}

/* The best of all pairs, and of earlier passes; of the last pass its disparity. */
static __device__ inline void put(const room *r, const place &p, int turn, int32_t row)
{
	const uint32_t *key = &r->key[turn][0][0].x + threadIdx.x - FINDERS;
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

static __device__ inline int after(int slot)
{
	return slot + 1 == RING ? 0 : slot + 1;
}

/*
 * Rows [y, end) for the disparities of a pass. Row i of those that come in, from y - 8 on, lies in
 * slot i mod 19 of the ring, where row i - 19 lay, which was taken off two rows ago.
 */
static __device__ inline void pass_over(room *r, const place &p, int32_t y, int32_t end)
{
	int32_t rows = end - y + WINDOW - 1, first = y - RADIUS;
	uint32_t sum[EACH] = {};
	uint32_t pixel;
	int in = 0;

	__syncthreads(); /* the pass before has ended */
	lay_down(r, 0, fetch(p, first));
	pixel = fetch(p, first + 1);
	__syncthreads();
	for (int32_t i = 0; i <= rows; i++) {
		int next = after(in), turn = i % 2;
		bool full = i >= WINDOW - 1 && i < rows;

		if (i < rows)
			move(sum, r->ring[in], r->ring[after(next)], p, i >= WINDOW);
		if (full)
			share(sum, p, turn);
		lay_down(r, next, pixel);
		pixel = fetch(p, first + i + 2);
		__syncthreads();
		if (full && p.quad < QUADS)
			find_keys(r, p, turn);
		if (i >= WINDOW && p.to)
			put(r, p, 1 - turn, y + i - WINDOW);
		in = next;
	}
}

#endif
