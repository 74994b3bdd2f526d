/*
 * bootstrap.h - 95 % intervals over processes.
 *
 * The replicates are processes, not blocks: blocks of one process share what that process got
 * (placement, clocks, addresses), and a thousand of them say nothing about the next process. A
 * value here is the process value of a point (harness/stats/stats.h), and n counts processes.
 *
 * Method: the percentile bootstrap of the median. In each of 5000 draws n processes are taken
 * with replacement; the interval runs from the 2.5 % to the 97.5 % quantile of the draws' medians.
 * Who is taken in a draw depends on the seed, the group and n only: all points of a session share
 * it, so that what a process does to all its points alike is not averaged away. Pick i of draw d
 * is process floor(w n / 2^32), w being word i mod 4 of Philox4x32-10 (common/philox.h) at counter
 * (floor(i / 4), d, group, 0) with the seed as key: the same on every machine. Store the seed.
 *
 * Quantile of the draws: few values give few different medians, and a plain quantile of those
 * jumps: its interval covers 88 % at n = 7 and 15. Here equal draws are one step at the middle of
 * their run, with straight lines from step to step (the mid-distribution quantile: Ma, Genton and
 * Parzen, Ann. Inst. Stat. Math. 63, 2011).
 *
 * Coverage in %, simulated: 4000 trials a figure, the lowest and the highest of three kinds of
 * process effect: lognormal 1.5 %, normal 5 %, exponential 5 %.
 *
 *   n         5       6       7       8       9      10      15      20      30
 *   median  93-94   92-93   98      92-93   95-96   94-95   95-96   93-94   94-95
 *
 * Nothing is widened for small n: at n = 5 the interval is the whole range and covers 93.75 % (one
 * seed in a hundred puts an end a little inside).
 *
 * B over A has exact intervals and tests instead: harness/stats/contrast.h.
 *
 * No interval for n < 5: one within the range of n values holds the median in 1 - 2^(1-n) of
 * cases at most, 87.5 % at n = 4 and 50 % at n = 2.
 *
 * Functions that return int return 0, or -EINVAL for a value that is NaN or infinite or for n out
 * of range; *out is then unknown, all NaN. They print nothing: only the caller can name the point.
 * No function changes the values it is given.
 *
 *   resamples_init(&r, processes, seed, 0)
 *   for (each point)
 *           bootstrap_median(&interval, &r, process_values, draws)
 *   resamples_release(&r)
 */
#ifndef RIFT_STATS_BOOTSTRAP_H
#define RIFT_STATS_BOOTSTRAP_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/stats/stats.h"

enum { BOOTSTRAP_DRAWS = 5000, BOOTSTRAP_N_MIN = 5, BOOTSTRAP_N_MAX = 1000 };

/* ---- draws -------------------------------------------------------------------------------- */

/* Who is taken in each draw: one for each group of processes, for all its points. */
struct resamples {
	int n; /* processes */
	uint64_t seed;
	/* How often process i is taken in a draw, both owned. */
	uint16_t *times;      /* times[draw * n + i] */
	uint16_t *of_process; /* of_process[i * BOOTSTRAP_DRAWS + draw], the same by columns */
};

/*
 * Two groups that are compared need two group numbers (0 and 1, say), or the draws of both take
 * the same processes, as those of pairs have to. n is 1 to BOOTSTRAP_N_MAX. resamples_release() may
 * follow a failure too.
 */
int resamples_init(struct resamples *r, int n, uint64_t seed, uint32_t group) STATS_MUST_CHECK;
void resamples_release(struct resamples *r);

/*
 * of_draws[BOOTSTRAP_DRAWS]: the median of the n values of a point in each draw, for what is
 * computed anew from the medians of several points; *of_all: the median of the values themselves.
 */
int resamples_medians(const struct resamples *r, const double *value, double *of_draws,
		      double *of_all) STATS_MUST_CHECK;

/* ---- intervals ---------------------------------------------------------------------------- */

struct interval {
	double value;  /* from the values themselves, not from the draws */
	double lo, hi; /* NaN where not known */
	int n;	       /* processes; of the smaller group where there are two */
	bool known;    /* n >= BOOTSTRAP_N_MIN */
};

struct interval interval_unknown(int n);

/* Half the interval's width, as a share of the value's size; NaN where not known. */
double interval_half_width(const struct interval *i);

/* The interval of anything whose BOOTSTRAP_DRAWS draws are given, in any order. */
int interval_of_draws(struct interval *out, double value, int n,
		      const double *draws) STATS_MUST_CHECK;

/*
 * Below, draws is a buffer of BOOTSTRAP_DRAWS doubles and gets what each draw gave, in the order of
 * the draws; also where n is too small for an interval.
 */

/* The median of the r->n values of a point. */
int bootstrap_median(struct interval *out, const struct resamples *r, const double *value,
		     double *draws) STATS_MUST_CHECK;

#endif
