/*
 * test_bootstrap.c - harness/stats/bootstrap.h: who is drawn, medians of draws, intervals. Ratios
 * are in test_ratio.c; how often intervals hold the truth is in test_coverage.c.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/philox.h"
#include "harness/stats/bootstrap.h"
#include "tests/resampled.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

TestSuite(small_bootstrap, .timeout = 300);

/* ---- draws ---------------------------------------------------------------------------------- */

Test(small_bootstrap, draws_take_whom_the_header_says)
{
	enum { N = 7, GROUP = 3 };
	const uint64_t seed = UINT64_C(0x123456789abcdef0);
	struct resamples r = resamples(N, seed, GROUP);

	for (uint32_t d = 0; d < BOOTSTRAP_DRAWS; d++) {
		uint16_t want[N] = { 0 };

		for (uint32_t i = 0; i < N; i++) {
			uint32_t w = philox4x32(i / 4, d, GROUP, 0, seed).word[i % 4];

			want[(int)floor((double)w * N / 4294967296.0)]++;
		}
		cr_assert(zero(int, memcmp(want, &r.times[d * N], sizeof(want))), "draw %u", d);
	}
	resamples_release(&r);
}

Test(small_bootstrap, seeds_and_groups_draw_differently)
{
	struct resamples r = resamples(10, 1, 0), again = resamples(10, 1, 0);
	struct resamples group = resamples(10, 1, 1), seed = resamples(10, 2, 0);
	size_t bytes = BOOTSTRAP_DRAWS * 10 * sizeof(*r.times);

	cr_assert(zero(int, memcmp(r.times, again.times, bytes)), "the same again");
	cr_assert(memcmp(r.times, group.times, bytes) != 0, "another group");
	cr_assert(memcmp(r.times, seed.times, bytes) != 0, "another seed");
	resamples_release(&r);
	resamples_release(&again);
	resamples_release(&group);
	resamples_release(&seed);
}

Test(small_bootstrap, number_of_processes_has_bounds)
{
	struct resamples r;

	cr_assert(eq(int, resamples_init(&r, 0, 1, 0), -EINVAL), "0");
	resamples_release(&r);
	cr_assert(eq(int, resamples_init(&r, -3, 1, 0), -EINVAL), "-3");
	cr_assert(eq(int, resamples_init(&r, BOOTSTRAP_N_MAX + 1, 1, 0), -EINVAL), "too many");
	cr_assert(zero(int, resamples_init(&r, BOOTSTRAP_N_MAX, 1, 0)), "most");
	resamples_release(&r);
}

/* Each draw written out, sorted, and its median taken by GSL. */
static void medians_agree(int n)
{
	struct resamples r = resamples(n, 5, 0);
	double value[30], of_all;

	for (int i = 0; i < n; i++)
		value[i] = 100 + (i * 7) % 30; /* no order; all differ */
	cr_assert(zero(int, resamples_medians(&r, value, draws, &of_all)), "n = %d", n);
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++) {
		double taken[30];
		int count = 0;

		for (int i = 0; i < n; i++) {
			for (int k = 0; k < r.times[d * n + i]; k++)
				taken[count++] = value[i];
		}
		cr_assert(eq(int, count, n), "draw %d takes %d of %d", d, count, n);
		gsl_sort(taken, 1, (size_t)n);
		cr_assert(eq(dbl, draws[d], gsl_stats_median_from_sorted_data(taken, 1, (size_t)n)),
			  "n = %d, draw %d", n, d);
	}
	gsl_sort(value, 1, (size_t)n);
	cr_assert(eq(dbl, of_all, gsl_stats_median_from_sorted_data(value, 1, (size_t)n)), "all");
	resamples_release(&r);
}

Test(small_bootstrap, medians_of_draws_agree_with_gsl)
{
	static const int n[] = { 1, 2, 3, 4, 5, 10, 29, 30 };

	for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++)
		medians_agree(n[i]);
}

/*
 * Exactly: a draw's median is at most the k-th of n values, n odd, when more than half of its
 * picks are among the first k: binomial(n, k / n).
 */
Test(small_bootstrap, draws_follow_the_exact_distribution)
{
	enum { N = 5 };
	const double value[N] = { 1, 2, 3, 4, 5 };
	struct resamples r = resamples(N, 99, 0);
	struct interval in;

	cr_assert(zero(int, bootstrap_median(&in, &r, value, draws)), "median");
	for (int k = 1; k < N; k++) {
		double want = gsl_cdf_binomial_Q(N / 2, (double)k / N, N), got = 0;
		double sd = sqrt(want * (1 - want) / BOOTSTRAP_DRAWS);

		for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
			got += draws[d] <= k;
		got /= BOOTSTRAP_DRAWS;
		cr_assert(epsilon_eq(dbl, got, want, 4 * sd), "k = %d: %g, not %g", k, got, want);
	}
	resamples_release(&r);
}

