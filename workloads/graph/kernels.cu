/* kernels.cu - the kernel of a graph's nodes. */
#include "common/cuda_check.h"
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

const void *graph_kernel(void)
{
	return (const void *)graph_node;
}

void graph_load_kernels(void)
{
	struct cudaFuncAttributes ignored;

	CUDA(cudaFuncGetAttributes(&ignored, graph_kernel()));
}
