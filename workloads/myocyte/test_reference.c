/*
 * test_reference.c - the reference's right-hand side: against the benchmark's own derivatives,
 * against the balances that it must keep, and at its singular points.
 */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "workloads/myocyte/reference_model.h"
#include "workloads/myocyte/test_golden.h"

enum { N = MYOCYTE_STATES, CAM = 15, STATES_TRIED = 50, FIRST_MODULE = 46 };

TestSuite(small_reference, .timeout = 300);

/* xorshift64*: the same numbers on every machine. */
static double uniform(uint64_t *state, double low, double high)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return low + (high - low) * ((double)(*state * 0x2545f4914f6cdd1dULL >> 11) * 0x1p-53);
}

/* The initial state with every number moved by up to 80 %, at some voltage. */
static struct ref_state random_state(uint64_t *seed)
{
	double y[N];
	struct ref_state s;

	golden_start(y);
	for (int i = 0; i < N; i++)
		y[i] *= uniform(seed, 0.2, 1.8);
	y[MYOCYTE_V] = uniform(seed, -90, 50);
	memcpy(&s, y, sizeof(s));
	return s;
}

static void rhs(enum myocyte_equations equations, const struct ref_state *s, struct ref_state *d)
{
	struct myocyte_model m = golden_model(equations);
	double y[N], f[N];

	memcpy(y, s, sizeof(y));
	myocyte_ref_rhs(&m, 0, y, f);
	memcpy(d, f, sizeof(*d));
}

/* ---- golden derivatives ---------------------------------------------------------------- */

/*
 * Largest relative difference over a golden file, 1e-12 allowed: the worst that the order of
 * evaluation alone was seen to make is 2.6e-13, at a derivative 1e-4 of its terms.
 */
static void agrees_with(const char *name, bool guarded, int64_t rows)
{
	struct myocyte_model m = golden_model(MYOCYTE_RODINIA);
	struct csv csv = golden_open(name);
	double y[N], f[N], want[N], worst = 0;

	cr_assert(csv.rows == rows, "%s: %ld rows", name, (long)csv.rows);
	for (int64_t row = 0; row < csv.rows; row++) {
		golden_vector(&csv, row, "y", y);
		golden_vector(&csv, row, "f", want);
		myocyte_ref_rhs(&m, myocyte_ref_stimulus(&m, golden_number(&csv, row, "t")), y, f);
		if (guarded)
			myocyte_ref_guard(f);
		for (int i = 0; i < N; i++) {
			double e = relative(f[i], want[i]);

			cr_assert(e <= 1e-12, "%s, %s: f%d=%.17g, golden %.17g: %.2g apart", name,
				  csv_text(&csv, row, 0), i, f[i], want[i], e);
			worst = fmax(worst, e);
		}
	}
	printf("%s: worst relative difference %.2g\n", name, worst);
	csv_free(&csv);
}

Test(small_reference, derivatives_are_the_benchmarks)
{
	agrees_with("golden/derivatives.csv", false, 40);
}

Test(small_reference, derivatives_are_the_benchmarks_after_the_guard)
{
	agrees_with("golden/derivatives_guard.csv", true, 15);
}

Test(small_reference, guard_leaves_minus_infinity)
{
	double f[N] = { NAN, INFINITY, -INFINITY, 1e308, -0.0 };
	static const double want[] = { 1e-4, 1e-4, -INFINITY, 1e308, 0 };

	myocyte_ref_guard(f);
	for (int i = 0; i < 5; i++)
		cr_assert(f[i] == want[i], "f[%d]=%g, want %g", i, f[i], want[i]);
}

/* ---- inputs ---------------------------------------------------------------------------- */

static void equals_golden(const char *name, int n, const double *read)
{
	struct csv csv = golden_open(name);

	cr_assert(csv.rows >= n, "%s: %ld rows", name, (long)csv.rows);
	for (int i = 0; i < n; i++) {
		double want = golden_number(&csv, i, "double");

		cr_assert(read[i] == want, "%s: [%d]=%.17g, golden %.17g", name, i, read[i], want);
	}
	csv_free(&csv);
}

Test(small_reference, inputs_are_the_benchmarks_to_the_bit)
{
	struct myocyte_model m = golden_model(MYOCYTE_RODINIA);
	double y[N];

	golden_start(y);
	equals_golden("golden/initial_state.csv", N, y);
	equals_golden("golden/parameters.csv", MYOCYTE_PARAMS, m.p);
}

Test(small_reference, stimulus_has_its_edges_inside)
{
	struct myocyte_model m = golden_model(MYOCYTE_PUBLISHED);
	static const struct {
		double t, want;
	} at[] = { { 0, 9.5 },	  { 3, 9.5 },	 { 5, 9.5 },  { 5 + 1e-12, 0 }, { 999.999, 0 },
		   { 1000, 9.5 }, { 1005, 9.5 }, { 1006, 0 }, { 7004.5, 9.5 },	{ 7005.5, 0 } };

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		double got = myocyte_ref_stimulus(&m, at[i].t);

		cr_assert(got == at[i].want, "t=%.15g: %g, want %g", at[i].t, got, at[i].want);
	}
}

/* ---- balances -------------------------------------------------------------------------- */

/* Adds w*d to *sum and its magnitude to *scale. */
static void add(double w, double d, double *sum, double *scale)
{
	*sum += w * d;
	*scale += fabs(w * d);
}

/* Module totals scale with the compartment; any positive numbers will do here. */
static const double dyad[5] = { 418, 25, 120, 3.617508, 96.5 };

