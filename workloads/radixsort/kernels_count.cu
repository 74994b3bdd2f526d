/*
 * kernels_count.cu - how many keys have each digit of each pass, in one reading of the keys.
 *
 * Keys of a warp that are counted in the same bin are added in one go by the hardware, others wait
 * for each other where their bins lie in one bank of shared memory: 32 random ones about 3.5 turns.
 */
#include "common/cuda_check.h"
#include "common/slots.cuh"
#include "workloads/radixsort/kernels.h"
#include "workloads/radixsort/tile.cuh"

static constexpr int THREADS = DIGITS; /* one for each digit of a pass */
static constexpr int LOADS = 4;	       /* of 16 bytes, under way at a time */
static constexpr int EACH = 4 * LOADS, KEYS = THREADS * EACH;
static constexpr uint32_t BLOCKS = 4 * 132; /* at most: half of what the SMs of an H200 hold */

static __device__ inline void count_key(uint32_t (&bins)[PASSES][DIGITS], uint32_t key)
{
	UNROLLED for (int pass = 0; pass < PASSES; pass++)
		atomicAdd(&bins[pass][digit_of(key, pass)], 1u);
}

static __device__ inline void count_whole(uint32_t (&bins)[PASSES][DIGITS], const uint32_t *keys)
{
	uint4 four[LOADS];

	UNROLLED for (int j = 0; j < LOADS; j++) four[j] =
		((const uint4 *)keys)[j * THREADS + threadIdx.x];
	UNROLLED for (int j = 0; j < LOADS; j++)
	{
		count_key(bins, four[j].x);
		count_key(bins, four[j].y);
		count_key(bins, four[j].z);
		count_key(bins, four[j].w);
	}
}

/* The last keys; all are loaded before the first is counted here, too. */
static __device__ inline void count_rest(uint32_t (&bins)[PASSES][DIGITS], const uint32_t *keys,
					 uint32_t n)
{
	uint32_t key[EACH];

	UNROLLED for (int j = 0; j < EACH; j++)
	{
		uint32_t i = j * THREADS + threadIdx.x;

		key[j] = i < n ? keys[i] : 0;
	}
	UNROLLED for (int j = 0; j < EACH; j++)
	{
		if (j * THREADS + threadIdx.x < n)
			count_key(bins, key[j]);
	}
}

static __device__ inline void count_keys(uint32_t (&bins)[PASSES][DIGITS], const uint32_t *keys,
					 uint32_t n)
{
	for (uint32_t at = blockIdx.x * KEYS; at < n; at += gridDim.x * KEYS) {
		if (n - at >= KEYS)
			count_whole(bins, keys + at);
		else
			count_rest(bins, keys + at, n - at);
	}
}

/* For the block that comes last: counts of all blocks become numbers of keys of lower digits. */
static __device__ inline void scan_bases(struct radixsort_board *board,
					 uint32_t (&sums)[DIGITS / 32])
{
	uint32_t count[PASSES];

	UNROLLED for (int pass = 0; pass < PASSES; pass++) count[pass] =
		load_relaxed(&board->base[pass][threadIdx.x]);
	UNROLLED for (int pass = 0; pass < PASSES; pass++)
	{
		board->base[pass][threadIdx.x] = sum_before(count[pass], sums);
		__syncthreads(); /* sums are free again */
	}
}

extern "C" __global__ void __launch_bounds__(THREADS) radixsort_count(radixsort_launch l)
{
	SHARED_ARRAY(uint32_t, bins, [PASSES][DIGITS]);
	SHARED_ARRAY(uint32_t, sums, [DIGITS / 32]);
	SHARED_ARRAY(uint32_t, last, [1]);
	uint32_t slot = slots_step(l.counter) % l.slots;

	for (int pass = 0; pass < PASSES; pass++)
		bins[pass][threadIdx.x] = 0;
	__syncthreads();
	count_keys(bins, l.arrays.in[0] + slot * l.arrays.stride, l.n);
	__syncthreads();
	for (int pass = 0; pass < PASSES; pass++)
		if (bins[pass][threadIdx.x])
			atomicAdd(&l.board->base[pass][threadIdx.x], bins[pass][threadIdx.x]);
	__syncthreads();
	if (!threadIdx.x)
		last[0] = atomic_add_acq_rel(&l.board->counted, 1) == gridDim.x - 1;
	__syncthreads();
	if (last[0])
		scan_bases(l.board, sums);
}
KERNEL(radixsort_count);

void radixsort_load_count(void)
{
	struct cudaFuncAttributes ignored;

	CUDA(cudaFuncGetAttributes(&ignored, (const void *)radixsort_count));
}

void radixsort_count_digits(const struct radixsort_launch *l, cudaStream_t stream)
{
	uint32_t blocks = (uint32_t)((l->n + (int64_t)KEYS - 1) / KEYS);

	CUDA(LAUNCH(radixsort_count, blocks < BLOCKS ? blocks : BLOCKS, THREADS, 0, stream, *l));
}
