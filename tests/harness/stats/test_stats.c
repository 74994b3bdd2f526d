/*
 * test_stats.c - harness/stats/stats.h: samples, process values and modes, against answers worked
 * by hand and the GNU Scientific Library.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/stats/stats.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

TestSuite(small_stats, .timeout = 300);

#define COUNT(a) ((int64_t)(sizeof(a) / sizeof(*(a))))

static void near(double got, double want, const char *what)
{
	cr_assert(epsilon_eq(dbl, got, want, 1e-13 * (1 + fabs(want))), "%s: %.17g, not %.17g",
		  what, got, want);
}

static void expect_sample(const struct sample *got, const struct sample *want)
{
	cr_assert(eq(i64, got->n, want->n), "n");
	near(got->min, want->min, "min");
	near(got->p10, want->p10, "p10");
	near(got->p25, want->p25, "p25");
	near(got->median, want->median, "median");
	near(got->p75, want->p75, "p75");
	near(got->p90, want->p90, "p90");
	near(got->p99, want->p99, "p99");
	near(got->max, want->max, "max");
	near(got->mad, want->mad, "mad");
}

/* ---- samples -------------------------------------------------------------------------------- */

Test(small_stats, the_median_of_few)
{
	double v[] = { 5, 1, 4, 2 };

	cr_assert(isnan(median_of(v, 0)), "none");
	near(median_of(v, 1), 5, "one");
	near(median_of(v, 3), 4, "the middle one");
	near(median_of(v, 4), 3, "between the middle ones");
}

Test(small_stats, sample_worked_by_hand)
{
	const double odd[] = { 4, 1, 3, 2, 10 }, even[] = { 4, 2, 1, 3 }, one[] = { -7 };
	struct sample s;

	cr_assert(zero(int, sample_of(&s, odd, 5)), "odd");
	expect_sample(&s, &(struct sample){ 5, 1, 1.4, 2, 3, 4, 7.6, 9.76, 10, 1 });
	cr_assert(eq(dbl, odd[0], 4), "values stay as they were");
	cr_assert(zero(int, sample_of(&s, even, 4)), "even");
	expect_sample(&s, &(struct sample){ 4, 1, 1.3, 1.75, 2.5, 3.25, 3.7, 3.97, 4, 1 });
	cr_assert(zero(int, sample_of(&s, one, 1)), "one");
	expect_sample(&s, &(struct sample){ 1, -7, -7, -7, -7, -7, -7, -7, -7, 0 });
}

Test(small_stats, sample_agrees_with_gsl)
{
	enum { N = 1001 };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double value[N], work[N];

	for (size_t n = 2; n <= N; n += n < 20 ? 1 : 109) {
		struct sample s;

		for (size_t i = 0; i < n; i++)
			value[i] = gsl_ran_lognormal(rng, 3, 0.5);
		cr_assert(zero(int, sample_of(&s, value, (int64_t)n)), "n = %zu", n);
		near(s.mad, gsl_stats_mad0(value, 1, n, work), "mad");
		gsl_sort(value, 1, n);
		near(s.p10, gsl_stats_quantile_from_sorted_data(value, 1, n, 0.10), "p10");
		near(s.p25, gsl_stats_quantile_from_sorted_data(value, 1, n, 0.25), "p25");
		near(s.median, gsl_stats_median_from_sorted_data(value, 1, n), "median");
		near(s.p75, gsl_stats_quantile_from_sorted_data(value, 1, n, 0.75), "p75");
		near(s.p90, gsl_stats_quantile_from_sorted_data(value, 1, n, 0.90), "p90");
		near(s.p99, gsl_stats_quantile_from_sorted_data(value, 1, n, 0.99), "p99");
		cr_assert(s.min == value[0] && s.max == value[n - 1], "ends");
	}
	gsl_rng_free(rng);
}

Test(small_stats, quantile_at_the_ends_and_outside)
{
	const double sorted[] = { 1, 2, 4 };

	cr_assert(eq(dbl, quantile_of_sorted(sorted, 3, 0), 1), "0");
	cr_assert(eq(dbl, quantile_of_sorted(sorted, 3, 0.75), 3), "0.75");
	cr_assert(eq(dbl, quantile_of_sorted(sorted, 3, 1), 4), "1");
	cr_assert(isnan(quantile_of_sorted(sorted, 3, 1.1)), "1.1");
	cr_assert(isnan(quantile_of_sorted(sorted, 3, -0.1)), "-0.1");
	cr_assert(isnan(quantile_of_sorted(sorted, 3, NAN)), "NaN");
	cr_assert(isnan(quantile_of_sorted(sorted, 0, 0.5)), "no values");
}

