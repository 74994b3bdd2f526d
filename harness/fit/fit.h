/*
 * fit.h - the model's parameters from the grid of one side, and how well they are known.
 *
 * Method. c is the slope of t_enq over launches, up to half a queue, at the smallest kernels; a and
 * b the line of t_enq over the nodes of a graph. Z, p and g minimise the Huber loss of the
 * relative residuals of t_total (knee 5 %: beyond it a residual counts by its size, no longer by
 * its square), by NLopt, from several starts; so do Zg, gn, G, k and e in graphs, and Zf, phi and
 * bf. Stream points within 15 % of the corner p = K + g only bound these two from above, as noise
 * alone makes them slower than the closed form.
 *
 * Intervals. The fit is repeated on the medians of BOOTSTRAP_DRAWS resamples of the processes, the
 * draws of harness/stats/bootstrap.h; the interval of a parameter, or of anything computed from
 * several, is that of its draws. Draws of one fit belong together: draw d of p and draw d of g are
 * one fit. Two fits that are compared need different groups.
 *
 * Identified. A parameter is a number only where the data hold it: the loss must rise, by what a 95
 * % profile interval asks for, when it is half or one and a half times as large and the others are
 * free to follow (values near 0: a tenth of Z up). And each needs points that it governs: p two
 * launch-bound ones, g two device-bound ones, W blocks that are slowed by a full queue, G several
 * launches of a graph. What is not identified is known by how large it may be, where blocks bound
 * it; what follows from a fit says no more of it (derive.h, stack.h).
 *
 * Held to its blocks. A fit may describe most of them and not some. What it says of blocks that it
 * is off is no finding: fit_holds().
 */
#ifndef RIFT_FIT_FIT_H
#define RIFT_FIT_FIT_H

#include "harness/fit/grid.h"
#include "harness/stats/bootstrap.h"

struct fit_param {
	bool identified;
	/* Where identified: value from all processes, interval known from 5 processes on.
	 * Else value is NaN. */
	struct interval interval;
	double *draws; /* BOOTSTRAP_DRAWS values; NULL where not identified */
	double most;   /* not identified: how large blocks let it be; INFINITY: nothing bounds it;
			  NaN: identified, or there are no such blocks */
	char why[120]; /* not identified: why, and what is known; "" where it is */
};

struct fit {
	const struct grid *grid; /* must outlive the fit */
	struct model model;	 /* of all processes; every value is a number */
	struct model most;	 /* the same, with what is not identified as large as it may be */
	struct fit_param param[MODEL_PARAMS];
	struct model *draw;   /* BOOTSTRAP_DRAWS: every value is a number; owned */
	int *first;	      /* of each draw: the first that took the same processes; owned */
	int n;		      /* processes */
	int used, corner;     /* stream, graph and fused points in the fit; bounds, as corner */
	bool has[MODE_COUNT]; /* modes with enough points; others predict NaN */
	double residual;      /* median of |measured / model - 1| over the points that were used */
};

/*
 * group: 0, or 1 for the second of two fits that are compared. Returns 0, or -EINVAL after one line
 * (no mode with 3 points or more at 2 depths). *out may be released after a failure too.
 */
int fit_make(struct fit *out, const struct grid *grid, uint32_t group);

/* The same without intervals and draws, which take nearly all of the time: for who needs values. */
int fit_make_values(struct fit *out, const struct grid *grid);
void fit_release(struct fit *f);

/* Anything computed from a model: NaN where it does not exist. */
typedef double fit_function(const struct model *m, const void *arg);

/*
 * Its value and interval over the draws. Not known where some draw has no value; draws, unless
 * NULL, is a buffer of BOOTSTRAP_DRAWS and gets what each gave.
 */
struct interval fit_interval(const struct fit *f, fit_function *of, const void *arg, double *draws);

/* T of a block, with its interval. */
struct interval fit_total_ns(const struct fit *f, const struct batch *b);

/*
 * Is this block within what was swept in its mode? Not below the smallest size and depth, and some
 * block had both a kernel as large and a depth as large or more: the largest sizes are not swept at
 * all depths.
 */
bool fit_covers(const struct fit *f, const struct batch *b);

/*
 * What a fit says of blocks that were measured is no finding where it is further off, as a share:
 * no line is drawn through them, no part of them is shown, and no answer is given.
 */
#define FIT_ERROR_MAX 0.10

/*
 * How far the model is off the blocks of a mode at most: of those of this kernel size and depth, or
 * next to it where it was not swept; NAN: of all. NaN where there are none.
 */
double fit_error(const struct fit *f, enum mode mode, double kernel_ns, double depth);

/* Does it agree with all of them, and are there any? */
bool fit_holds(const struct fit *f, enum mode mode, double kernel_ns, double depth);

#endif
