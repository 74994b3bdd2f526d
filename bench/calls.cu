/*
 * calls.cu - single calls timed by hand: the yardstick for probe=yes of launch, graph, transfer and
 * memory; bench/calls.sh holds them against each other.
 *
 *   build/cuda/bench/calls
 *
 * Prints a line for each figure: its name, two blanks, and microseconds, the median of one process.
 * What must be equal is equal: the kernels are the workloads' own, as are streams, sizes and what
 * is in flight; loops, memory and the kernel that holds a stream are not.
 */
#include "common/cuda_check.h"
#include "common/gpu.h"
#include "workloads/graph/graph.h"
#include "workloads/launch/device.h"

#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vector>

enum { SAMPLES = 101, WARMUP = 10, LAUNCHES = 256, LARGE = 64 << 20 };

/* Until the host writes to *go, or for 2 s. */
extern "C" __global__ void calls_hold(const uint32_t *go, uint32_t turn)
{
	unsigned long long start = device_timer_ns();

	while (read_host(go) != turn && device_timer_ns() - start < 2000000000ull)
		;
}
KERNEL(calls_hold);

static cudaStream_t stream;

static double now_us()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* The median of what sample() returns. */
template <class F> static double median(F sample, int samples = SAMPLES)
{
	std::vector<double> us;

	for (int i = 0; i < WARMUP; i++)
		sample();
	for (int i = 0; i < samples; i++)
		us.push_back(sample());
	std::sort(us.begin(), us.end());
	return (us[(us.size() - 1) / 2] + us[us.size() / 2]) / 2;
}

static void print(const char *name, double us)
{
	printf("%s  %.4f\n", name, us);
}

/* ---- launches ----------------------------------------------------------------------------- */

static void launch_calls()
{
	const void *kernel = launch_kernel(LAUNCH_EMPTY, LAUNCH_ARGS_8);
	struct launch_config config = {};
	uint64_t word = 1ull << 32; /* one unit, stream 0 */
	void *args[] = { &word };

	CUDA(cudaMalloc(&config.slot, sizeof(*config.slot)));
	CUDA(cudaMemset(config.slot, 0, sizeof(*config.slot)));
	config.blocks = 1;
	launch_configure(&config, stream);
	CUDA(cudaStreamSynchronize(stream));
	print("launch call", median([&] {
		      double begin = now_us(), end;

		      for (int i = 0; i < LAUNCHES; i++)
			      CUDA(cudaLaunchKernel(kernel, dim3(1), dim3(LAUNCH_THREADS), args, 0,
						    stream));
		      end = now_us();
		      CUDA(cudaStreamSynchronize(stream));
		      return (end - begin) / LAUNCHES;
	      }));
	CUDA(cudaFree(config.slot));
}

/* ---- graphs ------------------------------------------------------------------------------- */

static cudaGraph_t line_of(int nodes, unsigned long long *words)
{
	unsigned long long add = 1, cycles = 0;
	cudaGraph_t graph;

	CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < nodes; i++) {
		unsigned long long *word = words + i;
		void *args[] = { &word, &add, &cycles };

		CUDA(cudaLaunchKernel(graph_kernel(), dim3(1), dim3(GRAPH_THREADS), args, 0,
				      stream));
	}
	CUDA(cudaStreamEndCapture(stream, &graph));
	return graph;
}

static uint32_t *go, *go_on_device, turn;

/* The call, while a kernel holds the stream. */
static double held_call(cudaGraphExec_t exec)
{
	double begin, end;

	CUDA(LAUNCH(calls_hold, 1, 1, 0, stream, go_on_device, ++turn));
	begin = now_us();
	CUDA(cudaGraphLaunch(exec, stream));
	end = now_us();
	__atomic_store_n(go, turn, __ATOMIC_RELEASE);
	CUDA(cudaStreamSynchronize(stream));
	return end - begin;
}