static void module_balance(uint64_t *seed, double worst[2])
{
	const double K = dyad[2];
	/* CaM and Ca that each state holds, in order of the state */
	const double cam[CAM] = { 1, 1, 1, 1, 1, 1, K, K, K, K, 0, 0, 1, 1, 1 };
	const double ca[CAM] = { 0, 2, 4, 0, 2, 4, 2 * K, 4 * K, 4 * K, 2 * K, 0, 2, 2, 4, 6 };
	double y[CAM], f[CAM], sum[2] = { 0 }, scale[2] = { 0 };
	struct ref_cam s, d;

	for (int i = 0; i < CAM; i++)
		y[i] = uniform(seed, 0, i >= 6 && i < 11 ? 0.2 : 20);
	memcpy(&s, y, sizeof(s));
	add(1, myocyte_ref_cam(dyad, uniform(seed, 0.05, 50), &s, &d), &sum[1], &scale[1]);
	memcpy(f, &d, sizeof(d));
	for (int i = 0; i < CAM; i++) {
		add(cam[i], f[i], &sum[0], &scale[0]);
		add(ca[i], f[i], &sum[1], &scale[1]);
	}
	for (int b = 0; b < 2; b++)
		worst[b] = fmax(worst[b], fabs(sum[b]) / scale[b]);
}

Test(small_reference, modules_conserve_cam_and_ca)
{
	double worst[2] = { 0 };
	uint64_t seed = 20240801;

	for (int n = 0; n < STATES_TRIED; n++)
		module_balance(&seed, worst);
	printf("modules: CaM to %.2g, Ca to %.2g of the sum of magnitudes\n", worst[0], worst[1]);
	cr_assert(worst[0] <= 3e-15, "CaM: %.3g", worst[0]);
	cr_assert(worst[1] <= 3e-15, "Ca: %.3g", worst[1]);
}

/*
 * Ca of the cell, bound Mg counted as Ca, against what the membrane's integrals say came in;
 * relative to the sum of magnitudes.
 */
static double cell_ca_imbalance(const struct ref_cell *s)
{
	struct ref_cell d;
	struct ref_membrane x;
	double sum = 0, scale = 0;

	myocyte_ref_membrane(MYOCYTE_PUBLISHED, s, &x, &d);
	myocyte_ref_ions(&x, s, &d);
	const struct {
		double volume, rate[7];
	} parts[] = {
		{ Vol_j, { d.Ca_j, d.SLLj, d.SLHj } },
		{ Vol_sl, { d.Ca_sl, d.SLLsl, d.SLHsl } },
		{ Vol_myo, { d.Ca_i, d.TnCL, d.TnCHc, d.TnCHm, d.Myoc, d.Myom, d.SRB } },
		{ Vol_SR, { d.Ca_SR, d.Csqnb } },
		{ -1e-3 * Vol_myo, { d.Q_CaL, d.Q_pCa, d.Q_NCX, d.Q_Cab } },
	};

	for (size_t p = 0; p < sizeof(parts) / sizeof(*parts); p++)
		for (int i = 0; i < 7; i++)
			add(parts[p].volume, parts[p].rate[i], &sum, &scale);
	return fabs(sum) / scale;
}

Test(small_reference, cell_conserves_ca)
{
	uint64_t seed = 7;
	double worst = 0;

	for (int n = 0; n < STATES_TRIED; n++) {
		struct ref_state s = random_state(&seed);
		double e = cell_ca_imbalance(&s.cell);

		cr_assert(e <= 3e-15, "state %d: %.3g of the sum of magnitudes", n, e);
		worst = fmax(worst, e);
	}
	printf("cell: Ca to %.2g of the sum of magnitudes\n", worst);
}

Test(small_reference, coupling_conserves_cam)
{
	const double volume[3] = { 1.7790e-14, 6.6013e-13, 2.1454e-11 }; /* dy, sl, cy, L */
	const double none[3] = { 0 };
	uint64_t seed = 11;

	for (int n = 0; n < STATES_TRIED; n++) {
		struct ref_state s = random_state(&seed), d = { 0 };
		const struct ref_cam *module[3] = { &d.dy, &d.sl, &d.cy };
		double sum = 0, scale = 0;

		myocyte_ref_couple(1857, 120, none, &s, &d);
		for (int c = 0; c < 3; c++) {
			add(volume[c], module[c]->CaM, &sum, &scale);
			add(volume[c], module[c]->Ca2CaM, &sum, &scale);
			add(volume[c], module[c]->Ca4CaM, &sum, &scale);
		}
		cr_assert(scale > 0 && fabs(sum) <= 3e-15 * scale, "state %d: %g of %g", n, sum,
			  scale);
	}
}

/* Without buffer sites in the dyad nothing binds there; four slots have no equation. */
Test(small_reference, what_must_not_move_does_not)
{
	static const int still[] = { 21, 34, 40, 41, 49, 50, 51 };
	uint64_t seed = 13;
	double f[N];

	for (int n = 0; n < STATES_TRIED; n++) {
		struct ref_state s = random_state(&seed), d;

		rhs(n % 2 ? MYOCYTE_PUBLISHED : MYOCYTE_RODINIA, &s, &d);
		memcpy(f, &d, sizeof(f));
		for (size_t i = 0; i < sizeof(still) / sizeof(*still); i++)
			cr_assert(f[still[i]] == 0, "state %d: f%d=%g", n, still[i], f[still[i]]);
	}
}
