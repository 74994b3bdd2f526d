/* request.h - what the user asked for, as the points of a plan. */
#ifndef RIFT_PLAN_REQUEST_H
#define RIFT_PLAN_REQUEST_H

#include "harness/plan/plan.h"

/* ---- values of one parameter ------------------------------------------------------------ */

/*
 * The values that a sweep gives to one parameter.
 *
 *   1,32,1k       values
 *   1k:64k:x2     from 1k to at most 64k, each twice the one before
 *   10:50:+10     from 10 to at most 50, each 10 more
 *   1,4:64:x4     both
 *   a,10/a,10,10  a parameter that is a list itself: lists with '/' between them
 *
 * A path is always one value.
 */

enum { AXIS_VALUES_MAX = 256 };

struct axis {
	int n;
	char **value; /* each as param_format() writes it; owned */
};

/*
 * Every value is parsed as the row says. Returns 0, or -EINVAL after one line that begins with
 * label: a value that is refused, a range without end, one value twice, more than AXIS_VALUES_MAX.
 * *out may be released after a failure too.
 */
int axis_parse(struct axis *out, const struct param *row, const char *label, const char *text);

/* At most n of the values, evenly spread, the first and the last among them. */
void axis_thin(struct axis *a, int n);

void axis_release(struct axis *a);

/* ---- points ----------------------------------------------------------------------------- */

/* Adds the points of one workload; 0 or a negative errno after one line. */
int plan_add_workload(struct plan *p, const struct plan_request *r, const struct workload *w);

#endif
