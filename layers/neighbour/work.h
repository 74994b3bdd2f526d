/*
 * work.h - what a neighbour does on the device, in units of which a few are queued at a time.
 *
 * For one process, which has no other use for the device. Errors of CUDA's abort (CUDA()).
 */
#ifndef RIFT_NEIGHBOUR_WORK_H
#define RIFT_NEIGHBOUR_WORK_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum neighbour_kind {
	NEIGHBOUR_SPIN,	  /* a kernel of about 1 ms that fills all multiprocessors */
	NEIGHBOUR_COPY,	  /* 16 MiB to the device and 16 MiB to the host at once */
	NEIGHBOUR_LAUNCH, /* 16 empty kernels */
};

/* Units that are queued at most: 64 launches. */
enum { NEIGHBOUR_QUEUE = 4, NEIGHBOUR_LAUNCHES = 16, NEIGHBOUR_COPY_BYTES = 16 << 20 };

struct work {
	enum neighbour_kind kind;
	cudaStream_t stream, back; /* back: of copies to the host */
	cudaEvent_t copied[NEIGHBOUR_QUEUE], done[NEIGHBOUR_QUEUE];
	int64_t submitted, finished; /* units */
	void *host[2], *device[2];
	uint32_t links; /* multiply-adds of a thread of the kernel that spins */
	int blocks;
	uint32_t *out;
};

/* Opens the device. Returns 0, or -ENODEV or -ENOMEM after one line. */
int work_open(struct work *w, enum neighbour_kind kind);

/* Enqueues one unit. There must be fewer than NEIGHBOUR_QUEUE. */
void work_submit(struct work *w);

/* Waits for the oldest unit. There must be one. */
void work_await(struct work *w);

/* Units in the queue. */
int64_t work_queued(const struct work *w);

void work_close(struct work *w);

/* ---- kernels (work.cu) ------------------------------------------------------------------ */

enum { NEIGHBOUR_THREADS = 256 };

/* Blocks that fill the device. */
int neighbour_blocks(void);

/* Enqueues. Each thread does so many multiply-adds, one after the other. */
void neighbour_spin(uint32_t links, int blocks, uint32_t *out, cudaStream_t stream);
void neighbour_nothing(cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
