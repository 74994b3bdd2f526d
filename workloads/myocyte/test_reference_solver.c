/*
 * test_reference_solver.c - the reference's integrators: the tableau against the conditions that
 * define it, and solutions against golden ones. These were computed at tolerance 1e-12 with every
 * jump located. Then what happens at edges, ends and nonsense.
 */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "workloads/myocyte/reference_model.h"
#include "workloads/myocyte/test_golden.h"

#define PUBLISHED "golden/reference_published_equations.csv"
#define BENCHMARK "golden/reference_benchmark_equations.csv"
#define CVODE "golden/reference_benchmark_equations_cvode.csv"

enum { N = MYOCYTE_STATES, H_GATE = 1, J_GATE = 2 };

TestSuite(small_reference_solver, .timeout = 300);
TestSuite(large_reference_solver, .timeout = 300);

/* ---- tableau --------------------------------------------------------------------------- */

static const double c[RKF_STAGES] = { 0,       1.0 / 9 * 2 / 3, 1.0 / 9, 1.0 / 6, 5.0 / 12, 0.5,
				      5.0 / 6, 1.0 / 6,		2.0 / 3, 1.0 / 3, 1,	    0,
				      1 };

static void close_to(const char *what, int k, double got, double want)
{
	cr_assert(fabs(got - want) <= 1e-13, "%s %d: %.17g, want %.17g", what, k, got, want);
}

static double weight(bool order8, int s)
{
	return myocyte_ref_tableau.b7[s] + (order8 ? myocyte_ref_tableau.error[s] : 0);
}

Test(small_reference_solver, stage_sums_are_the_stage_times)
{
	for (int s = 0; s < RKF_STAGES; s++) {
		double sum = 0;

		for (int r = 0; r < RKF_STAGES - 1; r++) {
			sum += myocyte_ref_tableau.a[s][r];
			cr_assert(r < s || myocyte_ref_tableau.a[s][r] == 0,
				  "stage %d uses %d, which comes later", s, r);
		}
		close_to("row", s, sum, c[s]);
		close_to("time", s, myocyte_ref_tableau.c[s], c[s]);
	}
}

/* Both rows of weights integrate polynomials up to degree 7. */
Test(small_reference_solver, weights_integrate_polynomials)
{
	for (int order8 = 0; order8 < 2; order8++)
		for (int k = 0; k <= 7; k++) {
			double sum = 0;

			for (int s = 0; s < RKF_STAGES; s++)
				sum += weight(order8, s) * pow(c[s], k);
			close_to(order8 ? "order 8, degree" : "order 7, degree", k, sum,
				 1.0 / (k + 1));
		}
}

/* On y' = y a step is the exponential series through z^7, and through z^8 for order 8. */
Test(small_reference_solver, linear_problems_give_the_exponential)
{
	double v[RKF_STAGES], next[RKF_STAGES] = { 0 }, factorial = 1;

	for (int s = 0; s < RKF_STAGES; s++)
		v[s] = 1;
	for (int k = 1; k <= 8; k++) {
		double sum[2] = { 0 };

		factorial *= k;
		for (int s = 0; s < RKF_STAGES; s++) {
			sum[0] += weight(false, s) * v[s];
			sum[1] += weight(true, s) * v[s];
			next[s] = 0;
			for (int r = 0; r < RKF_STAGES - 1; r++)
				next[s] += myocyte_ref_tableau.a[s][r] * v[r];
		}
		if (k <= 7)
			close_to("order 7, power", k, sum[0], 1 / factorial);
		close_to("order 8, power", k, sum[1], 1 / factorial);
		memcpy(v, next, sizeof(v));
	}
}

/* ---- solutions ------------------------------------------------------------------------- */

/* How near a solution must be; the h gate falls to 1e-290 and is compared as it is. */
struct bounds {
	double V_mV, relative, h;
};

static void agrees(const char *what, double t, const double *y, const double *want,
		   struct bounds allowed)
{
	double dV = fabs(y[MYOCYTE_V] - want[MYOCYTE_V]), worst = 0;
	int where = 0;

	for (int i = 0; i < N; i++) {
		double e = relative(y[i], want[i]);

		if (i == H_GATE) {
			e = fabs(y[i] - want[i]);
			cr_assert(e <= allowed.h, "%s, t=%g: h=%.17g, golden %.17g", what, t, y[i],
				  want[i]);
			continue;
		}
		cr_assert(e <= allowed.relative, "%s, t=%g: y%d=%.17g, golden %.17g: %.2g apart",
			  what, t, i, y[i], want[i], e);
		if (e > worst)
			worst = e, where = i;
	}
	printf("%s, t=%g: V by %.1e mV, worst y%d by %.1e relative\n", what, t, dV, where, worst);
	cr_assert(dV <= allowed.V_mV, "%s, t=%g: V=%.15g, golden %.15g", what, t, y[MYOCYTE_V],
		  want[MYOCYTE_V]);
}

