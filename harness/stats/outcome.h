/* outcome.h - what the verdicts of several workloads come to: is B slower than A? */
#ifndef RIFT_STATS_OUTCOME_H
#define RIFT_STATS_OUTCOME_H

#include "harness/stats/decide.h"

enum outcome {
	OUTCOME_SAME,
	OUTCOME_SLOWER,	      /* one of them is */
	OUTCOME_FASTER,	      /* one is, and none may be slower */
	OUTCOME_NOT_SLOWER,   /* none may be slower; of some it is open whether they are faster */
	OUTCOME_INCONCLUSIVE, /* one may be slower */
	OUTCOME_WRONG,	      /* B computes wrong results, whatever the times are */
};

/* In the words of verdict_names, where an outcome is one of these. */
const char *outcome_name(enum outcome outcome);

/* The level that each of n workloads, and their mean, is judged at, where all have `tail`. */
double outcome_level(int n, double tail);

/*
 * Corrects the verdicts of n workloads and of the mean over all of them. One workload is judged at
 * `tail` (harness/stats/contrast.h) and the mean says nothing more. Of several, half of the tail is
 * spent on the mean, which few processes can decide, and half on the workloads, corrected by Holm:
 * so the chance of one wrong `slower` or more is at most `tail`.
 */
void outcome_judge(struct judged *const *workload, int n, struct judged *mean, double tail);

/*
 * What all that decides comes to, once judged. mean: may find what none of the others shows by
 * itself, and takes nothing back; NULL: there is none.
 */
enum outcome outcome_of(struct judged *const *all, int n, const struct judged *mean);

#endif
