/*
 * kernels_one.cu - up to 4096 pairs in one launch of one block.
 *
 * In pseudo-code:
 *
 *   load the pairs into registers
 *   for each of four passes of 8 bits:
 *     counts[warp][digit] = keys of the warp with that digit, in shared memory
 *     counts become offsets: exclusive scan over digits, then over warps
 *     rank each key; store the pair at its rank in shared memory; read back the pair at the
 *       thread's own index
 *   store the pairs
 *
 * The naive version that it is tested against is radixsort_reference_sort() of reference.c.
 */
#include "common/cuda_check.h"
#include "common/slots.cuh"
#include "workloads/radixsort/kernels.h"
#include "workloads/radixsort/tile.cuh"

static constexpr int ONE_THREADS = 512;
static constexpr int MOST = RADIXSORT_ONE_MAX / ONE_THREADS, FEW = MOST / 4;

template <int ITEMS> using one_shape = radixsort_shape<ONE_THREADS, ITEMS, 1, 1>;

template <class S> struct one_smem {
	radixsort_counts<S> counts;
	uint32_t pairs[RADIXSORT_ARRAYS][S::TILE];
	uint32_t sums[DIGITS / 32];
};

/* Sorts the tile by one digit. A barrier before the next use of the shared memory is the caller's.
 */
template <class S>
static __device__ inline void one_pass(one_smem<S> &smem, int pass,
				       uint32_t (&pair)[RADIXSORT_ARRAYS][S::ITEMS])
{
	uint32_t rank[S::ITEMS], at = first_item<S>();

	counts_clear(smem.counts);
	__syncwarp();
	counts_add(smem.counts, pair[0], pass);
	__syncthreads();
	counts_to_offsets(smem.counts, exclusive_sum<S>(counts_sum(smem.counts), smem.sums));
	__syncthreads();
	rank_keys(smem.counts, smem.pairs[0], pair[0], pass, rank);
	scatter_values<S>(smem.pairs[1], rank, pair[1]);
	__syncthreads();
	UNROLLED for (int k = 0; k < RADIXSORT_ARRAYS; k++)
		UNROLLED for (int j = 0; j < S::ITEMS; j++) pair[k][j] = smem.pairs[k][at + 32 * j];
}

template <class S>
static __device__ inline void one_sort(one_smem<S> &smem, const radixsort_launch &l, uint32_t slot)
{
	uint32_t pair[RADIXSORT_ARRAYS][S::ITEMS];
	uint32_t at = first_item<S>();
	int64_t first = slot * l.arrays.stride;

	UNROLLED for (int k = 0; k < RADIXSORT_ARRAYS; k++)
		load_items<S>(l.arrays.in[k] + first, l.n, pair[k]);
	for (int pass = 0; pass < PASSES; pass++)
		one_pass(smem, pass, pair);
	UNROLLED for (int k = 0; k < RADIXSORT_ARRAYS; k++)
		UNROLLED for (int j = 0; j < S::ITEMS; j++) if (at + 32 * j < l.n)
			l.arrays.out[k][first + at + 32 * j] = pair[k][j];
}

template <int ITEMS>
__global__ void __launch_bounds__(ONE_THREADS) radixsort_one(radixsort_launch l)
{
	DYN_SHARED(one_smem<one_shape<ITEMS>>, smem);
	uint32_t step, end;

	programmatic_go();
	programmatic_wait();
	step = slots_step_now(l.counter);
	end = step + l.steps;
	for (; step != end; step++)
		one_sort(*smem, l, step % l.slots);
	if (l.advance)
		slots_advance(l.counter, l.advance);
}
KERNEL(radixsort_one<MOST>);
KERNEL(radixsort_one<FEW>);

/* Shared memory beyond 48 KiB has to be asked for. */
template <int ITEMS> static void load_one()
{
	CUDA(cudaFuncSetAttribute((const void *)radixsort_one<ITEMS>,
				  cudaFuncAttributeMaxDynamicSharedMemorySize,
				  (int)sizeof(one_smem<one_shape<ITEMS>>)));
}

void radixsort_load_one(void)
{
	load_one<MOST>();
	load_one<FEW>();
}

template <int ITEMS> static void launch_one(const struct radixsort_launch *l, cudaStream_t stream)
{
	CUDA(LAUNCH_PROGRAMMATIC(l->pdl, radixsort_one<ITEMS>, 1, ONE_THREADS,
				 sizeof(one_smem<one_shape<ITEMS>>), stream, *l));
}

void radixsort_sort_one(const struct radixsort_launch *l, cudaStream_t stream)
{
	if (l->n <= FEW * ONE_THREADS)
		launch_one<FEW>(l, stream);
	else
		launch_one<MOST>(l, stream);
}
