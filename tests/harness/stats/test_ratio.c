/* test_ratio.c - harness/stats/bootstrap.h: two groups of processes, worked by hand. */
/* sanitizers: one thread */
#include "harness/stats/bootstrap.h"
#include "tests/resampled.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <math.h>

TestSuite(small_ratio, .timeout = 300);

/* ---- ratios --------------------------------------------------------------------------------- */

Test(small_ratio, ratio_of_constants)
{
	const double b[] = { 3, 3, 3, 3, 3, 3 }, a[] = { 2, 2, 2, 2, 2 };
	struct resamples rb = resamples(6, 1, 0), ra = resamples(5, 1, 1);
	struct groups g = { &rb, &ra, false };
	struct interval in;

	cr_assert(zero(int, bootstrap_ratio(&in, &g, &(struct point_pair){ b, a }, draws)), "3/2");
	cr_assert(in.value == 1.5 && in.lo == 1.5 && in.hi == 1.5, "3/2");
	cr_assert(eq(int, in.n, 5), "the smaller group counts, not %d", in.n);
	resamples_release(&rb);
	resamples_release(&ra);
}

/* Ranges of 5: the ratio is nowhere above 14/20 nor below 10/28, and all draws say so. */
Test(small_ratio, ratio_resamples_each_group)
{
	const double b[] = { 10, 11, 12, 13, 14 }, a[] = { 28, 26, 24, 22, 20 };
	struct resamples rb = resamples(5, 7, 0), ra = resamples(5, 7, 1);
	double of_b[BOOTSTRAP_DRAWS], of_a[BOOTSTRAP_DRAWS], ignored;
	struct groups g = { &rb, &ra, false };
	struct interval in;

	cr_assert(zero(int, bootstrap_ratio(&in, &g, &(struct point_pair){ b, a }, draws)), "b/a");
	cr_assert(eq(dbl, in.value, 0.5), "%g", in.value);
	cr_assert(zero(int, resamples_medians(&rb, b, of_b, &ignored)), "b");
	cr_assert(zero(int, resamples_medians(&ra, a, of_a, &ignored)), "a");
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		cr_assert(eq(dbl, draws[d], of_b[d] / of_a[d]), "draw %d", d);
	cr_assert(in.lo > 10.0 / 28 && in.lo < 0.45, "lo %g", in.lo);
	cr_assert(in.hi > 0.55 && in.hi < 14.0 / 20, "hi %g", in.hi);
	resamples_release(&rb);
	resamples_release(&ra);
}

Test(small_ratio, ratios_want_positive_times)
{
	static const double bad[] = { 0, -1, NAN, INFINITY };
	const double good[] = { 1, 2, 3, 4, 5 };
	struct resamples r = resamples(5, 1, 0);
	struct groups g = { &r, &r, false };

	for (int i = 0; i < 4; i++) {
		double value[] = { 1, 2, 3, 4, bad[i] };
		struct point_pair pair[] = { { good, good }, { value, good }, { good, value } };
		struct interval in;

		cr_assert(eq(int, bootstrap_ratio(&in, &g, &pair[1], draws), -EINVAL), "b %d", i);
		cr_assert(is_unknown(&in), "b %d", i);
		cr_assert(eq(int, bootstrap_ratio(&in, &g, &pair[2], draws), -EINVAL), "a %d", i);
		cr_assert(is_unknown(&in), "a %d", i);
		cr_assert(eq(int, bootstrap_geomean(&in, &g, pair, 2, draws), -EINVAL), "%d", i);
		cr_assert(is_unknown(&in), "%d", i);
		cr_assert(eq(int, bootstrap_geomean(&in, &g, pair, 0, draws), -EINVAL), "none");
		cr_assert(eq(int, bootstrap_geomean(&in, &g, pair, -1, draws), -EINVAL), "-1");
	}
	resamples_release(&r);
}

Test(small_ratio, geomean_worked_by_hand)
{
	const double two[] = { 2, 2, 2, 2, 2 }, eight[] = { 8, 8, 8, 8, 8 };
	const double one[] = { 1, 1, 1, 1, 1 };
	const struct point_pair point[] = { { two, one }, { eight, one } };
	struct resamples rb = resamples(5, 1, 0), ra = resamples(5, 1, 1);
	struct groups g = { &rb, &ra, false };
	struct interval in;

	cr_assert(zero(int, bootstrap_geomean(&in, &g, point, 2, draws)), "sqrt(2 * 8)");
	cr_assert(epsilon_eq(dbl, in.value, 4, 1e-14), "%.17g", in.value);
	cr_assert(fabs(in.lo - 4) <= 1e-14 && fabs(in.hi - 4) <= 1e-14, "width");
	resamples_release(&rb);
	resamples_release(&ra);
}

