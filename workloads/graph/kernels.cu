/* kernels.cu - the kernels of a graph's nodes. */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/gpu.h"
#include "workloads/graph/graph.h"

/*
 * Says "I ran", and lasts for so many cycles of its multiprocessor, the word included. Nobody
 * waits for the addition.
 */
extern "C" __global__ void __launch_bounds__(GRAPH_THREADS)
	graph_node(unsigned long long *word, unsigned long long add, unsigned long long cycles)
{
	if (threadIdx.x)
		return;
	if (!cycles) {
		atomicAdd(word, add);
		return;
	}
	long long start = clock64();

	atomicAdd(word, add);
	while ((unsigned long long)(clock64() - start) < cycles)
		;
}
KERNEL(graph_node);

extern "C" __global__ void __launch_bounds__(GRAPH_THREADS)
	graph_staged_node(unsigned long long *word, unsigned long long add,
			  unsigned long long cycles, const unsigned long long *copied,
			  unsigned long long expected, unsigned long long *ended)
{
	if (threadIdx.x)
		return;
	long long start = clock64();

	if (copied && *copied != expected)
		add += 1ull << 32;
	atomicAdd(word, add);
	while ((unsigned long long)(clock64() - start) < cycles)
		;
	if (ended)
		*ended = device_timer_ns();
}
KERNEL(graph_staged_node);

extern "C" __global__ void graph_stamp(unsigned long long *at)
{
	*at = device_timer_ns();
}
KERNEL(graph_stamp);

const void *graph_kernel(void)
{
	return (const void *)graph_node;
}

const void *graph_staged_kernel(void)
{
	return (const void *)graph_staged_node;
}

void graph_stamp_time(unsigned long long *at, cudaStream_t stream)
{
	CUDA(LAUNCH(graph_stamp, 1, 1, 0, stream, at));
}

void graph_load_kernels(void)
{
	device_load_kernel(graph_kernel());
	device_load_kernel(graph_staged_kernel());
	device_load_kernel((const void *)graph_stamp);
	pattern_load_kernels();
}
