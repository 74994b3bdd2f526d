/* decide.h - what is concluded from intervals: of one, and among many. */
#ifndef RIFT_STATS_DECIDE_H
#define RIFT_STATS_DECIDE_H

#include <stdbool.h>

#include "harness/stats/bootstrap.h"

/* ---- one interval ----------------------------------------------------------------------- */

/*
 * What is concluded from intervals: whether enough processes ran, whether two systems differ, and
 * how many wrong conclusions to expect among many.
 *
 * Shares and limits are shares of 1. An interval that is not known decides nothing.
 */

/* ---- enough processes? -------------------------------------------------------------------- */

#define HALF_WIDTH_MAX 0.02	  /* interval_half_width() of a point that is narrow enough */
#define HALF_WIDTH_MAX_QUICK 0.05 /* in a quick sweep */

/*
 * The number of processes after the next interim analysis, given those that ended: 5, 10, 20 or 30;
 * 0 after 30. To stop where processes happen to agree makes intervals too narrow, the more so the
 * more interims there are. Coverage with these four interims, simulated: 94 % where 40 points share
 * half of the process effect (lognormal, 1 to 3 %) or none of it; 88 to 93 % where they share it
 * all, or where there is one point. A lone point may differ by 3 % between processes and yet stop
 * after 5: its interval then covers 73 %. Quote a point that matters from 10 processes or more.
 */
int next_interim(int processes);

struct interim {
	int points, wide; /* wide: their interval is wider than the limit, or not known */
	bool stop;	  /* 95 % of points are narrow, or no interim follows */
	int next;	  /* processes at the next interim; 0: stop */
};

/*
 * An interim after that many processes at the intervals of all points. wide: NULL, or space for a
 * flag a point. Returns 0, or -EINVAL where no interim is due after that many, or without points.
 */
int analyse_interim(struct interim *out, int processes, const struct interval *point, int points,
		    double half_width_max, bool *wide) STATS_MUST_CHECK;

/* ---- do two systems differ? --------------------------------------------------------------- */

#define MARGIN_DEFAULT 0.02

/* What the interval of a ratio B / A says of B, beside the margin. */
enum ratio_verdict {
	VERDICT_SAME,	      /* all of it is within 1 - margin to 1 + margin */
	VERDICT_SLOWER,	      /* all of it is above */
	VERDICT_FASTER,	      /* all of it is below */
	VERDICT_INCONCLUSIVE, /* anything else, and not known */
};

extern const char *const verdict_names[]; /* by enum ratio_verdict */

enum ratio_verdict verdict_of(const struct interval *ratio, double margin);

/* Two runs of one system: nearly every difference found is a false one. */
struct same_system {
	int points, known;  /* known: with an interval */
	int slower, faster; /* by more than the margin */
	double share;	    /* (slower + faster) / known; NaN where none is known */
};

struct same_system same_system_of(const struct interval *ratio, int points, double margin);

/* ---- many conclusions --------------------------------------------------------------------- */

/*
 * Adjust m p-values in place, so that each may be held against the level meant for all together;
 * their order stays. Return 0, or -EINVAL for a p outside 0 to 1 or NaN: nothing is changed then.
 *
 *   p_adjust_holm  chance of one wrong rejection or more, however the tests depend on each other
 *                  (Holm, Scand. J. Statist. 6, 1979)
 *   p_adjust_fdr   share of wrong ones among the rejected, for independent or positively dependent
 *                  tests (Benjamini and Hochberg, J. R. Statist. Soc. B 57, 1995)
 */
int p_adjust_holm(double *p, int m) STATS_MUST_CHECK;
int p_adjust_fdr(double *p, int m) STATS_MUST_CHECK;

/* ---- many differences ------------------------------------------------------------------- */

/*
 * Verdicts of many differences between B and A, each from an interval, a margin and two p-values
 * that are corrected for how many there are.
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

#define JUDGE_LEVEL 0.05

struct judged {
	bool known;		    /* there is an interval; else inconclusive, not counted */
	enum ratio_verdict alone;   /* what the interval says by itself */
	double p_slower, p_faster;  /* one-sided, against the margin; judge() adjusts them */
	enum ratio_verdict verdict; /* of judge() */
	bool not_slower; /* all of the interval is below the margin: the same, or faster, or either
			  */
};

/* The judgement where there is no interval. */
struct judged judged_unknown(void);

typedef int adjust(double *p, int m);

/* Judges a ratio B / A by its draws. */
struct judged judged_ratio(const struct interval *ratio, const struct groups *g,
			   const double *draws, double margin);

/*
 * Judges a difference that matters beyond its own margin, by draws of B - A less the margin (over)
 * and of B - A plus the margin (under). Each counts as slower where all of over is above 0.
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
