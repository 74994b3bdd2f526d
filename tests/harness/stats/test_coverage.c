/*
 * test_coverage.c - how often 95 % intervals hold the truth.
 *
 * Simulated systems whose true time is known, with random numbers that are the same in each run.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/stats/decide.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

TestSuite(large_coverage, .timeout = 300);

enum { N_MAX = 30 };

static double draws[BOOTSTRAP_DRAWS];
static gsl_rng *rng;

static void start_rng(void)
{
	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, 20261121);
}

static void free_rng(void)
{
	gsl_rng_free(rng);
}

/* ---- process effects: medians of 1 ---------------------------------------------------------- */

typedef double effect(void);

static double lognormal(void)
{
	return exp(0.015 * gsl_ran_ugaussian(rng));
}

static double normal(void)
{
	return 1 + 0.05 * gsl_ran_ugaussian(rng);
}

/* As where most processes are fast and some are slow. */
static double skewed(void)
{
	return 1 + 0.05 * (gsl_ran_exponential(rng, 1) - M_LN2);
}

static const struct {
	const char *name;
	effect *draw;
} effects[] = { { "lognormal", lognormal }, { "normal", normal }, { "skewed", skewed } };

static void fill(double *value, int n, effect *draw)
{
	for (int i = 0; i < n; i++)
		value[i] = draw();
}

static bool holds_one(const struct interval *i)
{
	return i->known && i->lo <= 1 && 1 <= i->hi;
}

/* ---- coverage ------------------------------------------------------------------------------- */

/* Percent of trials whose interval of the median holds the true median. */
static double coverage_of_median(int n, effect *draw, int trials)
{
	struct resamples r;
	double value[N_MAX];
	struct interval in;
	int held = 0;

	cr_assert(zero(int, resamples_init(&r, n, 1, 0)), "n = %d", n);
	for (int t = 0; t < trials; t++) {
		fill(value, n, draw);
		cr_assert(zero(int, bootstrap_median(&in, &r, value, draws)), "trial %d", t);
		held += holds_one(&in);
	}
	resamples_release(&r);
	return 100.0 * held / trials;
}

static void expect_coverage(double got, double least, double most, const char *of, int n)
{
	cr_log_info("%s, n = %d: %.1f %%\n", of, n, got);
	cr_assert(least <= got && got <= most, "%s, n = %d: covers %.1f %%", of, n, got);
}

Test(large_coverage, of_medians, .init = start_rng, .fini = free_rng)
{
	static const int n[] = { 5, 10, 20, 30 };

	for (size_t e = 0; e < sizeof(effects) / sizeof(*effects); e++) {
		for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++)
			expect_coverage(coverage_of_median(n[i], effects[e].draw, 600), 91, 97,
					effects[e].name, n[i]);
	}
}

/* As where processes failed. With a plain quantile of the draws 7 and 15 cover 88 %. */
Test(large_coverage, of_medians_of_other_n, .init = start_rng, .fini = free_rng)
{
	static const int n[] = { 6, 7, 8, 9, 13, 15 };

	for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++)
		expect_coverage(coverage_of_median(n[i], lognormal, 400), 91, 98.5, "lognormal",
				n[i]);
}

enum { LOOKS = 4 };
static const int look[LOOKS] = { 5, 10, 20, 30 };

/* One point that stops as soon as it is narrow itself: the hardest case of the sequential rule. */
static bool holds_when_stopped(struct resamples *r, double sd)
{
	double value[N_MAX];
	struct interval in;
	struct interim found;

	for (int i = 0; i < N_MAX; i++)
		value[i] = exp(sd * gsl_ran_ugaussian(rng));
	for (int i = 0; i < LOOKS; i++) {
		int n = look[i], next = i + 1 < LOOKS ? look[i + 1] : 0;

		cr_assert(zero(int, bootstrap_median(&in, &r[i], value, draws)), "n = %d", n);
		cr_assert(zero(int, analyse_interim(&found, next, &in, 1, HALF_WIDTH_MAX, NULL)),
			  "n = %d", n);
		if (found.stop)
			break;
	}
	return holds_one(&in);
}

Test(large_coverage, of_medians_under_the_sequential_rule, .init = start_rng, .fini = free_rng)
{
	static const double sd[] = { 0.015, 0.03 };
	enum { TRIALS = 600 };
	struct resamples r[LOOKS];

	for (int i = 0; i < LOOKS; i++)
		cr_assert(zero(int, resamples_init(&r[i], look[i], 1, 0)), "n = %d", look[i]);
	for (size_t s = 0; s < sizeof(sd) / sizeof(*sd); s++) {
		int held = 0;

		for (int t = 0; t < TRIALS; t++)
			held += holds_when_stopped(r, sd[s]);
		expect_coverage(100.0 * held / TRIALS, 89, 97, "sequential", (int)(1000 * sd[s]));
	}
	for (int i = 0; i < LOOKS; i++)
		resamples_release(&r[i]);
}