Test(small_stats, what_is_no_number_is_refused)
{
	const double bad[] = { NAN, INFINITY, -INFINITY };

	for (int64_t i = 0; i < 3; i++) {
		for (int64_t place = 0; place < 5; place++) {
			double value[] = { 4, 1, 3, 2, 10 };
			struct process_value p;
			struct modality m;
			struct sample s;

			value[place] = bad[i];
			cr_assert(eq(int, sample_of(&s, value, 5), -EINVAL), "%g", bad[i]);
			cr_assert(isnan(s.median) && isnan(s.max), "%g", bad[i]);
			cr_assert(eq(int, process_value_of(&p, value, NULL, 5), -EINVAL), "value");
			cr_assert(isnan(p.value), "%g", bad[i]);
			cr_assert(eq(int, modality_of(&m, value, 5), -EINVAL), "modality");
			cr_assert(isnan(m.mode[0].median) && isnan(m.mode[1].median));
			cr_assert(eq(dbl, m.mode[0].share, 1));
			cr_assert(zero(dbl, m.mode[1].share));
			cr_assert(zero(int, m.bimodal), "%g", bad[i]);
		}
	}
}

/* A block that is marked is looked at too. */
Test(small_stats, no_values_and_marked_nan_are_refused)
{
	const double value[] = { 1, 2, NAN };
	const uint32_t marks[] = { 0, 0, 1 };
	struct process_value p;
	struct modality m;
	struct sample s;

	cr_assert(eq(int, sample_of(&s, value, 0), -EINVAL), "sample");
	cr_assert(eq(int, process_value_of(&p, value, marks, 0), -EINVAL), "process value");
	cr_assert(eq(int, modality_of(&m, value, 0), -EINVAL), "modality");
	cr_assert(eq(int, process_value_of(&p, value, marks, 3), -EINVAL), "marked");
	cr_assert(isnan(p.value) && isnan(p.used.min), "marked");
}

/* ---- process values ------------------------------------------------------------------------- */

struct process_case {
	const char *what;
	int64_t n;
	double block[10];
	uint32_t marks[10];
	double value, marked_share;
	int64_t used;
	bool noisy;
};

static const struct process_case process_cases[] = {
	{ "none marked", 4, { 1, 2, 3, 40 }, { 0 }, 2.5, 0, 4, false },
	{ "marks hardly matter: 100.5 without, 101 with",
	  10,
	  { 200, 100, 200, 100, 100, 101, 200, 101, 101, 200 },
	  { 1, 0, 2, 0, 0, 0, 4, 0, 0, 0x80000000 },
	  100.5,
	  0.4,
	  6,
	  false },
	{ "marks matter: 102 without, 104 with",
	  10,
	  { 100, 100, 100, 104, 104, 104, 200, 200, 200, 200 },
	  { 0, 0, 0, 0, 0, 0, 1, 1, 1, 1 },
	  102,
	  0.4,
	  6,
	  true },
	{ "1 % apart is not more", 3, { 100, 100, 101 }, { 0, 0, 1 }, 100, 1.0 / 3, 2, false },
	{ "1 % exactly: 100 and 101",
	  4,
	  { 100, 100, 102, 102 },
	  { 0, 0, 1, 1 },
	  100,
	  0.5,
	  2,
	  false },
	{ "more than 1 %", 4, { 100, 100, 102.1, 102.1 }, { 0, 0, 1, 1 }, 100, 0.5, 2, true },
	{ "fewer than half unmarked, and alike",
	  3,
	  { 5, 5, 5 },
	  { 0, 1, 1 },
	  5,
	  2.0 / 3,
	  3,
	  false },
	{ "fewer than half, and moved", 3, { 5, 6, 6 }, { 0, 1, 1 }, 6, 2.0 / 3, 3, true },
	{ "all marked: nothing shows that they are not moved",
	  3,
	  { 2, 2, 2 },
	  { 1, 1, 1 },
	  2,
	  1,
	  3,
	  true },
	{ "faster when marked", 4, { 100, 100, 90, 90 }, { 0, 0, 1, 1 }, 100, 0.5, 2, true },
};

