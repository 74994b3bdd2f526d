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
 * step are alike, and the host does as much on B as on A.
 *
 * What launches do not know of a workload, its own blocks say:
 *
 *   the first step   the shallowest graph block of a size, less the model's: a first step may do
 *                    less than later ones, or wait for less. It is in stream blocks as well
 *   library calls    the calls of the shallowest stream block, where they take the host more than a
 *                    quarter longer than launches do, and longer than the kernels last. On B they
 *                    take as many times as much longer as products by cuBLAS do there (library.h).
 *                    Where these were not measured, as much longer, and where somebody else
 *                    submits on B, they take that one longer, too
 *   copies           what a step copies, by what copies cost on both platforms (copies.h). They
 *                    take turns with launches: on the host, and on the device. What the device
 *                    takes longer is known of graphs and of streams where copies in turn with
 *                    kernels were measured, and so are the ends of blocks that wait for the
 *                    device. Else it is of streams alone, and taken to be as much in graphs
 *
 * A fused block is priced as Zf of B and the slope of A's own fused blocks: what a unit takes is
 * the workload's.
 *
 * Where a fit of A's launches is given too, a price can start from what was measured: the block on
 * A, plus what the model has for B, less what it has for A. What the model does not know of the
 * workload is in the measurement, and so in the price. Kernels of stream blocks that wait for the
 * device are then as long as the pace of the deepest two says.
 */
#ifndef RIFT_FIT_PRICE_H
#define RIFT_FIT_PRICE_H

#include <jansson.h>
#include <stdio.h>

#include "harness/fit/copies.h"
#include "harness/fit/fit.h"

struct price_request {
	const struct grid *work; /* of the workload, on A */
	const struct fit *b;	 /* of B */
	const struct fit *a;	 /* of A, for its gap; NULL: stays in, and a nominal K is B's */
	bool from_measured;	 /* with a, of launches: A's blocks as measured, and what B adds */
	/* What copies cost on both; NULL: they are not priced. */
	const struct copy_paces *copies_a, *copies_b;
	const double *library; /* of library_ratio(); NULL: not measured */
	/* The same workload on B, to hold prices against; work: A is B; NULL: none. */
	const struct grid *measured;
};

struct priced {
	int point;    /* number in work's grid */
	bool known;   /* false: B's fit lacks the mode, or A's blocks do not say the price */
	bool covered; /* within the sizes and depths that B's fit has seen */
	bool seen;    /* the block gave the kernel time that it is priced with */
	struct interval total_ns; /* on B; the interval is that of B's parameters */
	double copies_ns;	  /* how much of it is what copies cost more on B; less: below 0 */
	bool in_turn;		  /* copies were measured in turn with kernels */
	bool doubtful;		  /* that is more than COPIES_DOUBTFUL of it, by copies alone */
	double a_ns, b_ns;	  /* measured on A, and on B: NaN: not measured */
	bool b_failed;		  /* some process of B has no good result of it */
};

/* |price / measured - 1| where both are known; where work is held against itself without the blocks
 * that were seen. */
struct price_errors {
	int n;
	double median, p95, worst;
};

struct prices {
	struct priced *priced; /* in the order of work's points; owned */
	int n, n_known, n_doubtful;
	struct price_errors all, sure; /* sure: without those that are doubtful */
};

/* What a step has beside launches of equal kernels, ns: each but the last of a launch. */
struct work_extra {
	double call_ns;	  /* of the host: what a library does there */
	double submit_ns; /* of the submission's pace: copies */
	double copies;	  /* how many these are; a number, not ns */
	double device_ns; /* of the device: copies on B, beyond those on A */
	double first_ns;  /* of a block: the device time of its first step, beyond the others'; on B
			   * with what copies at its ends add */
	bool call_is_all; /* call_ns was measured there: it is not divided among who submits */
	double least_ns;  /* of a launch of the workload on A: then B submits no faster than that */
	bool no_call;	  /* c is not known on that platform: it is taken to be p */
	bool in_turn;	  /* device_ns is by copies in turn with kernels */
};

/* What one block of work's is priced with. */
struct price_job {
	struct model model;   /* B's, for this kernel; with on_b: price_total_b() */
	struct batch batch;   /* this block; fused: Zf and fused_ns for every launch */
	bool measured_kernel; /* K is device time: B's clock factor and e are not for it */
	double fused_ns;      /* of a unit, on A */
	bool known;
	struct work_extra on_a, on_b; /* nothing without a fit of A */
};

/*
 * A launch call of the workload may take the host longer than one of `launch`: a library computes
 * before it launches. Processes' own launch calls differ by up to a quarter on one host
 * (docs/results/h200.md), so less than this share of c says nothing.
 */
#define PRICE_CALL_SHARE 0.25

struct price_job price_job_of(const struct price_request *r, int point);

/* Did this block give what it is priced with? Then it is no test of the price. */
bool price_seen(const struct price_request *r, const struct price_job *job, int point);

/*
 * Its time by a model of A, of B, with what the workload has beside launches. By the closed form:
 * for equal kernels it is what the recursion gives, and 5000 draws take no time.
 */
double price_total_a(const struct model *m, const void *job);
double price_total_b(const struct model *m, const void *job);

double price_recursion(const struct model *m, const struct price_job *job, bool on_b);

void price_make(struct prices *out, const struct price_request *r);
void prices_release(struct prices *p);

/* ---- the output of `rift predict` ------------------------------------------------------- */

void prices_print(const struct prices *p, const struct price_request *r, FILE *out);

/* New reference. */
json_t *prices_json(const struct prices *p, const struct price_request *r);

#endif
