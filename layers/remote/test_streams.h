/*
 * test_streams.h - what programs of tests share that ask what waits for what: a word of the
 * device's, a kernel that adds to it, and a kernel that the host holds up.
 */
#ifndef RIFT_REMOTE_TEST_STREAMS_H
#define RIFT_REMOTE_TEST_STREAMS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "layers/remote/test_passes.h"

static inline uint64_t *zeroed_word(void)
{
	uint64_t *word;

	OK(cudaMalloc((void **)&word, sizeof(*word)));
	OK(cudaMemset(word, 0, sizeof(*word)));
	OK(cudaDeviceSynchronize());
	return word;
}

static inline uint64_t value_of(const uint64_t *word)
{
	uint64_t value = 99;

	OK(cudaMemcpy(&value, word, sizeof(value), cudaMemcpyDeviceToHost));
	return value;
}

static inline void add(uint64_t *to, uint64_t value, cudaStream_t stream)
{
	uint8_t times = 1;
	void *arguments[] = { &to, &value, &times };

	OK(cudaLaunchKernel(kernel_add(), (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, arguments, 0,
			    stream));
}

static inline cudaStream_t new_stream(unsigned flags)
{
	cudaStream_t stream;

	OK(cudaStreamCreateWithFlags(&stream, flags));
	return stream;
}

static inline cudaGraph_t ended(cudaStream_t stream)
{
	cudaGraph_t graph;

	OK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

/* A stream that is held until the host writes to the word; then *reached is 1. */
struct gate {
	uint32_t *word;
	uint64_t *reached;
};

static inline struct gate gate_new(void)
{
	struct gate g;

	OK(cudaHostAlloc((void **)&g.word, sizeof(*g.word), cudaHostAllocMapped));
	*g.word = 0;
	g.reached = zeroed_word();
	return g;
}

static inline void gate_close(const struct gate *g, cudaStream_t stream)
{
	void *arguments[] = { (void *)&g->word, (void *)&g->reached };

	__atomic_store_n(g->word, 0, __ATOMIC_RELEASE);
	OK(cudaMemsetAsync(g->reached, 0, sizeof(*g->reached), stream));
	OK(cudaLaunchKernel(kernel_await(), (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, arguments, 0,
			    stream));
}

static inline void gate_open(const struct gate *g)
{
	__atomic_store_n(g->word, 1, __ATOMIC_RELEASE);
}

#endif
