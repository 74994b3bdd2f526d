/*
 * request.h - what the user asked for, read once: texts of a command line become the axes of each
 * workload's grid. points.h makes points of them.
 */
#ifndef RIFT_MEASURE_REQUEST_H
#define RIFT_MEASURE_REQUEST_H

#include "harness/measure/axis.h"
#include "harness/measure/plan.h"

/* What is swept of one workload. */
struct axes {
	const struct workload *workload;
	struct axis values[PARAM_ROWS_MAX]; /* of each row; n = 0: the default */
	struct axis depths, modes;
	bool size_given, depth_given;	   /* by the user */
	struct axis aside[PARAM_ROWS_MAX]; /* of each row: taken too, at the centre of all others */
};

/*
 * Is each text about a parameter of a workload of the request? Returns 0, or -EINVAL after one
 * line. request_read() takes the texts for granted then.
 */
int request_check(const struct plan_request *r);

/* The axes of one of its workloads; 0 or -EINVAL after one line. To be released after either. */
int request_read(struct axes *out, const struct plan_request *r, const struct workload *w);

void axes_release(struct axes *a);

#endif
