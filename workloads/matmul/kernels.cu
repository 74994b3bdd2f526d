/*
 * kernels.cu - C = A B in float, by tiles.
 *
 * Meant to be bound by multiply-adds: 67 TFLOP/s on an H200. A block of 256 threads makes a square
 * tile of C. It takes A and B along k in pieces that lie in shared memory, A transposed, twice:
 * while one is multiplied the next comes in through registers. A thread has 4 x 4 outputs, or four
 * such quarters, each in another quarter of the tile: so all it reads are 16 bytes next to those of
 * its neighbours, and 16 of them are good for 64 multiply-adds.
 *
 *   tile       a piece's depth   outputs a thread   k in slices
 *   128 x 128  16                8 x 8              1
 *   64 x 64    32                8 x 8              4
 *   32 x 32    64                4 x 4              4
 *
 * Small products have too few tiles to fill a GPU. There the tile is smaller, and groups of 64
 * threads share it: each multiplies a quarter of every piece's depth, and at the end their sums
 * are added in the groups' order. So the bits are the same each time, without a second launch.
 */
#include "common/cuda_check.h"
#include "common/slots.cuh"
#include "workloads/matmul/inputs.h"
#include "workloads/matmul/tile.cuh"

/* ---- the product ------------------------------------------------------------------------ */

/* All pieces along k, of which the first is in `next`; a barrier stands behind the last one. */
template <class S, bool QUADS>
static __device__ inline void all_pieces(float sum[][S::OUT], piece<S> &next, uint32_t me,
					 const matmul_shape &s, cursor &from, const seat &at,
					 float *room)
{
	uint32_t half = 0; /* of the room, with the piece to multiply */

	lay_down<S>(room, me, next);
	__syncthreads();
	while (from.from < s.k) {
		fetch<S, QUADS>(next, me, s, from);
		multiply<S>(sum, room + half, at);
		half ^= S::PIECE;
		lay_down<S>(room + half, me, next);
		__syncthreads();
	}
	multiply<S>(sum, room + half, at);
	__syncthreads();
}

/* The step is counted behind the first loads, whose way to memory hides what that takes. */
template <class S, bool QUADS> __global__ void __launch_bounds__(THREADS, 2) matmul(matmul_launch l)
{
	SHARED_ARRAY(float4, quads, [2 * S::PIECE / QUAD]);
	float *room = (float *)quads;
	uint32_t slot = slots_step(l.counter) % l.slots, me = threadIdx.x;

	for (uint32_t i = 0; i < l.steps; i++) {
		float sum[S::OUT][S::OUT] = {};
		piece<S> next;
		cursor from;
		target to;
		seat at;

		NOT_BEFORE(me);
		at = seat_of<S>(me);
		from = begin_at<S>(me, l.shape, l.arrays.a + slot * l.arrays.a_stride,
				   l.arrays.b + slot * l.arrays.b_stride);
		fetch<S, QUADS>(next, me, l.shape, from);
		if (!i && l.advance)
			slots_advance(l.counter, l.advance);
		all_pieces<S, QUADS>(sum, next, me, l.shape, from, at, room);
		NOT_BEFORE(me);
		at = seat_of<S>(me);
		to = target_of<S>(l.shape, l.arrays.c + slot * l.arrays.c_stride);
		if (S::SLICES == 1)
			put_all<S, QUADS>(to, at, sum);
		else
			put_slices<S, QUADS>(to, at, sum, room);
		slot = slot + 1 == l.slots ? 0 : slot + 1;
	}
}
KERNEL(matmul<large, false>);
KERNEL(matmul<large, true>);
KERNEL(matmul<middle, false>);
KERNEL(matmul<middle, true>);
KERNEL(matmul<little, false>);
KERNEL(matmul<little, true>);

/* A step whose product was no launch of ours is counted by one thread. */
extern "C" __global__ void matmul_one_more(struct slots_counter *counter)
{
	slots_advance(counter, 1);
}
KERNEL(matmul_one_more);

/* ---- inputs ----------------------------------------------------------------------------- */

