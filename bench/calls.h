/* calls.h - single calls timed by hand (calls.cu): medians of one go, in us. */
#ifndef RIFT_BENCH_CALLS_H
#define RIFT_BENCH_CALLS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All but what they need of: a stream that is idle, a size (nodes, bytes), figures. */
void calls_launch(cudaStream_t stream, int64_t size, double *us); /* the call */
void calls_graph(cudaStream_t stream, int64_t size, double *us);  /* instantiate; launch call */
void calls_copy(cudaStream_t stream, int64_t size, double *us);	  /* h2d, d2h pinned; pageable;
								   * of 4 bytes: cudaMemcpy */
void calls_memory(cudaStream_t stream, int64_t size, double *us); /* cudaMalloc, cudaFree */

#ifdef __cplusplus
}
#endif
#endif
