/* charts.h - all charts of one or two platforms: which there are, written, drawn, and where. */
#ifndef RIFT_CHART_CHARTS_H
#define RIFT_CHART_CHARTS_H

#include "harness/base/picture.h"
#include "harness/chart/chart.h"

/* ---- all charts of one or two platforms: which there are, written, and drawn ------------ */

struct charts {
	struct chart_set *set; /* one of each workload */
	int sets;
	struct chart_pair pair;	 /* of two sides */
	struct picture *picture; /* their plot.name is owned */
	int pictures;
};

/*
 * The workloads that all sides have, in the order of the first side's plan. Returns 0, -EXDEV after
 * one line where two sides have no point in common, or another negative errno after one line.
 * *c may be released after a failure too. The sides must live as long.
 */
int charts_init(struct charts *c, const struct chart_side *side, int sides);

/*
 * Writes data files and scripts of every chart into the folder, which exists. Returns 0 or a
 * negative errno after one line.
 */
int charts_write(struct charts *c, const char *folder);

/* Draws them. Returns 0 or what picture_draw() does for the first that fails. */
int charts_draw(struct charts *c);

void charts_release(struct charts *c);

/* ---- where the files of `rift plot` go -------------------------------------------------- */

/*
 * output, or, where that is NULL, beside the first of n sessions, of rift's own ones in the
 * folder results/, and named after both, and after the side of each where it is not SIDE_ANY.
 * Without slashes at its end; freed by the caller.
 */
char *plot_folder(const char *const *session, const int *side, int n, const char *output);

#endif
