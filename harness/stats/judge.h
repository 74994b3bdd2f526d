/*
 * judge.h - verdicts of many differences between B and A, each from an interval, a margin and two
 * p-values that are corrected for how many there are.
 *
 * Slower takes both: the 95 % interval is beyond the margin by itself, as people read it; and the
 * one-sided p-value, adjusted among all that are judged together, is at most JUDGE_LEVEL. Faster
 * likewise. So of each direction the chance of a wrong one (Holm), or the share of wrong ones
 * among those found (false discovery rate), is at most 5 %.
 *
 * Whoever says of the points of a session which are slower on B asks judge_points(): `rift
 * compare`, the last table of `rift sweep` and `rift show`, `rift check --ratios`, the charts'
 * marks.
 *
 * Few processes bound p from below (harness/stats/bootstrap.h): from 5 a side it is 1/252 at least,
 * and of more than 12 differences that Holm corrects none can then be found; from 8 pairs it is
 * 1/256.
 */
#ifndef RIFT_STATS_JUDGE_H
#define RIFT_STATS_JUDGE_H

#include "harness/stats/decide.h"

#define JUDGE_LEVEL 0.05

struct judged {
	bool known;		    /* there is an interval; else open, and not counted */
	enum ratio_verdict alone;   /* what the interval says by itself */
	double p_slower, p_faster;  /* one-sided, against the margin; judge() adjusts them */
	enum ratio_verdict verdict; /* of judge() */
	bool not_slower; /* all of the interval is below the margin: the same, or faster, or either
			  */
};

/* Of what has no interval. */
struct judged judged_unknown(void);

typedef int adjust(double *p, int m);

/* Of a ratio B / A and its draws. */
struct judged judged_ratio(const struct interval *ratio, const struct groups *g,
			   const double *draws, double margin);

/*
 * Of a difference that matters beyond its own margin: draws of B - A less the margin (over), and
 * of B - A and the margin (under). Each counts as slower where all of over is above 0.
 */
struct judged judged_difference(const double *over, const double *under, const struct groups *g);

/* Corrects them among each other, by p_adjust_holm or p_adjust_fdr, and fills in the verdicts. */
void judge(struct judged *const *all, int n, adjust *correct);

/* What is said of a point. */
struct judged_point {
	struct interval ratio; /* B over A; not known without values of every process */
	struct judged judged;
};

/*
 * The ratio of each of n points, and verdicts that are corrected among all of them by the false
 * discovery rate. pair[i].a NULL: some process has no good result of the point. factor: what the
 * draws of every ratio are multiplied by, for separate sessions (compare/between.h), or NULL.
 */
void judge_points(struct judged_point *out, const struct point_pair *pair, int n,
		  const struct groups *g, const double *factor, double margin);

/*
 * Multiplies draws by the factors and takes the interval of the ratio from them: what a session is
 * off by is in the draws, but not in the value. NULL: nothing.
 */
void judge_widen(struct interval *ratio, double *draws, const double *factor);

/* The smallest number of processes of both sides at which n differences can be found by Holm. */
int judge_processes_needed(int n, bool paired);

#endif