Test(small_ratio, geomean_of_one_point_is_its_ratio)
{
	const double b[] = { 10, 11, 12, 13, 14 }, a[] = { 28, 26, 24, 22, 20 };
	const struct point_pair point = { b, a };
	struct resamples rb = resamples(5, 7, 0), ra = resamples(5, 7, 1);
	struct groups g = { &rb, &ra, false };
	struct interval ratio, mean;

	cr_assert(zero(int, bootstrap_ratio(&ratio, &g, &point, draws)), "ratio");
	cr_assert(zero(int, bootstrap_geomean(&mean, &g, &point, 1, draws)), "geomean");
	cr_assert(epsilon_eq(dbl, mean.value, ratio.value, 1e-14), "value");
	cr_assert(epsilon_eq(dbl, mean.lo, ratio.lo, 1e-12), "lo");
	cr_assert(epsilon_eq(dbl, mean.hi, ratio.hi, 1e-12), "hi");
	resamples_release(&rb);
	resamples_release(&ra);
}

/*
 * Each process that is slower at one point is faster at the other by as much. Taken with all its
 * points it cancels out in each draw; drawn for each point anew it would not.
 */
Test(small_ratio, a_process_is_taken_with_all_its_points)
{
	const double slow[] = { 1, 2, 4, 8, 16 }, fast[] = { 16, 8, 4, 2, 1 };
	const double one[] = { 1, 1, 1, 1, 1 };
	const struct point_pair point[] = { { slow, one }, { fast, one } };
	struct resamples rb = resamples(5, 3, 0), ra = resamples(5, 3, 1);
	struct groups g = { &rb, &ra, false };
	struct interval in;

	cr_assert(zero(int, bootstrap_geomean(&in, &g, point, 2, draws)), "geomean");
	cr_assert(fabs(in.lo - 4) <= 1e-14 && fabs(in.hi - 4) <= 1e-14, "%g to %g", in.lo, in.hi);
	resamples_release(&rb);
	resamples_release(&ra);
}

/* ---- p-values ------------------------------------------------------------------------------- */

/* Each pair has a time of its own, b is 1 % longer in all: nothing is left to be unsure of. */
Test(small_ratio, of_pairs_the_median_of_their_ratios)
{
	const double a[] = { 100, 200, 300, 400, 500 }, b[] = { 101, 202, 303, 404, 505 };
	const double mixed[] = { 110, 180, 360, 404, 350 }; /* 1.1, 0.9, 1.2, 1.01, 0.7 */
	struct resamples r = resamples(5, 1, 0), six = resamples(6, 1, 0);
	struct groups g = { &r, &r, true }, uneven = { &r, &six, true };
	struct interval in;

	cr_assert(zero(int, bootstrap_ratio(&in, &g, &(struct point_pair){ b, a }, draws)), "1.01");
	cr_assert(eq(dbl, in.value, 1.01), "%.17g", in.value);
	cr_assert(in.lo > 1.01 - 1e-12 && in.hi < 1.01 + 1e-12, "%g to %g", in.lo, in.hi);
	cr_assert(zero(int, bootstrap_ratio(&in, &g, &(struct point_pair){ mixed, a }, draws)), "");
	cr_assert(eq(dbl, in.value, 1.01), "not the medians' 350 / 300: %g", in.value);
	cr_assert(in.lo >= 0.7 && in.lo < 0.9 && in.hi > 1.1 && in.hi <= 1.2, "%g to %g", in.lo,
		  in.hi);
	cr_assert(eq(int, bootstrap_ratio(&in, &uneven, &(struct point_pair){ b, a }, draws),
		     -EINVAL),
		  "no pairs");
	resamples_release(&r);
	resamples_release(&six);
}

/* All five in one direction: one case in 2^5, where two groups of five have one in 252. */
/* ---- differences ---------------------------------------------------------------------------- */

