/*
 * calls.cu - single calls timed by hand, for calls.c to hold probe=yes against.
 *
 * What must be equal is equal: the kernels are the workloads' own, as are streams, sizes, what is
 * in flight and what memory is taken beside; loops and the kernel that holds a stream are not.
 */
#include "bench/calls.h"
#include "common/cuda_check.h"
#include "common/gpu.h"
#include "workloads/graph/graph.h"
#include "workloads/launch/device.h"

#include <algorithm>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vector>

enum { SAMPLES = 101, FEW = 15, PAIRS = 501, WARMUP = 10, LAUNCHES = 256 };
enum { PAGE = 4096, SOURCES = 61, PLACES = 8, APART = 256 };

/* Until the host writes to *go, or for 2 s. */
extern "C" __global__ void calls_hold(const uint32_t *go, uint32_t turn)
{
	unsigned long long start = device_timer_ns();

	while (read_host(go) != turn && device_timer_ns() - start < 2000000000ull)
		;
}
KERNEL(calls_hold);

static double now_us()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* The median of what sample() returns. */
template <class F> static double median(F sample, int samples)
{
	std::vector<double> us;

	for (int i = 0; i < WARMUP; i++)
		sample();
	for (int i = 0; i < samples; i++)
		us.push_back(sample());
	std::sort(us.begin(), us.end());
	return (us[(us.size() - 1) / 2] + us[us.size() / 2]) / 2;
}

/* ---- launches ----------------------------------------------------------------------------- */

void calls_launch(cudaStream_t stream, int64_t, double *us)
{
	const void *kernel = launch_kernel(LAUNCH_EMPTY, LAUNCH_ARGS_8);
	struct launch_config config = {};
	uint64_t word = 1ull << 32; /* one unit, configuration 0, stream 0 */
	void *args[] = { &word };

	CUDA(cudaMalloc(&config.slot, sizeof(*config.slot)));
	CUDA(cudaMemset(config.slot, 0, sizeof(*config.slot)));
	config.blocks = 1;
	launch_configure(&config, 0, stream);
	CUDA(cudaStreamSynchronize(stream));
	us[0] = median(
		[&] {
			double begin = now_us(), end;

			for (int i = 0; i < LAUNCHES; i++)
				CUDA(cudaLaunchKernel(kernel, dim3(1), dim3(LAUNCH_THREADS), args,
						      0, stream));
			end = now_us();
			CUDA(cudaStreamSynchronize(stream));
			return (end - begin) / LAUNCHES;
		},
		SAMPLES);
	CUDA(cudaFree(config.slot));
}

/* ---- graphs ------------------------------------------------------------------------------- */

static cudaGraph_t line_of(cudaStream_t stream, int64_t nodes, unsigned long long *words)
{
	unsigned long long add = 1, cycles = 0;
	cudaGraph_t graph;

	CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int64_t i = 0; i < nodes; i++) {
		unsigned long long *word = words + i;
		void *args[] = { &word, &add, &cycles };

		CUDA(cudaLaunchKernel(graph_kernel(), dim3(1), dim3(GRAPH_THREADS), args, 0,
				      stream));
	}
	CUDA(cudaStreamEndCapture(stream, &graph));
	return graph;
}

/* The call, while a kernel holds the stream; an event stands before it, as who times does. */
static double held_call(cudaStream_t stream, cudaGraphExec_t exec, cudaEvent_t event, uint32_t *go)
{
	uint32_t turn = *go + 1, *device;
	double begin, end;

	CUDA(cudaHostGetDevicePointer((void **)&device, go, 0));
	CUDA(LAUNCH(calls_hold, 1, 1, 0, stream, device, turn));
	CUDA(cudaEventRecord(event, stream));
	begin = now_us();
	CUDA(cudaGraphLaunch(exec, stream));
	end = now_us();
	__atomic_store_n(go, turn, __ATOMIC_RELEASE);
	CUDA(cudaStreamSynchronize(stream));
	return end - begin;
}

/* Nodes are cleared before it, and looked at after it. */
static double checked_call(cudaStream_t stream, cudaGraphExec_t exec, cudaEvent_t event,
			   uint32_t *go, unsigned long long *words, int64_t nodes)
{
	std::vector<unsigned long long> seen(nodes);
	size_t bytes = nodes * sizeof(*words);
	double us;

	CUDA(cudaMemsetAsync(words, 0, bytes, stream));
	CUDA(cudaStreamSynchronize(stream));
	us = held_call(stream, exec, event, go);
	CUDA(cudaMemcpy(seen.data(), words, bytes, cudaMemcpyDeviceToHost));
	for (unsigned long long n : seen)
		CHECK(n == 1, "a node ran %llu times", n);
	return us;
}

static double instantiate_us(cudaGraph_t graph)
{
	cudaGraphExec_t exec;
	double begin = now_us(), end;

	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	end = now_us();
	CUDA(cudaGraphExecDestroy(exec));
	return end - begin;
}

