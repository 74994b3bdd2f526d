/* latency.h - what the two panels of a latency chart show, and their data files. */
#ifndef RIFT_CHART_LATENCY_H
#define RIFT_CHART_LATENCY_H

#include "harness/chart/chart.h"

/*
 * The series of the two panels: a mode on a side. Its fitted lines are drawn where they agree with
 * the points beside them (fit_holds()).
 */
struct series {
	int side;
	enum mode mode;
	double depths_off, lengths_off; /* how far a line is off its points; NAN: there is none */
};

struct latency {
	const struct chart_set *set;
	struct series series[CHART_SIDES * MODE_COUNT];
	int n;
	int64_t depth;		   /* of the panel of lengths */
	int smallest[CHART_SIDES]; /* size of the panel of depths, A's smallest; -1: not swept */
	bool depths, lengths;	   /* panels with two places on their axis or more */
	bool ideal;		   /* what is ideal on A is not above what was measured */
};

/* The grid of a series, and its point of this size and depth; NULL: not measured. */
const struct grid *latency_grid(const struct latency *l, int series);
const struct grid_point *latency_point(const struct latency *l, int series, int size,
				       int64_t depth);
/* The same of the smallest size. */
const struct grid_point *latency_smallest(const struct latency *l, int series, int64_t depth);

/* Where a size is on the axis of lengths; 0: nowhere, as the axis is logarithmic. */
double latency_place(const struct grid *g, int size);

/* The first size that is on it. */
int latency_first(const struct grid *g);

/*
 * Files of points, and of the fitted lines that are drawn, opened as the plot's variables depths,
 * depth_lines, lengths and length_lines. Returns 0 or a negative errno after one line.
 */
int latency_write(const struct latency *l, struct plot *p);

#endif
