/*
 * sync.h - how the host waits for the end of a block.
 *
 * spin, yield and blocking are what the driver's own wait does; CUDA takes them as flags of the
 * device, before anything has used it. event and poll wait by other calls, with spin's flag.
 */
#ifndef RIFT_MEASURE_SYNC_H
#define RIFT_MEASURE_SYNC_H

#include <cuda_runtime_api.h>

enum sync_kind {
	SYNC_SPIN,     /* cudaStreamSynchronize, which polls */
	SYNC_YIELD,    /* cudaStreamSynchronize, which polls and gives the processor away */
	SYNC_BLOCKING, /* cudaStreamSynchronize, which sleeps until an interrupt */
	SYNC_EVENT,    /* cudaEventRecord and cudaEventSynchronize */
	SYNC_POLL,     /* cudaStreamQuery until it is done */
	SYNC_COUNT,
};

/* Names in the order of enum sync_kind, then NULL. */
extern const char *const sync_names[];

/*
 * What runs that do not say get: spin on a GPU, as CUDA's own choice depends on the number of
 * processors and would differ between a machine and a small guest on it; yield on the CPU device,
 * where a host that spins takes a processor from the kernels.
 */
enum sync_kind sync_default(void);

/*
 * Sets the device's flag for this kind; call it before anything else uses the device. Returns 0
 * or -ENOTSUP after one line. Says nothing where there is no device: who opens it does.
 */
int sync_prepare(enum sync_kind kind);

/* The event that SYNC_EVENT waits by, NULL for every other kind; the caller destroys it. */
cudaEvent_t sync_event(enum sync_kind kind);

/* Waits until everything in the stream is done. */
void sync_wait(enum sync_kind kind, cudaStream_t stream, cudaEvent_t event);

#endif
