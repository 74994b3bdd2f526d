/*
 * derive.h - what a fit says to somebody who has to choose a kernel size, a depth or a mode.
 *
 * Nothing is answered outside the sizes and depths that were swept: a bound is given instead.
 */
#ifndef RIFT_MODEL_DERIVE_H
#define RIFT_MODEL_DERIVE_H

#include "harness/model/fit.h"

enum answer_kind {
	ANSWER_VALUE,	/* interval holds it */
	ANSWER_BELOW,	/* smaller than all that was swept: interval.value is the bound */
	ANSWER_ABOVE,	/* larger than all that was swept: the same */
	ANSWER_NEVER,	/* no depth is enough: enlarge or fuse */
	ANSWER_UNKNOWN, /* the mode was not swept, or a parameter that it takes is not identified */
};

struct answer {
	enum answer_kind kind;
	struct interval interval;
};

enum { OVERHEADS = 4 };
extern const double overheads[OVERHEADS]; /* 0.01, 0.05, 0.10, 0.25 */

/* Smallest K, ns, from which on T is at most (1 + share) N k K, in blocks of this depth. */
struct answer smallest_kernel_over_ideal(const struct fit *f, enum mode mode, double depth,
					 double share);

/* The same against T on another platform, of equal nominal K. */
struct answer smallest_kernel_over(const struct fit *b, const struct fit *a, enum mode mode,
				   double depth, double share);

/* Smallest depth from which on T is at most (1 + share) N k K, at this K. */
struct answer depth_needed(const struct fit *f, enum mode mode, double kernel_ns, double share);

/* T of mode over T of another at this K and depth: above 1, the other pays. */
struct answer mode_gain(const struct fit *f, enum mode mode, enum mode other, double kernel_ns,
			double depth);

/* Largest K, ns, at which the other mode is faster than mode by this share or more. */
struct answer largest_kernel_gain(const struct fit *f, enum mode mode, enum mode other,
				  double depth, double share);

#endif
