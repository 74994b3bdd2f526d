/* wait.h - how the host waits for the end of a block, and what the modes of its steps are called.
 */
#ifndef RIFT_MEASURE_WAIT_H
#define RIFT_MEASURE_WAIT_H

#include <cuda_runtime_api.h>

#include "common/mode.h"

/*
 * spin, yield and blocking are what the driver's own wait does; CUDA takes them as flags of the
 * device, before anything has used it. event and poll wait by other calls, with spin's flag.
 */

enum wait_policy {
	SYNC_SPIN,     /* cudaStreamSynchronize, which polls */
	SYNC_YIELD,    /* cudaStreamSynchronize, which polls and gives the processor away */
	SYNC_BLOCKING, /* cudaStreamSynchronize, which sleeps until an interrupt */
	SYNC_EVENT,    /* cudaEventRecord and cudaEventSynchronize */
	SYNC_POLL,     /* cudaStreamQuery until it is done */
	SYNC_COUNT,
};

/* Names in the order of enum wait_policy, then NULL. */
extern const char *const sync_names[];

/*
 * What runs that do not say get: spin on a GPU, as CUDA's own choice depends on the number of
 * processors and would differ between a machine and a small guest on it; yield on the CPU device,
 * where a host that spins takes a processor from the kernels.
 */
enum wait_policy sync_default(void);

/*
 * Sets the device's flag for this kind; call it before anything else uses the device. Returns 0
 * or -ENOTSUP after one line. Says nothing where there is no device: who opens it does.
 */
int sync_prepare(enum wait_policy kind);

/* The event that SYNC_EVENT waits by, NULL for every other kind; the caller destroys it. */
cudaEvent_t sync_event(enum wait_policy kind);

/* Waits until everything in the stream is done. */
void sync_wait(enum wait_policy kind, cudaStream_t stream, cudaEvent_t event);

/* "stream", "graph", "fused". */
const char *mode_name(enum mode mode);

#endif
