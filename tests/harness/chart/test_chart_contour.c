/* test_chart_contour.c - harness/chart/contour.h: lines through small grids, worked by hand. */
/* sanitizers: one thread */
#include "harness/chart/contour.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

TestSuite(small_chart_contour, .timeout = 300);

enum { POINTS = 64 };

static struct {
	int n, line[POINTS];
	double x[POINTS], y[POINTS];
} got;

static void take_vertex(void *arg, int line, double x, double y)
{
	(void)arg;
	cr_assert(lt(int, got.n, POINTS), "points");
	got.line[got.n] = line;
	got.x[got.n] = x;
	got.y[got.n++] = y;
}

static int trace(int columns, int rows, const double *z, double level)
{
	const struct contour_grid g = { columns, rows, z };

	got.n = 0;
	return contour_trace(&g, level, take_vertex, NULL);
}

static void point_is(int i, int line, double x, double y)
{
	cr_assert(lt(int, i, got.n), "%d points", got.n);
	cr_assert(eq(int, got.line[i], line), "point %d is of line %d", i, got.line[i]);
	cr_assert(epsilon_eq(dbl, got.x[i], x, 1e-12), "point %d: x=%g", i, got.x[i]);
	cr_assert(epsilon_eq(dbl, got.y[i], y, 1e-12), "point %d: y=%g", i, got.y[i]);
}

/* z = x + 10 y: the line of 2.5 stands upright in row 0 only, that of 12.5 in row 1 only. */
Test(small_chart_contour, a_line_of_a_plane_is_straight_and_whole)
{
	static const double z[] = { 0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5 };

	cr_assert(eq(int, trace(4, 3, z, 2.5), 1), "lines");
	cr_assert(eq(int, got.n, 5), "%d points", got.n);
	for (int i = 0; i < got.n; i++)
		cr_assert(epsilon_eq(dbl, got.x[i] + got.y[i], 2.5, 1e-12), "%d", i);
	cr_assert(epsilon_eq(dbl, fabs(got.x[4] - got.x[0]), 2, 1e-12), "from edge to edge");
}

Test(small_chart_contour, a_crossing_is_where_a_straight_line_has_it)
{
	static const double z[] = { 0, 4, 0, 4 };

	cr_assert(eq(int, trace(2, 2, z, 1), 1), "lines");
	point_is(0, 0, 0.25, 0);
	point_is(1, 0, 0.25, 1);
}

Test(small_chart_contour, a_hill_has_a_closed_line)
{
	static const double z[] = { 0, 0, 0, 0, 2, 0, 0, 0, 0 };

	cr_assert(eq(int, trace(3, 3, z, 1), 1), "lines");
	cr_assert(eq(int, got.n, 5), "%d points", got.n);
	point_is(4, 0, got.x[0], got.y[0]);
	for (int i = 0; i < 5; i++)
		cr_assert(epsilon_eq(dbl, fabs(got.x[i] - 1) + fabs(got.y[i] - 1), 0.5, 1e-12),
			  "point %d", i);
}

Test(small_chart_contour, nothing_is_drawn_beside_what_is_not_known)
{
	static const double z[] = { 0, 2, 4, 0, 2, NAN, 0, 2, NAN };

	cr_assert(eq(int, trace(3, 3, z, 1), 1), "left half");
	cr_assert(eq(int, got.n, 3), "%d points", got.n);
	cr_assert(zero(int, trace(3, 3, z, 3)), "right half");
	cr_assert(zero(int, trace(3, 3, z, 9)), "no such value");
	cr_assert(zero(int, got.n), "%d points", got.n);
}

/* A saddle: the mean of the corners, 1, is above 0.9 and below 1.1; what is equal counts as above.
 */
Test(small_chart_contour, at_a_saddle_the_mean_says_what_hangs_together)
{
	static const double z[] = { 0, 2, 2, 0 }, level[] = { 0.9, 1, 1.1 };

	for (int at = 0; at < 3; at++) {
		bool low = level[at] <= 1;

		cr_assert(eq(int, trace(2, 2, z, level[at]), 2), "lines");
		cr_assert(eq(int, got.n, 4), "points");
		/* each line goes around a corner that is cut off from the middle */
		for (int i = 0; i < 4; i += 2) {
			double x = round((got.x[i] + got.x[i + 1]) / 2);
			double y = round((got.y[i] + got.y[i + 1]) / 2);

			cr_assert(eq(int, x == y, low), "corner %g %g", x, y);
		}
	}
}

Test(small_chart_contour, a_grid_of_one_row_or_column_has_no_square)
{
	static const double z[] = { 0, 2, 0, 2 };

	cr_assert(zero(int, trace(4, 1, z, 1)), "row");
	cr_assert(zero(int, trace(1, 4, z, 1)), "column");
}
