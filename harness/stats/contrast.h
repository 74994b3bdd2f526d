/*
 * contrast.h - B over A: exact tests, and the intervals that follow from them.
 *
 * The replicates are processes. They come as pairs, process i of B with process i of A, or as two
 * groups that have nothing to do with each other. Either way there are ratios b / a, one for each
 * pair or one for each process of B over each of A, and a number of them lies above any bound that
 * is asked about. If B / A were exactly this bound, that number would have a known distribution,
 * whatever the distribution of the times is:
 *
 *   pairs    n ratios, each above with chance 1/2: the binomial distribution (sign test)
 *   groups   nb * na ratios: the distribution of Mann and Whitney's U (Ann. Math. Statist. 18,
 *            1947), as long as the two groups differ by a factor and in nothing else; groups that
 *            scatter differently make it too bold or too shy, see docs/validation.md
 *
 * So p-values are exact, and ties count against what is to be shown. The interval of B / A holds
 * all bounds that the test does not reject at `tail` on either side: it ends at two of the ratios.
 * Its level is what the few possible numbers allow, 1 - 2 tail or more: with a tail of 5 % it is
 * 93.8 % for 5 pairs, 96.9 % for 6, 98.4 % for 7, 93.0 % for 8. There is no interval where not even
 * processes that all agree could reject: below 5 pairs, or 3 processes a side.
 *
 * The value is the median of the ratios. For groups it is Hodges and Lehmann's estimate, which lies
 * within the interval where a ratio of two medians need not.
 *
 * Separate sessions are each off by a factor that all their processes share, which no test of
 * processes can see. `apart` is as far as this is assumed to put B and A apart: verdicts need that
 * much more, and intervals are that much wider on both sides.
 */
#ifndef RIFT_STATS_CONTRAST_H
#define RIFT_STATS_CONTRAST_H

#include "harness/stats/decide.h"

struct contrast {
	int nb, na; /* processes; of pairs both are their number */
	bool paired;
	double tail;	  /* at most so much beyond either end of an interval */
	double apart;	  /* 1 or more: as a factor; 1 for one session */
	int ratios;	  /* nb of pairs, else nb * na */
	double *at_least; /* [k]: the chance that k or more of them lie above B / A; owned */
	int rank;     /* an interval's ends are the rank-th ratios from below and above; 0: none */
	double level; /* of these intervals; NAN: none */
};

/*
 * 1 to CONTRAST_N_MAX processes a side. looks: interim analyses that could have ended the session;
 * they share JUDGE_LEVEL. Of groups with more than CONTRAST_EXACT_MAX ratios the distribution is
 * the normal one.
 */
enum { CONTRAST_N_MAX = 1000, CONTRAST_EXACT_MAX = 10000 };
void contrast_init(struct contrast *c, int nb, int na, bool paired, int looks);
void contrast_release(struct contrast *c);

/*
 * The factor that two sessions are apart by at most, in 95 % of cases in the direction that
 * matters: each is off by a lognormal factor with this standard deviation (a share of 1).
 */
double contrast_apart(double session_sd);

/* A point's process values in both, in the order of the processes. */
struct point_pair {
	const double *b, *a; /* nb and na values, each finite and above 0 */
};

/*
 * Each process's geometric mean over the points, into b[nb] and a[na]: a process is taken with all
 * its points, so value i belongs to process i at each of them. points is 1 or more.
 */
void contrast_means(const struct contrast *c, const struct point_pair *point, int points, double *b,
		    double *a);

/* All functions below: -EINVAL, or not known, for values that are not finite and above 0. */
int contrast_ratio(struct interval *out, const struct contrast *c,
		   const struct point_pair *p) STATS_MUST_CHECK;

/* B - A, as what the ratio adds to the median of A. */
int contrast_difference(struct interval *out, const struct contrast *c,
			const struct point_pair *p) STATS_MUST_CHECK;

/*
 * The median of nb values of one side, which may be 0 or less, and the interval that pairs of as
 * many have: from one order statistic to another, at c->level. c is of pairs.
 */
int contrast_median(struct interval *out, const struct contrast *c,
		    const double *value) STATS_MUST_CHECK;

/*
 * Whether B is slower than A by more than the margin, a share of A, and more than `floor`, in the
 * unit of the values. The verdict is `alone`, and what the interval says: no other tests count.
 * Where no interval is known there still are p-values.
 */
struct judged contrast_judge(const struct contrast *c, const struct point_pair *p, double margin,
			     double floor);

/* The p of processes that all agree. */
double contrast_least_p(const struct contrast *c);

/* The smallest number of processes a side whose p can be as small as this. */
int contrast_processes_needed(double p, bool paired);

/* What is said of a point. */
struct judged_point {
	struct interval ratio; /* B over A; not known without values of every process */
	struct judged judged;
};

/*
 * The ratio of each of n points, and verdicts that are corrected among all of them by the false
 * discovery rate. pair[i].a NULL: some process has no good result of the point. Whoever says of the
 * points of a session which are slower on B asks here: `rift compare`, the last table of `rift
 * sweep` and `rift show`, `rift show --check --ratios`, the charts' marks, `rift share`.
 */
void contrast_points(struct judged_point *out, const struct point_pair *pair, int n,
		     const struct contrast *c, double margin);

#endif
