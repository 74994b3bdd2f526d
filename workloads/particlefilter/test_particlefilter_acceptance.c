/*
 * test_particlefilter_acceptance.c - many seeds against the statistics of the specification's own
 * runs: golden/acceptance_summary.csv, by its test: means within four standard errors, variances
 * within a factor of 0.3 to 3.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/on_cpu.h"
#include "workloads/particlefilter/test_run.h"

TestSuite(small_particlefilter_acceptance, .timeout = 100);
TestSuite(large_particlefilter_acceptance, .timeout = 500);

enum { RUNS = 32, FRAMES = 9 };

/* What is compared, by its names in the golden file. */
enum { RMSE, RMSE_HALF, BIAS_ROW, BIAS_COL, ESS, LAST_XE, LAST_YE, QUANTITIES };

static const char *const quantities[QUANTITIES] = {
	"rmse_truth",	"rmse_truth_plus_half", "mean_err_row",
	"mean_err_col", "mean_ess_over_N",	"final_xe",
	"final_ye",
};

static void measure(const struct pf_estimate *ring, int64_t n, double q[QUANTITIES])
{
	memset(q, 0, QUANTITIES * sizeof(*q));
	for (int k = 1; k <= FRAMES; k++) {
		double row = ring[k - 1].xe - (64 - 2 * (k - 1)), col = ring[k - 1].ye - (63 + k);

		q[RMSE] += (row * row + col * col) / FRAMES;
		q[RMSE_HALF] += ((row - 0.5) * (row - 0.5) + (col - 0.5) * (col - 0.5)) / FRAMES;
		q[BIAS_ROW] += row / FRAMES;
		q[BIAS_COL] += col / FRAMES;
		q[ESS] += ring[k - 1].ess / (double)n / FRAMES;
	}
	q[RMSE] = sqrt(q[RMSE]);
	q[RMSE_HALF] = sqrt(q[RMSE_HALF]);
	q[LAST_XE] = ring[FRAMES - 1].xe;
	q[LAST_YE] = ring[FRAMES - 1].ye;
}

/* Seeds apart from those of the golden runs, which count from 0. */
static void run_seed(struct run *r, int seed, double q[QUANTITIES])
{
	struct pf_estimate ring[FRAMES];

	r->s.filter.rules.seed = 1000000 + (uint64_t)seed;
	run_reset(r);
	run_steps(r, FRAMES);
	particlefilter_read_ring(&r->s.filter, 0, sizeof(ring) / sizeof(*ring), ring);
	measure(ring, r->o.particles, q);
}

struct reference {
	double mean, sd, runs;
};

static struct reference golden_reference(const char *config, int64_t n, const char *quantity)
{
	struct csv csv = golden_open("acceptance_summary.csv");
	struct reference found = { NAN, NAN, NAN };

	for (int64_t i = 0; i < csv.rows; i++)
		if (!strcmp(csv_text(&csv, i, csv_column(&csv, "config")), config) &&
		    golden_number(&csv, i, "N") == (double)n &&
		    !strcmp(csv_text(&csv, i, csv_column(&csv, "quantity")), quantity))
			found = (struct reference){ golden_number(&csv, i, "mean"),
						    golden_number(&csv, i, "sd"),
						    golden_number(&csv, i, "runs") };
	cr_assert(found.runs > 0, "%s N=%ld has no %s", config, (long)n, quantity);
	csv_free(&csv);
	return found;
}

/* Mean and variance of the runs' quantity against the golden ones. */
static void quantity_agrees(const char *config, int64_t n, int i, double q[RUNS][QUANTITIES])
{
	struct reference want = golden_reference(config, n, quantities[i]);
	double mean = 0, variance = 0, error = want.sd * sqrt(1.0 / RUNS + 1 / want.runs), ratio;

	for (int run = 0; run < RUNS; run++)
		mean += q[run][i] / RUNS;
	for (int run = 0; run < RUNS; run++)
		variance += (q[run][i] - mean) * (q[run][i] - mean) / (RUNS - 1);
	ratio = variance / (want.sd * want.sd);
	cr_assert(fabs(mean - want.mean) <= 4 * error, "%s N=%ld: %s is %g, not %g: %.1f errors",
		  config, (long)n, quantities[i], mean, want.mean, fabs(mean - want.mean) / error);
	cr_assert(ratio >= 0.3 && ratio <= 3, "%s N=%ld: variance of %s is %g times the golden one",
		  config, (long)n, quantities[i], ratio);
}

static void accepted(enum pf_variant variant, int64_t n, enum pf_granularity granularity,
		     enum pf_precision precision)
{
	static const char *const configs[] = { "matched", "philox", "round" };
	struct particlefilter_opts o = default_opts();
	double q[RUNS][QUANTITIES];
	int worst = variant == PF_RODINIA ? RMSE_HALF : RMSE;
	struct run *r;

	o.variant = variant;
	o.rng = variant == PF_RODINIA ? PF_RNG_PHILOX : PF_RNG_AUTO;
	o.particles = n;
	o.granularity = granularity;
	o.precision = precision;
	r = run_begin(o);
	for (int seed = 0; seed < RUNS; seed++) {
		run_seed(r, seed, q[seed]);
		cr_assert(n < 10000 || q[seed][worst] <= 0.2, "%s N=%ld, seed %d: error %g",
			  configs[variant], (long)n, seed, q[seed][worst]);
	}
	for (int i = 0; i < QUANTITIES; i++)
		quantity_agrees(configs[variant], n, i, q);
	run_end(r);
}

Test(small_particlefilter_acceptance, a_thousand_particles)
{
	need_device();
	accepted(PF_MATCHED, 1000, PF_BY_FRAME, PF_DOUBLE);
}

Test(large_particlefilter_acceptance, a_thousand_particles)
{
	need_device();
	accepted(PF_RODINIA, 1000, PF_BY_FRAME, PF_DOUBLE);
	accepted(PF_ROUND, 1000, PF_BY_SPLIT, PF_DOUBLE);
	accepted(PF_MATCHED, 1000, PF_BY_FRAME, PF_FLOAT);
	accepted(PF_ROUND, 1000, PF_BY_FRAME, PF_FLOAT);
}

/* On the CPU device each precision and granularity once; the variants are above. */
Test(large_particlefilter_acceptance, ten_thousand_particles)
{
	need_device();
	accepted(PF_RODINIA, 10000, PF_BY_FRAME, PF_DOUBLE);
	accepted(PF_MATCHED, 10000, PF_BY_SPLIT, PF_FLOAT);
	if (ON_CPU)
		return;
	accepted(PF_ROUND, 10000, PF_BY_FRAME, PF_FLOAT);
	accepted(PF_MATCHED, 10000, PF_BY_FRAME, PF_DOUBLE);
	accepted(PF_ROUND, 10000, PF_BY_FRAME, PF_DOUBLE);
}

/* On a CPU this takes a minute. */
#ifndef RIFT_CPU_DEVICE
Test(large_particlefilter_acceptance, a_hundred_thousand_particles)
{
	need_device();
	accepted(PF_MATCHED, 100000, PF_BY_FRAME, PF_DOUBLE);
	accepted(PF_RODINIA, 100000, PF_BY_FRAME, PF_DOUBLE);
	accepted(PF_ROUND, 100000, PF_BY_FRAME, PF_DOUBLE);
	accepted(PF_MATCHED, 100000, PF_BY_SPLIT, PF_DOUBLE);
	accepted(PF_MATCHED, 100000, PF_BY_FRAME, PF_FLOAT);
}
#endif
