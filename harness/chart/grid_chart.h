/* grid_chart.h - a grid of probes drawn: times over the size axis, or of each configuration. */
#ifndef RIFT_CHART_GRID_CHART_H
#define RIFT_CHART_GRID_CHART_H

#include <jansson.h>

#include "harness/base/picture.h"

/*
 * Writes data and script into the folder, which exists, and draws them. With several sizes: up to
 * four quantities, a panel each, with a line through each group; else a row for each configuration.
 * Returns 0, or a negative errno after one line; picture_release() in any case.
 */
int grid_chart(struct picture *p, const json_t *grid, const char *folder);

#endif
