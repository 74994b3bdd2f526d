/* submit.h - a block's steps enqueued. */
#ifndef RIFT_MEASURE_SUBMIT_H
#define RIFT_MEASURE_SUBMIT_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "common/cost.h"
#include "common/mode.h"
#include "harness/measure/wait.h"

struct workload;

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

#endif
