/* submit.h - a block's steps enqueued, and how its end is waited for. */
#ifndef RIFT_MEASURE_SUBMIT_H
#define RIFT_MEASURE_SUBMIT_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "workloads/workload.h"

/* ---- how the host waits for the end of a block ------------------------------------------ */

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

/* ---- enqueues exactly `depth` steps of a workload in one of the three modes ------------- */

/* Launches that one graph may hold: the queue of a stream fills up near this number. */
enum { GRAPH_LAUNCHES_MAX = 1024 };

/* A workload that has been set up: whose steps, into which stream. */
struct instance {
	const struct workload *workload;
	const void *opts;
	void *state;
	cudaStream_t stream;
	int64_t launches;      /* a step, at least 1; bounds what a graph holds */
	struct cost cost;      /* of a step, as the workload counts it */
	enum wait_policy sync; /* how the end of a block is waited for */
	cudaEvent_t event;     /* sync_event() of it */
};

/* Everything ready to enqueue `depth` steps, again and again. */
struct submission {
	const struct instance *instance;
	enum mode mode;
	int64_t depth;
	/* graph mode: depth = graph_steps * graph_launches + rest_steps; else 0 */
	int64_t graph_steps, graph_launches, rest_steps;
	cudaGraphExec_t graph, rest; /* NULL where it holds no steps */
};

/*
 * Steps in one graph: the largest power of two that is at most depth and, times launches, at
 * most GRAPH_LAUNCHES_MAX; at least 1.
 */
int64_t graph_steps_for(int64_t depth, int64_t launches);

/* Steps in the longest graph of a submission, for struct verdict; 0: not graph mode. */
int64_t longest_graph(const struct instance *instance, enum mode mode, int64_t depth);

/*
 * Makes ready; in graph mode resets, captures, instantiates and uploads, and a remainder of
 * depth / graph_steps gets a graph of its own. *s may be released after a failure. depth >= 1.
 * Returns 0, what a hook returned, or -EINTR. Where the platform captures nothing or has no graphs
 * it leaves for the nearest refusal_catch(), with no capture left open.
 */
int submission_init(struct submission *s, const struct instance *instance, enum mode mode,
		    int64_t depth);

/*
 * Enqueues depth steps; does not wait. Returns 0, what a hook returned, or -EINTR after Ctrl-C,
 * with some steps left out.
 */
int submission_enqueue(const struct submission *s);

void submission_release(struct submission *s);

/* "stream", "graph", "fused". */
const char *mode_name(enum mode mode);

#endif
