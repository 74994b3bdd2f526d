/*
 * kernels_count.cu - how many keys have each digit of each pass, in one reading of the keys; and a
 * board without words for the passes.
 *
 * Keys of a warp that are counted in the same bin are added in one go by the hardware. It takes an
 * SM of an H200 about four cycles for a warp whatever banks the bins lie in: with 2, 4 or 8 copies
 * of them, each for some of the lanes, it took as long. With four loads under way, and half as many
 * blocks, a sort took as long; where launches overlap, one of 2^20 pairs 3 % longer.
 */
#include "common/cuda_check.h"
#include "common/slots.cuh"
#include "workloads/radixsort/kernels.h"
#include "workloads/radixsort/tile.cuh"

static constexpr int THREADS = DIGITS; /* one for each digit of a pass */
static constexpr int LOADS = 2;	       /* of 16 bytes, under way at a time */
static constexpr int EACH = 4 * LOADS, KEYS = THREADS * EACH;
static constexpr uint32_t BLOCKS = 4 * 132; /* at most: half of what the SMs of an H200 hold */

typedef uint32_t count_bins[PASSES][DIGITS];

static __device__ inline void count_key(count_bins &bins, uint32_t key)
{
	UNROLLED for (int pass = 0; pass < PASSES; pass++)
		atomicAdd(&bins[pass][digit_of(key, pass)], 1u);
}

static __device__ inline void count_whole(count_bins &bins, const uint32_t *keys)
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
static __device__ inline void count_rest(count_bins &bins, const uint32_t *keys, uint32_t n)
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

static __device__ inline void count_keys(count_bins &bins, const uint32_t *keys, uint32_t n)
{
	for (uint32_t at = blockIdx.x * KEYS; at < n; at += gridDim.x * KEYS) {
		if (n - at >= KEYS)
			count_whole(bins, keys + at);
		else
			count_rest(bins, keys + at, n - at);
	}
}

static __device__ inline void words_clear(uint32_t *words, uint32_t n)
{
	for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
		words[i] = 0;
}

extern "C" __global__ void __launch_bounds__(THREADS)
	radixsort_count(radixsort_launch l, uint32_t words)
{
	SHARED_ARRAY(uint32_t, bins, [PASSES][DIGITS]);
	SHARED_ARRAY(uint32_t, slot, [1]);

	for (int pass = 0; pass < PASSES; pass++)
		bins[pass][threadIdx.x] = 0;
	programmatic_wait();
	/* the first pass reads what this one does, and waits before it needs more */
	programmatic_go();
	if (!threadIdx.x)
		slot[0] = slots_step_now(l.counter) % l.slots;
	words_clear((uint32_t *)(l.board + 1), words);
	__syncthreads();
	count_keys(bins, l.arrays.in[0] + slot[0] * l.arrays.stride, l.n);
	__syncthreads();
	for (int pass = 0; pass < PASSES; pass++) {
		uint32_t *count = l.board->count[blockIdx.x % RADIXSORT_PLACES][pass];
		uint32_t sum = bins[pass][threadIdx.x];

		if (sum)
			atomicAdd(&count[threadIdx.x], sum);
	}
}
KERNEL(radixsort_count);

void radixsort_load_count(void)
{
	struct cudaFuncAttributes ignored;

	CUDA(cudaFuncGetAttributes(&ignored, (const void *)radixsort_count));
}

void radixsort_count_digits(const struct radixsort_launch *l, uint32_t words, cudaStream_t stream)
{
	uint32_t blocks = (uint32_t)((l->n + (int64_t)KEYS - 1) / KEYS);

	CUDA(LAUNCH_PROGRAMMATIC(l->overlaps, radixsort_count, blocks < BLOCKS ? blocks : BLOCKS,
				 THREADS, 0, stream, *l, words));
}
