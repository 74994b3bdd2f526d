/* test_line.c - common/line.h: lines that are there are found, and no second one without need. */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "common/line.h"

TestSuite(small_line, .timeout = 300);

enum { N = 12 };

/* 4, 16, 64, ...: sizes of copies. */
static void sizes(double *x)
{
	for (int i = 0; i < N; i++)
		x[i] = 4 * pow(4, i);
}

static int is_near(double value, double want)
{
	return fabs(value - want) <= 1e-6 * fabs(want);
}

Test(small_line, a_line_is_found_over_nine_decades)
{
	double x[N], y[N];
	struct line l;

	sizes(x);
	for (int i = 0; i < N; i++)
		y[i] = 5 + 2e-5 * x[i];
	l = line_fit(x, y, N);
	cr_assert(is_near(l.fixed, 5) && is_near(l.slope, 2e-5), "%g + %g x", l.fixed, l.slope);
	cr_assert(l.misfit < 1e-9 && l.n == N, "misfit %g", l.misfit);
	cr_assert(isnan(two_lines_fit(x, y, N).knee), "one is enough");
}

/* Also where the mean of equal sizes rounds to another number. */
Test(small_line, one_size_makes_no_line)
{
	double x[3], y[3];

	for (int size = 1; size < 100; size++)
		for (int n = 1; n <= 3; n++) {
			for (int i = 0; i < n; i++) {
				x[i] = size;
				y[i] = 0.1 + 0.7 * i + size / 3.0;
			}
			cr_assert(isnan(line_fit(x, y, n).slope), "%d times %d", n, size);
		}
}

/* Every size counts alike: 10 % at the largest does not move what a small one costs. */
Test(small_line, residuals_are_relative)
{
	double x[N], y[N];
	struct line l;

	sizes(x);
	for (int i = 0; i < N; i++)
		y[i] = 5 + 2e-5 * x[i];
	y[N - 1] *= 1.1;
	l = line_fit(x, y, N);
	cr_assert(fabs(l.fixed - 5) < 0.05, "%g", l.fixed);
}

Test(small_line, two_segments_are_found_with_their_knee)
{
	double x[N], y[N];
	struct two_lines two;

	sizes(x);
	for (int i = 0; i < N; i++)
		y[i] = i < 7 ? 2 + 1e-4 * x[i] : 9 + 5e-5 * x[i];
	two = two_lines_fit(x, y, N);
	cr_assert(two.knee == x[7], "knee at %g", two.knee);
	cr_assert(is_near(two.low.fixed, 2) && is_near(two.low.slope, 1e-4), "below");
	cr_assert(is_near(two.high.fixed, 9) && is_near(two.high.slope, 5e-5), "above");
}

Test(small_line, noise_is_no_second_line)
{
	double x[N], y[N];

	sizes(x);
	for (int i = 0; i < N; i++)
		y[i] = (5 + 2e-5 * x[i]) * (1 + (i % 2 ? 0.02 : -0.02));
	cr_assert(isnan(two_lines_fit(x, y, N).knee), "2 %%");
}

Test(small_line, what_is_no_line_is_not_known)
{
	const double x[] = { 1, 2, 2 }, y[] = { 3, 0, 4 }, same[] = { 2, 2, 2 };
	const double positive[] = { 3, 5, 4 };

	cr_assert(isnan(line_fit(x, y, 3).slope), "a time of 0");
	cr_assert(isnan(line_fit(same, positive, 3).slope), "one size");
	cr_assert(isnan(line_fit(x, positive, 1).fixed) && isnan(line_fit(x, positive, 0).fixed),
		  "too few");
}

/* One line misses by more than 3 %, and two by less than half of that; else one is enough. */
Test(small_line, when_a_second_line_is_taken)
{
	int taken = 0, small = 0, no_better = 0;

	for (int kink = 0; kink < 40; kink++)
		for (int noise = 0; noise < 10; noise++) {
			double x[N], y[N], least = INFINITY, one, knee;

			sizes(x);
			for (int i = 0; i < N; i++)
				y[i] = (5 + 2e-5 * x[i]) * (i < 6 ? 1 : 1 + 0.005 * kink) *
				       (1 + 0.004 * noise * (i % 2 ? 1 : -1));
			one = line_fit(x, y, N).misfit;
			for (int k = 3; k <= N - 3; k++) {
				double low = line_fit(x, y, k).misfit;
				double high = line_fit(x + k, y + k, N - k).misfit;

				least = fmin(least,
					     sqrt((k * low * low + (N - k) * high * high) / N));
			}
			knee = two_lines_fit(x, y, N).knee;
			cr_assert(isnan(knee) == !(one > 0.03 && least < 0.5 * one),
				  "one line misses by %g, two by %g", one, least);
			taken += !isnan(knee);
			small += one <= 0.03 && least < 0.5 * one;
			no_better += one > 0.03 && least >= 0.5 * one;
		}
	cr_assert(taken > 20 && small > 20 && no_better > 20, "%d, %d, %d", taken, small,
		  no_better);
}

Test(small_line, a_segment_takes_three)
{
	const double x[] = { 1, 2, 3, 4, 5, 6 }, y[] = { 1, 1, 1, 9, 9, 9 };

	cr_assert(two_lines_fit(x, y, 6).knee == 4, "three and three");
	cr_assert(isnan(two_lines_fit(x + 1, y + 1, 5).knee), "two and three");
}

/* Two of three points are near enough to count; values may be below 0. */
Test(small_line, points_count_by_their_errors)
{
	const double x[] = { 1, 2, 3 }, y[] = { -5, -7, 100 }, error[] = { 1, 1, 1e9 };
	struct line l = line_fit_weighted(x, y, error, 3);

	cr_assert(fabs(l.slope + 2) < 1e-6 && fabs(l.fixed + 3) < 1e-6, "%g, %g", l.fixed, l.slope);
}