/* ---- intervals ------------------------------------------------------------------------------ */

/* Their steps are at 0.01, 0.06, 0.5, 0.94 and 0.99. */
static void fill_five_steps(double *out)
{
	static const int ends[] = { 100, 500, 4500, 4900, 5000 };

	for (int d = 0, step = 0; d < BOOTSTRAP_DRAWS; d++) {
		step += d == ends[step];
		out[BOOTSTRAP_DRAWS - 1 - d] = step + 1; /* the order must not matter */
	}
}

Test(small_bootstrap, interval_worked_by_hand)
{
	struct interval in;

	fill_five_steps(draws);
	cr_assert(zero(int, interval_of_draws(&in, 3, 5, draws)), "five steps");
	cr_assert(in.known && in.value == 3 && in.n == 5, "known");
	cr_assert(epsilon_eq(dbl, in.lo, 1.3, 1e-12), "lo %g", in.lo);
	cr_assert(epsilon_eq(dbl, in.hi, 4.7, 1e-12), "hi %g", in.hi);
	cr_assert(epsilon_eq(dbl, interval_half_width(&in), 1.7 / 3, 1e-12), "half width");
	cr_assert(eq(dbl, draws[0], 5), "draws stay as they were");
}

Test(small_bootstrap, constant_draws_have_no_width)
{
	struct interval in;

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] = -2;
	cr_assert(zero(int, interval_of_draws(&in, -2, 30, draws)), "constant");
	cr_assert(in.lo == -2 && in.hi == -2, "%g %g", in.lo, in.hi);
	cr_assert(eq(dbl, interval_half_width(&in), 0), "half width");
}

Test(small_bootstrap, a_draw_that_is_no_number_is_refused)
{
	struct interval in;

	fill_five_steps(draws);
	cr_assert(eq(int, interval_of_draws(&in, NAN, 5, draws), -EINVAL), "value");
	cr_assert(is_unknown(&in), "value");
	draws[4321] = NAN;
	cr_assert(eq(int, interval_of_draws(&in, 3, 5, draws), -EINVAL), "draw");
	cr_assert(is_unknown(&in), "draw");
}

/* With 5 values each end has 5.8 % of the draws, so that the interval is the whole range. */
Test(small_bootstrap, five_processes_span_their_range)
{
	const double value[] = { 14, 10, 13, 11, 12 };
	struct resamples r = resamples(5, 1, 0);
	struct interval in;

	cr_assert(zero(int, bootstrap_median(&in, &r, value, draws)), "median");
	cr_assert(in.known && in.n == 5 && in.value == 12, "value %g", in.value);
	cr_assert(in.lo == 10 && in.hi == 14, "%g to %g", in.lo, in.hi);
	resamples_release(&r);
}

Test(small_bootstrap, under_five_processes_there_is_no_interval)
{
	const double value[] = { 3, 1, 2, 5 };
	const double median[] = { 3, 2, 2, 2.5 };

	for (int n = 1; n < BOOTSTRAP_N_MIN; n++) {
		struct resamples r = resamples(n, 1, 0);
		struct interval in;

		cr_assert(zero(int, bootstrap_median(&in, &r, value, draws)), "n = %d", n);
		cr_assert(in.value == median[n - 1] && in.n == n, "n = %d", n);
		cr_assert(zero(int, in.known), "n = %d", n);
		cr_assert(isnan(in.lo) && isnan(in.hi), "n = %d", n);
		cr_assert(isnan(interval_half_width(&in)), "n = %d", n);
		resamples_release(&r);
	}
}

/* From a run of this code: other draws, ranks or quantiles anywhere would show here. */
Test(small_bootstrap, the_same_figures_on_every_machine)
{
	const double value[] = { 103, 97, 101, 111, 99, 102, 100, 128, 98, 105 };
	struct resamples r = resamples(10, UINT64_C(20261121), 0);
	struct interval in;

	cr_assert(zero(int, bootstrap_median(&in, &r, value, draws)), "median");
	cr_assert(eq(dbl, in.value, 101.5), "%.17g", in.value);
	cr_assert(eq(dbl, in.lo, 98.779661016949149), "%.17g", in.lo);
	cr_assert(eq(dbl, in.hi, 106.09999999999999), "%.17g", in.hi);
	resamples_release(&r);
}

Test(small_bootstrap, what_is_no_number_is_refused)
{
	struct resamples r = resamples(5, 1, 0);

	for (int i = 0; i < 5; i++) {
		double value[] = { 1, 2, 3, 4, 5 };
		struct interval in;

		value[i] = NAN;
		cr_assert(eq(int, bootstrap_median(&in, &r, value, draws), -EINVAL), "%d", i);
		cr_assert(is_unknown(&in), "%d", i);
		value[i] = INFINITY;
		cr_assert(eq(int, bootstrap_median(&in, &r, value, draws), -EINVAL), "%d", i);
	}
	resamples_release(&r);
}
