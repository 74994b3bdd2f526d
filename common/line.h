/*
 * line.h - what a call costs by itself, and what every byte or node more costs: a straight line
 * through times, or two where large sizes go another way.
 *
 * Least squares of relative residuals (weights 1 / y^2): a copy of 4 bytes counts for as much as
 * one of a gigabyte.
 */
#ifndef RIFT_LINE_H
#define RIFT_LINE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* y = fixed + slope * x */
struct line {
	double fixed, slope;
	double misfit; /* root mean square of the relative residuals */
	int n;
};

/* All NaN and n 0 where fewer than 2 different x are given, or a y that is not above 0. */
struct line line_fit(const double *x, const double *y, int n);

/*
 * Least squares with weights 1 / error^2; y may be of any sign, misfit is of residuals over errors.
 * All NaN and n 0 where fewer than 2 different x are given.
 */
struct line line_fit_weighted(const double *x, const double *y, const double *error, int n);

enum { LINE_SEGMENT_MIN = 3 }; /* points of a segment */

/* Below knee the first line, from there on the second. */
struct two_lines {
	struct line low, high;
	double knee; /* the first x of high; NaN: one line is as good, and both are the same */
};

/*
 * Two lines are taken where one misses by more than 3 % and two by less than half of that. x
 * ascends.
 */
struct two_lines two_lines_fit(const double *x, const double *y, int n);

#ifdef __cplusplus
}
#endif
#endif
