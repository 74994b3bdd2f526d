/*
 * packets.cu - what a layer that collects commands in packets does to streams and queries.
 *
 *   rift layer emulate preset=wsl2-2020 -- build/cuda/bench/packets
 *
 * Two streams: LAUNCHES kernels of one block in one stream, then as many in each of two, one stream
 * after the other, then by turns. Natively all take about the same time, since a GPU runs two
 * blocks at once. Where packets follow each other across streams, two streams take twice as long,
 * by turns only if a packet holds one launch. A query: after one launch the thread waits a while
 * without a call, and then the memory of the host that the kernel writes says whether it has run;
 * once more with a query in between. Then what LAUNCHES short kernels take with their wait, and
 * with a query after each. Medians of n turns; nothing is asserted.
 */
#include "common/cuda_check.h"
#include "common/gpu.h"

#include <algorithm>
#include <stdio.h>
#include <time.h>

enum { TURNS = 21, LAUNCHES = 64, TICKS = 100000, WAIT_NS = 300000 };

/* Runs for so many ticks of the multiprocessor's clock, about 50 us, then writes. */
extern "C" __global__ void packets_spin(long long ticks, volatile int *done)
{
	long long start = clock64();

	while (clock64() - start < ticks)
		;
	if (done)
		*done = 1;
}
KERNEL(packets_spin);

static double now_ns()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void launch(cudaStream_t stream, long long ticks, int *device_done)
{
	CUDA(LAUNCH(packets_spin, dim3(1), dim3(32), 0, stream, ticks,
		    (volatile int *)device_done));
}

static void query(cudaStream_t stream)
{
	if (cudaStreamQuery(stream) != cudaErrorNotReady)
		CUDA(cudaGetLastError());
}

/* LAUNCHES in each of so many streams, until all have ended. */
static double together_ns(cudaStream_t *streams, int n, bool by_turns)
{
	double start = now_ns();

	for (int i = 0; i < n * LAUNCHES; i++)
		launch(streams[by_turns ? i % n : i / LAUNCHES], TICKS, NULL);
	for (int s = 0; s < n; s++)
		CUDA(cudaStreamSynchronize(streams[s]));
	return now_ns() - start;
}

/* LAUNCHES that do nothing, until all have ended. */
static double short_ns(cudaStream_t stream, bool queries)
{
	double start = now_ns();

	for (int i = 0; i < LAUNCHES; i++) {
		launch(stream, 0, NULL);
		if (queries)
			query(stream);
	}
	CUDA(cudaStreamSynchronize(stream));
	return now_ns() - start;
}

/* Has a short kernel run, 300 us after its launch and, if asked, a query? */
static int ran(cudaStream_t stream, bool queries, volatile int *done, int *device_done)
{
	double start;
	int seen;

	*done = 0;
	launch(stream, 0, device_done);
	if (queries)
		query(stream);
	for (start = now_ns(); now_ns() - start < WAIT_NS;)
		;
	seen = *done;
	CUDA(cudaStreamSynchronize(stream));
	return seen;
}

static double median(double *v, int n)
{
	std::sort(v, v + n);
	return v[n / 2];
}

int main()
{
	static double one[TURNS], two[TURNS], turns[TURNS], plain[TURNS], queried[TURNS];
	int without = 0, with = 0, *done, *device_done;
	cudaStream_t streams[2];

	for (int s = 0; s < 2; s++)
		CUDA(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
	CUDA(cudaHostAlloc((void **)&done, sizeof(*done), cudaHostAllocMapped));
	CUDA(cudaHostGetDevicePointer((void **)&device_done, done, 0));
	for (int turn = -2; turn < TURNS; turn++) {
		int t = std::max(turn, 0);

		one[t] = together_ns(streams, 1, false);
		two[t] = together_ns(streams, 2, false);
		turns[t] = together_ns(streams, 2, true);
		plain[t] = short_ns(streams[0], false);
		queried[t] = short_ns(streams[0], true);
		without += turn >= 0 && ran(streams[0], false, done, device_done);
		with += turn >= 0 && ran(streams[0], true, done, device_done);
	}
	printf("%d launches in one stream %.0f us, in each of two %.0f us: %.2f times, by turns "
	       "%.2f; "
	       "a launch has run after 300 us: %d of %d, with a query %d of %d; "
	       "%d short launches %.0f us, with a query after each %.0f us\n",
	       LAUNCHES, median(one, TURNS) / 1000, median(two, TURNS) / 1000,
	       median(two, TURNS) / median(one, TURNS), median(turns, TURNS) / median(one, TURNS),
	       without, TURNS, with, TURNS, LAUNCHES, median(plain, TURNS) / 1000,
	       median(queried, TURNS) / 1000);
	CUDA(cudaFreeHost(done));
	for (int s = 0; s < 2; s++)
		CUDA(cudaStreamDestroy(streams[s]));
	return 0;
}
