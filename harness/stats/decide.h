/*
 * decide.h - what is concluded from intervals: whether enough processes ran, whether two systems
 * differ, and how many wrong conclusions to expect among many.
 *
 * Shares and limits are shares of 1. An interval that is not known decides nothing.
 */
#ifndef RIFT_STATS_DECIDE_H
#define RIFT_STATS_DECIDE_H

#include <stdbool.h>

#include "harness/stats/bootstrap.h"

/* ---- enough processes? -------------------------------------------------------------------- */

#define HALF_WIDTH_MAX 0.02	  /* interval_half_width() of a point that is narrow enough */
#define HALF_WIDTH_MAX_QUICK 0.05 /* in a quick sweep */

/*
 * The number of processes after which to look next, given those that ended: 5, 10, 20 or 30; 0
 * after 30. To stop where processes happen to agree makes intervals too narrow, the more so the
 * more looks there are. Coverage with these four looks, simulated: 94 % where 40 points share half
 * of the process effect (lognormal, 1 to 3 %) or none of it; 88 to 93 % where they share it all, or
 * where there is one point. Of such lone points that differ by 3 % between processes and yet stop
 * after 5, the interval covers 73 %: quote a point that matters from 10 processes or more.
 */
int next_look(int processes);

struct look {
	int points, wide; /* wide: their interval is wider than the limit, or not known */
	bool stop;	  /* 95 % of points are narrow, or no look follows */
	int next;	  /* processes at the next look; 0: stop */
};

/*
 * A look after that many processes at the intervals of all points. wide: NULL, or room for a flag
 * a point. Returns 0, or -EINVAL where no look is due after that many, or without points.
 */
int look_at(struct look *out, int processes, const struct interval *point, int points,
	    double half_width_max, bool *wide) STATS_MUST_CHECK;

/* ---- do two systems differ? --------------------------------------------------------------- */

#define MARGIN_DEFAULT 0.02

/* What the interval of a ratio B / A says of B, beside the margin. */
enum ratio_verdict {
	VERDICT_SAME,	/* all of it is within 1 - margin to 1 + margin */
	VERDICT_SLOWER, /* all of it is above */
	VERDICT_FASTER, /* all of it is below */
	VERDICT_OPEN,	/* anything else, and not known */
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

#endif
