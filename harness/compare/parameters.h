/*
 * parameters.h - the model's parameters (harness/measure/model.h) of two sides: what a launch, a
 * gap, a synchronize cost on each, and by how much more on B.
 *
 * A parameter differs where B - A is beyond the margin's share of A, and beyond
 * PARAMETER_FLOOR_NS: of a gap of 30 ns, 2 % are less than a clock can tell.
 *
 * Parameters inform and decide nothing: they come from a fit, whose intervals are not exact (they
 * hold what is true in 93 to 97 % of simulated sessions, docs/validation.md), and each that counted
 * would take more processes for a verdict.
 */
#ifndef RIFT_COMPARE_PARAMETERS_H
#define RIFT_COMPARE_PARAMETERS_H

#include "harness/compare/side.h"
#include "harness/fit/fit.h"
#include "harness/stats/decide.h"

#define PARAMETER_FLOOR_NS 20.0

struct compared_parameter {
	const struct workload *workload;
	const struct model_param_row *row;
	bool is_ns;
	bool identified;		   /* on both sides */
	struct interval of[2];		   /* value NaN: not identified */
	char why[2][120];		   /* not identified: why; "" where it is */
	struct interval difference, ratio; /* B - A, B / A; not known unless identified */
	struct judged judged;		   /* known only where identified */
};

/* Is there a model of the workload? */
struct modelled {
	const struct workload *workload;
	bool is;
	char why_not[160];
	double residual[2]; /* median of |measured / model - 1| on A and B */
};

struct parameters {
	struct compared_parameter *row; /* workload by workload, those of swept modes */
	int n;
	struct modelled *modelled; /* pairs.n_workloads */
};

struct parameter_terms {
	const double *factor; /* what the draws of B are off by (session_factors()); NULL */
	double margin;	      /* a share of 1 */
};

void parameters_compare(struct parameters *out, const struct compared_side *const side[2],
			const struct pairs *pairs, const struct parameter_terms *terms);
void parameters_release(struct parameters *p);

#endif
