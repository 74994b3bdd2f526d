/*
 * loop.cu - empty launches timed by hand: the yardstick for `rift run launch`.
 *
 *   build/cuda/bench/loop
 *
 * The kernel is the workload's own, the loop around it is not: no harness, no hooks. What must be
 * equal is equal: cudaLaunchKernel with 8 bytes of arguments, one block of 32 threads, a
 * non-blocking stream, blocks that begin idle after a reset, the raw monotonic clock, and on a GPU
 * a host that spins. The first two columns are those of `rift run launch --mode M --depth D`, each
 * the median of n blocks of this one process, in graphs that of the median place of the trace;
 * compare medians of several processes.
 *
 * The last column is a kernel without arguments that does nothing at all: what is left is what the
 * workload's arguments and its trace cost.
 */
#include "common/cuda_check.h"
#include "common/gpu.h"
#include "workloads/launch/device.h"

#include <algorithm>
#include <stdio.h>
#include <time.h>

enum { BLOCKS = 101, WARMUP = 20, PLACES = 16, PLACE_BYTES = 4096 };

extern "C" __global__ void loop_bare()
{
}
KERNEL(loop_bare);

static cudaStream_t stream;
static struct launch_slot *slots, *slot; /* all places for a trace, and the one in use */

static double now_ns()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Kernels that follow leave their traces there. */
static void place_trace(struct launch_slot *at)
{
	struct launch_config config = {};

	slot = at;
	config.slot = at;
	config.blocks = 1;
	launch_configure(&config, 0, stream);
	CUDA(cudaStreamSynchronize(stream));
}

static void launch_empty(int n)
{
	const void *kernel = launch_kernel(LAUNCH_EMPTY, LAUNCH_ARGS_8);
	uint64_t word = 1ull << 32; /* one unit, configuration 0, stream 0 */
	void *args[] = { &word };

	for (int i = 0; i < n; i++)
		CUDA(cudaLaunchKernel(kernel, dim3(1), dim3(LAUNCH_THREADS), args, 0, stream));
}

static void launch_bare(int n)
{
	for (int i = 0; i < n; i++)
		CUDA(cudaLaunchKernel((const void *)loop_bare, dim3(1), dim3(LAUNCH_THREADS), NULL,
				      0, stream));
}

static double median(double *v)
{
	std::sort(v, v + BLOCKS);
	return v[BLOCKS / 2];
}

struct times {
	double submit_us, total_us; /* of a kernel; medians of BLOCKS */
};

/* Blocks of n kernels that submit() enqueues, of which `counted` leave a trace. */
template <class F> static struct times time_blocks(int n, int counted, F submit)
{
	double submit_ns[BLOCKS], total_ns[BLOCKS];
	struct launch_slot end;

	for (int i = -WARMUP; i < BLOCKS; i++) {
		CUDA(cudaMemsetAsync(slot, 0, sizeof(*slot), stream));
		CUDA(cudaStreamSynchronize(stream));
		double begin = now_ns();

		submit();
		double submitted = now_ns();

		CUDA(cudaStreamSynchronize(stream));
		total_ns[i < 0 ? 0 : i] = now_ns() - begin;
		submit_ns[i < 0 ? 0 : i] = submitted - begin;
	}
	CUDA(cudaMemcpy(&end, slot, sizeof(end), cudaMemcpyDeviceToHost));
	CHECK(end.runs == (unsigned)counted, "%llu kernels ran, not %d", end.runs, counted);
	return { median(submit_ns) / n / 1e3, median(total_ns) / n / 1e3 };
}

static void print(const char *mode, int n, const struct times &empty, const struct times &bare)
{
	printf("%-7s %5d  %12.4f  %14.4f  %13.4f  %4d\n", mode, n, empty.total_us, empty.submit_us,
	       bare.total_us, (int)BLOCKS);
}

static void stream_blocks(int n)
{
	print("stream", n, time_blocks(n, n, [=] { launch_empty(n); }),
	      time_blocks(n, 0, [=] { launch_bare(n); }));
}

/* One graph of n kernels, launched once a block. */
static struct times graph_times(int n, int counted, void (*launch)(int))
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	struct times t;

	CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	launch(n);
	CUDA(cudaStreamEndCapture(stream, &graph));
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	CUDA(cudaGraphUpload(exec, stream));
	CUDA(cudaGraphDestroy(graph));
	t = time_blocks(n, counted, [=] { CUDA(cudaGraphLaunch(exec, stream)); });
	CUDA(cudaGraphExecDestroy(exec));
	return t;
}

/*
 * The end of a kernel waits for its trace to reach memory, and some memory is farther away: on an
 * H200, whose second-level cache has two halves, a node of a graph takes 0.97 or 1.04 us. Which
 * one a program gets depends on where its allocations happen to lie, so all places are tried.
 */
static struct times graph_of_places(int n, double *least_us, double *most_us)
{
	struct times t[PLACES];

	for (int i = 0; i < PLACES; i++) {
		place_trace(slots + (size_t)i * PLACE_BYTES / sizeof(*slots));
		t[i] = graph_times(n, n, launch_empty);
	}
	place_trace(slots);
	std::sort(t, t + PLACES, [](const struct times &a, const struct times &b) {
		return a.total_us < b.total_us;
	});
	*least_us = t[0].total_us;
	*most_us = t[PLACES - 1].total_us;
	return t[PLACES / 2];
}

static void graph_blocks(int n)
{
	double least_us, most_us;
	struct times t = graph_of_places(n, &least_us, &most_us);

	print("graph", n, t, graph_times(n, 0, launch_bare));
	printf("        of %d places of the trace: %.4f to %.4f\n", (int)PLACES, least_us, most_us);
}

/* Opens the device as the harness does: flags first. */
static void open_device()
{
	struct cudaDeviceProp prop;

	CUDA(cudaGetDeviceProperties(&prop, 0));
	if (prop.major)
		CUDA(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
	CUDA(cudaSetDevice(0));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	printf("%s%s\n\n", prop.name, prop.major ? "" : ": these are not GPU figures");
}

int main()
{
	open_device();
	CUDA(cudaMalloc(&slots, PLACES * PLACE_BYTES));
	place_trace(slots);
	printf("us a kernel, medians of n blocks\n%-7s %5s  %12s  %14s  %13s  %4s\n", "mode",
	       "depth", "time", "of it, submit", "bare kernel", "n");
	for (int n : { 1, 64, 256, 1024 })
		stream_blocks(n);
	for (int n : { 1, 64, 256, 1024 })
		graph_blocks(n);
	CUDA(cudaFree(slots));
	CUDA(cudaStreamDestroy(stream));
	return 0;
}
