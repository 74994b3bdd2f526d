/* grid_chart.h - one or two grids of probes drawn: times over the size axis, or by configuration.
 */
#ifndef RIFT_CHART_GRID_CHART_H
#define RIFT_CHART_GRID_CHART_H

#include <jansson.h>

#include "harness/base/picture.h"

enum { GRID_CHART_SIDES = 2 };

/*
 * Writes data and script into the folder, which exists, and draws them. With several sizes: up to
 * four quantities, a panel each, with a line through each group; else a row for each configuration.
 * Of two grids, A and B, both are in each panel or row; they have a configuration in common
 * (grid_refuse_pair()). Returns 0, or a negative errno after one line; picture_release() in any
 * case.
 */
int grid_chart(struct picture *p, json_t *const grid[GRID_CHART_SIDES], int sides,
	       const char *folder);

#endif
