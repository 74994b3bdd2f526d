/*
 * kernels.cu - C = A B in float, by tiles.
 *
 * In pseudo-code, for each block of 256 threads:
 *
 *   tile = the block's square tile of C; sum[][] = 0, the outputs of the thread's tile
 *   fragment = the first stage of A and B along k, in registers
 *   store_to_smem(stage 0, fragment)                   A is transposed on the way
 *   for each further stage along k:
 *     fragment = load_stage()                          global memory -> registers
 *     for each depth d of the stage in shared memory:  registers only: the outer product
 *       sum += column d of A x row d of B
 *     store_to_smem(the other stage, fragment); barrier
 *   sum += the last stage
 *   epilogue: add the sums of the slices through shared memory, store vec4s of C
 *
 * The naive version that it is tested against is matmul_reference() of reference.c, in double.
 *
 * The bound is multiply-adds: 67 TFLOP/s on an H200. Shared memory holds two stages: while one is
 * multiplied the next comes in through registers. A thread tile has 4 x 4 outputs, or four such
 * quarters, each in another quarter of the block's tile. So neighbouring threads read neighbouring
 * 16 bytes, and 16 floats are good for 64 multiply-adds.
 *
 *   tile       depth of a stage   thread tile   k in slices
 *   128 x 128  16                 8 x 8         1
 *   64 x 64    32                 8 x 8         4
 *   32 x 32    64                 4 x 4         4
 *
 * Small products have too few tiles to fill a GPU. There the tile is smaller, and groups of 64
 * threads share it (slices of k): each multiplies a quarter of every stage's depth. The epilogue
 * adds their sums in the groups' order: the bits are the same each time, without a second launch.
 */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/slots.cuh"
#include "workloads/matmul/inputs.h"
#include "workloads/matmul/tile.cuh"

/* ---- the product ------------------------------------------------------------------------ */

/* All stages along k, the first of which is in `next`; a barrier follows the last one. */
template <class S, bool VEC4>
static __device__ inline void main_loop(float sum[][S::OUT], fragment<S> &next, uint32_t tid,
					const matmul_shape &s, load_iterator &loads,
					const thread_tile &at, float *smem)
{
	uint32_t half = 0; /* offset in shared memory of the stage to multiply */

	store_to_smem<S>(smem, tid, next);
	__syncthreads();
	while (loads.k < s.k) {
		load_stage<S, VEC4>(next, tid, s, loads);
		multiply_stage<S>(sum, smem + half, at);
		half ^= S::STAGE;
		store_to_smem<S>(smem + half, tid, next);
		__syncthreads();
	}
	multiply_stage<S>(sum, smem + half, at);
	__syncthreads();
}

/* The step is counted behind the first loads, whose latency hides what that takes. */
template <class S, bool VEC4> __global__ void __launch_bounds__(THREADS, 2) matmul(matmul_launch l)
{
	SHARED_ARRAY(float4, vec4, [2 * S::STAGE / VEC]);
	float *smem = (float *)vec4;
	uint32_t slot = slots_step(l.counter) % l.slots, tid = threadIdx.x;

	for (uint32_t i = 0; i < l.steps; i++) {
		float sum[S::OUT][S::OUT] = {};
		fragment<S> next;
		load_iterator loads;
		epilogue out;
		thread_tile at;

		NOT_BEFORE(tid);
		at = find_thread_tile<S>(tid);
		loads = begin_loads<S>(tid, l.shape, l.arrays.a + slot * l.arrays.a_stride,
				       l.arrays.b + slot * l.arrays.b_stride);
		load_stage<S, VEC4>(next, tid, l.shape, loads);
		if (!i && l.advance)
			slots_advance(l.counter, l.advance);
		main_loop<S, VEC4>(sum, next, tid, l.shape, loads, at, smem);
		NOT_BEFORE(tid);
		at = find_thread_tile<S>(tid);
		out = begin_epilogue<S>(l.shape, l.arrays.c + slot * l.arrays.c_stride);
		if (S::SLICES == 1)
			store_thread_tile<S, VEC4>(out, at, sum);
		else
			reduce_slices<S, VEC4>(out, at, sum, smem);
		slot = slot + 1 == l.slots ? 0 : slot + 1;
	}
}
KERNEL(matmul<large, false>);
KERNEL(matmul<large, true>);
KERNEL(matmul<middle, false>);
KERNEL(matmul<middle, true>);
KERNEL(matmul<little, false>);
KERNEL(matmul<little, true>);

/* One thread counts a step whose product the library computed. */
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

	for (uint32_t j = 0; j < VEC && i * VEC + j < n; j++)
		out[i * VEC + j] = matmul_value(r.word[j], (enum matmul_fill)fill);
}
KERNEL(matmul_inputs);

/* ---- for the host ----------------------------------------------------------------------- */

enum { TILES = 3 };

typedef void matmul_kernel(matmul_launch);

struct variant {
	matmul_kernel *any, *vec4; /* vec4: rows of A and B begin at multiples of 16 bytes */
	uint32_t tile;
	double speed; /* of an SM that is full of such tiles, relative to the first variant */
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

/* The SM with most of the tiles is the last one done. */
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
	for (int i = 0; i < TILES; i++) {
		device_load_kernel((const void *)variants[i].any);
		device_load_kernel((const void *)variants[i].vec4);
	}
	device_load_kernel((const void *)matmul_one_more);
	device_load_kernel((const void *)matmul_inputs);
}

void matmul_multiply(const struct matmul_launch *l, enum matmul_tile tile, cudaStream_t stream)
{
	const struct variant *v = &variants[tile - 1];
	dim3 grid(tiles_along(l->shape.n, v->tile), tiles_along(l->shape.m, v->tile));
	bool vec4 = l->shape.k % VEC == 0 && l->shape.n % VEC == 0;

	CUDA(LAUNCH(vec4 ? v->vec4 : v->any, grid, THREADS, 0, stream, *l));
}

void matmul_count(struct slots_counter *counter, cudaStream_t stream)
{
	CUDA(LAUNCH(matmul_one_more, 1, 1, 0, stream, counter));
}

static void fill_matrix(float *out, int64_t n, uint32_t slot, enum matmul_tag tag, uint64_t seed,
			enum matmul_fill fill, cudaStream_t stream)
{
	uint32_t blocks = (uint32_t)((n + VEC * THREADS - 1) / (VEC * THREADS));

	CUDA(LAUNCH(matmul_inputs, blocks, THREADS, 0, stream, out, (uint32_t)n, slot, (int)tag,
		    seed, (int)fill));
}

void matmul_fill(const struct matmul_arrays *arrays, struct matmul_shape s, uint32_t slot,
		 uint64_t seed, enum matmul_fill fill, cudaStream_t stream)
{
	fill_matrix(arrays->a, (int64_t)s.m * s.k, slot, MATMUL_TAG_A, seed, fill, stream);
	fill_matrix(arrays->b, (int64_t)s.k * s.n, slot, MATMUL_TAG_B, seed, fill, stream);
}