/*
 * As in the probe two graphs and two executable ones are there, which have run. With one executable
 * graph instantiating 1025 nodes took 3 to 4 % longer than there: malloc() finds its memory in
 * another state.
 */
void calls_graph(cudaStream_t stream, int64_t nodes, double *us)
{
	unsigned long long *words;
	cudaGraphExec_t exec[2];
	cudaEvent_t event;
	cudaGraph_t graph[2];
	uint32_t *go;

	CUDA(cudaHostAlloc((void **)&go, sizeof(*go), cudaHostAllocMapped));
	*go = 0;
	CUDA(cudaMalloc(&words, nodes * sizeof(*words)));
	CUDA(cudaEventCreate(&event));
	for (int i = 0; i < 2; i++)
		graph[i] = line_of(stream, nodes, words);
	for (int i = 0; i < 2; i++) {
		CUDA(cudaGraphInstantiate(&exec[i], graph[0], 0));
		CUDA(cudaGraphUpload(exec[i], stream));
		CUDA(cudaGraphLaunch(exec[i], stream));
	}
	CUDA(cudaStreamSynchronize(stream));
	us[0] = median([&] { return instantiate_us(graph[0]); }, SAMPLES);
	us[1] = median([&] { return checked_call(stream, exec[0], event, go, words, nodes); },
		       SAMPLES);
	for (int i = 0; i < 2; i++) {
		CUDA(cudaGraphExecDestroy(exec[i]));
		CUDA(cudaGraphDestroy(graph[i]));
	}
	CUDA(cudaEventDestroy(event));
	CUDA(cudaFree(words));
	CUDA(cudaFreeHost(go));
}

/* ---- copies ------------------------------------------------------------------------------- */

static double copy_us(cudaStream_t stream, void *dst, const void *src, size_t bytes,
		      enum cudaMemcpyKind kind)
{
	double begin = now_us();

	CUDA(cudaMemcpyAsync(dst, src, bytes, kind, stream));
	CUDA(cudaStreamSynchronize(stream));
	return now_us() - begin;
}

/* A call to the device may come back before its bytes are there: the next one waits for them. */
static double sync_copy_us(void *dst, const void *src, enum cudaMemcpyKind kind)
{
	double begin;

	CUDA(cudaDeviceSynchronize());
	begin = now_us();
	CUDA(cudaMemcpy(dst, src, 4, kind));
	return now_us() - begin;
}

/*
 * Both ways, pinned and then pageable; of 4 bytes by cudaMemcpy too. Each copy to the device is of
 * another page than the one before, as new data is, and goes to another of a few places.
 */
void calls_copy(cudaStream_t stream, int64_t bytes, double *us)
{
	const enum cudaMemcpyKind to = cudaMemcpyHostToDevice, from = cudaMemcpyDeviceToHost;
	const size_t padded = ((size_t)bytes + PAGE - 1) / PAGE * PAGE + SOURCES * PAGE;
	int n = bytes > 4 ? (int)FEW : (int)SAMPLES, turn = 0;
	char *host[2], *device;

	CUDA(cudaMalloc((void **)&device, bytes + PLACES * APART));
	CUDA(cudaMallocHost((void **)&host[0], padded));
	host[1] = (char *)aligned_alloc(PAGE, padded);
	CHECK(host[1], "%zu bytes", padded);
	auto next = [&](char *h) { return h + (size_t)(++turn % SOURCES) * PAGE; };
	auto place = [&] { return device + (size_t)(turn % PLACES) * APART; };

	for (char *h : host) {
		memset(h, 1, padded);
		*us++ = median(
			[&] {
				char *src = next(h);

				return copy_us(stream, place(), src, bytes, to);
			},
			n);
		*us++ = median([&] { return copy_us(stream, h, device, bytes, from); }, n);
	}
	if (bytes == 4) {
		*us++ = median(
			[&] {
				char *src = next(host[1]);

				return sync_copy_us(place(), src, to);
			},
			n);
		*us++ = median([&] { return sync_copy_us(host[1], device, from); }, n);
	}
	CUDA(cudaFreeHost(host[0]));
	CUDA(cudaFree(device));
	free(host[1]);
}

/* ---- memory ------------------------------------------------------------------------------- */

/*
 * The device is waited for between calls. A small piece is kept beside, as a program does: whether
 * a chunk of the driver's is in use is what decides how long a call takes.
 */
void calls_memory(cudaStream_t, int64_t bytes, double *us)
{
	std::vector<double> frees;
	void *kept;

	CUDA(cudaMalloc(&kept, 8));
	us[0] = median(
		[&] {
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
		},
		PAIRS);
	CUDA(cudaFree(kept));
	std::sort(frees.begin(), frees.end());
	us[1] = frees[frees.size() / 2];
}
