/*
 * test_replicates.c - why processes are the replicates, not blocks: one simulated system measured
 * twice, with random numbers that are the same in each run.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/stats/contrast.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>

TestSuite(small_replicates, .timeout = 300);

enum { PROCESSES = 10, BLOCKS = 40, TRIALS = 200 };

static gsl_rng *rng;
static struct contrast contrast;

static void start(void)
{
	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, 20261121);
	contrast_init(&contrast, PROCESSES, PROCESSES, false, 1);
}

static void stop(void)
{
	contrast_release(&contrast);
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

/* Is one of them slower or faster than the other? */
static enum ratio_verdict verdict_on(double b[PROCESSES][BLOCKS], double a[PROCESSES][BLOCKS],
				     double margin)
{
	double values[2][PROCESSES];
	struct process_value v;

	for (int p = 0; p < 2 * PROCESSES; p++) {
		const double *block = p % 2 ? a[p / 2] : b[p / 2];

		cr_assert(zero(int, process_value_of(&v, block, NULL, BLOCKS)), "process %d", p);
		values[p % 2][p / 2] = v.value;
	}
	return contrast_judge(&contrast, &(struct point_pair){ values[0], values[1] }, margin, 0)
		.alone;
}

static bool differs(enum ratio_verdict v)
{
	return v == VERDICT_SLOWER || v == VERDICT_FASTER;
}

/*
 * One system against itself. Pooled blocks call it two in most trials, with one process a side and
 * with ten; processes in 10 %, 5 % for each direction, and with a margin of 2 % never.
 */
Test(small_replicates, pooled_blocks_find_differences_that_are_none, .init = start, .fini = stop)
{
	static double b[PROCESSES][BLOCKS], a[PROCESSES][BLOCKS];
	int one = 0, ten = 0, bare = 0, with_margin = 0;

	for (int t = 0; t < TRIALS; t++) {
		fill_system(b);
		fill_system(a);
		one += mann_whitney_p(b[0], a[0], BLOCKS) < 0.05;
		ten += mann_whitney_p(b[0], a[0], PROCESSES * BLOCKS) < 0.05;
		bare += differs(verdict_on(b, a, 0));
		with_margin += differs(verdict_on(b, a, MARGIN_DEFAULT));
	}
	cr_log_info("differences found: pooled %d and %d, processes %d, with margin %d of %d\n",
		    one, ten, bare, with_margin, TRIALS);
	cr_assert(le(dbl, 0.6, (double)one / TRIALS), "one process a side: %d", one);
	cr_assert(le(dbl, 0.5, (double)ten / TRIALS), "ten processes a side: %d", ten);
	cr_assert(le(dbl, (double)bare / TRIALS, 0.13), "processes: %d", bare);
	cr_assert(zero(int, with_margin), "with a margin: %d", with_margin);
}

/* And a difference of 10 % is found. */
Test(small_replicates, processes_find_a_difference_that_is_one, .init = start, .fini = stop)
{
	static double b[PROCESSES][BLOCKS], a[PROCESSES][BLOCKS];
	int slower = 0, faster = 0;

	for (int t = 0; t < TRIALS / 4; t++) {
		fill_system(b);
		fill_system(a);
		for (int i = 0; i < PROCESSES * BLOCKS; i++)
			b[i / BLOCKS][i % BLOCKS] *= 1.1;
		slower += verdict_on(b, a, MARGIN_DEFAULT) == VERDICT_SLOWER;
		faster += verdict_on(b, a, MARGIN_DEFAULT) == VERDICT_FASTER;
	}
	cr_assert(le(dbl, 0.98, 4.0 * slower / TRIALS), "found in %d", slower);
	cr_assert(zero(int, faster), "the wrong way round: %d", faster);
}
