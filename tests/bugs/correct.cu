/* correct.cu - programs that no checker may report (see bugs.cuh). */
#include "tests/bugs/bugs.cuh"

#include <stdio.h>
#include <stdlib.h>

/* ---- within a block --------------------------------------------------------------------- */

extern "C" __global__ void sum_static(const int *x, int *sums)
{
	SHARED_ARRAY(int, tile, [1024]);
	int t = threadIdx.x, n = blockDim.x;

	tile[t] = x[blockIdx.x * n + t];
	__syncthreads();
	for (int half = n / 2; half; half /= 2) {
		if (t < half)
			tile[t] += tile[t + half];
		__syncthreads();
	}
	if (t == 0)
		sums[blockIdx.x] = tile[0];
}
KERNEL(sum_static);

static void shared_array(void)
{
	for (int i = 0; i < 20; i++)
		CUDA(LAUNCH(sum_static, 16, 64, 0, 0, zeroed_ints(16 * 64), zeroed_ints(16)));
}

static void threads_1024(void)
{
	for (int i = 0; i < 3; i++)
		CUDA(LAUNCH(sum_static, 1, 1024, 0, 0, zeroed_ints(1024), zeroed_ints(1)));
}

extern "C" __global__ void reverse_dynamic(int *y)
{
	DYN_SHARED(int, tile);
	int t = threadIdx.x, n = blockDim.x;

	tile[t] = t;
	__syncthreads();
	y[blockIdx.x * n + t] = tile[n - 1 - t];
}
KERNEL(reverse_dynamic);

static void dynamic_shared(void)
{
	for (unsigned n = 1; n <= 64; n *= 2)
		CUDA(LAUNCH(reverse_dynamic, 8, n, n * sizeof(int), 0, zeroed_ints(8 * n)));
}

/* Warps by shuffles, then their sums by the first one. */
extern "C" __global__ void sum_shuffle(const int *x, int *sums)
{
	SHARED_ARRAY(int, of_warp, [32]);
	int t = threadIdx.x, v = x[blockIdx.x * blockDim.x + t];

	for (int d = 16; d; d /= 2)
		v += __shfl_down_sync(0xffffffff, v, d);
	if (t % 32 == 0)
		of_warp[t / 32] = v;
	__syncthreads();
	if (t)
		return;
	for (unsigned w = 1; w < blockDim.x / 32; w++)
		v += of_warp[w];
	sums[blockIdx.x] = v;
}
KERNEL(sum_shuffle);

static void shuffles(void)
{
	CUDA(LAUNCH(sum_shuffle, 40, 96, 0, 0, zeroed_ints(40 * 96), zeroed_ints(40)));
}

extern "C" __global__ void scan_warp(int *y)
{
	SHARED_ARRAY(int, tile, [64]);
	int t = threadIdx.x, lane = t % 32;

	tile[t] = t;
	__syncwarp();
	for (int d = 1; d < 32; d *= 2) {
		int left = lane >= d ? tile[t - d] : 0;

		__syncwarp();
		tile[t] += left;
		__syncwarp();
	}
	y[blockIdx.x * 64 + t] = tile[t];
}
KERNEL(scan_warp);

static void syncwarp(void)
{
	CUDA(LAUNCH(scan_warp, 20, 64, 0, 0, zeroed_ints(20 * 64)));
}

extern "C" __global__ void odd_ones_leave(int *y)
{
	SHARED_ARRAY(int, tile, [64]);
	int t = threadIdx.x;

	if (t % 2)
		return;
	tile[t] = t;
	__syncthreads();
	y[blockIdx.x * 64 + t] = tile[62 - t];
}
KERNEL(odd_ones_leave);

static void early_exit(void)
{
	CUDA(LAUNCH(odd_ones_leave, 20, 64, 0, 0, zeroed_ints(20 * 64)));
}

extern "C" __global__ void count_atomically(int *count)
{
	atomicAdd(count, 1);
}
KERNEL(count_atomically);

static void atomic_counter(void)
{
	CUDA(LAUNCH(count_atomically, 200, 64, 0, 0, zeroed_ints(1)));
}

extern "C" __global__ void arrival(int *count, int *order)
{
	order[atomicAdd(count, 1)] = threadIdx.x;
}
KERNEL(arrival);

/* Prints in which order 64 threads came. */
static void thread_order(void)
{
	int got[64], *order = zeroed_ints(64);

	CUDA(LAUNCH(arrival, 1, 64, 0, 0, zeroed_ints(1), order));
	CUDA(cudaMemcpy(got, order, sizeof(got), cudaMemcpyDeviceToHost));
	printf("order");
	for (int t : got)
		printf(" %d", t);
	printf("\n");
}

