/* check.h - what the parts of the myocyte's check share. */
#ifndef RIFT_MYOCYTE_CHECK_H
#define RIFT_MYOCYTE_CHECK_H

#include "workloads/myocyte/myocyte.h"
#include "workloads/myocyte/reference.h"

struct comparison {
	const struct myocyte_opts *opts;
	const struct myocyte_state *state;
	int64_t steps;
	struct verdict *verdict;
};

/* What a state may be off: a share of its size, V the same share of so many mV. */
struct allowance {
	double share, V_mV;
};

/* For a cell at t, where the reference's potential is V. */
struct allowance myocyte_allowance(const struct comparison *c, double t, double V);

/* How far off the worst state is: `error` in units of what it may be. */
struct difference {
	double error, off;
	int state; /* -1: the cell did not go on */
};

/* The largest error of y against the reference; a state's size is |reference| + |initial value|. */
struct difference myocyte_worst_state(const struct comparison *c, const struct allowance *may,
				      const double y[], const double reference[]);

/* A cell of solver=rodinia, at row t. */
struct difference myocyte_compare_rows(const struct comparison *c, const struct myocyte_model *m,
				       const struct myocyte_cell *cell);

#endif
