/* steps.h - what a trace says of each call, whatever calls cost: gaps, waits, who waits for whom.
 */
#ifndef RIFT_TRACE_STEPS_H
#define RIFT_TRACE_STEPS_H

#include "common/trace/trace.h"

enum step_role {
	STEP_LAUNCH,
	STEP_GRAPH,
	STEP_SUBMIT,	/* memset, host function: on a stream, at the price recorded */
	STEP_COPY,	/* returns before its copy ends */
	STEP_COPY_WAIT, /* returns after it */
	STEP_SYNC,
	STEP_FREE_WAIT, /* waits for the whole device */
	STEP_POLL,	/* one of several queries, free of charge */
	STEP_POLL_WAIT, /* the last of them */
	STEP_FIXED,	/* as recorded */
};

struct step {
	double gap_ns;	 /* of the host before it, without the recorder's part */
	double own_ns;	 /* of the call, without waits; of a launch: beyond c */
	double lead_ns;	 /* copy: from the call's start to its own */
	double tail_ns;	 /* waiting copy, poll: from the end of work to the return */
	int64_t after;	 /* call of another thread that it waits for; TRACE_NONE */
	double after_ns; /* from that one's return to this one's start */
	enum step_role role;
	bool loads;	     /* a long launch: a first use, or another thread's */
	bool is_held_up;     /* a long launch for no such reason: its thread lost its processor */
	bool is_behind_full; /* a launch whose stream's queue was full: its call may be a wait */
	bool beside; /* a copy while other streams were at work: it may have waited for them */
};

/* What is queued behind what on a stream: kinds of operations, of copies by their directions. */
enum { QUEUE_KINDS = OP_KINDS + COPY_DIRECTIONS };

int queue_kind(const struct trace_op *op);

struct steps {
	const struct trace *trace;
	struct step *step;   /* one for each call */
	int64_t inferred;    /* edges between threads */
	int64_t loads, full; /* launches that loaded; that found the queue full */
	double window;	     /* the calibration's, else of those launches; INFINITY */
	double sync_ns;	     /* median of synchronizes that had nothing to wait for; 0: none */
	double latency_ns; /* median from a launch's return to its kernel, where nothing was queued
			    */
	/* From the end of the first to the start of the second, beyond the calibration's gap. */
	double queue_ns[QUEUE_KINDS][QUEUE_KINDS];
	double graph_factor; /* how many times as long as recorded graphs last: host_gaps.h */
	double start_ns;     /* of the process */
	double tail_ns;	     /* behind the last call of the main thread */
	int32_t main;	     /* thread whose last call is the last of all; TRACE_NONE: none */
};

void steps_init(struct steps *s, const struct trace *t);
void steps_release(struct steps *s);

#endif
