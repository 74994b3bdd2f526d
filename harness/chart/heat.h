/* heat.h - a heat map before it is written: its cells, and what it shows in a sentence. */
#ifndef RIFT_CHART_HEAT_H
#define RIFT_CHART_HEAT_H

#include "harness/chart/chart.h"
#include "harness/stats/decide.h"

struct heat {
	const struct chart_set *set;
	int side;      /* whose sizes and depths, and whose overhead */
	bool ratio;    /* B over A, else T over ideal */
	double margin; /* within which the ratio is even */
	int panels;
	enum mode mode[MODE_COUNT]; /* of each panel */
	int first;		    /* size of row 0: empty kernels have no ideal */
	int rows, columns;	    /* sizes and depths */
	struct interval *cell;	    /* the ratio; n = 0: not measured */
	struct judged
		*judged; /* B over A: of each cell, as rift compare judges points; else NULL */
};

static inline const struct interval *heat_cell(const struct heat *h, int panel, int row, int column)
{
	return &h->cell[(panel * h->rows + row) * h->columns + column];
}

/*
 * Not shown to be more or less than even by more than the margin. Without an interval: false.
 * Among all points B over A, by itself over ideal.
 */
bool heat_is_even(const struct heat *h, const struct interval *cell);

/* B over A: slower or faster among all points, as rift compare says. */
bool heat_differs(const struct heat *h, const struct interval *cell);

/* The two texts "title" and "finding" of the plot. */
void heat_label_overhead(const struct heat *h, struct plot *p);
/*
 * "under 1 % at depth 1: stream from 720 µs (samples=12), graph nowhere": from which kernels on, at
 * the smallest depth; "": it was not measured.
 */
void heat_unseen(const struct heat *h, char *out, size_t size);
void heat_label_ratio(const struct heat *h, struct plot *p);

#endif
