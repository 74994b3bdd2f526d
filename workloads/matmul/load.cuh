/* load.cuh - shapes of tiles, and the load iterator that brings A and B into shared memory. */
#ifndef RIFT_MATMUL_LOAD_CUH
#define RIFT_MATMUL_LOAD_CUH

#include "common/gpu.h"
#include "workloads/matmul/device.h"

/*
 * NOT_BEFORE(v): nothing that depends on the integer v is computed earlier. The compiler would else
 * hoist addresses of outputs, the same in every step, into registers that the main loop wants. So v
 * is the thread's index: all that differs between threads comes from it.
 */
#ifdef __CUDACC__
#define UNROLLED _Pragma("unroll")
#define NOT_BEFORE(v) asm volatile("" : "+r"(v))
#else
#define UNROLLED
#define NOT_BEFORE(v) ((void)(v))
#endif

enum { THREADS = MATMUL_THREADS, VEC = 4, LANES = 32 };

/* ---- shapes ----------------------------------------------------------------------------- */

/* Rows of a stage of A lie PITCH apart: what 16 x 2 lanes store falls into 32 banks. */
template <int TILE_, int DEPTH_, int SLICES_> struct shape {
	enum {
		TILE = TILE_,
		DEPTH = DEPTH_,
		SLICES = SLICES_,
		SIDE = TILE > 32 ? 2 : 1, /* quarters along a side of the tile */
		SPAN = TILE / SIDE,	  /* rows and columns of a quarter */
		OUT = SIDE * VEC,	  /* outputs along a side of the thread tile */
		ACROSS = SPAN / VEC,	  /* threads along a side */
		EACH = DEPTH / SLICES,	  /* depth of a stage that a slice multiplies */
		PITCH = TILE + VEC,
		A_FLOATS = DEPTH * PITCH,
		STAGE = A_FLOATS + DEPTH * TILE,
		LOADS = 2, /* vec4s of A, and of B, that a thread loads of a stage */
	};
	static_assert(ACROSS * ACROSS * SLICES == THREADS, "each thread has its outputs");
	static_assert(LOADS * VEC * THREADS == TILE * DEPTH, "and its share of the loads");
	static_assert(SLICES == 1 || SLICES * SPAN * SPAN <= 2 * STAGE,
		      "a stage holds slices' sums");
};

typedef shape<128, 16, 1> large;
typedef shape<64, 32, 4> middle;
typedef shape<32, 64, 4> little;

/* ---- stages: from global memory through registers to shared memory ------------------------ */

/* What a thread holds in registers of a stage on its way. */
template <class S> struct fragment {
	float4 a[S::LOADS], b[S::LOADS];
};

/* Load iterator of a thread: its first floats of A and of B in the stage that begins at k. */
struct load_iterator {
	const float *a, *b;
	uint32_t k;    /* where the stage begins */
	uint32_t rows; /* rows of A from there on; 0: the matrix ends before */
	uint32_t cols; /* columns of B likewise */
};

/* The first load of thread tid of a stage of A; the other is half a tile of rows below. */
template <class S>
static __device__ inline void a_load_offset(uint32_t tid, uint32_t *row, uint32_t *depth)
{
	uint32_t warp = tid / LANES, lane = tid % LANES;

	*row = warp / (S::DEPTH / 8) * 16 + lane / 2; /* a warp loads 16 rows of 32 bytes */
	*depth = (warp % (S::DEPTH / 8) * 2 + lane % 2) * VEC;
}

/* The same for B; the other is half the stage's depth below. */
template <class S>
static __device__ inline void b_load_offset(uint32_t tid, uint32_t *depth, uint32_t *col)
{
	*depth = tid / (S::TILE / VEC);
	*col = tid % (S::TILE / VEC) * VEC;
}

static __device__ inline uint32_t remaining(uint32_t end, uint32_t at)
{
	return at < end ? end - at : 0;
}

/* At the first stage of the block's tile; a and b are the slot's matrices. */
template <class S>
static __device__ inline load_iterator begin_loads(uint32_t tid, const matmul_shape &s,
						   const float *a, const float *b)
{
	uint32_t row, col, depth;
	load_iterator it;

	a_load_offset<S>(tid, &row, &depth);
	row += blockIdx.y * S::TILE;
	it.a = a + (int64_t)row * s.k + depth;
	it.rows = remaining(s.m, row);
	b_load_offset<S>(tid, &depth, &col);
	col += blockIdx.x * S::TILE;
	it.b = b + (int64_t)depth * s.n + col;
	it.cols = remaining(s.n, col);
	it.k = 0;
	return it;
}

/* Up to four floats, and zero for those that are not there. */
template <bool VEC4> static __device__ inline float4 load_vec4(const float *p, uint32_t count)
{
	float4 v = make_float4(0, 0, 0, 0);

	if (VEC4)
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

/* Loads a stage and advances the iterator to the next. */
template <class S, bool VEC4>
static __device__ inline void load_stage(fragment<S> &out, uint32_t tid, const matmul_shape &s,
					 load_iterator &it)
{
	uint32_t row, col, a_depth, b_depth;

	a_load_offset<S>(tid, &row, &a_depth);
	b_load_offset<S>(tid, &b_depth, &col);
	UNROLLED for (int i = 0; i < S::LOADS; i++)
	{
		uint32_t below = i * S::TILE / S::LOADS, deeper = i * S::DEPTH / S::LOADS;

		out.a[i] = load_vec4<VEC4>(it.a + (int64_t)below * s.k,
					   below < it.rows ? remaining(s.k, it.k + a_depth) : 0);
		out.b[i] = load_vec4<VEC4>(it.b + (int64_t)deeper * s.n,
					   it.k + b_depth + deeper < s.k ? it.cols : 0);
	}
	it.a += S::DEPTH;
	it.b += (int64_t)S::DEPTH * s.n;
	it.k += S::DEPTH;
}

template <class S>
static __device__ inline void store_to_smem(float *smem, uint32_t tid, const fragment<S> &in)
{
	uint32_t row, col, depth;
	float *a, *b;

	a_load_offset<S>(tid, &row, &depth);
	a = smem + depth * S::PITCH + row;
	b_load_offset<S>(tid, &depth, &col);
	b = smem + S::A_FLOATS + depth * S::TILE + col;
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
