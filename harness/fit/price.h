/*
 * price.h - what a workload that was measured on platform A would cost on platform B.
 *
 * The workload gives its launches per step and the device time of a launch; B's fit gives the rest.
 * The device time is the slope of a block's time over launches in the largest graphs on A, less A's
 * gap between nodes. The gap is from a fit of A. Where the axis is a duration, that fit may be of
 * the workload itself; elsewhere it must be of another one. Without a fit the gap stays in. Where a
 * size was swept at one depth, the device time is that block less A's ends and gaps. Each block of
 * A is then run through the recursion with B's parameters.
 *
 * Assumed: kernels take as long on B as on A (the same GPU model and clocks), all launches of a
 * step are alike, and the host does nothing else.
 *
 * A fused block is priced as Zf of B and the slope of A's own fused blocks: what a unit takes is
 * the workload's.
 *
 * Where a fit of A's launches is given too, a price can start from what was measured: the block on
 * A, plus what the model has for B, less what it has for A. What the model does not know of the
 * workload is in the measurement, and so in the price.
 */
#ifndef RIFT_FIT_PRICE_H
#define RIFT_FIT_PRICE_H

#include <jansson.h>
#include <stdio.h>

#include "harness/fit/fit.h"

struct price_request {
	const struct grid *work; /* of the workload, on A */
	const struct fit *b;	 /* of B */
	const struct fit *a;	 /* of A, for its gap; NULL: stays in, and a nominal K is B's */
	bool from_measured;	 /* with a, of launches: A's blocks as measured, and what B adds */
	/* The same workload on B, to hold prices against; work: A is B; NULL: none. */
	const struct grid *measured;
};

struct priced {
	int point;    /* number in work's grid */
	bool known;   /* false: B's fit lacks the mode, or A's blocks do not say the price */
	bool covered; /* within the sizes and depths that B's fit has seen */
	bool seen;    /* the block gave the kernel time that it is priced with */
	struct interval total_ns; /* on B; the interval is that of B's parameters */
	double a_ns, b_ns;	  /* measured on A, and on B: NaN: not measured */
};

struct prices {
	struct priced *priced; /* in the order of work's points; owned */
	int n, n_known;
	/* |price / measured - 1| where both are known; where work is held against itself without
	 * the blocks that were seen. */
	int compared;
	double median, p95, worst;
};

/* What one block of work's is priced with. */
struct price_job {
	struct model model;   /* B's, for this kernel: its total is model_total_ns() ... */
	struct batch batch;   /* ... of this block; fused: Zf and fused_ns for every launch */
	bool measured_kernel; /* K is device time: B's clock factor and e are not for it */
	double fused_ns;      /* of a unit, on A */
	bool known;
};

struct price_job price_job_of(const struct price_request *r, int point);

void price_make(struct prices *out, const struct price_request *r);
void prices_release(struct prices *p);

/* ---- the output of `rift predict` ------------------------------------------------------- */

void prices_print(const struct prices *p, const struct price_request *r, FILE *out);

/* New reference. */
json_t *prices_json(const struct prices *p, const struct price_request *r);

#endif
