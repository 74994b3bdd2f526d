/* tile.cuh - the thread tile: multiply-adds from shared memory, and the epilogue that stores it. */
#ifndef RIFT_MATMUL_TILE_CUH
#define RIFT_MATMUL_TILE_CUH

#include "workloads/matmul/load.cuh"

/* ---- multiply-adds ---------------------------------------------------------------------- */

/*
 * The outputs of a thread: the first of its quarters begins at (row, col) of the block's tile. A
 * warp tile is 4 x 8 threads: eight lanes read the same vec4 of A, and eight vec4s of B are 128
 * bytes side by side.
 */
struct thread_tile {
	int slice, row, col;
};

template <class S> static __device__ inline thread_tile find_thread_tile(uint32_t tid)
{
	int in_slice = (int)tid % (S::ACROSS * S::ACROSS);
	int warp = in_slice / LANES, lane = in_slice % LANES, wide = S::ACROSS / 8;
	thread_tile at;

	at.slice = (int)tid / (S::ACROSS * S::ACROSS);
	at.row = (warp / wide * 4 + lane / 8) * VEC;
	at.col = (warp % wide * 8 + lane % 8) * VEC;
	return at;
}

/* The thread's floats of each quarter, in a row of a stage. */
template <class S> static __device__ inline void read_vec4s(float out[], const float *row)
{
	UNROLLED for (int q = 0; q < S::SIDE; q++)
	{
		float4 v = *(const float4 *)(row + q * S::SPAN);

		out[q * VEC] = v.x;
		out[q * VEC + 1] = v.y;
		out[q * VEC + 2] = v.z;
		out[q * VEC + 3] = v.w;
	}
}

template <class S>
static __device__ inline void multiply_stage(float sum[][S::OUT], const float *smem,
					     const thread_tile &at)
{
	const float *rows_a = smem + at.slice * S::EACH * S::PITCH + at.row;
	const float *rows_b = smem + S::A_FLOATS + at.slice * S::EACH * S::TILE + at.col;
	float a[S::OUT], b[S::OUT];

	UNROLLED for (int d = 0; d < S::EACH; d++)
	{
		read_vec4s<S>(a, rows_a + d * S::PITCH);
		read_vec4s<S>(b, rows_b + d * S::TILE);
		UNROLLED for (int i = 0; i < S::OUT * S::OUT; i++)
		{
			sum[i / S::OUT][i % S::OUT] += a[i / S::OUT] * b[i % S::OUT];
		}
	}
}

/* ---- epilogue --------------------------------------------------------------------------- */

/* The block's tile of a slot's C begins at c; C ends `rows` and `cols` further. */
struct epilogue {
	float *c;
	uint32_t n;
	int rows, cols;
};

template <class S> static __device__ inline epilogue begin_epilogue(const matmul_shape &s, float *c)
{
	uint32_t row = blockIdx.y * S::TILE, col = blockIdx.x * S::TILE;
	epilogue to;

	to.c = c + (int64_t)row * s.n + col;
	to.n = s.n;
	to.rows = (int)(s.m - row);
	to.cols = (int)(s.n - col);
	return to;
}

template <bool VEC4>
static __device__ inline void store_vec4(const epilogue &to, int row, int col, float4 v)
{
	float *c = to.c + (int64_t)row * to.n + col;
	int count = row < to.rows ? to.cols - col : 0;

	if (VEC4) {
		if (count > 0)
			*(float4 *)c = v;
		return;
	}
	if (count > 0)
		c[0] = v.x;
	if (count > 1)
		c[1] = v.y;
	if (count > 2)
		c[2] = v.z;
	if (count > 3)
		c[3] = v.w;
}

static __device__ inline float4 make_vec4(const float v[])
{
	return make_float4(v[0], v[1], v[2], v[3]);
}

template <class S, bool VEC4>
static __device__ inline void store_thread_tile(const epilogue &to, const thread_tile &at,
						const float sum[][S::OUT])
{
	UNROLLED for (int i = 0; i < S::OUT * S::SIDE; i++)
	{
		int row = i / S::SIDE, q = i % S::SIDE;

		store_vec4<VEC4>(to, row / VEC * S::SPAN + at.row + row % VEC, q * S::SPAN + at.col,
				 make_vec4(sum[row] + q * VEC));
	}
}

/* One quarter of the tile: all slices store their sums, then each thread adds four outputs. */
template <class S, bool VEC4>
static __device__ inline void reduce_quarter(const epilogue &to, const thread_tile &at,
					     const float sum[][S::OUT], float *smem, int qi, int qj)
{
	enum { OUTPUTS = S::SPAN * S::SPAN };
	int index = (int)threadIdx.x * VEC;
	float4 v;

	UNROLLED for (int i = 0; i < VEC; i++)
	{
		float *partial = smem + at.slice * OUTPUTS + (at.row + i) * S::SPAN + at.col;

		*(float4 *)partial = make_vec4(sum[qi * VEC + i] + qj * VEC);
	}
	__syncthreads();
	v = *(const float4 *)(smem + index);
	UNROLLED for (int slice = 1; slice < S::SLICES; slice++)
	{
		float4 w = *(const float4 *)(smem + slice * OUTPUTS + index);

		v.x += w.x, v.y += w.y, v.z += w.z, v.w += w.w;
	}
	store_vec4<VEC4>(to, qi * S::SPAN + index / S::SPAN, qj * S::SPAN + index % S::SPAN, v);
	__syncthreads(); /* before the shared memory is written again */
}

template <class S, bool VEC4>
static __device__ inline void reduce_slices(const epilogue &to, const thread_tile &at,
					    const float sum[][S::OUT], float *smem)
{
	static_assert(S::SLICES == 1 || S::SPAN * S::SPAN == THREADS * VEC, "four outputs each");
	UNROLLED for (int q = 0; q < S::SIDE * S::SIDE; q++)
	{
		reduce_quarter<S, VEC4>(to, at, sum, smem, q / S::SIDE, q % S::SIDE);
	}
}

#endif
