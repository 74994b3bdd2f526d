/* kineto_impl.h - what the parts of kineto.c share: a file that is being read. */
#ifndef RIFT_TRACE_KINETO_IMPL_H
#define RIFT_TRACE_KINETO_IMPL_H

#include <jansson.h>

#include "common/trace/kineto.h"

/* Ids of calls are their correlations, which have 32 bits; without one they are beyond these. */
#define OWN_IDS ((int64_t)1 << 40)

/* A range, or a begin or an end of one alone. */
struct annotation {
	int64_t t0, t1;
	int64_t at; /* in the file, of all */
	int32_t thread, name;
	char phase; /* 'X', 'B', 'E' */
};

/* An operation's call, or the call that it lies in. */
struct correlation {
	int64_t id, call;
};

struct kineto {
	struct reading *r;
	struct trace *t;
	json_t *names, *threads, *streams, *graphs; /* texts to indexes */
	json_t *stream_kinds;			    /* of streams that the file describes */
	json_t *processes;			    /* their names, by their ids */
	json_t *header;
	struct annotation *annotation;
	struct correlation *within, *sync; /* sync: of a synchronize, its stream */
	int64_t annotations, withins, syncs;
	struct {
		int64_t strings, threads, streams, graphs, annotations, withins, syncs, marks;
	} room;
	int64_t unnamed; /* calls without a correlation, so far */
};

/* The index of a graph of so many nodes and kernels, a new one where none is like it. */
int32_t kineto_graph(struct kineto *k, int64_t nodes, int64_t kernels);

/*
 * When all events are there: times count from the first one on, calls of a thread do not overlap,
 * each operation has the call that it belongs to, ranges are marks. 0, or -EINVAL after one line.
 */
int kineto_settle(struct kineto *k);

/* The operations of a graph's launch become one. Operations are in the order of their calls. */
void kineto_settle_graphs(struct kineto *k);

#endif
