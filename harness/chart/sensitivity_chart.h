/* sensitivity_chart.h - a sensitivity drawn: a line a cost, a panel a unit. */
#ifndef RIFT_CHART_SENSITIVITY_CHART_H
#define RIFT_CHART_SENSITIVITY_CHART_H

#include "harness/base/picture.h"
#include "harness/probe/sensitivity.h"

/*
 * Writes data and script into the folder, which exists. Returns 0 or a negative errno after one
 * line. To be released after a failure too.
 */
int sensitivity_chart_write(struct picture *p, const struct sensitivity *s, const char *folder);
void sensitivity_chart_release(struct picture *p);

#endif