/* The groups do not overlap: no draw is outside 20 - 14 and 28 - 10. */
Test(small_ratio, a_difference_resamples_each_group)
{
	const double b[] = { 28, 26, 24, 22, 20 }, a[] = { 10, 11, 12, 13, 14 };
	struct resamples rb = resamples(5, 7, 0), ra = resamples(5, 7, 1);
	double of_b[BOOTSTRAP_DRAWS], of_a[BOOTSTRAP_DRAWS], factor[BOOTSTRAP_DRAWS], ignored;
	struct groups g = { &rb, &ra, false };
	struct point_pair p = { b, a };
	struct interval in, wider;

	cr_assert(zero(int, bootstrap_difference(&in, &g, &p, NULL, draws)), "b - a");
	cr_assert(epsilon_eq(dbl, in.value, 12, 1e-9), "%g", in.value);
	cr_assert(in.known && in.n == 5, "known");
	cr_assert(zero(int, resamples_medians(&rb, b, of_b, &ignored)), "b");
	cr_assert(zero(int, resamples_medians(&ra, a, of_a, &ignored)), "a");
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++) {
		cr_assert(epsilon_eq(dbl, draws[d], of_b[d] - of_a[d], 1e-9), "draw %d", d);
		factor[d] = d % 2 ? 1.5 : 0.5;
	}
	cr_assert(in.lo >= 6 && in.lo < in.value && in.hi > in.value && in.hi <= 18, "%g to %g",
		  in.lo, in.hi);
	cr_assert(zero(int, bootstrap_difference(&wider, &g, &p, factor, draws)), "factors");
	cr_assert(epsilon_eq(dbl, wider.value, 12, 1e-9), "a factor is in the draws alone");
	cr_assert(wider.lo < in.lo - 5 && wider.hi > in.hi + 5, "%g to %g", wider.lo, wider.hi);
	resamples_release(&rb);
	resamples_release(&ra);
}

/* Processes differ tenfold, the two of a pair by half in each. */
Test(small_ratio, a_difference_of_pairs_is_what_their_ratio_adds)
{
	const double b[] = { 1.5, 4.5, 7.5, 10.5, 15 }, a[] = { 1, 3, 5, 7, 10 };
	struct resamples r = resamples(5, 3, 0);
	struct groups g = { &r, &r, true };
	double of_a[BOOTSTRAP_DRAWS], ignored;
	struct interval in;

	cr_assert(
		zero(int, bootstrap_difference(&in, &g, &(struct point_pair){ b, a }, NULL, draws)),
		"pairs");
	cr_assert(epsilon_eq(dbl, in.value, 2.5, 1e-9), "%g", in.value);
	cr_assert(zero(int, resamples_medians(&r, a, of_a, &ignored)), "a");
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		cr_assert(epsilon_eq(dbl, draws[d], 0.5 * of_a[d], 1e-9), "draw %d", d);
	cr_assert(lt(dbl, 0, in.lo), "it is one");
	resamples_release(&r);
}

Test(small_ratio, few_pairs_prove_less)
{
	struct resamples r = resamples(5, 1, 0);
	struct groups pairs = { &r, &r, true }, apart = { &r, &r, false };

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] = 2;
	cr_assert(eq(dbl, bootstrap_p_above(&pairs, draws, 1), 1.0 / 32), "pairs");
	cr_assert(eq(dbl, bootstrap_p_above(&apart, draws, 1), 1.0 / 252), "apart");
	resamples_release(&r);
}

Test(small_ratio, p_values_worked_by_hand)
{
	struct resamples r = resamples(10, 1, 0);
	struct groups g = { &r, &r, false };

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] = d < 100 ? 0.9 : d < 150 ? 1 : 1.1;
	cr_assert(epsilon_eq(dbl, bootstrap_p_above(&g, draws, 1), 0.025, 1e-12), "above 1");
	cr_assert(epsilon_eq(dbl, bootstrap_p_below(&g, draws, 1), 0.975, 1e-12), "below 1");
	cr_assert(eq(dbl, bootstrap_p_above(&g, draws, 0.5), 1.0 / 5001), "surely above 0.5");
	cr_assert(eq(dbl, bootstrap_p_below(&g, draws, 1.5), 1.0 / 5001), "surely below 1.5");
	cr_assert(eq(dbl, bootstrap_p_above(&g, draws, 1.5), 1), "never above 1.5");
	resamples_release(&r);
}

Test(small_ratio, few_processes_prove_little)
{
	struct resamples five = resamples(5, 1, 0), two = resamples(2, 1, 1);
	struct groups five_two = { &five, &two, false }, five_five = { &five, &five, false };

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] = 2;
	cr_assert(epsilon_eq(dbl, bootstrap_p_above(&five_five, draws, 1), 1.0 / 252, 1e-15),
		  "5, 5");
	cr_assert(epsilon_eq(dbl, bootstrap_p_above(&five_two, draws, 1), 1.0 / 21, 1e-15), "5, 2");
	resamples_release(&five);
	resamples_release(&two);
}
