/* races.cu - missing order between threads, blocks, streams and the host (see bugs.cuh). */
#include "tests/bugs/bugs.cuh"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 64 };

/* ---- within a block --------------------------------------------------------------------- */

/* Sums a block; the barrier of one step is missing. */
extern "C" __global__ void reduce_skipping(int *sum, int step_without_barrier)
{
	SHARED_ARRAY(int, tile, [THREADS]);
	int t = threadIdx.x;

	tile[t] = t;
	__syncthreads();
	for (int half = THREADS / 2; half; half /= 2) {
		if (t < half)
			tile[t] += tile[t + half];
		if (half != step_without_barrier)
			__syncthreads();
	}
	if (t == 0)
		sum[blockIdx.x] = tile[0];
}
KERNEL(reduce_skipping);

static void missing_barrier(void)
{
	CUDA(LAUNCH(reduce_skipping, 4, THREADS, 0, 0, zeroed_ints(4), 16));
}

extern "C" __global__ void swap_neighbours(int *y)
{
	SHARED_ARRAY(int, tile, [THREADS]);
	int t = threadIdx.x;

	tile[t] = t;
	y[t] = tile[t ^ 1];
}
KERNEL(swap_neighbours);

static void missing_syncwarp(void)
{
	CUDA(LAUNCH(swap_neighbours, 1, THREADS, 0, 0, zeroed_ints(THREADS)));
}

/* A shuffle makes lanes meet but orders no memory. */
extern "C" __global__ void swap_after_shuffle(int *y)
{
	SHARED_ARRAY(int, tile, [32]);
	int t = threadIdx.x;

	tile[t] = t;
	int first = __shfl_sync(0xffffffff, t, 0);

	y[t] = tile[t ^ 1] + first;
}
KERNEL(swap_after_shuffle);

static void shuffle_for_a_fence(void)
{
	CUDA(LAUNCH(swap_after_shuffle, 1, 32, 0, 0, zeroed_ints(32)));
}

extern "C" __global__ void count_plainly(int *count)
{
	*count += 1;
}
KERNEL(count_plainly);

static void plain_counter(void)
{
	CUDA(LAUNCH(count_plainly, 1, THREADS, 0, 0, zeroed_ints(1)));
}

/* ---- between blocks --------------------------------------------------------------------- */

/* Two workers must run at once: on a busy machine the second may come late. */
enum { LAUNCHES = 20, BLOCKS = 2000 };

extern "C" __global__ void last_word(int *word)
{
	if (threadIdx.x == 0)
		*word = (int)blockIdx.x;
}
KERNEL(last_word);

static void blocks_write_one_word(void)
{
	for (int i = 0; i < LAUNCHES; i++)
		CUDA(LAUNCH(last_word, BLOCKS, THREADS, 0, 0, zeroed_ints(1)));
}

/* Each block waits for the one before it, by a flag that publishes nothing. */
extern "C" __global__ void look_back_relaxed(unsigned *ready, int *sums)
{
	if (threadIdx.x)
		return;
	int before = 0;

	if (blockIdx.x) {
		while (!atomicOr(&ready[blockIdx.x - 1], 0u))
			;
		before = sums[blockIdx.x - 1];
	}
	sums[blockIdx.x] = before + (int)blockIdx.x;
	atomicExch(&ready[blockIdx.x], 1u);
}
KERNEL(look_back_relaxed);

static void look_back_without_release(void)
{
	for (int i = 0; i < LAUNCHES; i++)
		CUDA(LAUNCH(look_back_relaxed, BLOCKS, THREADS, 0, 0,
			    (unsigned *)zeroed_ints(BLOCKS), zeroed_ints(BLOCKS)));
}

/* ---- between streams, and with the host ------------------------------------------------- */

static void copy_from_another_stream(void)
{
	int *sum = zeroed_ints(4), *got = (int *)calloc(4, sizeof(int));
	cudaStream_t a = new_stream(), b = new_stream();

	CUDA(LAUNCH(reduce_skipping, 4, THREADS, 0, a, sum, 0));
	CUDA(cudaMemcpyAsync(got, sum, 4 * sizeof(int), cudaMemcpyDeviceToHost, b));
	CUDA(cudaDeviceSynchronize());
	free(got);
}

/* The kernel of one stream reads what the kernel of another writes. */
static void kernels_of_two_streams(void)
{
	int *sum = zeroed_ints(4);

	CUDA(LAUNCH(reduce_skipping, 4, THREADS, 0, new_stream(), sum, 0));
	CUDA(LAUNCH(count_plainly, 1, 1, 0, new_stream(), sum));
}

static void host_reads_early(void)
{
	int *sum = zeroed_ints(4), *got = (int *)calloc(4, sizeof(int));
	cudaStream_t s = new_stream();

	CUDA(LAUNCH(reduce_skipping, 4, THREADS, 0, s, sum, 0));
	CUDA(cudaMemcpyAsync(got, sum, 4 * sizeof(int), cudaMemcpyDeviceToHost, s));
	volatile int early = got[0];

	(void)early;
	CUDA(cudaDeviceSynchronize());
	free(got);
}

/* Many words: two accesses to one at the very same moment can escape the checker. Pageable memory
 * has been read when the call returns; pinned memory may not. */
static void host_writes_early(void)
{
	enum { WORDS = 1024 };
	int *p = zeroed_ints(WORDS), *values;

	CUDA(cudaMallocHost((void **)&values, WORDS * sizeof(int)));
	memset(values, 0, WORDS * sizeof(int));
	CUDA(cudaMemcpyAsync(p, values, WORDS * sizeof(int), cudaMemcpyHostToDevice, new_stream()));
	for (int i = 0; i < WORDS; i++)
		values[i] = i;
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaFreeHost(values));
}

#define TSAN(name)                                                                                 \
	{                                                                                          \
#name, "tsan", name                                                                \
	}
const struct bug race_bugs[] = {
	TSAN(missing_barrier),
	TSAN(missing_syncwarp),
	TSAN(shuffle_for_a_fence),
	TSAN(plain_counter),
	TSAN(blocks_write_one_word),
	TSAN(look_back_without_release),
	TSAN(copy_from_another_stream),
	TSAN(kernels_of_two_streams),
	TSAN(host_reads_early),
	TSAN(host_writes_early),
	{},
};
