/*
 * kernels_one.cu - a few thousand pairs in one launch: a block keeps them in registers and passes
 * them through shared memory, four times for each sort.
 */
#include "common/cuda_check.h"
#include "common/slots.cuh"
#include "workloads/radixsort/kernels.h"
#include "workloads/radixsort/tile.cuh"

static constexpr int ONE_THREADS = 512;
static constexpr int MOST = RADIXSORT_ONE_MAX / ONE_THREADS, FEW = MOST / 4;

template <int ITEMS> using one_shape = radixsort_shape<ONE_THREADS, ITEMS, 1, 1>;

template <class S> struct one_room {
	radixsort_counts<S> counts;
	uint32_t pairs[RADIXSORT_ARRAYS][S::TILE];
	uint32_t sums[DIGITS / 32];
};

/* Puts the tile in order of one digit. Threads are done with the room when all have come. */
template <class S>
static __device__ inline void one_pass(one_room<S> &room, int pass,
				       uint32_t (&pair)[RADIXSORT_ARRAYS][S::ITEMS])
{
	uint32_t rank[S::ITEMS], at = first_item<S>();

	counts_clear(room.counts);
	__syncwarp();
	counts_add(room.counts, pair[0], pass);
	__syncthreads();
	counts_place(room.counts, sum_before<S>(counts_sum(room.counts), room.sums));
	__syncthreads();
	place_keys(room.counts, room.pairs[0], pair[0], pass, rank);
	place_values<S>(room.pairs[1], rank, pair[1]);
	__syncthreads();
	UNROLLED for (int k = 0; k < RADIXSORT_ARRAYS; k++)
		UNROLLED for (int j = 0; j < S::ITEMS; j++) pair[k][j] = room.pairs[k][at + 32 * j];
}

template <class S>
static __device__ inline void one_sort(one_room<S> &room, const radixsort_launch &l, uint32_t slot)
{
	uint32_t pair[RADIXSORT_ARRAYS][S::ITEMS];
	uint32_t at = first_item<S>();
	int64_t first = slot * l.arrays.stride;

	UNROLLED for (int k = 0; k < RADIXSORT_ARRAYS; k++)
		load_items<S>(l.arrays.in[k] + first, l.n, pair[k]);
	for (int pass = 0; pass < PASSES; pass++)
		one_pass(room, pass, pair);
	UNROLLED for (int k = 0; k < RADIXSORT_ARRAYS; k++)
		UNROLLED for (int j = 0; j < S::ITEMS; j++) if (at + 32 * j < l.n)
			l.arrays.out[k][first + at + 32 * j] = pair[k][j];
}

template <int ITEMS>
__global__ void __launch_bounds__(ONE_THREADS) radixsort_one(radixsort_launch l)
{
	DYN_SHARED(one_room<one_shape<ITEMS>>, room);
	uint32_t step, end;

	programmatic_go();
	programmatic_wait();
	step = slots_step_now(l.counter);
	end = step + l.steps;
	for (; step != end; step++)
		one_sort(*room, l, step % l.slots);
	if (l.advance)
		slots_advance(l.counter, l.advance);
}
KERNEL(radixsort_one<MOST>);
KERNEL(radixsort_one<FEW>);

/* Shared memory beyond 48 KiB has to be asked for. */
template <int ITEMS> static void load()
{
	CUDA(cudaFuncSetAttribute((const void *)radixsort_one<ITEMS>,
				  cudaFuncAttributeMaxDynamicSharedMemorySize,
				  (int)sizeof(one_room<one_shape<ITEMS>>)));
}

void radixsort_load_one(void)
{
	load<MOST>();
	load<FEW>();
}

template <int ITEMS> static void launch(const struct radixsort_launch *l, cudaStream_t stream)
{
	CUDA(LAUNCH_PROGRAMMATIC(l->overlaps, radixsort_one<ITEMS>, 1, ONE_THREADS,
				 sizeof(one_room<one_shape<ITEMS>>), stream, *l));
}

void radixsort_sort_one(const struct radixsort_launch *l, cudaStream_t stream)
{
	if (l->n <= FEW * ONE_THREADS)
		launch<FEW>(l, stream);
	else
		launch<MOST>(l, stream);
}
