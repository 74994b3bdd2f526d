/*
 * test_replicates.c - why processes are the replicates, not blocks: one simulated system measured
 * twice, with random numbers that are the same in each run.
 */
/* sanitizers: one thread */
#include "harness/stats/decide.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

TestSuite(small_replicates, .timeout = 300);

enum { PROCESSES = 10, BLOCKS = 40, TRIALS = 200 };

static double draws[BOOTSTRAP_DRAWS];
static gsl_rng *rng;
static struct resamples resampled[2];
static const struct groups groups = { &resampled[0], &resampled[1], false };

static void start(void)
{
	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, 20261121);
	for (uint32_t i = 0; i < 2; i++)
		cr_assert(zero(int, resamples_init(&resampled[i], PROCESSES, 1, i)), "%u", i);
}

static void stop(void)
{
	resamples_release(&resampled[0]);
	resamples_release(&resampled[1]);
	gsl_rng_free(rng);
}

/* A process is off by 1.5 %, its blocks by another 1 % each. */
static void fill_system(double block[PROCESSES][BLOCKS])
{
	for (int p = 0; p < PROCESSES; p++) {
		double process = exp(0.015 * gsl_ran_ugaussian(rng));

		for (int i = 0; i < BLOCKS; i++)
			block[p][i] = process * exp(0.01 * gsl_ran_ugaussian(rng));
	}
}

/*
 * The Mann-Whitney test on pooled blocks, two-sided p in the normal approximation: what rift does
 * not do. n blocks a side, none equal.
 */
static double mann_whitney_p(const double *b, const double *a, size_t n)
{
	double sorted[PROCESSES * BLOCKS], u = 0, mean = (double)(n * n) / 2;
	double sd = sqrt((double)(n * n * (2 * n + 1)) / 12);

	memcpy(sorted, a, n * sizeof(*a));
	gsl_sort(sorted, 1, n);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n && sorted[k] < b[i]; k++)
			u++;
	}
	return 2 * gsl_cdf_ugaussian_Q(fabs(u - mean) / sd);
}

static struct interval ratio_of_systems(double b[PROCESSES][BLOCKS], double a[PROCESSES][BLOCKS])
{
	double values[2][PROCESSES];
	struct process_value v;
	struct interval in;

	for (int p = 0; p < 2 * PROCESSES; p++) {
		const double *block = p % 2 ? a[p / 2] : b[p / 2];

		cr_assert(zero(int, process_value_of(&v, block, NULL, BLOCKS)), "process %d", p);
		values[p % 2][p / 2] = v.value;
	}
	cr_assert(zero(int, bootstrap_ratio(&in, &groups,
					    &(struct point_pair){ values[0], values[1] }, draws)),
		  "ratio");
	return in;
}

/*
 * One system against itself. Pooled blocks call it two in most trials, with one process a side and
 * with ten; the bootstrap over processes in about 5 %, and with a margin of 2 % never.
 */
Test(small_replicates, pooled_blocks_find_differences_that_are_none, .init = start, .fini = stop)
{
	static double b[PROCESSES][BLOCKS], a[PROCESSES][BLOCKS];
	static struct interval ratio[TRIALS];
	struct same_system bare, with_margin;
	int one = 0, ten = 0;

	for (int t = 0; t < TRIALS; t++) {
		fill_system(b);
		fill_system(a);
		one += mann_whitney_p(b[0], a[0], BLOCKS) < 0.05;
		ten += mann_whitney_p(b[0], a[0], PROCESSES * BLOCKS) < 0.05;
		ratio[t] = ratio_of_systems(b, a);
	}
	bare = same_system_of(ratio, TRIALS, 0);
	with_margin = same_system_of(ratio, TRIALS, MARGIN_DEFAULT);
	cr_log_info("differences found: pooled %d and %d, bootstrap %d, with margin %d of %d\n",
		    one, ten, bare.slower + bare.faster, with_margin.slower + with_margin.faster,
		    TRIALS);
	cr_assert(le(dbl, 0.6, (double)one / TRIALS), "one process a side: %d", one);
	cr_assert(le(dbl, 0.5, (double)ten / TRIALS), "ten processes a side: %d", ten);
	cr_assert(le(dbl, bare.share, 0.07), "bootstrap: %g", bare.share);
	cr_assert(eq(dbl, with_margin.share, 0), "with a margin: %g", with_margin.share);
}

/* And a difference of 10 % is found. */
Test(small_replicates, processes_find_a_difference_that_is_one, .init = start, .fini = stop)
{
	static double b[PROCESSES][BLOCKS], a[PROCESSES][BLOCKS];
	static struct interval ratio[TRIALS / 4];
	struct same_system s;

	for (int t = 0; t < TRIALS / 4; t++) {
		fill_system(b);
		fill_system(a);
		for (int i = 0; i < PROCESSES * BLOCKS; i++)
			b[i / BLOCKS][i % BLOCKS] *= 1.1;
		ratio[t] = ratio_of_systems(b, a);
	}
	s = same_system_of(ratio, TRIALS / 4, MARGIN_DEFAULT);
	cr_assert(le(dbl, 0.98, (double)s.slower / s.known), "found in %d of %d", s.slower,
		  s.known);
	cr_assert(eq(int, s.faster, 0), "the wrong way round: %d", s.faster);
}
