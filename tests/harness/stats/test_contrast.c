/* test_contrast.c - harness/stats/contrast.h: exact tests and intervals, worked by hand and by GSL.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/stats/contrast.h"

#include <criterion/parameterized.h>
#include <signal.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>

TestSuite(small_contrast, .timeout = 300);

enum { N_MAX = 30, MANY = 98 };

static const double one[N_MAX] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
				   1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

static struct contrast contrast(int nb, int na, bool paired)
{
	struct contrast c;

	contrast_init(&c, nb, na, paired, 1);
	return c;
}

/* ---- pairs -------------------------------------------------------------------------------- */

/* n pairs of which so many are on the wrong side, all others twice as long. */
static struct judged pairs_with_wrong(int n, int wrong)
{
	struct contrast c = contrast(n, n, true);
	double b[N_MAX];
	struct judged j;

	for (int i = 0; i < n; i++)
		b[i] = i < wrong ? 0.5 : 2;
	j = contrast_judge(&c, &(struct point_pair){ .b = b, .a = one }, 0.02, 0);
	contrast_release(&c);
	return j;
}

struct sign_case {
	int n, wrong;
	double p;
	enum ratio_verdict verdict;
};

/* C(n, 0) + ... + C(n, wrong) of 2^n orders. */
Test(small_contrast, pairs_on_the_wrong_side_count)
{
	static const struct sign_case cases[] = {
		{ 9, 1, 10.0 / 512, VERDICT_SLOWER },
		{ 8, 1, 9.0 / 256, VERDICT_SLOWER },
		{ 7, 1, 8.0 / 128, VERDICT_INCONCLUSIVE },
		{ 10, 1, 11.0 / 1024, VERDICT_SLOWER },
		{ 15, 2, 121.0 / 32768, VERDICT_SLOWER },
		{ 20, 4, 6196.0 / 1048576, VERDICT_SLOWER },
		{ 5, 0, 1.0 / 32, VERDICT_SLOWER },
		{ 4, 0, 1.0 / 16, VERDICT_INCONCLUSIVE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct sign_case *k = &cases[i];
		struct judged j = pairs_with_wrong(k->n, k->wrong);

		cr_assert(epsilon_eq(dbl, j.p_slower, k->p, 1e-12), "%d of %d: %g", k->wrong, k->n,
			  j.p_slower);
		cr_assert(eq(int, j.alone, k->verdict), "%d of %d", k->wrong, k->n);
		cr_assert(eq(int, j.known, k->n > 4), "%d", k->n);
	}
}

Test(small_contrast, the_sign_test_is_the_binomial_one)
{
	for (int n = 1; n <= N_MAX; n++) {
		struct contrast c = contrast(n, n, true);

		cr_assert(epsilon_eq(dbl, c.at_least[0], 1, 1e-12), "n = %d", n);
		for (int k = 1; k <= n; k++)
			cr_assert(epsilon_eq(dbl, c.at_least[k],
					     gsl_cdf_binomial_Q((unsigned)k - 1, 0.5, (unsigned)n),
					     1e-12),
				  "%d of %d", k, n);
		contrast_release(&c);
	}
}

/* The order statistics that an interval ends at, and its level in percent. */
Test(small_contrast, the_interval_of_pairs_is_the_test_inverted)
{
	static const struct {
		int n, rank;
		double level;
	} want[] = {
		{ 5, 1, 93.75 },    { 6, 1, 96.875 },	{ 7, 1, 98.4375 },  { 8, 2, 92.96875 },
		{ 9, 2, 96.09375 }, { 12, 3, 96.1426 }, { 20, 6, 95.8611 }, { 30, 11, 90.1263 }
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		int n = want[i].n;
		struct contrast c = contrast(n, n, true);
		struct interval in;
		double b[N_MAX];

		for (int k = 0; k < n; k++)
			b[k] = 1 + (k * 11 % n + 1) / 100.0;
		cr_assert(zero(int, contrast_ratio(&in, &c, &(struct point_pair){ b, one })), "%d",
			  n);
		cr_assert(epsilon_eq(dbl, 100 * c.level, want[i].level, 1e-4), "%d: %g", n,
			  100 * c.level);
		cr_assert(eq(int, c.rank, want[i].rank), "%d: %d", n, c.rank);
		contrast_release(&c);
	}
}

Test(small_contrast, ends_of_an_interval_are_ratios)
{
	const double b[] = { 5, 1, 8, 3, 2, 7, 4, 6 };
	struct contrast c = contrast(8, 8, true);
	struct interval in;

	cr_assert(zero(int, contrast_ratio(&in, &c, &(struct point_pair){ b, one })), "eight");
	cr_assert(in.known && in.n == 8, "n = %d", in.n);
	cr_assert(eq(dbl, in.value, 4.5), "%g", in.value);
	cr_assert(eq(dbl, in.lo, 2), "%g", in.lo);
	cr_assert(eq(dbl, in.hi, 7), "%g", in.hi);
	contrast_release(&c);
}

/* Not the ratio of the medians, 350 / 300. */
Test(small_contrast, of_pairs_the_median_of_their_ratios)
{
	const double a[] = { 100, 200, 300, 400, 500 };
	const double b[] = { 110, 180, 360, 404, 350 }; /* 1.1, 0.9, 1.2, 1.01, 0.7 */
	struct contrast c = contrast(5, 5, true);
	struct interval in;

	cr_assert(zero(int, contrast_ratio(&in, &c, &(struct point_pair){ b, a })), "ratio");
	cr_assert(eq(dbl, in.value, 1.01), "%g", in.value);
	cr_assert(in.lo == 0.7 && in.hi == 1.2, "%g to %g", in.lo, in.hi);
	contrast_release(&c);
}

/* ---- groups ------------------------------------------------------------------------------- */

/* All orders of nb + na different values are alike: counts those with `above` or more. */
static double at_least_by_counting(int nb, int na, int above)
{
	int n = nb + na, all = 0, found = 0;

	for (unsigned set = 0; set < 1U << n; set++) {
		int u = 0;

		if (__builtin_popcount(set) != nb)
			continue;
		for (int i = 0; i < n; i++)
			for (int k = 0; k < i; k++)
				u += (set >> i & 1) && !(set >> k & 1);
		all++;
		found += u >= above;
	}
	return (double)found / all;
}

Test(small_contrast, the_rank_test_counts_all_orders)
{
	static const int sizes[][2] = {
		{ 1, 1 }, { 3, 3 }, { 5, 5 }, { 4, 7 }, { 7, 4 }, { 6, 6 }
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		int nb = sizes[i][0], na = sizes[i][1];
		struct contrast c = contrast(nb, na, false);

		for (int u = 0; u <= nb * na; u++)
			cr_assert(epsilon_eq(dbl, c.at_least[u], at_least_by_counting(nb, na, u),
					     1e-12),
				  "%d of %d, %d", u, nb, na);
		contrast_release(&c);
	}
}

/* 30 a side: exact and normal differ in the third digit; 101 a side are no longer counted. */
Test(small_contrast, many_processes_are_normal)
{
	struct contrast c = contrast(30, 30, false);
	double sd = sqrt(900.0 * 61 / 12);

	for (int u = 450; u <= 600; u += 10)
		cr_assert(
			epsilon_eq(dbl, c.at_least[u], gsl_cdf_gaussian_Q(u - 0.5 - 450, sd), 2e-3),
			"%d: %g", u, c.at_least[u]);
	contrast_release(&c);
	c = contrast(101, 101, false);
	sd = sqrt(10201.0 * 203 / 12);
	for (int u = 5101; u <= 7000; u += 100)
		cr_assert(epsilon_eq(dbl, c.at_least[u], gsl_cdf_gaussian_Q(u - 0.5 - 5100.5, sd),
				     1e-9),
			  "%d: %g", u, c.at_least[u]);
	contrast_release(&c);
}

/* Of 5 a side 12 of 252 orders leave 4 ratios or fewer on one side: the 5th ratio of 25. */
Test(small_contrast, the_interval_of_groups_ends_at_two_of_all_ratios)
{
	const double b[] = { 10, 20, 30, 40, 50 }, a[] = { 1, 1, 1, 1, 2 };
	struct contrast c = contrast(5, 5, false);
	struct interval in;

	cr_assert(epsilon_eq(dbl, c.level, 1 - 24.0 / 252, 1e-12), "%g", c.level);
	cr_assert(eq(int, c.rank, 5), "%d", c.rank);
	cr_assert(zero(int, contrast_ratio(&in, &c, &(struct point_pair){ b, a })), "ratio");
	/* 5 10 10 10 10 10 15 20 20 20 20 20 25 30 30 30 30 40 ... : the 13th, 5th, 21st */
	cr_assert(eq(dbl, in.value, 25), "%g", in.value);
	cr_assert(eq(dbl, in.lo, 10), "%g", in.lo);
	cr_assert(eq(dbl, in.hi, 40), "%g", in.hi);
	contrast_release(&c);
}

Test(small_contrast, groups_need_not_be_equal)
{
	const double b[] = { 2, 2.1, 2.2 };
	struct contrast c = contrast(3, 7, false);
	struct judged j = contrast_judge(&c, &(struct point_pair){ b, one }, 0.02, 0);
	struct interval in;

	cr_assert(epsilon_eq(dbl, j.p_slower, 1 / gsl_sf_choose(10, 3), 1e-12), "%g", j.p_slower);
	cr_assert(zero(int, contrast_ratio(&in, &c, &(struct point_pair){ b, one })), "ratio");
	cr_assert(eq(int, in.n, 3), "the smaller one, not %d", in.n);
	cr_assert(eq(dbl, in.value, 2.1), "%g", in.value);
	contrast_release(&c);
}

/* ---- verdicts and intervals say the same -------------------------------------------------- */

static enum ratio_verdict by_interval(const struct contrast *c, const struct point_pair *p)
{
	struct interval in;

	cr_assert(zero(int, contrast_ratio(&in, c, p)), "ratio");
	return verdict_of(&in, 0.02);
}

/* Values around the margin, from a generator that is the same on every machine. */
Test(small_contrast, the_interval_and_the_test_agree)
{
	uint32_t state = 1;

	for (int n = 3; n <= 20; n++)
		for (int trial = 0; trial < 40; trial++) {
			struct contrast c = contrast(n, n, trial % 2);
			double b[N_MAX], a[N_MAX];
			struct point_pair p = { b, a };
			struct judged j;

			c.apart = trial % 4 < 2 ? 1 : 1.03;
			for (int i = 0; i < n; i++) {
				state = state * 1664525 + 1013904223;
				b[i] = 1 + 0.02 * (trial % 5 - 2) + (state >> 8) / 4e8;
				state = state * 1664525 + 1013904223;
				a[i] = 1 + (state >> 8) / 4e8;
			}
			j = contrast_judge(&c, &p, 0.02, 0);
			cr_assert(eq(int, j.alone, by_interval(&c, &p)), "n = %d, trial %d", n,
				  trial);
			contrast_release(&c);
		}
}

/* The margin itself is not beyond the margin, and nor is it within it: it is the same. */
Test(small_contrast, what_ties_with_the_margin_is_not_beyond_it)
{
	double b[] = { 1.25, 1.25, 1.25, 1.25, 1.25, 1.25 };
	struct contrast c = contrast(6, 6, true);
	struct judged j = contrast_judge(&c, &(struct point_pair){ b, one }, 0.25, 0);

	cr_assert(eq(int, j.alone, VERDICT_SAME), "at the margin");
	cr_assert(eq(dbl, j.p_slower, 1), "%g", j.p_slower);
	cr_assert(j.not_slower, "at the margin");
	j = contrast_judge(&c, &(struct point_pair){ b, one }, 0.24, 0);
	cr_assert(eq(int, j.alone, VERDICT_SLOWER), "beyond it");
	cr_assert(not(j.not_slower), "beyond it");
	contrast_release(&c);
}

Test(small_contrast, not_slower_is_less_than_the_same)
{
	const double b[] = { 0.5, 1, 1, 1, 1.01, 0.9 }, slow[] = { 0.5, 1, 1, 1, 1.03, 0.9 };
	struct contrast c = contrast(6, 6, true);
	struct judged j = contrast_judge(&c, &(struct point_pair){ b, one }, 0.02, 0);

	cr_assert(eq(int, j.alone, VERDICT_INCONCLUSIVE), "the same or faster");
	cr_assert(j.not_slower, "1.01");
	j = contrast_judge(&c, &(struct point_pair){ slow, one }, 0.02, 0);
	cr_assert(not(j.not_slower), "1.03");
	contrast_release(&c);
}

/* 20 ns more of 100 are less than a floor of 30, of 1000 beyond both. */
Test(small_contrast, a_floor_is_a_margin_in_the_values_unit)
{
	const double a[] = { 100, 100, 100, 100, 100, 100 };
	const double b[] = { 120, 120, 120, 120, 120, 120 },
		     c40[] = { 140, 140, 140, 140, 140, 140 };
	struct contrast c = contrast(6, 6, false);
	struct judged j = contrast_judge(&c, &(struct point_pair){ b, a }, 0.02, 30);

	cr_assert(eq(int, j.alone, VERDICT_SAME), "20 of 30");
	j = contrast_judge(&c, &(struct point_pair){ c40, a }, 0.02, 30);
	cr_assert(eq(int, j.alone, VERDICT_SLOWER), "40 of 30");
	j = contrast_judge(&c, &(struct point_pair){ a, c40 }, 0.02, 30);
	cr_assert(eq(int, j.alone, VERDICT_FASTER), "40 less, of 30");
	contrast_release(&c);
}

/* ---- separate sessions --------------------------------------------------------------------- */

/* exp(1.645 * sqrt(2) * 1 %) = 1.02354: what is 4 % longer is then no longer beyond 2 %. */
Test(small_contrast, sessions_may_be_apart)
{
	const double b[] = { 1.04, 1.04, 1.04, 1.04, 1.04, 1.04 };
	struct contrast c = contrast(6, 6, false);
	struct point_pair p = { b, one };
	struct interval in;

	cr_assert(epsilon_eq(dbl, contrast_apart(0.01), 1.023537, 1e-6), "%g",
		  contrast_apart(0.01));
	cr_assert(eq(dbl, contrast_apart(0), 1), "one session");
	cr_assert(eq(int, contrast_judge(&c, &p, 0.02, 0).alone, VERDICT_SLOWER), "one session");
	c.apart = contrast_apart(0.01);
	cr_assert(eq(int, contrast_judge(&c, &p, 0.02, 0).alone, VERDICT_INCONCLUSIVE), "two");
	cr_assert(eq(int, contrast_judge(&c, &p, 0.01, 0).alone, VERDICT_SLOWER), "two, 1 %%");
	cr_assert(eq(int, contrast_judge(&c, &p, 0.07, 0).alone, VERDICT_SAME), "two, 7 %%");
	cr_assert(zero(int, contrast_ratio(&in, &c, &p)), "ratio");
	cr_assert(eq(dbl, in.value, 1.04), "the value stays");
	cr_assert(epsilon_eq(dbl, in.lo, 1.04 / 1.023537, 1e-6), "%g", in.lo);
	cr_assert(epsilon_eq(dbl, in.hi, 1.04 * 1.023537, 1e-6), "%g", in.hi);
	contrast_release(&c);
}

/* ---- sessions that could stop themselves --------------------------------------------------- */

/* 5 % / 7: 8 pairs that agree give 1 / 256, 7 give 1 / 128. */
Test(small_contrast, looks_share_the_level)
{
	const double b[] = { 2, 2, 2, 2, 2, 2, 2, 2 };
	struct contrast c;

	contrast_init(&c, 8, 8, true, 7);
	cr_assert(epsilon_eq(dbl, c.tail, 0.05 / 7, 1e-15), "%g", c.tail);
	cr_assert(epsilon_eq(dbl, c.level, 1 - 2.0 / 256, 1e-12), "%g", c.level);
	cr_assert(eq(int, contrast_judge(&c, &(struct point_pair){ b, one }, 0.02, 0).alone,
		     VERDICT_SLOWER),
		  "8");
	contrast_release(&c);
	contrast_init(&c, 7, 7, true, 7);
	cr_assert(eq(int, c.rank, 0), "no interval");
	cr_assert(isnan(c.level), "%g", c.level);
	cr_assert(not(contrast_judge(&c, &(struct point_pair){ b, one }, 0.02, 0).known), "7");
	contrast_release(&c);
}

Test(small_contrast, the_processes_that_it_takes)
{
	cr_assert(eq(int, contrast_processes_needed(0.05, true), 5), "pairs");
	cr_assert(eq(int, contrast_processes_needed(0.025, true), 6), "their mean");
	cr_assert(eq(int, contrast_processes_needed(0.025 / 12, true), 9), "a dozen");
	cr_assert(eq(int, contrast_processes_needed(0.05, false), 3), "3 a side: 1 of 20");
	cr_assert(eq(int, contrast_processes_needed(0.025 / 12, false), 6), "a dozen");
}

/* ---- values -------------------------------------------------------------------------------- */

/* Each process that is slower at one point is faster at the other by as much. */
Test(small_contrast, a_process_is_taken_with_all_its_points)
{
	const double slow[] = { 1, 2, 4, 8, 16 }, fast[] = { 16, 8, 4, 2, 1 };
	const struct point_pair point[] = { { slow, one }, { fast, one } };
	struct contrast c = contrast(5, 5, true);
	double b[5], a[5];

	contrast_means(&c, point, 2, b, a);
	for (int i = 0; i < 5; i++) {
		cr_assert(epsilon_eq(dbl, b[i], 4, 1e-14), "%d: %g", i, b[i]);
		cr_assert(epsilon_eq(dbl, a[i], 1, 1e-14), "%d: %g", i, a[i]);
	}
	contrast_release(&c);
}

Test(small_contrast, a_difference_is_what_the_ratio_adds)
{
	const double a[] = { 100, 200, 300, 400, 500 };
	const double b[] = { 110, 180, 360, 404, 350 }; /* 1.1, 0.9, 1.2, 1.01, 0.7 */
	struct contrast c = contrast(5, 5, true);
	struct interval in;

	cr_assert(zero(int, contrast_difference(&in, &c, &(struct point_pair){ b, a })), "b - a");
	cr_assert(epsilon_eq(dbl, in.value, 3, 1e-10), "%g", in.value);
	cr_assert(epsilon_eq(dbl, in.lo, -90, 1e-10), "%g", in.lo);
	cr_assert(epsilon_eq(dbl, in.hi, 60, 1e-10), "%g", in.hi);
	contrast_release(&c);
}

/* Times of a processor may be 0: 5 of 6 pairs' values, whose interval is from end to end. */
Test(small_contrast, a_median_of_one_side_may_be_of_zeros)
{
	const double value[] = { 0, 0.3, 0, 0.1, 0, 0.2 };
	struct contrast pairs, groups;
	struct interval of;

	contrast_init(&pairs, 6, 6, true, 1);
	contrast_init(&groups, 6, 6, false, 1);
	cr_expect(zero(int, contrast_median(&of, &pairs, value)));
	cr_expect(epsilon_eq(dbl, of.value, 0.05, 1e-12));
	cr_expect(zero(dbl, of.lo));
	cr_expect(epsilon_eq(dbl, of.hi, 0.3, 1e-12));
	cr_expect(eq(int, of.n, 6));
	cr_expect(of.known);
	cr_expect(eq(int, contrast_median(&of, &groups, value), -EINVAL));
	cr_expect(eq(int, contrast_median(&of, &pairs, (const double[]){ 0, 1, 2, 3, 4, NAN }),
		     -EINVAL));
	contrast_release(&pairs);
	contrast_release(&groups);
}

Test(small_contrast, times_are_positive_numbers)
{
	static const double bad[] = { 0, -1, NAN, INFINITY };
	struct contrast c = contrast(5, 5, true);

	for (int i = 0; i < 4; i++) {
		double value[] = { 1, 2, 3, 4, bad[i] };
		struct interval in;

		cr_assert(eq(int, contrast_ratio(&in, &c, &(struct point_pair){ value, one }),
			     -EINVAL),
			  "b %d", i);
		cr_assert(not(in.known), "b %d", i);
		cr_assert(eq(int, contrast_difference(&in, &c, &(struct point_pair){ one, value }),
			     -EINVAL),
			  "a %d", i);
		cr_assert(
			not(contrast_judge(&c, &(struct point_pair){ value, one }, 0.02, 0).known),
			"judged %d", i);
	}
	contrast_release(&c);
}

/* ---- what cannot be ------------------------------------------------------------------------- */

struct cannot_be {
	int nb, na, looks;
	bool paired;
};

ParameterizedTestParameters(small_contrast, what_cannot_be_compared)
{
	static struct cannot_be cases[] = { { 0, 5, 1, false },
					    { 5, 0, 1, false },
					    { CONTRAST_N_MAX + 1, 5, 1, false },
					    { 5, CONTRAST_N_MAX + 1, 1, false },
					    { 5, 5, 0, false },
					    { 5, 6, 1, true } };

	return cr_make_param_array(struct cannot_be, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct cannot_be *at, small_contrast, what_cannot_be_compared, .signal = SIGABRT)
{
	struct contrast c;

	contrast_init(&c, at->nb, at->na, at->paired, at->looks);
}

/* ---- many points --------------------------------------------------------------------------- */

/* The first k of MANY points take twice as long; the last one was not measured. */
static int found_slower(int k, int n, bool paired)
{
	struct contrast c = contrast(n, n, paired);
	struct judged_point out[MANY];
	struct point_pair pair[MANY];
	double two[N_MAX];
	int found = 0;

	for (int i = 0; i < n; i++)
		two[i] = 2;
	for (int i = 0; i < MANY; i++)
		pair[i] = (struct point_pair){ i < k ? two : one, i < MANY - 1 ? one : NULL };
	contrast_points(out, pair, MANY, &c, 0.02);
	for (int i = 0; i < MANY; i++)
		found += out[i].judged.verdict == VERDICT_SLOWER;
	cr_assert(not(out[MANY - 1].judged.known), "not measured");
	cr_assert(eq(int, out[k].judged.verdict, VERDICT_SAME), "the others");
	contrast_release(&c);
	return found;
}

/* 97 / 252 / 8 < 0.05 < 97 / 252 / 7; of 6 pairs 97 / 64 / 31 < 0.05 < 97 / 64 / 30 */
Test(small_contrast, points_are_found_where_there_are_enough_of_them)
{
	cr_assert(eq(int, found_slower(8, 5, false), 8), "8");
	cr_assert(eq(int, found_slower(7, 5, false), 0), "7");
	cr_assert(eq(int, found_slower(1, 10, false), 1), "of 10 processes");
	cr_assert(eq(int, found_slower(31, 6, true), 31), "31");
	cr_assert(eq(int, found_slower(30, 6, true), 0), "30");
}
