/*
 * test_reference_singular.c - the voltages at which the model's formulas are 0/0: limits and
 * continuity in the published equations, NaN in the benchmark's.
 */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "workloads/myocyte/reference_model.h"
#include "workloads/myocyte/test_golden.h"

enum { N = MYOCYTE_STATES, POINTS = 6 };

TestSuite(small_reference_singular, .timeout = 300);

/* The voltages, mV, and the first derivative that is 0/0 there. */
static const struct {
	double V;
	int i;
} points[POINTS] = { { -47.13, 0 }, { -7, 11 }, { -10, 11 }, { -30, 12 }, { -14.5, 3 }, { 0, 38 } };

/*
 * The initial state with the L-type channel partly open, so that its currents are not 0. Other
 * gates are shut, so that d(gate)/dt is the rate of opening. x_Kr and x_Ks are equal, so that both
 * sets of equations gate I_Ks alike.
 */
static struct ref_cell probe(double V)
{
	struct ref_state s;
	double y[N];

	golden_start(y);
	memcpy(&s, y, sizeof(s));
	s.cell.V = V;
	s.cell.m = s.cell.x_Kr = s.cell.x_Ks = 0;
	s.cell.d = 0.25; /* not d_inf of any point, whose derivative would be zero */
	s.cell.f = 0.5;
	return s.cell;
}

static struct ref_membrane at(enum myocyte_equations equations, double V, struct ref_cell *d)
{
	struct ref_cell s = probe(V);
	struct ref_membrane x;

	memset(d, 0, sizeof(*d));
	myocyte_ref_membrane(equations, &s, &x, d);
	return x;
}

static void near(const char *what, double got, double want)
{
	double e = relative(got, want);

	cr_assert(e <= 1e-14, "%s: %.17g, want %.17g: %.2g apart", what, got, want, e);
}

Test(small_reference_singular, gates_take_their_limits)
{
	struct ref_cell d;
	double inf;

	at(MYOCYTE_PUBLISHED, -47.13, &d);
	near("alpha_m", d.m, 3.2);

	at(MYOCYTE_PUBLISHED, -7, &d);
	inf = 1 / (1 + exp(-43 / 7.5));
	near("1/tau_xKr at -7", d.x_Kr,
	     inf * (0.00138 / 0.123 + 6.1e-4 * 3 / (exp(0.145 * 3) - 1)));

	at(MYOCYTE_PUBLISHED, -10, &d);
	inf = 1 / (1 + exp(-40 / 7.5));
	near("1/tau_xKr at -10", d.x_Kr,
	     inf * (0.00138 * 3 / (exp(0.123 * 3) - 1) + 6.1e-4 / 0.145));

	at(MYOCYTE_PUBLISHED, -30, &d);
	inf = 1 / (1 + exp(31.5 / 16.7));
	near("1/tau_xKs at -30", d.x_Ks, inf * (7.19e-5 / 0.148 + 1.31e-4 / 0.0687));

	at(MYOCYTE_PUBLISHED, -14.5, &d);
	near("1/tau_d", d.d, (0.5 - 0.25) * 12 * 0.035);
}

Test(small_reference_singular, l_type_currents_take_their_limits)
{
	const double F = 96485, open = 0.25 * 0.5;
	struct ref_cell s = probe(0), d;
	struct ref_membrane x = at(MYOCYTE_PUBLISHED, 0, &d);
	double j = 0.9 * (1 - s.fCaB_j), sl = (1 - 0.9) * (1 - s.fCaB_sl);

	near("I_Ca_j", x.j.I_Ca, 0.45 * j * open * 2 * 5.4e-4 * F * 0.341 * (s.Ca_j - 1.8));
	near("I_Ca_sl", x.sl.I_Ca, 0.45 * sl * open * 2 * 5.4e-4 * F * 0.341 * (s.Ca_sl - 1.8));
	near("I_CaNa_j", x.j.I_CaNa, 0.45 * j * open * 1.5e-8 * F * 0.75 * (s.Na_j - 140));
	near("I_CaNa_sl", x.sl.I_CaNa, 0.45 * sl * open * 1.5e-8 * F * 0.75 * (s.Na_sl - 140));
	near("I_CaK", x.I_CaK, 0.45 * (j + sl) * open * 2.7e-7 * F * 0.75 * (s.K_i - 5.4));
}

