/* collection.h - all workloads of a session on one page: its rows, and what they say. */
#ifndef RIFT_CHART_COLLECTION_H
#define RIFT_CHART_COLLECTION_H

#include "harness/chart/chart.h"

/* Modes that are shown: a fused launch is another kernel, with an ideal of its own. */
enum { COLLECTION_MODES = MODE_GRAPH + 1 };

enum { SMALL_BATCH, LARGE_BATCH, DOTS };

/* The depth that is shown beside the smallest one, where there is one of this depth. */
enum { COLLECTION_DEEP = 64 };

/* A measured overhead; over.n = 0: none. */
struct dot {
	int64_t depth;
	struct interval over; /* T / ideal */
};

/* A workload, its parameters and a size. */
struct row {
	const struct chart_set *set;
	int size;	 /* -1: nothing of it has a good result */
	const char *why; /* there is no ideal, and so no dot; NULL: there is */
	struct dot dot[COLLECTION_MODES][DOTS];
};

struct collection {
	struct variants variants;
	struct row *row; /* from below: those without an ideal, then the largest overhead last */
	int rows;
	int64_t small_depth,
		large_depth; /* depths; of a row that lacks the large one its largest */
};

/* The depth of a row's dots where it is another one than the collection's. */
bool collection_is_other(const struct collection *c, const struct dot *d, int which);

/* "stereo width=640", "launch 10 µs kernels". */
void collection_name(const struct row *r, char *out, size_t size);

/* What its ideal is was measured in streams, as the workload allows no graphs. */
bool collection_is_of_streams(const struct row *r);

/* Title, finding, small print and the note below. */
void collection_label(const struct collection *c, struct plot *p);

#endif
