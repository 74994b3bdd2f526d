/* atlas_chart.h - an atlas drawn: a panel for each figure, a row for each layer. */
#ifndef RIFT_CHART_ATLAS_CHART_H
#define RIFT_CHART_ATLAS_CHART_H

#include "harness/compare/atlas.h"
#include "harness/base/picture.h"

/*
 * A picture of each workload, one of copies, memory and cold starts, and where there are several
 * workloads first one of how much longer each takes under each layer.
 */
struct atlas_charts {
	struct picture *picture; /* their plot.name is owned */
	int n;
	const char *folder; /* the caller's */
};

/*
 * Writes data and scripts of all into the folder, which exists.
 * Returns 0 or a negative errno after one line. To be released after a failure too.
 */
int atlas_charts_write(struct atlas_charts *c, const struct atlas *a, const char *folder);

/* Draws them. Returns 0 or what picture_draw() does for the first that fails. */
int atlas_charts_draw(struct atlas_charts *c);

/* Which files there are; what gnuplot had to say. */
void atlas_charts_print(const struct atlas_charts *c, FILE *out);
void atlas_charts_remark(const struct atlas_charts *c, FILE *out);

void atlas_charts_release(struct atlas_charts *c);

#endif