static void graph_calls(int nodes)
{
	unsigned long long *words;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	char name[40];

	CUDA(cudaMalloc(&words, nodes * sizeof(*words)));
	CUDA(cudaMemset(words, 0, nodes * sizeof(*words)));
	graph = line_of(nodes, words);
	snprintf(name, sizeof(name), "instantiate %d", nodes);
	print(name, median([&] {
		      cudaGraphExec_t one;
		      double begin = now_us(), end;

		      CUDA(cudaGraphInstantiate(&one, graph, 0));
		      end = now_us();
		      CUDA(cudaGraphExecDestroy(one));
		      return end - begin;
	      }));
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	CUDA(cudaGraphUpload(exec, stream));
	CUDA(cudaStreamSynchronize(stream));
	snprintf(name, sizeof(name), "graph call %d", nodes);
	print(name, median([&] { return held_call(exec); }));
	CUDA(cudaGraphExecDestroy(exec));
	CUDA(cudaGraphDestroy(graph));
	CUDA(cudaFree(words));
}

static void graphs()
{
	CUDA(cudaHostAlloc((void **)&go, sizeof(*go), cudaHostAllocMapped));
	*go = 0;
	CUDA(cudaHostGetDevicePointer((void **)&go_on_device, go, 0));
	for (int nodes : { 10, 100, 1025 })
		graph_calls(nodes);
	CUDA(cudaFreeHost(go));
}

/* ---- copies ------------------------------------------------------------------------------- */

static double copy_us(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	double begin = now_us();

	CUDA(cudaMemcpyAsync(dst, src, bytes, kind, stream));
	CUDA(cudaStreamSynchronize(stream));
	return now_us() - begin;
}

static double sync_copy_us(void *dst, const void *src, enum cudaMemcpyKind kind)
{
	double begin = now_us();

	CUDA(cudaMemcpy(dst, src, 4, kind));
	return now_us() - begin;
}

static void copies_of(const char *name, char *host, char *device)
{
	const enum cudaMemcpyKind to = cudaMemcpyHostToDevice, from = cudaMemcpyDeviceToHost;
	char line[40];

	for (int small = 0; small < 2; small++) {
		size_t bytes = small ? 4 : (size_t)LARGE;
		int samples = small ? SAMPLES : 15;

		snprintf(line, sizeof(line), "h2d %s %s", name, small ? "4 B" : "64 MiB");
		print(line, median([&] { return copy_us(device, host, bytes, to); }, samples));
		snprintf(line, sizeof(line), "d2h %s %s", name, small ? "4 B" : "64 MiB");
		print(line, median([&] { return copy_us(host, device, bytes, from); }, samples));
	}
}

static void copies()
{
	char *pinned, *pageable = (char *)aligned_alloc(4096, LARGE), *device;

	CHECK(pageable, "%d bytes", (int)LARGE);
	memset(pageable, 1, LARGE);
	CUDA(cudaMalloc((void **)&device, LARGE));
	CUDA(cudaMallocHost((void **)&pinned, LARGE));
	memset(pinned, 1, LARGE);
	copies_of("pinned", pinned, device);
	copies_of("pageable", pageable, device);
	print("h2d cudaMemcpy 4 B",
	      median([&] { return sync_copy_us(device, pageable, cudaMemcpyHostToDevice); }));
	print("d2h cudaMemcpy 4 B",
	      median([&] { return sync_copy_us(pageable, device, cudaMemcpyDeviceToHost); }));
	CUDA(cudaFreeHost(pinned));
	CUDA(cudaFree(device));
	free(pageable);
}

/* ---- memory ------------------------------------------------------------------------------- */

/* The device is waited for between calls. */
static void allocations()
{
	const size_t bytes = 1 << 20;
	std::vector<double> frees;
	double take = median([&] {
		double begin, taken;
		void *p;

		CUDA(cudaDeviceSynchronize());
		begin = now_us();
		CUDA(cudaMalloc(&p, bytes));
		taken = now_us() - begin;
		CUDA(cudaDeviceSynchronize());
		begin = now_us();
		CUDA(cudaFree(p));
		frees.push_back(now_us() - begin);
		return taken;
	});

	std::sort(frees.begin(), frees.end());
	print("cudaMalloc 1 MiB", take);
	print("cudaFree 1 MiB", frees[frees.size() / 2]);
}

/* Opens the device as the harness does: flags first. */
int main()
{
	struct cudaDeviceProp prop;

	CUDA(cudaGetDeviceProperties(&prop, 0));
	if (prop.major)
		CUDA(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
	CUDA(cudaSetDevice(0));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	printf("%s%s\n\n", prop.name, prop.major ? "" : ": these are not GPU figures");
	launch_calls();
	graphs();
	copies();
	allocations();
	CUDA(cudaStreamDestroy(stream));
	return 0;
}
