/*
 * test_price_spread.c - harness/profile/price_spread.h: how often the interval of a price holds
 * what is measured. Runs, sessions of launches and what is measured on B are drawn anew each time.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include <math.h>

#include "common/philox.h"
#include "harness/profile/price_spread.h"
#include "harness/stats/stats.h"
#include "tests/made_trace.h"
#include "tests/test.h"

TestSuite(small_price_spread, .timeout = 60);

enum { TRIALS = 100, RUNS = 5, LAUNCHES = 50, CALL_NS = 20000, KERNEL_NS = 500 };

static const struct kind_rules rules = KIND_DEFAULTS;

/* The i-th normal number of a kind in a trial. */
static double drawn(int trial, int kind, int i)
{
	return standard_normal(
		philox4x32((uint32_t)i, (uint32_t)kind, (uint32_t)trial, 0, 20261201));
}

static double median_run(double ns, double sd, int trial, int kind, double *run)
{
	double sorted[RUNS];

	for (int i = 0; i < RUNS; i++)
		sorted[i] = run[i] = ns * (1 + sd * drawn(trial, kind, i));
	return median_of(sorted, RUNS);
}

/* A session in which a launch call takes so long, known with that standard deviation. */
static void fit_as(struct fit *f, double call_ns, double sd_ns, int trial, int kind)
{
	double found = call_ns + sd_ns * drawn(trial, kind, 0);

	*f = (struct fit){ .n = RUNS, .has = { true, true, true } };
	f->model = (struct model){ .v = { [MODEL_C] = found,
					  [MODEL_P] = found,
					  [MODEL_G] = 2000,
					  [MODEL_Z] = found + 8000,
					  [MODEL_CLOCK] = 1,
					  [MODEL_Q] = INFINITY,
					  [MODEL_W] = found + 8000 } };
	f->param[MODEL_P].identified = true;
	f->param[MODEL_P].interval =
		(struct interval){ found, found - 2 * sd_ns, found + 2 * sd_ns, RUNS, true };
	f->draw = calloc(BOOTSTRAP_DRAWS, sizeof(*f->draw));
	cr_assert(ne(ptr, f->draw, NULL));
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++) {
		f->draw[d] = f->model;
		f->draw[d].v[MODEL_P] += sd_ns * drawn(trial, kind, d + 1);
	}
}

/* Launches in a row and a wait, and the runs without the recorder. */
static void write_program(struct made *made, const double *run)
{
	long end = LAUNCHES * MADE_C + MADE_L + KERNEL_NS + MADE_WAKE;

	made_begin(made, "", MADE_CALIBRATION);
	for (long i = 0; i < LAUNCHES; i++)
		made_kernel(made, 2, i * MADE_C, (i + 1) * MADE_C + MADE_L,
			    (i + 1) * MADE_C + MADE_L + KERNEL_NS);
	made_call(made, "sync_device", LAUNCHES * MADE_C, end, "");
	made->wall_ns = run;
	made_end(made, end, RUNS, 0);
}

/* Does the price of a program hold the median of as many runs on B? */
static bool holds(double sd_runs, double sd_launches, int trial)
{
	double a_ns = LAUNCHES * MADE_C + MADE_L + KERNEL_NS + MADE_WAKE;
	double b_ns = a_ns + (double)LAUNCHES * (CALL_NS - MADE_C), measured, run[RUNS];
	struct made made;
	struct profile profile;
	struct program_price price;
	struct fit a, b;
	struct price_sources sources = { .a = &a, .b = &b };
	bool inside;

	median_run(a_ns, sd_runs, trial, 0, run);
	write_program(&made, run);
	cr_assert(zero(int, profile_make(&profile, made.path, &rules, false)));
	made_remove(&made);
	fit_as(&a, MADE_C, 0.01 * MADE_C, trial, 1);
	fit_as(&b, CALL_NS, sd_launches * CALL_NS, trial, 2);
	program_price_make(&price, &profile, &sources);
	/* launches cost otherwise in the processes that are measured, and in their session */
	b_ns += LAUNCHES * CALL_NS * (sd_launches * drawn(trial, 3, 0) + 0.01 * drawn(trial, 4, 0));
	measured = b_ns + median_run(a_ns, sd_runs, trial, 5, run) - a_ns;
	inside = price.b_ns.lo <= measured && measured <= price.b_ns.hi;
	program_price_release(&price);
	profile_release(&profile);
	free(a.draw);
	free(b.draw);
	return inside;
}

/* Programs whose runs hardly differ, and much; launches known well, and hardly. */
Test(small_price_spread, intervals_hold_what_is_measured)
{
	static const double sd[][2] = {
		{ 0.003, 0.003 }, { 0.1, 0.003 }, { 0.003, 0.03 }, { 0.1, 0.02 }
	};

	for (size_t i = 0; i < sizeof(sd) / sizeof(*sd); i++) {
		int inside = 0;

		for (int trial = 0; trial < TRIALS; trial++)
			inside += holds(sd[i][0], sd[i][1], trial);
		cr_expect(le(int, 90, inside), "runs %g, launches %g: %d of 100", sd[i][0],
			  sd[i][1], inside);
	}
}

/* What makes the interval is named. */
Test(small_price_spread, the_widest_part_is_named)
{
	struct program_price p = { .spread_ns = { [SPREAD_RUNS] = 3, [SPREAD_CALLS] = 5 } };

	cr_expect(eq(int, (int)price_spread_widest(&p), SPREAD_CALLS));
	p.spread_ns[SPREAD_LAUNCHES_B] = 6;
	cr_expect(eq(int, (int)price_spread_widest(&p), SPREAD_LAUNCHES_B));
	for (int i = 0; i < PRICE_SPREADS; i++)
		cr_expect(price_spread_texts[i] && price_spread_remedies[i]);
}
