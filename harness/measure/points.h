/* points.h - the points of one workload's grid: every configuration x mode x depth. */
#ifndef RIFT_MEASURE_POINTS_H
#define RIFT_MEASURE_POINTS_H

#include "harness/measure/request.h"

/* Adds those that the workload allows; 0 or a negative errno after one line, also where it allows
 * none. */
int points_add(struct plan *p, const struct axes *a);

#endif