/* ---- between blocks --------------------------------------------------------------------- */

extern "C" __global__ void sum_look_back(uint32_t *ready, int *sums)
{
	if (threadIdx.x)
		return;
	int before = 0;

	if (blockIdx.x) {
		while (!load_acquire(&ready[blockIdx.x - 1]))
			;
		before = sums[blockIdx.x - 1];
	}
	sums[blockIdx.x] = before + (int)blockIdx.x;
	store_release(&ready[blockIdx.x], 1);
}
KERNEL(sum_look_back);

static void look_back(void)
{
	CUDA(LAUNCH(sum_look_back, 500, 64, 0, 0, (uint32_t *)zeroed_ints(500), zeroed_ints(500)));
}

extern "C" __global__ void sum_last_block(uint32_t *n_done, int *parts, int *sum)
{
	if (threadIdx.x)
		return;
	parts[blockIdx.x] = (int)blockIdx.x;
	if (atomic_add_acq_rel(n_done, 1) != gridDim.x - 1)
		return;
	for (unsigned b = 0; b < gridDim.x; b++)
		*sum += parts[b];
}
KERNEL(sum_last_block);

static void last_block(void)
{
	CUDA(LAUNCH(sum_last_block, 500, 64, 0, 0, (uint32_t *)zeroed_ints(1), zeroed_ints(500),
		    zeroed_ints(1)));
}

/* ---- streams and the host --------------------------------------------------------------- */

static void event_edge(void)
{
	int *x = zeroed_ints(16 * 64), *sums = zeroed_ints(16);
	int *got = (int *)calloc(16, sizeof(int));
	cudaStream_t a = new_stream(), b = new_stream();
	cudaEvent_t e;

	CUDA(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
	for (int i = 0; i < 20; i++) {
		CUDA(LAUNCH(sum_static, 16, 64, 0, a, x, sums));
		CUDA(cudaEventRecord(e, a));
		CUDA(cudaStreamWaitEvent(b, e, 0));
		CUDA(cudaMemcpyAsync(got, sums, 16 * sizeof(int), cudaMemcpyDeviceToHost, b));
		CUDA(cudaEventRecord(e, b));
		CUDA(cudaStreamWaitEvent(a, e, 0));
	}
	CUDA(cudaEventSynchronize(e));
	got[0]++;
	free(got);
}

static void stream_synchronized(void)
{
	int *x = zeroed_ints(16 * 64), *sums = zeroed_ints(16);
	int *got = (int *)calloc(16, sizeof(int));
	cudaStream_t s = new_stream();

	for (int i = 0; i < 20; i++) {
		CUDA(LAUNCH(sum_static, 16, 64, 0, s, x, sums));
		CUDA(cudaMemcpyAsync(got, sums, 16 * sizeof(int), cudaMemcpyDeviceToHost, s));
		CUDA(cudaStreamSynchronize(s));
		got[0]++;
	}
	free(got);
}

/* Blocking streams and the legacy default stream wait for each other, idle or not. */
static void default_stream(void)
{
	int *count = zeroed_ints(1);
	cudaStream_t s;

	CUDA(cudaStreamCreate(&s));
	for (int i = 0; i < 20; i++) {
		CUDA(LAUNCH(sum_static, 1, 64, 0, s, zeroed_ints(64), count));
		CUDA(LAUNCH(count_atomically, 1, 64, 0, 0, count));
	}
}

static void graph(void)
{
	int *x = zeroed_ints(16 * 64), *sums = zeroed_ints(16);
	cudaStream_t s = new_stream();
	cudaGraph_t g;
	cudaGraphExec_t exec;

	CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	CUDA(LAUNCH(sum_static, 16, 64, 0, s, x, sums));
	CUDA(LAUNCH(count_atomically, 1, 64, 0, s, sums));
	CUDA(cudaStreamEndCapture(s, &g));
	CUDA(cudaGraphInstantiate(&exec, g, 0));
	for (int i = 0; i < 20; i++)
		CUDA(cudaGraphLaunch(exec, s));
}

#define NOBODY(name)                                                                               \
	{                                                                                          \
#name, "nobody", name                                                              \
	}
const struct bug correct_programs[] = {
	NOBODY(shared_array),	NOBODY(threads_1024), NOBODY(dynamic_shared),
	NOBODY(shuffles),	NOBODY(syncwarp),     NOBODY(early_exit),
	NOBODY(atomic_counter), NOBODY(thread_order), NOBODY(look_back),
	NOBODY(last_block),	NOBODY(event_edge),   NOBODY(stream_synchronized),
	NOBODY(default_stream), NOBODY(graph),	      {},
};
