/*
 * kernels_count.cu - counts the digits of all four passes, and clears the tile statuses.
 *
 * In pseudo-code, for each block:
 *
 *   bins[4][256] = 0, in shared memory
 *   clear the block's share of the tile statuses
 *   for each key of the block: for each pass: bins[pass][digit of the key] += 1, atomically
 *   board->count += bins, in one of its copies
 *
 * The hardware adds keys of a warp that hit the same bin in one go. It takes an SM of an H200 about
 * four cycles for a warp whatever banks the bins lie in: 2, 4 or 8 copies of them, each for some of
 * the lanes, took as long. So did four loads in flight with half as many blocks; with programmatic
 * dependent launch a sort of 2^20 pairs then took 3 % longer.
 */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/slots.cuh"
#include "workloads/radixsort/kernels.h"
#include "workloads/radixsort/tile.cuh"

static constexpr int THREADS = DIGITS; /* one for each digit of a pass */
static constexpr int LOADS = 2;	       /* vec4s in flight at a time */
static constexpr int EACH = 4 * LOADS, KEYS = THREADS * EACH;
static constexpr uint32_t BLOCKS = 4 * 132; /* at most: half of what the SMs of an H200 hold */

typedef uint32_t count_bins[PASSES][DIGITS];

static __device__ inline void count_key(count_bins &bins, uint32_t key)
{
	UNROLLED for (int pass = 0; pass < PASSES; pass++)
		atomicAdd(&bins[pass][key_digit(key, pass)], 1u);
}

static __device__ inline void count_whole(count_bins &bins, const uint32_t *keys)
{
	uint4 vec4[LOADS];

	UNROLLED for (int j = 0; j < LOADS; j++) vec4[j] =
		((const uint4 *)keys)[j * THREADS + threadIdx.x];
	UNROLLED for (int j = 0; j < LOADS; j++)
	{
		count_key(bins, vec4[j].x);
		count_key(bins, vec4[j].y);
		count_key(bins, vec4[j].z);
		count_key(bins, vec4[j].w);
	}
}

/* The last keys. Here, too, all are loaded before the first is counted. */
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

static __device__ inline void clear_statuses(uint32_t *statuses, uint32_t n)
{
	for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
		statuses[i] = 0;
}

extern "C" __global__ void __launch_bounds__(THREADS)
	radixsort_count(radixsort_launch l, uint32_t statuses)
{
	SHARED_ARRAY(uint32_t, bins, [PASSES][DIGITS]);
	SHARED_ARRAY(uint32_t, slot, [1]);

	for (int pass = 0; pass < PASSES; pass++)
		bins[pass][threadIdx.x] = 0;
	programmatic_wait();
	/* the first pass reads the same keys, and waits before it needs the counts */
	programmatic_go();
	if (!threadIdx.x)
		slot[0] = slots_step_now(l.counter) % l.slots;
	clear_statuses((uint32_t *)(l.board + 1), statuses);
	__syncthreads();
	count_keys(bins, l.arrays.in[0] + slot[0] * l.arrays.stride, l.n);
	__syncthreads();
	for (int pass = 0; pass < PASSES; pass++) {
		uint32_t *count = l.board->count[blockIdx.x % RADIXSORT_BIN_COPIES][pass];
		uint32_t sum = bins[pass][threadIdx.x];

		if (sum)
			atomicAdd(&count[threadIdx.x], sum);
	}
}
KERNEL(radixsort_count);

void radixsort_load_count(void)
{
	device_load_kernel((const void *)radixsort_count);
}

void radixsort_count_digits(const struct radixsort_launch *l, uint32_t statuses,
			    cudaStream_t stream)
{
	uint32_t blocks = (uint32_t)((l->n + (int64_t)KEYS - 1) / KEYS);

	CUDA(LAUNCH_PROGRAMMATIC(l->pdl, radixsort_count, blocks < BLOCKS ? blocks : BLOCKS,
				 THREADS, 0, stream, *l, statuses));
}
