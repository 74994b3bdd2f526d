/* piece.cuh - shapes of tiles, and pieces of A and B on their way into shared memory. */
#ifndef RIFT_MATMUL_PIECE_CUH
#define RIFT_MATMUL_PIECE_CUH

#include "common/gpu.h"
#include "workloads/matmul/device.h"

/*
 * NOT_BEFORE(v): nothing that depends on the integer v is computed earlier. Addresses of outputs,
 * the same in every step, would else take registers that the loops before want. So v is the
 * thread's number, which all that differs between threads comes from.
 */
#ifdef __CUDACC__
#define UNROLLED _Pragma("unroll")
#define NOT_BEFORE(v) asm volatile("" : "+r"(v))
#else
#define UNROLLED
#define NOT_BEFORE(v) ((void)(v))
#endif

enum { THREADS = MATMUL_THREADS, QUAD = 4, LANES = 32 };

/* ---- shapes ----------------------------------------------------------------------------- */

/* Rows of a piece of A lie PITCH apart: what 16 x 2 lanes store falls into 32 banks. */
template <int TILE_, int DEPTH_, int SLICES_> struct shape {
	enum {
		TILE = TILE_,
		DEPTH = DEPTH_,
		SLICES = SLICES_,
		SIDE = TILE > 32 ? 2 : 1, /* quarters along a side of the tile */
		SPAN = TILE / SIDE,	  /* of one: its rows and columns */
		OUT = SIDE * QUAD,	  /* outputs of a thread along a side */
		ACROSS = SPAN / QUAD,	  /* threads along a side */
		EACH = DEPTH / SLICES,	  /* of a piece's depth for a slice */
		PITCH = TILE + QUAD,
		A_FLOATS = DEPTH * PITCH,
		PIECE = A_FLOATS + DEPTH * TILE,
		LOADS = 2, /* quads of A, and of B, that a thread takes of a piece */
	};
	static_assert(ACROSS * ACROSS * SLICES == THREADS, "each thread has its outputs");
	static_assert(LOADS * QUAD * THREADS == TILE * DEPTH, "and its share of the loads");
	static_assert(SLICES == 1 || SLICES * SPAN * SPAN <= 2 * PIECE, "room for slices' sums");
};

typedef shape<128, 16, 1> large;
typedef shape<64, 32, 4> middle;
typedef shape<32, 64, 4> little;

/* ---- pieces: from global memory through registers to shared memory ------------------------ */

template <class S> struct piece {
	float4 a[S::LOADS], b[S::LOADS];
};

/* Where a thread loads from: its first floats of A and of B in the piece that begins at `from`. */
struct cursor {
	const float *a, *b;
	uint32_t from; /* along k */
	uint32_t rows; /* of A from there on, at least one; 0: none of them is */
	uint32_t cols; /* of B likewise */
};

/* Thread me's first load of a piece of A; the other is half a tile of rows below. */
template <class S>
static __device__ inline void where_a(uint32_t me, uint32_t *row, uint32_t *depth)
{
	uint32_t warp = me / LANES, lane = me % LANES;

	*row = warp / (S::DEPTH / 8) * 16 + lane / 2; /* a warp takes 16 rows of 32 bytes */
	*depth = (warp % (S::DEPTH / 8) * 2 + lane % 2) * QUAD;
}

/* And of B; the other is half the piece's depth below. */
template <class S>
static __device__ inline void where_b(uint32_t me, uint32_t *depth, uint32_t *col)
{
	*depth = me / (S::TILE / QUAD);
	*col = me % (S::TILE / QUAD) * QUAD;
}

static __device__ inline uint32_t left(uint32_t end, uint32_t at)
{
	return at < end ? end - at : 0;
}

/* At the first piece of the block's tile; a and b are the slot's. */
template <class S>
static __device__ inline cursor begin_at(uint32_t me, const matmul_shape &s, const float *a,
					 const float *b)
{
	uint32_t row, col, depth;
	cursor at;

	where_a<S>(me, &row, &depth);
	row += blockIdx.y * S::TILE;
	at.a = a + (int64_t)row * s.k + depth;
	at.rows = left(s.m, row);
	where_b<S>(me, &depth, &col);
	col += blockIdx.x * S::TILE;
	at.b = b + (int64_t)depth * s.n + col;
	at.cols = left(s.n, col);
	at.from = 0;
	return at;
}

/* Up to four floats, and zero for those that are not there. */
template <bool QUADS> static __device__ inline float4 take(const float *p, uint32_t count)
{
	float4 v = make_float4(0, 0, 0, 0);

	if (QUADS)
		return count > 0 ? *(const float4 *)p : v;
	if (count > 0)
		v.x = p[0];
	if (count > 1)
		v.y = p[1];
	if (count > 2)
		v.z = p[2];
	if (count > 3)
		v.w = p[3];
	return v;
}

/* A piece, and on to the next. */
template <class S, bool QUADS>
static __device__ inline void fetch(piece<S> &out, uint32_t me, const matmul_shape &s, cursor &at)
{
	uint32_t row, col, a_depth, b_depth;

	where_a<S>(me, &row, &a_depth);
	where_b<S>(me, &b_depth, &col);
	UNROLLED for (int i = 0; i < S::LOADS; i++)
	{
		uint32_t below = i * S::TILE / S::LOADS, deeper = i * S::DEPTH / S::LOADS;

		out.a[i] = take<QUADS>(at.a + (int64_t)below * s.k,
				       below < at.rows ? left(s.k, at.from + a_depth) : 0);
		out.b[i] = take<QUADS>(at.b + (int64_t)deeper * s.n,
				       at.from + b_depth + deeper < s.k ? at.cols : 0);
	}
	at.a += S::DEPTH;
	at.b += (int64_t)S::DEPTH * s.n;
	at.from += S::DEPTH;
}

template <class S>
static __device__ inline void lay_down(float *room, uint32_t me, const piece<S> &in)
{
	uint32_t row, col, depth;
	float *a, *b;

	where_a<S>(me, &row, &depth);
	a = room + depth * S::PITCH + row;
	where_b<S>(me, &depth, &col);
	b = room + S::A_FLOATS + depth * S::TILE + col;
	UNROLLED for (int i = 0; i < S::LOADS; i++)
	{
		float *to = a + i * S::TILE / S::LOADS;

		to[0] = in.a[i].x;
		to[S::PITCH] = in.a[i].y;
		to[2 * S::PITCH] = in.a[i].z;
		to[3 * S::PITCH] = in.a[i].w;
		*(float4 *)(b + i * S::DEPTH / S::LOADS * S::TILE) = in.b[i];
	}
}

#endif
