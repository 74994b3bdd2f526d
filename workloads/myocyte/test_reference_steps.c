/*
 * test_reference_steps.c - how the reference's integrators step: fixed steps and their
 * stability limit, landing on edges and ends, starting over, and what is refused.
 */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "workloads/myocyte/test_golden.h"

#define PUBLISHED "golden/reference_published_equations.csv"
#define BENCHMARK "golden/reference_benchmark_equations.csv"

enum { N = MYOCYTE_STATES, H_GATE = 1, CA_J = 35 };

TestSuite(small_reference_steps, .timeout = 300);
TestSuite(large_reference_steps, .timeout = 300);

static struct myocyte_model published(void)
{
	return golden_model(MYOCYTE_PUBLISHED);
}

static void same_bits(const char *what, const double *a, const double *b)
{
	for (int i = 0; i < N; i++)
		cr_assert(!memcmp(&a[i], &b[i], sizeof(a[i])), "%s: y%d=%.17g and %.17g", what, i,
			  a[i], b[i]);
}

/* ---- fixed steps ----------------------------------------------------------------------- */

/* n steps of `step` ms from the initial state; returns where they end. */
static double fixed(enum myocyte_equations equations, double step, double t_end, int64_t n,
		    double y[N])
{
	struct myocyte_model m = golden_model(equations);
	double y0[N], t = 0;

	golden_start(y0);
	memcpy(y, y0, sizeof(y0));
	myocyte_ref_fixed(&m, step, t_end, n, y0, &t, y);
	return t;
}

static void fixed_agrees(enum myocyte_equations equations, int per_ms, double t, double V_mV,
			 double allowed)
{
	const char *golden = equations == MYOCYTE_PUBLISHED ? PUBLISHED : BENCHMARK;
	double y[N], want[N], end = fixed(equations, 1.0 / per_ms, t, (int64_t)t * per_ms, y);
	double worst = 0;

	cr_assert(end == t, "1/%d ms: ends at %.17g, want %g", per_ms, end, t);
	golden_state(golden, t, want);
	for (int i = 0; i < N; i++) {
		double e = i == H_GATE ? fabs(y[i] - want[i]) : relative(y[i], want[i]);

		cr_assert(e <= allowed, "1/%d ms, t=%g: y%d=%.17g, golden %.17g: %.2g apart",
			  per_ms, t, i, y[i], want[i], e);
		worst = fmax(worst, e);
	}
	printf("%s, 1/%d ms, t=%g: V by %.1e mV, worst state by %.1e\n", golden, per_ms, t,
	       fabs(y[MYOCYTE_V] - want[MYOCYTE_V]), worst);
	cr_assert(fabs(y[MYOCYTE_V] - want[MYOCYTE_V]) <= V_mV,
		  "1/%d ms, t=%g: V=%.12g, want %.12g", per_ms, t, y[MYOCYTE_V], want[MYOCYTE_V]);
}

/* How the -40 mV jump falls into a step decides: 3e-5 to 8e-4 mV over all these steps. */
Test(small_reference_steps, fixed_agrees_at_10_ms)
{
	static const int per_ms[] = { 55, 56, 60, 64, 128 };

	for (size_t i = 0; i < sizeof(per_ms) / sizeof(*per_ms); i++) {
		fixed_agrees(MYOCYTE_RODINIA, per_ms[i], 10, 1e-3, 4e-4);
		fixed_agrees(MYOCYTE_PUBLISHED, per_ms[i], 10, 1e-3, 4e-4);
	}
}

Test(large_reference_steps, fixed_agrees_at_1000_ms)
{
	fixed_agrees(MYOCYTE_PUBLISHED, 64, 1000, 1e-6, 5e-6);
	fixed_agrees(MYOCYTE_RODINIA, 64, 1000, 1e-6, 5e-6);
}