/* Elements 4 i to 4 i + 3 of the n of a matrix. */
extern "C" __global__ void __launch_bounds__(THREADS)
	matmul_inputs(float *out, uint32_t n, uint32_t slot, int tag, uint64_t seed, int fill)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	struct philox r = matmul_words(i, slot, (enum matmul_tag)tag, seed);

	for (uint32_t j = 0; j < QUAD && i * QUAD + j < n; j++)
		out[i * QUAD + j] = matmul_value(r.word[j], (enum matmul_fill)fill);
}
KERNEL(matmul_inputs);

/* ---- for the host ----------------------------------------------------------------------- */

enum { TILES = 3 };

typedef void matmul_kernel(matmul_launch);

struct variant {
	matmul_kernel *any, *quads; /* quads: rows of A and B begin at multiples of 16 bytes */
	uint32_t tile;
	double speed; /* of a multiprocessor that is full of it, beside the first's */
};

/* By enum matmul_tile, less one. */
static const struct variant variants[TILES] = {
	{ matmul<large, false>, matmul<large, true>, large::TILE, 1 },
	{ matmul<middle, false>, matmul<middle, true>, middle::TILE, 0.9 },
	{ matmul<little, false>, matmul<little, true>, little::TILE, 0.5 },
};

static uint32_t tiles_along(uint32_t length, uint32_t tile)
{
	return (length + tile - 1) / tile;
}

/* The multiprocessor with most of the tiles is the last one done. */
enum matmul_tile matmul_tile_for(struct matmul_shape s)
{
	enum {
		MULTIPROCESSORS = 132
	}; /* of an H200; on all devices, for the bits to be the same */
	double least = 0;
	int best = 0;

	for (int i = 0; i < TILES; i++) {
		uint32_t tile = variants[i].tile;
		uint32_t tiles = tiles_along(s.m, tile) * tiles_along(s.n, tile);
		double time = (double)tiles_along(tiles, MULTIPROCESSORS) * tile * tile;

		time /= variants[i].speed;
		if (i && time >= least)
			continue;
		least = time;
		best = i;
	}
	return (enum matmul_tile)(best + 1);
}

void matmul_load_kernels(void)
{
	struct cudaFuncAttributes ignored;

	for (int i = 0; i < TILES; i++) {
		CUDA(cudaFuncGetAttributes(&ignored, (const void *)variants[i].any));
		CUDA(cudaFuncGetAttributes(&ignored, (const void *)variants[i].quads));
	}
	CUDA(cudaFuncGetAttributes(&ignored, (const void *)matmul_one_more));
	CUDA(cudaFuncGetAttributes(&ignored, (const void *)matmul_inputs));
}

void matmul_multiply(const struct matmul_launch *l, enum matmul_tile tile, cudaStream_t stream)
{
	const struct variant *v = &variants[tile - 1];
	dim3 grid(tiles_along(l->shape.n, v->tile), tiles_along(l->shape.m, v->tile));
	bool quads = l->shape.k % QUAD == 0 && l->shape.n % QUAD == 0;

	CUDA(LAUNCH(quads ? v->quads : v->any, grid, THREADS, 0, stream, *l));
}

void matmul_count(struct slots_counter *counter, cudaStream_t stream)
{
	CUDA(LAUNCH(matmul_one_more, 1, 1, 0, stream, counter));
}

static void fill_one(float *out, int64_t n, uint32_t slot, enum matmul_tag tag, uint64_t seed,
		     enum matmul_fill fill, cudaStream_t stream)
{
	uint32_t blocks = (uint32_t)((n + QUAD * THREADS - 1) / (QUAD * THREADS));

	CUDA(LAUNCH(matmul_inputs, blocks, THREADS, 0, stream, out, (uint32_t)n, slot, (int)tag,
		    seed, (int)fill));
}

void matmul_fill(const struct matmul_arrays *arrays, struct matmul_shape s, uint32_t slot,
		 uint64_t seed, enum matmul_fill fill, cudaStream_t stream)
{
	fill_one(arrays->a, (int64_t)s.m * s.k, slot, MATMUL_TAG_A, seed, fill, stream);
	fill_one(arrays->b, (int64_t)s.k * s.n, slot, MATMUL_TAG_B, seed, fill, stream);
}
