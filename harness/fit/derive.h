/*
 * derive.h - what a fit says to somebody who has to choose a kernel size, a depth or a mode.
 *
 * Nothing is answered outside the sizes and depths that were swept (fit_covers()): a bound is given
 * instead. Nor is it from a fit that is off the blocks of this depth or size (fit_holds()). Where
 * what is not identified would move an answer, or its interval is wider than the answer is large, a
 * bound is all that is known, if anything is. Depths are of steps with `launches` launches each, as
 * in the grid; K is nominal where the axis is a duration. Intervals are those of the draws, cut at
 * the same bounds, and say so.
 */
#ifndef RIFT_FIT_DERIVE_H
#define RIFT_FIT_DERIVE_H

#include "harness/fit/fit.h"

enum answer_kind {
	ANSWER_VALUE,	/* interval holds it */
	ANSWER_BELOW,	/* it is interval.value at most: all that was swept will do, or a bound */
	ANSWER_ABOVE,	/* nothing that was swept will do: interval.value is its largest */
	ANSWER_LEAST,	/* it is interval.value at least */
	ANSWER_NEVER,	/* no depth is enough: enlarge or fuse */
	ANSWER_UNKNOWN, /* the mode was not swept, or not at this size or depth */
	ANSWER_REFUSED, /* the blocks leave it open, or the fit is off them */
};

struct answer {
	enum answer_kind kind;
	struct interval interval;
	bool cut; /* the interval ends at a bound of what was swept: it may be wider */
};

/* One of the kinds without an interval, and the bound that it stands for. */
struct answer answer_bound(const struct fit *f, enum answer_kind kind, double value);

enum { OVERHEADS = 4 };
extern const double overheads[OVERHEADS]; /* 0.01, 0.05, 0.10, 0.25 */

/*
 * Smallest K, ns, from which on T is at most (1 + share) N k K, in blocks of this depth: with all
 * submission hidden, (Z - g + N g) / (share N), which falls towards g / share with depth.
 */
struct answer smallest_kernel_over_ideal(const struct fit *f, enum mode mode, double depth,
					 double share);

/* The same with T on platform a in place of the ideal. */
struct answer smallest_kernel_over(const struct fit *b, const struct fit *a, enum mode mode,
				   double depth, double share);

/* Smallest depth from which on T is at most (1 + share) N k K, at this K; graphs: power of two. */
struct answer depth_needed(const struct fit *f, enum mode mode, double kernel_ns, double share);

/* T of mode over T of another at this K and depth: above 1, the other pays. */
struct answer mode_gain(const struct fit *f, enum mode mode, enum mode other, double kernel_ns,
			double depth);

/*
 * Largest K, ns, at which the other mode is faster than mode by this share or more, at this depth.
 * ANSWER_BELOW: at no K that was swept; ANSWER_ABOVE: at all.
 */
struct answer largest_kernel_gain(const struct fit *f, enum mode mode, enum mode other,
				  double depth, double share);

/* Launches of a step in this grid; where sizes differ, of the first. */
double launches_of_step(const struct fit *f);

#endif