/* The fastest mode, -276 per ms 75 ms into the beat, allows 0.0182 ms: 1/55, but not 1/54. */
Test(small_reference_steps, fixed_has_its_stability_limit)
{
	double y[N], want[N];

	golden_state(PUBLISHED, 150, want);
	fixed(MYOCYTE_PUBLISHED, 1.0 / 55, 150, 150 * 55, y);
	cr_assert(fabs(y[MYOCYTE_V] - want[MYOCYTE_V]) < 1e-3, "1/55 ms: V=%g, want %g",
		  y[MYOCYTE_V], want[MYOCYTE_V]);
	fixed(MYOCYTE_PUBLISHED, 1.0 / 54, 150, 150 * 54, y);
	cr_assert(!(fabs(y[MYOCYTE_V] - want[MYOCYTE_V]) < 1), "1/54 ms: V=%g, want no such thing",
		  y[MYOCYTE_V]);
}

/* 5 ms is 312.5 steps of 0.016 ms, 0.0161 ms does not divide the end either. */
Test(small_reference_steps, fixed_lands_on_the_edge_and_on_the_end)
{
	double y[N];

	cr_assert(fixed(MYOCYTE_PUBLISHED, 0.016, 10, 312, y) < 5, "312 steps");
	cr_assert(fixed(MYOCYTE_PUBLISHED, 0.016, 10, 313, y) == 5, "313 steps");
	cr_assert(fixed(MYOCYTE_PUBLISHED, 0.016, 10, 314, y) == 5 + 0.016, "314 steps");
	cr_assert(fixed(MYOCYTE_PUBLISHED, 0.0161, 2, 125, y) == 2, "125 steps");
}

/* A step that falls short by no more than 1e-9 of itself is stretched: no splinters. */
Test(small_reference_steps, fixed_stretches_to_land)
{
	const double end = 1.0 / 64;
	double y[N], t;

	t = fixed(MYOCYTE_PUBLISHED, end * (1 - 5e-10), end, 1, y);
	cr_assert(t == end, "5e-10 short: t=%.17g", t);
	t = fixed(MYOCYTE_PUBLISHED, end * (1 - 2e-9), end, 1, y);
	cr_assert(t < end, "2e-9 short: t=%.17g", t);
}

Test(small_reference_steps, fixed_starts_over_in_the_step_after_the_end)
{
	double once[N], again[N], t;

	t = fixed(MYOCYTE_PUBLISHED, 1.0 / 64, 0.5, 32, once);
	cr_assert(t == 0.5, "at the end: t=%.17g", t);
	t = fixed(MYOCYTE_PUBLISHED, 1.0 / 64, 0.5, 33, again);
	cr_assert(t == 1.0 / 64, "one further: t=%.17g", t);
	fixed(MYOCYTE_PUBLISHED, 1.0 / 64, 0.5, 1, once);
	same_bits("first step again", once, again);
}

Test(small_reference_steps, fixed_may_be_cut_into_calls)
{
	struct myocyte_model m = published();
	double y0[N], whole[N], parts[N], t = 0, t_whole;

	t_whole = fixed(MYOCYTE_PUBLISHED, 0.016, 6, 1000, whole);
	golden_start(y0);
	memcpy(parts, y0, sizeof(parts));
	for (int i = 0; i < 8; i++)
		myocyte_ref_fixed(&m, 0.016, 6, 125, y0, &t, parts);
	myocyte_ref_fixed(&m, 0.016, 6, 0, y0, &t, parts);
	cr_assert(t == t_whole, "t=%.17g and %.17g", t, t_whole);
	same_bits("8 x 125 steps", whole, parts);
}

/* ---- adaptive steps -------------------------------------------------------------------- */

/* A second beat after 300 ms, by both integrators: its edges are found by both. */
Test(small_reference_steps, later_edges_are_landed_on)
{
	struct myocyte_model m = published();
	double y0[N], a[N], b[N], t = 0, h = 1e-4;

	m.p[0] = 300;
	golden_start(y0);
	memcpy(a, y0, sizeof(a));
	memcpy(b, y0, sizeof(b));
	cr_assert(myocyte_ref_adaptive(&m, 1e-8, 0, 304, &h, a) > 0, "adaptive");
	myocyte_ref_fixed(&m, 1.0 / 64, 304, 304 * 64, y0, &t, b);
	cr_assert(t == 304, "t=%.17g", t);
	cr_assert(a[MYOCYTE_V] > -70, "V=%g: no second beat", a[MYOCYTE_V]);
	cr_assert(fabs(a[MYOCYTE_V] - b[MYOCYTE_V]) < 1e-4, "V=%.12g and %.12g", a[MYOCYTE_V],
		  b[MYOCYTE_V]);
}