static int64_t adaptive_to(enum myocyte_equations equations, double R, double t1, double y[N])
{
	struct myocyte_model m = golden_model(equations);
	double h = 1e-4;
	int64_t n;

	golden_start(y);
	n = myocyte_ref_adaptive(&m, R, 0, t1, &h, y);
	cr_assert(n > 0, "equations=%d, R=%g, t1=%g: returned %ld", (int)equations, R, t1, (long)n);
	return n;
}

/* Bounds: those measured for this controller at 1e-6, 13.4 of the model's description. */
static void adaptive_agrees(enum myocyte_equations equations, double t, struct bounds allowed)
{
	const char *golden = equations == MYOCYTE_PUBLISHED ? PUBLISHED : BENCHMARK;
	double y[N], want[N];

	adaptive_to(equations, 1e-6, t, y);
	golden_state(golden, t, want);
	agrees(golden, t, y, want, allowed);
}

Test(small_reference_solver, adaptive_agrees_at_10_and_100_ms)
{
	for (int e = MYOCYTE_PUBLISHED; e <= MYOCYTE_RODINIA; e++) {
		adaptive_agrees((enum myocyte_equations)e, 10,
				(struct bounds){ 2e-3, 4e-4, 1e-15 });
		adaptive_agrees((enum myocyte_equations)e, 100,
				(struct bounds){ 2e-3, 3e-5, 1e-200 });
	}
}

Test(large_reference_solver, adaptive_agrees_at_1000_ms)
{
	adaptive_agrees(MYOCYTE_PUBLISHED, 1000, (struct bounds){ 1e-5, 1e-5, 1e-8 });
	adaptive_agrees(MYOCYTE_RODINIA, 1000, (struct bounds){ 1e-5, 1e-5, 1e-8 });
}

/* Counted elsewhere with the same controller: 5,441 steps and 25 rejections of 13. */
Test(small_reference_solver, adaptive_takes_the_known_number_of_evaluations)
{
	struct csv csv = golden_open("golden/solver_statistics.csv");
	int64_t row = 0, n;
	double y[N], want;

	while (strcmp(csv_text(&csv, row, 0), "adaptive order 7") ||
	       golden_number(&csv, row, "span_ms") != 100 ||
	       strcmp(csv_text(&csv, row, csv_column(&csv, "tolerance")), "rtol=1e-6"))
		CHECK(++row < csv.rows, "%s: no such row", csv.path);
	want = golden_number(&csv, row, "rhs_evaluations");
	n = adaptive_to(MYOCYTE_RODINIA, 1e-6, 100, y);
	cr_assert(fabs((double)n - want) <= 0.02 * want, "%ld evaluations, known %g", (long)n,
		  want);
	csv_free(&csv);
}

/* Each tighter tolerance is nearer, until the jump at -40 mV is all that is left. */
Test(small_reference_solver, adaptive_converges)
{
	double y[N], want[N];

	golden_state(PUBLISHED, 5, want);
	adaptive_to(MYOCYTE_PUBLISHED, 1e-10, 5, y);
	agrees("R=1e-10, before the jump", 5, y, want, (struct bounds){ 1e-8, 1e-9, 1e-9 });
	golden_state(PUBLISHED, 20, want);
	adaptive_to(MYOCYTE_PUBLISHED, 1e-12, 20, y);
	agrees("R=1e-12", 20, y, want, (struct bounds){ 2e-5, 2e-5, 1e-40 });
}

/*
 * Two programs' answers to the benchmark's equations. h and j fall below what CVODE was asked
 * to resolve; there they are compared as they are.
 */
Test(small_reference_solver, golden_solutions_agree_with_each_other)
{
	struct csv csv = golden_open(CVODE);
	double cvode[N], want[N], worst = 0;

	for (int64_t row = 0; row < csv.rows; row++) {
		double t = golden_number(&csv, row, "t");

		golden_vector(&csv, row, "y", cvode);
		golden_state(BENCHMARK, t, want);
		for (int i = 0; i < N; i++) {
			double e = relative(cvode[i], want[i]);

			if ((i == H_GATE || i == J_GATE) && fabs(want[i]) < 1e-6) {
				cr_assert(fabs(cvode[i] - want[i]) <= 1e-13, "t=%g, y%d: %g, %g", t,
					  i, cvode[i], want[i]);
				continue;
			}
			cr_assert(e <= 4e-9, "t=%g, y%d: %.17g, CVODE %.17g: %.2g apart", t, i,
				  want[i], cvode[i], e);
			worst = fmax(worst, e);
		}
	}
	printf("RKF and CVODE: worst relative difference %.2g\n", worst);
	csv_free(&csv);
}

/* The initial state is a steady state, at one beat a second, of the published equations. */
Test(large_reference_solver, initial_state_is_periodic_as_published)
{
	double y[N], y0[N];
	int returned = 0;

	golden_start(y0);
	adaptive_to(MYOCYTE_PUBLISHED, 1e-6, 1000, y);
	for (int i = 0; i < N; i++) {
		double e = relative(y[i], y0[i]);

		cr_assert(e <= 6e-3, "y%d from %.9g to %.9g", i, y0[i], y[i]);
		returned += e <= 1e-5;
	}
	cr_assert(returned > N / 2, "only %d of %d return to 1e-5", returned, N);
}
