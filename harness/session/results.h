/*
 * results.h - what the processes of a session say of its points, and its two sides of each other.
 */
#ifndef RIFT_SESSION_RESULTS_H
#define RIFT_SESSION_RESULTS_H

#include <stdio.h>

#include "harness/record/journal.h"
#include "harness/stats/bootstrap.h"
#include "harness/stats/contrast.h"
#include "harness/stats/stats.h"

/* ---- points ----------------------------------------------------------------------------- */

/* Medians over processes and their intervals (harness/stats/bootstrap.h). */

struct results {
	const struct journal *j;
	int processes;		       /* of each side: the first so many */
	struct resamples resamples[2]; /* shared by all points of a side */
	double *draws, *value[2];      /* buffers */
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

/*
 * Points whose processes fall into two kinds, the most different first: their median, which lies
 * in one of them or between, says less than both. Nothing where there is none.
 */
void bimodal_print(const struct results *r, FILE *out);

/* ---- the two sides ---------------------------------------------------------------------- */

/*
 * Side b over side a at every point of the plan of `rift sweep --against`: the ratio and verdict
 * that `rift compare` gives for this session, at its margin and with its correction
 * (contrast_points() in harness/stats/contrast.h). Each wait policy is judged by itself, as
 * rift compare --sync does. *level: of their intervals, NAN where there are too few processes; or
 * NULL. To be freed.
 */
struct judged_point *sides_judge(const struct results *r, double *level);

/* The points that are slower or faster by more than MARGIN_DEFAULT, worst first, then about all. */
void sides_print(const struct results *r, FILE *out);

/* A line for each point: its axes, both medians, the ratio, its interval and its verdict, and what
 * it would be without the correction. */
void sides_csv(const struct results *r, FILE *out);

#endif
