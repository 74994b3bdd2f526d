/* depth_needed.h - how deep blocks must be: what was measured, and what a chart says of it. */
#ifndef RIFT_CHART_DEPTH_NEEDED_H
#define RIFT_CHART_DEPTH_NEEDED_H

#include "harness/chart/chart.h"

/*
 * What the measured depths of a size say: the smallest from which on overhead is small, between
 * two of them on a straight line between logarithms; enough: it is at most this; !enough: even the
 * deepest, this one, is not.
 */
struct needed {
	double depth; /* 0: nothing was measured */
	bool enough;
};

struct needed needed_measured(const struct chart_set *s, int side, enum mode mode, int size);

/* The mode that is spoken of: the first that A was swept in. */
enum mode needed_mode(const struct chart_set *s);

/*
 * The two texts "title" and "finding" of the plot, and its small print. floor_ns: the longest
 * kernels of each side and mode for which no depth is enough, by the fit; 0: none.
 */
void needed_label_title(const struct chart_set *s, struct plot *p);
void needed_label_finding(const struct chart_set *s, struct plot *p,
			  double floor_ns[CHART_SIDES][MODE_COUNT]);

#endif
