/*
 * contour.h - lines of one value through a grid of measured values.
 *
 * Marching squares: where two neighbours have the value between them, the line crosses the edge
 * between them at the place that a straight line from one to the other gives; inside a square the
 * crossings are joined. (gnuplot draws contours of surfaces only, and jagged ones on coarse grids.)
 */
#ifndef RIFT_CHART_CONTOUR_H
#define RIFT_CHART_CONTOUR_H

struct contour_grid {
	int columns, rows;
	const double *z; /* z[row * columns + column]; NaN: not known */
};

/*
 * Follows every line of this level: calls each() for its points in order, in columns and rows of
 * the grid; lines are numbered from 0, and a closed one ends where it began. A square with a
 * corner that is not known has no line. What is even with the level counts as above it.
 *
 * Returns how many lines there are.
 */
int contour_trace(const struct contour_grid *g, double level,
		  void (*each)(void *arg, int line, double column, double row), void *arg);

#endif