/* A call that ends within a step leaves the step as it was, and *h goes on in the next. */
Test(small_reference_steps, landing_does_not_shrink_the_step)
{
	struct myocyte_model m = published();
	double y[N], h = 1e-4, before;

	golden_start(y);
	cr_assert(myocyte_ref_adaptive(&m, 1e-6, 0, 2, &h, y) > 0, "to 2 ms");
	before = h;
	cr_assert(before > 0.01 && before < 0.03, "h=%g", before);
	cr_assert(myocyte_ref_adaptive(&m, 1e-6, 2, 2 + 1e-7, &h, y) == 13, "a splinter");
	cr_assert(h >= before, "h=%g, was %g", h, before);
	cr_assert(myocyte_ref_adaptive(&m, 1e-6, 2, 2, &h, y) == 0, "no span, no step");
}

Test(small_reference_steps, adaptive_repeats_itself_to_the_bit)
{
	struct myocyte_model m = published();
	double a[N], b[N], ha = 1e-4, hb = 1e-4;

	golden_start(a);
	golden_start(b);
	cr_assert(myocyte_ref_adaptive(&m, 1e-6, 0, 10, &ha, a) ==
			  myocyte_ref_adaptive(&m, 1e-6, 0, 10, &hb, b),
		  "evaluations");
	cr_assert(ha == hb, "h=%.17g and %.17g", ha, hb);
	same_bits("the same call", a, b);
}

Test(small_reference_steps, nonsense_is_out_of_domain)
{
	static const struct {
		const char *what;
		double tolerance, t0, t1, h;
		int i; /* state to spoil, none when negative */
		double spoilt;
	} cases[] = {
		{ "tolerance 0", 0, 0, 1, 1e-4, -1, 0 },
		{ "tolerance below 0", -1e-6, 0, 1, 1e-4, -1, 0 },
		{ "tolerance NaN", NAN, 0, 1, 1e-4, -1, 0 },
		{ "time runs back", 1e-6, 1, 0, 1e-4, -1, 0 },
		{ "time NaN", 1e-6, 0, NAN, 1e-4, -1, 0 },
		{ "time without end", 1e-6, 0, INFINITY, 1e-4, -1, 0 },
		{ "step 0", 1e-6, 0, 1, 0, -1, 0 },
		{ "step below 0", 1e-6, 0, 1, -1, -1, 0 },
		{ "step NaN", 1e-6, 0, 1, NAN, -1, 0 },
		{ "V NaN", 1e-6, 0, 1, 1e-4, MYOCYTE_V, NAN },
		{ "V infinite", 1e-6, 0, 1, 1e-4, MYOCYTE_V, INFINITY },
		{ "V absurd", 1e-6, 0, 1, 1e-4, MYOCYTE_V, -9000 },
		{ "Ca_j below 0", 1e-6, 0, 1, 1e-4, CA_J, -1e-3 },
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		for (int e = MYOCYTE_PUBLISHED; e <= MYOCYTE_RODINIA; e++) {
			struct myocyte_model m = golden_model((enum myocyte_equations)e);
			double y[N], h = cases[k].h;
			int64_t got;

			golden_start(y);
			if (cases[k].i >= 0)
				y[cases[k].i] = cases[k].spoilt;
			got = myocyte_ref_adaptive(&m, cases[k].tolerance, cases[k].t0, cases[k].t1,
						   &h, y);
			cr_assert(got == -EDOM, "%s, equations=%d: %ld", cases[k].what, e,
				  (long)got);
		}
	}
}
