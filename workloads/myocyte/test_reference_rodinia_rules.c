/*
 * test_reference_rodinia_rules.c - the rules of the benchmark's solver one by one, on cases made
 * by hand: the guard and the stimulus in a step, what is accepted, what h follows, giving up.
 */
/* sanitizers: one thread */
#include "tests/plain.h"

#include <float.h>

#include "workloads/myocyte/test_golden.h"

enum { N = MYOCYTE_STATES, GATE_M = 0, CA_J = 35, ROWS = 100 };

TestSuite(small_reference_rodinia_rules, .timeout = 300);

/* ---- a step ---------------------------------------------------------------------------- */

/* From the initial state with y[i] = value. */
static void step_from(int i, double value, double t, double h, double y[N], double y_new[N],
		      double error[N])
{
	struct myocyte_model m = golden_model(MYOCYTE_RODINIA);

	golden_start(y);
	y[i] = value;
	myocyte_ref_rodinia_step(&m, t, h, y, y_new, error);
}

/* Ca below zero has no logarithm: at all 13 stages four derivatives are NaN, 1e-4 instead. */
Test(small_reference_rodinia_rules, guard_replaces_nan_at_every_stage)
{
	static const int poisoned[] = { CA_J, MYOCYTE_V, 43, 45 };
	const double h = 0x1p-10;
	double y[N], y_new[N], error[N];

	step_from(CA_J, -1, 6, h, y, y_new, error);
	for (size_t p = 0; p < sizeof(poisoned) / sizeof(*poisoned); p++) {
		int i = poisoned[p];
		double want = y[i] + h * 1e-4;

		cr_assert(fabs(y_new[i] - want) <= 4 * DBL_EPSILON * fabs(want),
			  "y%d=%.17g, want %.17g", i, y_new[i], want);
		cr_assert(error[i] == 0, "error%d=%g", i, error[i]);
	}
	for (int i = 0; i < N; i++)
		cr_assert(isfinite(y_new[i]) && isfinite(error[i]), "y%d=%g, error %g", i, y_new[i],
			  error[i]);
}

/* At V = -1e30 mV beta_m is infinite: d(m)/dt = -inf passes, and only m is lost. */
Test(small_reference_rodinia_rules, guard_lets_minus_infinity_through)
{
	double y[N], y_new[N], error[N];

	step_from(MYOCYTE_V, -1e30, 6, 1e-3, y, y_new, error);
	cr_assert(y_new[GATE_M] == -INFINITY, "m=%g", y_new[GATE_M]);
	cr_assert(error[GATE_M] == INFINITY, "error of m: %g", error[GATE_M]);
	for (int i = 1; i < N; i++)
		cr_assert(isfinite(y_new[i]), "y%d=%g", i, y_new[i]);
}

/* What the stimulus adds to V in a step of h at t, over what it adds when on throughout. */
static double stimulated_share(double t, double h)
{
	double y[N], with[N], without[N], always[N], error[N];

	golden_start(y);
	step_from(MYOCYTE_V, y[MYOCYTE_V], t, h, y, with, error);
	step_from(MYOCYTE_V, y[MYOCYTE_V], 6, h, y, without, error);
	step_from(MYOCYTE_V, y[MYOCYTE_V], 1, h, y, always, error);
	return (with[MYOCYTE_V] - without[MYOCYTE_V]) / (always[MYOCYTE_V] - without[MYOCYTE_V]);
}

/*
 * It ends at 5 ms inclusive. In so short a step stages do not depend on each other. So the share is
 * a sum of order-7 weights, those of the stages whose time is not past it. The stages are 1, 6, 8,
 * 10 (c <= 1/2), 7 (5/6), 9 (2/3) and 11 (1).
 */
