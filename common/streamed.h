/*
 * streamed.h - steps that bring their inputs to the device and their outputs back: copies in
 * blocks, from pinned or pageable memory, and chunks whose copies and kernels overlap.
 *
 * The three parts of a step of one chunk stand one after the other in the step's stream. With
 * more, chunk c + 1 comes in while c is computed and c - 1 goes out: two more streams are forked
 * from the step's and joined to it by events, so that a step can be captured.
 */
#ifndef RIFT_STREAMED_H
#define RIFT_STREAMED_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum streamed_data { STREAMED_RESIDENT, STREAMED_STREAMED };
enum streamed_memory { STREAMED_PINNED, STREAMED_PAGEABLE };

/* The names of these for parameters data= and memory=; end with NULL. */
extern const char *const streamed_data_names[];
extern const char *const streamed_memory_names[];

enum {
	STREAMED_CHUNKS_MAX = 16,
	STREAMED_BLOCK_MIN = 64 << 10, /* bytes */
	STREAMED_BLOCK_MAX = 128 << 20,
	STREAMED_GRAPH_COPIES = 2048, /* a step; each costs a graph 0.5 us and memory */
};

/* How a step copies, as options say it. */
struct streamed_form {
	int64_t block; /* bytes of a copy; 0: all of an array in one */
	enum streamed_memory memory;
	int64_t overlap; /* chunks of a step; 0: one */
};

/* 0, or -EINVAL after one line about block= or overlap=. */
int streamed_form_check(const struct streamed_form *form);

/* Why a graph of steps with so many copies is refused; NULL: it is not. */
const char *streamed_graph_refused(const struct streamed_form *form, int64_t copies);

/* Calls that so many bytes are copied in. */
int64_t streamed_calls(int64_t bytes, int64_t block);

/* Enqueues a copy in blocks, the last one what is left. */
void streamed_copy(void *dst, const void *src, size_t bytes, int64_t block,
		   enum cudaMemcpyKind kind, cudaStream_t stream);

/* Host memory of that kind with all its pages there; NULL after one line. */
void *streamed_host_new(size_t bytes, enum streamed_memory memory);
void streamed_host_free(void *host, enum streamed_memory memory); /* takes NULL */

/* ---- the three parts of a step ---------------------------------------------------------- */

/* The streams beside the step's, and what orders them. Zero: none, for steps of one chunk. */
struct streamed_lanes {
	cudaStream_t in, out;
	cudaEvent_t forked, left;
	cudaEvent_t arrived[STREAMED_CHUNKS_MAX], computed[STREAMED_CHUNKS_MAX];
};

void streamed_lanes_make(struct streamed_lanes *lanes, int chunks);
void streamed_lanes_release(struct streamed_lanes *lanes); /* takes zero, and leaves it */

/* Each part of a step enqueues what it does for one chunk. */
struct streamed_parts {
	void (*in)(void *arg, int chunk, cudaStream_t stream);
	void (*compute)(void *arg, int chunk, cudaStream_t stream);
	void (*out)(void *arg, int chunk, cudaStream_t stream);
	void *arg;
};

/* Enqueues a step. */
void streamed_step(const struct streamed_lanes *lanes, const struct streamed_parts *parts,
		   int chunks, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