/* What V decides, as numbers: gates, then currents. */
enum { SEEN = 9 };

static void seen(enum myocyte_equations equations, double V, double v[SEEN])
{
	struct ref_cell d;
	struct ref_membrane x = at(equations, V, &d);
	const double all[SEEN] = { d.m,	      d.d,	  d.x_Kr,      d.x_Ks, x.j.I_Ca,
				   x.sl.I_Ca, x.j.I_CaNa, x.sl.I_CaNa, x.I_CaK };

	memcpy(v, all, sizeof(all));
}

/* The mean of both sides is the value but for curvature, some 1e-12 here, and rounding. */
Test(small_reference_singular, published_is_continuous)
{
	const double away = 1e-6;
	double left[SEEN], here[SEEN], right[SEEN];

	for (int p = 0; p < POINTS; p++) {
		seen(MYOCYTE_PUBLISHED, points[p].V - away, left);
		seen(MYOCYTE_PUBLISHED, points[p].V, here);
		seen(MYOCYTE_PUBLISHED, points[p].V + away, right);
		for (int i = 0; i < SEEN; i++) {
			double e = fabs(here[i] - (left[i] + right[i]) / 2);
			double size = fabs(left[i]) + fabs(right[i]);

			cr_assert(e <= 1e-11 * size, "V=%g, [%d]: %.17g between %.17g and %.17g",
				  points[p].V, i, here[i], left[i], right[i]);
			e = fabs(right[i] - left[i]);
			cr_assert(e <= 1e-5 * size, "V=%g, [%d]: from %.17g to %.17g", points[p].V,
				  i, left[i], right[i]);
		}
	}
}

/* Off the points both formulas are one function; 0.05 mV off, the raw one has lost 1e-13. */
Test(small_reference_singular, both_formulas_agree_elsewhere)
{
	double raw[SEEN], smooth[SEEN];

	for (double V = -90.05; V < 60; V += 0.1) {
		seen(MYOCYTE_RODINIA, V, raw);
		seen(MYOCYTE_PUBLISHED, V, smooth);
		for (int i = 0; i < SEEN; i++)
			cr_assert(relative(smooth[i], raw[i]) <= 1e-11, "V=%g, [%d]: %.17g, %.17g",
				  V, i, smooth[i], raw[i]);
	}
}

static void rhs(enum myocyte_equations equations, double V, double f[N])
{
	struct myocyte_model m = golden_model(equations);
	double y[N];

	golden_start(y);
	y[MYOCYTE_V] = V;
	myocyte_ref_rhs(&m, 0, y, f);
}

Test(small_reference_singular, benchmark_is_nan_published_is_finite)
{
	double f[N];

	for (int p = 0; p < POINTS; p++) {
		rhs(MYOCYTE_RODINIA, points[p].V, f);
		cr_assert(isnan(f[points[p].i]), "V=%g: f%d=%g, want NaN", points[p].V, points[p].i,
			  f[points[p].i]);
		rhs(MYOCYTE_PUBLISHED, points[p].V, f);
		for (int i = 0; i < N; i++)
			cr_assert(isfinite(f[i]), "V=%g: f%d=%g", points[p].V, i, f[i]);
	}
}

/* At -40 mV the rates of h and j jump, in both sets; the point belongs to the upper side. */
Test(small_reference_singular, na_gates_jump_at_minus_40)
{
	double below[N], on[N], above[N];

	rhs(MYOCYTE_PUBLISHED, nextafter(-40, -50), below);
	rhs(MYOCYTE_PUBLISHED, -40, on);
	rhs(MYOCYTE_PUBLISHED, nextafter(-40, 0), above);
	for (int i = 1; i <= 2; i++) {
		cr_assert(relative(on[i], above[i]) <= 1e-12, "f%d=%.17g, above %.17g", i, on[i],
			  above[i]);
		cr_assert(fabs(on[i] - below[i]) > 1e-3 * fabs(on[i]), "f%d=%.17g, below %.17g", i,
			  on[i], below[i]);
	}
}
