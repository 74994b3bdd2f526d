/* validate.h - does the model predict blocks that it has not seen, and real workloads? */
#ifndef RIFT_FIT_VALIDATE_H
#define RIFT_FIT_VALIDATE_H

#include <jansson.h>
#include <stdio.h>

#include "harness/fit/fit.h"
#include "harness/fit/price.h"

/* ---- does the model predict blocks that it has not seen? -------------------------------- */

/*
 * Held out: a checkerboard half of the grid (size and depth, each mode by itself) is predicted from
 * a fit to the other half, and the other way round, so that every point is predicted once. Points
 * that K was measured from count as seen. Off the grid: blocks of another session of the same
 * platform, of sizes and depths between those of the grid.
 *
 * Errors are |predicted / measured - 1| of medians over processes. Accepted where their median is
 * at most 3 % and their 95th percentile at most 10 %.
 */

#define ERROR_MEDIAN_MAX 0.03
#define ERROR_P95_MAX 0.10

struct errors {
	int n;			   /* points; 0: the others are NaN */
	double median, p95, worst; /* shares */
	int worst_point;	   /* number in the grid; -1: none */
};

/* An error, with the regime that the predicting fit puts the block in. */
struct predicted {
	double total_ns; /* NaN: not predicted */
	double error;	 /* predicted / measured - 1; NaN: not predicted, or K was taken from it */
	enum regime regime;
};

struct validation {
	struct predicted *point; /* in the order of the grid's points; owned */
	struct errors all, regime[REGIMES];
	int outside; /* off the grid: blocks beyond the sizes and depths of the fit, left out */
	bool accepted;
};

/* The checkerboard; both halves need points enough, or errors are of no points. */
void validate_grid(struct validation *out, const struct grid *g);

/* Blocks of `other`, from a fit of the same workload elsewhere. */
void validate_off_grid(struct validation *out, const struct fit *f, const struct grid *other);

void validation_release(struct validation *v);

/* ---- does what launches cost predict real workloads? ------------------------------------ */

/*
 * The workload gives the device time of its kernels, what its first step takes beyond the others,
 * and what its calls take the host (price.h): all parameters are those of launches on the same
 * platform. Blocks that gave one of these are no test and left out; blocks beyond the sizes and
 * depths that launches were swept at are counted apart. Errors are |predicted / measured - 1| of
 * medians over processes, and accepted as in validate.h.
 */

struct work_validation {
	const struct grid *work;
	struct errors mode[MODE_COUNT], all; /* within what was swept of launches */
	struct errors outside;
	int seen;    /* blocks that gave the kernel time */
	int unknown; /* without a price: launches were not swept in their mode */
	bool accepted;
	double *error; /* of the n blocks of `all`, for several workloads together; owned */
};

/* launches must live only as long as this call, work as long as *out. */
void validate_work(struct work_validation *out, const struct grid *work,
		   const struct fit *launches);
void work_validation_release(struct work_validation *v);

/* The errors over the blocks of all n workloads together; worst_point is -1. */
struct errors validate_all_work(const struct work_validation *v, int n);

/* ---- the output of `rift predict --validate`
 * ------------------------------------------------------ */

void works_print(const struct work_validation *v, int n, const struct fit *launches, FILE *out);

/* New reference. */
json_t *works_json(const struct work_validation *v, int n, const struct fit *launches);

#endif
