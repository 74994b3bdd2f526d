/* tile.cuh - what a thread does with pieces of A and B, and with its part of a tile of C. */
#ifndef RIFT_MATMUL_TILE_CUH
#define RIFT_MATMUL_TILE_CUH

#include "workloads/matmul/piece.cuh"

/* ---- multiply-adds ---------------------------------------------------------------------- */

/*
 * Which outputs are this thread's: the first of its quarters begins at (row, col) of the tile. A
 * warp is 4 x 8 threads: of a row of A eight read the same, and the others' B is 128 bytes.
 */
struct seat {
	int slice, row, col;
};

template <class S> static __device__ inline seat seat_of(uint32_t me)
{
	int in_slice = (int)me % (S::ACROSS * S::ACROSS);
	int warp = in_slice / LANES, lane = in_slice % LANES, wide = S::ACROSS / 8;
	seat at;

	at.slice = (int)me / (S::ACROSS * S::ACROSS);
	at.row = (warp / wide * 4 + lane / 8) * QUAD;
	at.col = (warp % wide * 8 + lane % 8) * QUAD;
	return at;
}

/* A row of a piece: this thread's floats of each quarter. */
template <class S> static __device__ inline void read_row(float out[], const float *row)
{
	UNROLLED for (int q = 0; q < S::SIDE; q++)
	{
		float4 v = *(const float4 *)(row + q * S::SPAN);

		out[q * QUAD] = v.x;
		out[q * QUAD + 1] = v.y;
		out[q * QUAD + 2] = v.z;
		out[q * QUAD + 3] = v.w;
	}
}

template <class S>
static __device__ inline void multiply(float sum[][S::OUT], const float *room, const seat &at)
{
	const float *rows_a = room + at.slice * S::EACH * S::PITCH + at.row;
	const float *rows_b = room + S::A_FLOATS + at.slice * S::EACH * S::TILE + at.col;
	float a[S::OUT], b[S::OUT];

	UNROLLED for (int d = 0; d < S::EACH; d++)
	{
		read_row<S>(a, rows_a + d * S::PITCH);
		read_row<S>(b, rows_b + d * S::TILE);
		UNROLLED for (int i = 0; i < S::OUT * S::OUT; i++)
		{
			sum[i / S::OUT][i % S::OUT] += a[i / S::OUT] * b[i % S::OUT];
		}
	}
}

/* ---- outputs ---------------------------------------------------------------------------- */

/* The tile of a slot's C that the block makes; its first output is at c, less there may be. */
struct target {
	float *c;
	uint32_t n;
	int rows, cols;
};

template <class S> static __device__ inline target target_of(const matmul_shape &s, float *c)
{
	uint32_t row = blockIdx.y * S::TILE, col = blockIdx.x * S::TILE;
	target to;

	to.c = c + (int64_t)row * s.n + col;
	to.n = s.n;
	to.rows = (int)(s.m - row);
	to.cols = (int)(s.n - col);
	return to;
}

template <bool QUADS>
static __device__ inline void put(const target &to, int row, int col, float4 v)
{
	float *c = to.c + (int64_t)row * to.n + col;
	int count = row < to.rows ? to.cols - col : 0;

	if (QUADS) {
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

static __device__ inline float4 quad_of(const float v[])
{
	return make_float4(v[0], v[1], v[2], v[3]);
}

template <class S, bool QUADS>
static __device__ inline void put_all(const target &to, const seat &at, const float sum[][S::OUT])
{
	UNROLLED for (int i = 0; i < S::OUT * S::SIDE; i++)
	{
		int row = i / S::SIDE, q = i % S::SIDE;

		put<QUADS>(to, row / QUAD * S::SPAN + at.row + row % QUAD, q * S::SPAN + at.col,
			   quad_of(sum[row] + q * QUAD));
	}
}

/* One quarter of the tile: all slices leave their sums, then each thread adds four outputs. */
template <class S, bool QUADS>
static __device__ inline void put_quarter(const target &to, const seat &at,
					  const float sum[][S::OUT], float *room, int qi, int qj)
{
	enum { OUTPUTS = S::SPAN * S::SPAN };
	int mine = (int)threadIdx.x * QUAD;
	float4 v;

	UNROLLED for (int i = 0; i < QUAD; i++)
	{
		float *to_room = room + at.slice * OUTPUTS + (at.row + i) * S::SPAN + at.col;

		*(float4 *)to_room = quad_of(sum[qi * QUAD + i] + qj * QUAD);
	}
	__syncthreads();
	v = *(const float4 *)(room + mine);
	UNROLLED for (int slice = 1; slice < S::SLICES; slice++)
	{
		float4 w = *(const float4 *)(room + slice * OUTPUTS + mine);

		v.x += w.x, v.y += w.y, v.z += w.z, v.w += w.w;
	}
	put<QUADS>(to, qi * S::SPAN + mine / S::SPAN, qj * S::SPAN + mine % S::SPAN, v);
	__syncthreads(); /* before the room is used again */
}

template <class S, bool QUADS>
static __device__ inline void put_slices(const target &to, const seat &at,
					 const float sum[][S::OUT], float *room)
{
	static_assert(S::SLICES == 1 || S::SPAN * S::SPAN == THREADS * QUAD, "four outputs each");
	UNROLLED for (int q = 0; q < S::SIDE * S::SIDE; q++)
	{
		put_quarter<S, QUADS>(to, at, sum, room, q / S::SIDE, q % S::SIDE);
	}
}

#endif
