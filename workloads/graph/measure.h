/*
 * measure.h - what each call that has to do with a graph takes: for probe=yes and the picture.
 *
 * Where a graph is launched, a latch (common/latch.h) stands before it: the call is timed while
 * nothing can run, and what is timed from the opening on is the graph alone, whatever its call
 * took. Every sample of a launch is checked, node by node. The idle launches have no latch, as in
 * NVIDIA's sample: what is timed is the call on an idle stream, and the call with all behind it.
 */
#ifndef RIFT_GRAPH_MEASURE_H
#define RIFT_GRAPH_MEASURE_H

#include "common/latch.h"
#include "common/line.h"
#include "common/refusal.h"
#include "workloads/graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

enum measure_quantity {
	MEASURE_CAPTURE,
	MEASURE_NODES, /* the same graph, a call for each node */
	MEASURE_INSTANTIATE,
	MEASURE_UPLOAD,	       /* the call */
	MEASURE_UPLOADED,      /* and the wait for it */
	MEASURE_UPLOAD_DEVICE, /* between two events around it */
	MEASURE_FIRST_CALL,    /* of a graph that was not uploaded */
	MEASURE_FIRST_TOTAL,   /* from the opening of the latch to the return of a synchronize */
	MEASURE_FIRST_DEVICE,  /* between two events around it */
	MEASURE_READY_CALL,    /* the first one of a graph that was uploaded */
	MEASURE_CALL,	       /* of a graph that was launched before */
	MEASURE_TOTAL,
	MEASURE_DEVICE,
	MEASURE_FIRST_CHAIN, /* staged: from the launch's begin on the device to its last kernel's
				end */
	MEASURE_LAST_CHAIN,
	MEASURE_IDLE_FIRST_CALL,  /* no latch, and nothing in the stream ... */
	MEASURE_IDLE_FIRST_TOTAL, /* from the call to the return of a synchronize */
	MEASURE_IDLE_CALL,
	MEASURE_IDLE_TOTAL,
	MEASURE_PACE,	  /* of one graph launched again and again, a launch */
	MEASURE_PACE_TWO, /* of two in turn */
	MEASURE_UPDATE,
	MEASURE_PARAMS,	       /* of one node */
	MEASURE_UPDATED_CALL,  /* no latch, the first one after an update ... */
	MEASURE_UPDATED_TOTAL, /* from the call to the return of a synchronize */
	MEASURE_MANY_MAKE,     /* many graphs in one process: to instantiate and upload one */
	MEASURE_MANY_FIRST,    /* the first launch call of one of them ... */
	MEASURE_MANY_CALL,     /* and the next one, after the others' */
	MEASURE_MEMORY,	       /* bytes of the device that one of them takes */
	MEASURE_HOST_MEMORY,   /* and of the process's memory */
	MEASURE_QUANTITIES,
};

struct measure_row {
	const char *name, *unit;
};

extern const struct measure_row graph_quantities[MEASURE_QUANTITIES];

/* Measurements of graphs of one length. A value that is NaN has a reason in why. */
struct measure_length {
	int64_t length, nodes;
	double value[MEASURE_QUANTITIES]; /* medians, us or bytes */
	int64_t n[MEASURE_QUANTITIES];
	const char *why[MEASURE_QUANTITIES];
	char refused[MEASURE_QUANTITIES][REFUSAL_TEXT]; /* what why may point to */
};

struct measure_plan {
	int samples;	   /* at most, and at least 5 */
	int64_t budget_ns; /* of the samples of one quantity */
	cudaStream_t stream;
	cudaEvent_t begin, end;
	struct latch *latch;  /* NULL: mapped memory does not work here ... */
	const char *no_latch; /* ... and why */
	int stuck;	      /* holds that the host did not end; after 2 there are no more */
};

/* Is it measured of such graphs at all? */
bool graph_has(const struct graph_opts *o, enum measure_quantity q);

void graph_measure_init(struct measure_plan *p, bool quick);
void graph_measure_release(struct measure_plan *p);

/* Returns 0, -EINTR, or -EIO after one line where a node has not run as it should. */
int graph_measure(struct measure_plan *p, const struct graph_opts *o, struct measure_length *out);

/* us over nodes, of the lengths that have a value; n 0: too few. */
struct line graph_measure_fit(const struct measure_length *m, int n, enum measure_quantity q);

#ifdef __cplusplus
}
#endif
#endif
