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
 * To stop where processes happen to agree makes intervals of one side too narrow, the more so the
 * more interims there are. Coverage with interims at 5, 10, 20 and 30 processes, simulated: 94 %
 * where 40 points share half of the process effect (lognormal, 1 to 3 %) or none of it; 88 to 93 %
 * where they share it all, or where there is one point. A lone point may differ by 3 % between
 * processes and yet stop after 5: its interval then covers 73 %. Quote a point that matters from 10
 * processes or more. Intervals of two sides allow for it: harness/stats/contrast.h.
 */
struct interim {
	int points, wide; /* wide: their interval is wider than the limit, or not known */
	bool stop;	  /* 95 % of points are narrow, or no interim follows */
	int next;	  /* processes at the next interim; 0: stop */
};

/*
 * An interim at the intervals of all points. next: processes at the one that follows, 0: none.
 * wide: NULL, or space for a flag a point. Returns 0, or -EINVAL without points.
 */
int analyse_interim(struct interim *out, int next, const struct interval *point, int points,
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
 * Slower takes both: the interval is beyond the margin by itself, as people read it; and the
 * one-sided p-value, adjusted among all that are judged together, is at most the level. Faster
 * likewise. So of each direction the chance of a wrong one (Holm), or the share of wrong ones
 * among those found (false discovery rate), is at most that level. Same and not slower take the
 * interval alone: they claim something of every process that there may be, and a wrong one among
 * many is one that is wrong by itself.
 *
 * Process values are judged in harness/stats/contrast.h, exactly. Parameters of the model have
 * none, only draws: judged_difference().
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

/*
 * Judges a difference that matters beyond its own margin, by draws of B - A less the margin (over)
 * and of B - A plus the margin (under), whose values without draws are over_value and under_value.
 * n processes are behind it. Each counts as slower where all of over is above 0.
 *
 * The draws' own tail ends too early: of 9 pairs of which one is on the wrong side, 0.2 % of the
 * medians drawn are, where the exact test says 2 %. So p is Student's with n - 1 degrees of
 * freedom, of the value over the draws' standard deviation, or the draws' share where that is more.
 * This is no exact test: what is judged so informs and decides nothing.
 */
struct draws_judged {
	const double *over, *under; /* BOOTSTRAP_DRAWS */
	double over_value, under_value;
	int n;
};

struct judged judged_difference(const struct draws_judged *d);

/* The chance of Student's t with so many degrees of freedom, 1 or more, to be above t. */
double student_tail(double t, int freedom);

typedef int adjust(double *p, int m);

/* Corrects them among each other, by p_adjust_holm or p_adjust_fdr, and fills in the verdicts. */
void judge(struct judged *const *all, int n, adjust *correct, double level);

#endif
