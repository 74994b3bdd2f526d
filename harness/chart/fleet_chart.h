/* fleet_chart.h - a fleet drawn. */
#ifndef RIFT_CHART_FLEET_CHART_H
#define RIFT_CHART_FLEET_CHART_H

#include "harness/base/picture.h"
#include "harness/compare/fleet.h"

enum { FLEET_CHART_NAMES = 12 }; /* of nodes, at most */

/* Writes data and values; show_picture() draws them. 0, or a negative errno after one line. */
int fleet_chart_write(struct picture *picture, const struct fleet *f, const char *folder);

#endif
