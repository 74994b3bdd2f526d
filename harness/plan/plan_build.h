/* plan_build.h - what plan.c, plan_build.c and plan_request.c share. */
#ifndef RIFT_SWEEP_PLAN_BUILD_H
#define RIFT_SWEEP_PLAN_BUILD_H

#include "harness/plan/request.h"
#include "harness/plan/plan.h"

/* What is being built for one workload. */
struct builder {
	struct plan *plan;
	const struct plan_request *request;
	const struct workload *workload;
	struct axis values[PARAM_ROWS_MAX]; /* of each row; none: the default */
	struct axis depths, modes;
	bool size_given;
	int at[PARAM_ROWS_MAX]; /* the odometer: which value of each row */
};

/* How --depth and --mode are read. */
extern const struct param plan_depth_row, plan_mode_row;

/* Adds the points of one workload; 0 or a negative errno after one line. */
int plan_add_workload(struct plan *p, const struct plan_request *r, const struct workload *w);

/*
 * Fills in the values of a builder from its request, sizes by the row size_row. around: NULL, or
 * a name=values that takes the place of the parameter's values, at the centre of sizes and depths.
 */
int plan_take_request(struct builder *b, int size_row, const char *around);

/*
 * Of "name=values" or "stereo.name=values", given on the command line, what this workload is to
 * read: "name=values"; NULL: it is for another one.
 */
const char *plan_own(const struct workload *w, const char *text);

#endif
