/*
 * results.h - what the processes of a session say of its points: medians over processes and their
 * intervals (harness/bootstrap.h). What the two sides say of each other is contrast.h's.
 */
#ifndef RIFT_SWEEP_RESULTS_H
#define RIFT_SWEEP_RESULTS_H

#include "harness/bootstrap.h"
#include "harness/stats.h"
#include "harness/record/journal.h"

struct results {
	const struct journal *j;
	int processes;		       /* of each side: the first so many */
	struct resamples resamples[2]; /* shared by all points of a side */
	double *draws, *value[2];      /* room */
};

/* processes: 1 or more; the journal must live as long. */
void results_init(struct results *r, const struct journal *j, int processes);
void results_release(struct results *r);

/*
 * Time per step, ns, of each process of this side that measured the point, in their order. Room for
 * r->processes. Returns how many.
 */
int results_values(const struct results *r, int side, int point, double *value);

/* Processes of this side that measured the point. */
int results_count(const struct results *r, int side, int point);

/*
 * Time per step, ns, of a point on a side. An interval only where every process has measured it,
 * as the draws are of all of them; else n says how many have, and value is their median.
 */
struct interval results_interval(const struct results *r, int side, int point);

/* Do the processes that measured a point on a side fall into two kinds? In ns per step. */
struct modality results_modality(const struct results *r, int side, int point);

#endif