Test(small_stats, process_values_worked_by_hand)
{
	for (int64_t i = 0; i < COUNT(process_cases); i++) {
		const struct process_case *c = &process_cases[i];
		struct process_value p;

		cr_assert(zero(int, process_value_of(&p, c->block, c->marks, c->n)), "%s", c->what);
		near(p.value, c->value, c->what);
		near(p.used.median, c->value, c->what);
		near(p.marked_share, c->marked_share, c->what);
		cr_assert(eq(i64, p.used.n, c->used), "%s: used %lld", c->what,
			  (long long)p.used.n);
		cr_assert(eq(i64, p.all.n, c->n), "%s: all", c->what);
		cr_assert(eq(int, p.noisy, c->noisy), "%s: noisy %d", c->what, p.noisy);
	}
}

Test(small_stats, without_marks_all_blocks_count)
{
	const double block[] = { 3, 1, 2 };
	struct process_value p;

	cr_assert(zero(int, process_value_of(&p, block, NULL, 3)), "no marks");
	cr_assert(p.value == 2 && p.marked_share == 0 && !p.noisy, "no marks");
}

/* ---- modality ------------------------------------------------------------------------------- */

struct modality_case {
	const char *what;
	int64_t n;
	double value[8];
	int64_t below; /* values in the lower mode; 0: one mode */
	double low, high;
};

static const struct modality_case modality_cases[] = {
	{ "two", 6, { 121, 100, 102, 120, 101, 103 }, 4, 101.5, 120.5 },
	{ "5 gaps", 6, { 100, 101, 102, 103, 104, 109 }, 0, 102.5, NAN },
	{ "more than 5 gaps", 6, { 100, 101, 102, 103, 104, 109.5 }, 5, 102, 109.5 },
	{ "under 3 %", 5, { 100, 100.1, 100.2, 100.3, 103.2 }, 0, 100.2, NAN },
	{ "over 3 %", 5, { 100, 100.1, 100.2, 100.3, 103.5 }, 4, 100.15, 103.5 },
	{ "the largest gap, the first", 8, { 10, 11, 12, 31, 32, 40, 41, 42 }, 3, 11, 40 },
	{ "the largest gap, the last", 8, { 10, 11, 12, 20, 21, 40, 41, 42 }, 5, 12, 41 },
	{ "equal values", 5, { 1, 1, 1, 1, 1.05 }, 4, 1, 1.05 },
	{ "all equal", 5, { 2, 2, 2, 2, 2 }, 0, 2, NAN },
	{ "three cannot say", 3, { 1, 1.0001, 5 }, 0, 1.0001, NAN },
	{ "two cannot say", 2, { 1, 5 }, 0, 3, NAN },
	{ "one cannot say", 1, { 1 }, 0, 1, NAN },
	{ "four can", 4, { 1, 1.01, 1.02, 5 }, 3, 1.01, 5 },
};

Test(small_stats, modes_worked_by_hand)
{
	for (int64_t i = 0; i < COUNT(modality_cases); i++) {
		const struct modality_case *c = &modality_cases[i];
		double share = c->below ? (double)c->below / (double)c->n : 1;
		struct modality m;

		cr_assert(zero(int, modality_of(&m, c->value, c->n)), "%s", c->what);
		cr_assert(eq(int, m.bimodal, c->below > 0), "%s", c->what);
		near(m.mode[0].share, share, c->what);
		near(m.mode[1].share, 1 - share, c->what);
		near(m.mode[0].median, c->low, c->what);
		if (c->below)
			near(m.mode[1].median, c->high, c->what);
		else
			cr_assert(isnan(m.mode[1].median), "%s", c->what);
	}
}

/* n values at 100 and a little, `apart` of them 50 above. */
static bool bimodal_with(int64_t n, int64_t apart)
{
	double value[200];
	struct modality m;

	for (int64_t i = 0; i < n; i++)
		value[i] = 100 + 0.001 * (double)i + (i < apart ? 50 : 0);
	cr_assert(zero(int, modality_of(&m, value, n)), "%lld values", (long long)n);
	return m.bimodal;
}

Test(small_stats, a_few_outliers_of_many_are_no_mode)
{
	cr_assert(bimodal_with(30, 1), "one process of 30");
	cr_assert(zero(int, bimodal_with(200, 5)), "5 blocks of 200");
	cr_assert(bimodal_with(200, 6), "6 blocks of 200");
	cr_assert(zero(int, bimodal_with(200, 195)), "all but 5 of 200");
	cr_assert(bimodal_with(200, 194), "all but 6 of 200");
}
