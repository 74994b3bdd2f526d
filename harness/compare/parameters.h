/*
 * parameters.h - the model's parameters (harness/model/model.h) of two parties: what a launch, a
 * gap, a synchronize cost on each, and by how much more on B.
 *
 * A parameter differs where B - A is beyond the margin's share of A and beyond FLOOR_NS.
 */
#ifndef RIFT_COMPARE_PARAMETERS_H
#define RIFT_COMPARE_PARAMETERS_H

#include "harness/compare/judge.h"
#include "harness/compare/pair.h"

struct compared_parameter {
	const struct workload *workload;
	const char *name, *symbol, *unit, *what; /* of the model's row */
	bool is_ns;
	bool decides;	       /* counts for the exit code where it is identified on both sides */
	struct interval of[2]; /* not known: n too small; NaN: not identified */
	char why[2][120];      /* not identified: why */
	struct interval difference, ratio; /* B - A, B / A; only where both are identified */
	struct judged judged;
};

/* Of a workload: is there a model? */
struct modelled {
	const struct workload *workload;
	char why_not[120]; /* "" where there is */
};

struct parameters {
	struct compared_parameter *row; /* workload by workload */
	int n;
	struct modelled *modelled; /* pairs.n_workloads */
};

/* factor: NULL, or what the draws of B are off by (between.h). */
void parameters_compare(struct parameters *out, const struct party *const party[2],
			const struct pairs *pairs, const struct groups *groups,
			const double *factor, double margin);
void parameters_release(struct parameters *p);

#endif