Test(small_reference_rodinia_rules, each_stage_has_the_stimulus_of_its_own_time)
{
	const double h = 0x1p-20;
	const double at_0 = 41.0 / 840, to_half = at_0 + 34.0 / 105 + 9.0 / 35 + 9.0 / 280;
	const double to_two_thirds = to_half + 9.0 / 280;
	const struct {
		double before_edge, share; /* in steps */
	} cases[] = { { 0, at_0 },
		      { 0.5, to_half },
		      { 0.75, to_two_thirds },
		      { 0.875, to_two_thirds + 9.0 / 35 },
		      { 1, 1 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double got = stimulated_share(5 - cases[i].before_edge * h, h);

		cr_assert(fabs(got - cases[i].share) <= 1e-4, "%g steps before 5 ms: %g, want %g",
			  cases[i].before_edge, got, cases[i].share);
	}
}

/* ---- what is accepted ------------------------------------------------------------------ */

#define TOLERANCE (10.0 / ROWS)

/* All y are 2, y[4] is 0; no error but the given ones. */
struct errors {
	const char *what;
	double at[3]; /* of states 3, 4 and 5 */
	bool accepted;
	double q, ratio;
	int worst;
};

static void judged(const struct errors *c, int64_t rows)
{
	double y[N], error[N] = { 0 };
	struct myocyte_ref_judgement j;

	for (int i = 0; i < N; i++)
		y[i] = i % 2 ? -2 : 2;
	y[4] = 0;
	memcpy(&error[3], c->at, sizeof(c->at));
	j = myocyte_ref_rodinia_judge(rows, y, error);
	cr_assert(j.accepted == c->accepted, "%s: accepted=%d", c->what, j.accepted);
	cr_assert(relative(j.q, c->q) <= 1e-15, "%s: q=%.17g, want %.17g", c->what, j.q, c->q);
	cr_assert(relative(j.ratio, c->ratio) <= 1e-15, "%s: ratio=%.17g, want %.17g", c->what,
		  j.ratio, c->ratio);
	cr_assert(j.worst == c->worst, "%s: worst=%d, want %d", c->what, j.worst, c->worst);
}

Test(small_reference_rodinia_rules, errors_decide)
{
	const double may = TOLERANCE * 2, may_0 = TOLERANCE * TOLERANCE; /* y is -2; y is 0 */
	const double low = 0.8 * pow(4e5, -1.0 / 7), high = 0.8 * pow(7e4, 1.0 / 7);
	const struct errors cases[] = {
		{ "no error", { 0 }, true, 4, 0, 0 },
		{ "error of NaN only", { NAN }, true, 4, 0, 0 },
		{ "at the tolerance", { may }, true, 0.8, 1, 3 },
		{ "above it", { nextafter(may, 1) }, false, 0.8, 1, 3 },
		{ "at the tolerance of a zero", { 0, may_0 }, true, 0.8, 1, 4 },
		{ "above that", { 0, nextafter(may_0, 1) }, false, 0.8, 1, 4 },
		{ "128 times the tolerance", { 128 * may }, false, 0.4, 128, 3 },
		{ "a 128th of it", { may / 128 }, true, 1.6, 1.0 / 128, 3 },
		{ "much too large", { 1e7 * may }, false, 0.125, 1e7, 3 },
		{ "infinite", { INFINITY }, false, 0.125, INFINITY, 3 },
		{ "very small", { 1e-9 * may }, true, 4, 1e-9, 3 },
		{ "not quite too large", { 4e5 * may }, false, low, 4e5, 3 },
		{ "not quite too small", { may / 7e4 }, true, high, 1 / 7e4, 3 },
		{ "the worst of three", { 2 * may, may_0, 128 * may }, false, 0.4, 128, 5 },
		{ "the first of two", { 128 * may, 0, 128 * may }, false, 0.4, 128, 3 },
		{ "NaN before", { NAN, 0, 128 * may }, false, 0.4, 128, 5 },
		{ "NaN after", { 128 * may, 0, NAN }, false, 0.4, 128, 3 },
		{ "NaN and a small one", { NAN, 0, may / 128 }, true, 1.6, 1.0 / 128, 5 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		judged(&cases[i], ROWS);
}

/* 10/rows: what passes in ten rows is 10 times too large in a hundred. */
Test(small_reference_rodinia_rules, tolerance_follows_from_the_length)
{
	const double q = 0.8 * pow(10, -1.0 / 7);

	judged(&(struct errors){ "1 row", { 20 }, true, 0.8, 1, 3 }, 1);
	judged(&(struct errors){ "1 row, zero", { 0, 100 }, true, 0.8, 1, 4 }, 1);
	judged(&(struct errors){ "10 rows", { 2 }, true, 0.8, 1, 3 }, 10);
	judged(&(struct errors){ "100 rows", { 2 }, false, q, 10, 3 }, 100);
}

/* ---- what follows ---------------------------------------------------------------------- */

Test(small_reference_rodinia_rules, next_h_has_its_limits)
{
	static const struct {
		double t, h, q, want;
	} cases[] = {
		{ 0, 1, 0.125, 0.125 },
		{ 0, 0.125, 0.125, 1.0 / 64 },
		{ 0, 0.125, 4, 0.5 },
		{ 0, 0.25, 3.5, 0.875 },
		{ 0, 0.25, 4, 0.9 },
		{ 0, 0.9, 1, 0.9 },
		{ 0, 1, 0.8999, 0.8999 },
		{ 98, 0.25, 4, 0.9 },
		/* in the last row: halved where 1.5 h would go beyond the end */
		{ 99, 0.25, 2.5, 0.625 },
		{ 99.25, 0.25, 2, 0.5 },
		{ 99, 0.25, 2.75, 0.6875 / 2 },
		{ 99, 0.25, 4, 0.45 },
		/* cut where h would; no row begins so late */
		{ 99.5, 0.25, 3, 0.5 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double got = myocyte_ref_rodinia_next(cases[i].t, ROWS, cases[i].h, cases[i].q);

		cr_assert(got == cases[i].want, "t=%g, h=%g, q=%g: %.17g, want %.17g", cases[i].t,
			  cases[i].h, cases[i].q, got, cases[i].want);
	}
}

/* ---- rows ------------------------------------------------------------------------------ */

/* The error of m is infinite at any h. What is left is the last attempt, and the h after it. */
Test(small_reference_rodinia_rules, a_row_gives_up_after_12_attempts)
{
	struct myocyte_model m = golden_model(MYOCYTE_RODINIA);
	const double tried = pow(0.125, 11);
	double y[N], y_new[N], want[N], error[N], h;

	step_from(MYOCYTE_V, -1e30, 6, tried, y, want, error);
	cr_assert(myocyte_ref_rodinia_row(&m, 7, ROWS, y, y_new, &h) == -EDOM, "h=%g", h);
	cr_assert(h == tried / 8, "h=%g, want %g", h, tried / 8);
	cr_assert(!memcmp(y_new, want, sizeof(want)), "V=%g, want %g", y_new[MYOCYTE_V],
		  want[MYOCYTE_V]);
}

/* Where nothing moves, because every derivative is replaced, the first trial of 1 ms is good. */
Test(small_reference_rodinia_rules, a_row_of_nan_is_accepted_at_once)
{
	struct myocyte_model m = golden_model(MYOCYTE_RODINIA);
	double y[N], y_new[N], h;

	for (int i = 0; i < N; i++)
		y[i] = NAN;
	cr_assert(myocyte_ref_rodinia_row(&m, 3, ROWS, y, y_new, &h) == 1, "attempts");
	cr_assert(h == 1 && isnan(y_new[MYOCYTE_V]), "h=%g, V=%g", h, y_new[MYOCYTE_V]);
}
