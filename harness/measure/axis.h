/*
 * axis.h - the values that a sweep gives to one parameter.
 *
 *   1,32,1k       values
 *   1k:64k:x2     from 1k to at most 64k, each twice the one before
 *   10:50:+10     from 10 to at most 50, each 10 more
 *   1,4:64:x4     both
 *   a,10/a,10,10  a parameter that is a list itself: lists with '/' between them
 *
 * A path is always one value.
 */
#ifndef RIFT_MEASURE_AXIS_H
#define RIFT_MEASURE_AXIS_H

#include "harness/base/param.h"

enum { AXIS_VALUES_MAX = 256 };

struct axis {
	const struct param *row;
	int n;
	union param_value *value; /* owned, and so are paths */
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

#endif
