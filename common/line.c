/* line.c - straight lines through times. */
#include "common/line.h"

#include <math.h>

static const double misses = 0.03, better = 0.5;

static double sum_of_squares(const struct line *l, const double *x, const double *y,
			     const double *error, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += pow((l->fixed + l->slope * x[i] - y[i]) / error[i], 2);
	return sum;
}

/* Their mean may round, so distances from it do not say so. */
static bool all_equal(const double *x, int n)
{
	for (int i = 1; i < n; i++)
		if (x[i] != x[0])
			return false;
	return true;
}

struct line line_fit_weighted(const double *x, const double *y, const double *error, int n)
{
	struct line l = { NAN, NAN, NAN, 0 };
	double w = 0, wx = 0, wy = 0, sxx = 0, sxy = 0;

	for (int i = 0; i < n; i++) {
		double weight = 1 / (error[i] * error[i]);

		w += weight;
		wx += weight * x[i];
		wy += weight * y[i];
	}
	for (int i = 0; i < n; i++) { /* about the mean: sizes span nine decades */
		double dx = x[i] - wx / w, dy = y[i] - wy / w;

		sxx += dx * dx / (error[i] * error[i]);
		sxy += dx * dy / (error[i] * error[i]);
	}
	if (all_equal(x, n) || !(sxx > 0))
		return l;
	l.slope = sxy / sxx;
	l.fixed = (wy - l.slope * wx) / w;
	l.n = n;
	l.misfit = sqrt(sum_of_squares(&l, x, y, error, n) / n);
	return l;
}

struct line line_fit(const double *x, const double *y, int n)
{
	for (int i = 0; i < n; i++)
		if (!(y[i] > 0))
			return (struct line){ NAN, NAN, NAN, 0 };
	return line_fit_weighted(x, y, y, n);
}

struct two_lines two_lines_fit(const double *x, const double *y, int n)
{
	struct line one = line_fit(x, y, n);
	struct two_lines best = { one, one, NAN };
	double least = better * one.misfit;

	if (!(one.misfit > misses))
		return best;
	for (int k = LINE_SEGMENT_MIN; k <= n - LINE_SEGMENT_MIN; k++) {
		struct line low = line_fit(x, y, k), high = line_fit(x + k, y + k, n - k);
		double misfit = sqrt(
			(k * low.misfit * low.misfit + (n - k) * high.misfit * high.misfit) / n);

		if (misfit < least) {
			least = misfit;
			best = (struct two_lines){ low, high, x[k] };
		}
	}
	return best;
}
