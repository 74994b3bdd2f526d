/*
 * reference_rkf.c - integrates the myocyte model by the pair of Fehlberg, NASA TR R-287
 * (1968), table X; see reference.h.
 *
 * Order 7 is propagated, not order 8. Stability limits the step: to 0.018 ms, from a mode of -276
 * per ms in the SR. With order 8 the controller keeps overshooting that limit.
 * The right-hand side depends on t by the stimulus alone. Steps end on its edges, and all
 * stages of a step take its value at the midpoint: a stage that falls on an edge would see
 * the other side and put V off by 1e-2 mV.
 */
#include "workloads/myocyte/reference.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/interrupt.h"
#include "workloads/myocyte/reference_model.h"

enum { N = MYOCYTE_STATES };

#define STIMULUS_MS 5.0
#define SMALLEST_STEP_MS 1e-12
#define LANDING (1 + 1e-9) /* a step this much short of a stop is stretched to reach it */

/* clang-format off */
const struct ref_tableau myocyte_ref_tableau = {
	.c = { 0, 2.0/27, 1.0/9, 1.0/6, 5.0/12, 1.0/2, 5.0/6, 1.0/6, 2.0/3, 1.0/3, 1, 0, 1 },
	.a = {
		{ 0 },
		{ 2.0/27 },
		{ 1.0/36, 1.0/12 },
		{ 1.0/24, 0, 1.0/8 },
		{ 5.0/12, 0, -25.0/16, 25.0/16 },
		{ 1.0/20, 0, 0, 1.0/4, 1.0/5 },
		{ -25.0/108, 0, 0, 125.0/108, -65.0/27, 125.0/54 },
		{ 31.0/300, 0, 0, 0, 61.0/225, -2.0/9, 13.0/900 },
		{ 2, 0, 0, -53.0/6, 704.0/45, -107.0/9, 67.0/90, 3 },
		{ -91.0/108, 0, 0, 23.0/108, -976.0/135, 311.0/54, -19.0/60, 17.0/6, -1.0/12 },
		{ 2383.0/4100, 0, 0, -341.0/164, 4496.0/1025, -301.0/82, 2133.0/4100, 45.0/82,
		  45.0/164, 18.0/41 },
		{ 3.0/205, 0, 0, 0, 0, -6.0/41, -3.0/205, -3.0/41, 3.0/41, 6.0/41 },
		{ -1777.0/4100, 0, 0, -341.0/164, 4496.0/1025, -289.0/82, 2193.0/4100, 51.0/82,
		  33.0/164, 12.0/41, 0, 1 },
	},
	.b7 = { 41.0/840, 0, 0, 0, 0, 34.0/105, 9.0/35, 9.0/35, 9.0/280, 9.0/280, 41.0/840 },
	.error = { -41.0/840, 0, 0, 0, 0, 0, 0, 0, 0, 0, -41.0/840, 41.0/840, 41.0/840 },
};
/* clang-format on */

/* sum[i] = weights[0] k[0][i] + ...; weights of zero are left out, so their k may be NaN. */
static void weigh(const double *weights, int n, double k[][N], double sum[N])
{
	memset(sum, 0, N * sizeof(*sum));
	for (int r = 0; r < n; r++) {
		double w = weights[r];

		if (w == 0)
			continue;
		for (int i = 0; i < N; i++)
			sum[i] += w * k[r][i];
	}
}

void myocyte_ref_advance(const double y[N], double h, const double *weights, int n, double k[][N],
			 double y_new[N])
{
	double sum[N];

	weigh(weights, n, k, sum);
	for (int i = 0; i < N; i++)
		y_new[i] = y[i] + h * sum[i];
}

/* The first `stages` derivatives of a step of h ms from y, and the result of order 7. */
static void rkf_step(const struct myocyte_model *m, double stimulus, double h, int stages,
		     const double y[N], double k[][N], double y_new[N])
{
	const struct ref_tableau *rkf = &myocyte_ref_tableau;
	double at[N];

	for (int s = 0; s < stages; s++) {
		myocyte_ref_advance(y, h, rkf->a[s], s, k, at);
		myocyte_ref_rhs(m, stimulus, at, k[s]);
	}
	myocyte_ref_advance(y, h, rkf->b7, RKF_STAGES_ORDER7, k, y_new);
}

/* ---- where steps end ------------------------------------------------------------------- */

/*
 * The next time after t at which the stimulus goes on or off: n T or n T + 5. Looks one cycle
 * back and one ahead, since t/T of an edge may round to either side of n.
 */
static double next_edge(const struct myocyte_model *m, double t)
{
	double T = m->p[0], n = floor(t / T), edge = INFINITY;

	for (int i = -1; i <= 1; i++) {
		double on = (n + i) * T, off = on + STIMULUS_MS;

		if (on > t)
			edge = fmin(edge, on);
		if (off > t)
			edge = fmin(edge, off);
	}
	return edge;
}

struct step {
	double h, end; /* ms */
	bool cut;      /* ended early, to land on a stop */
};

/* The step of h ms from t, or what is left of it before the next edge or `end`. */
static struct step next_step(const struct myocyte_model *m, double t, double h, double end)
{
	double stop = fmin(next_edge(m, t), end);

	if (t + h * LANDING >= stop)
		return (struct step){ stop - t, stop, stop - t < h };
	return (struct step){ h, t + h, false };
}

/* ---- adaptive steps -------------------------------------------------------------------- */

/* Largest error over what is allowed of it; infinite when anything is not finite. */
static double error_ratio(double R, double h, const double floor[N], const double y[N],
			  const double y_new[N], double k[][N])
{
	double error[N], worst = 0;

	weigh(myocyte_ref_tableau.error, RKF_STAGES, k, error);
	for (int i = 0; i < N; i++) {
		double allowed = floor[i] + R * fmax(fabs(y[i]), fabs(y_new[i]));
		double ratio = h * fabs(error[i]) / allowed;

		if (!isfinite(y_new[i]) || !isfinite(ratio))
			return INFINITY;
		worst = fmax(worst, ratio);
	}
	return worst;
}

/* What to multiply the step by; pow() makes infinity of 0 and 0 of infinity. */
static double step_factor(double ratio)
{
	return fmin(4, fmax(0.1, 0.9 * pow(ratio, -1.0 / 8)));
}

int64_t myocyte_ref_adaptive(const struct myocyte_model *m, double tolerance, double t0, double t1,
			     double *h, double y[MYOCYTE_STATES])
{
	double floor[N], k[RKF_STAGES][N], y_new[N], t = t0;
	int64_t evaluations = 0;

	if (!(tolerance > 0) || !(t0 <= t1) || !isfinite(t0) || !isfinite(t1))
		return -EDOM;
	for (int i = 0; i < N; i++)
		floor[i] = tolerance * 1e-3 * fmax(fabs(y[i]), 1e-9);
	while (t < t1) {
		struct step step = next_step(m, t, *h, t1);
		double stimulus = myocyte_ref_stimulus(m, t + step.h / 2), ratio, proposed;

		if (!(*h >= SMALLEST_STEP_MS))
			return -EDOM;
		if (interrupted())
			return -EINTR;
		rkf_step(m, stimulus, step.h, RKF_STAGES, y, k, y_new);
		evaluations += RKF_STAGES;
		ratio = error_ratio(tolerance, step.h, floor, y, y_new, k);
		proposed = step.h * step_factor(ratio);
		if (ratio <= 1) {
			memcpy(y, y_new, N * sizeof(*y));
			t = step.end;
		}
		/* a step that was cut and went well says nothing against a longer one */
		*h = ratio <= 1 && step.cut ? fmax(*h, proposed) : proposed;
	}
	return evaluations;
}

/* ---- fixed steps ----------------------------------------------------------------------- */

void myocyte_ref_fixed(const struct myocyte_model *m, double step, double t_end, int64_t n,
		       const double y0[MYOCYTE_STATES], double *t, double y[MYOCYTE_STATES])
{
	double k[RKF_STAGES_ORDER7][N], y_new[N];

	for (int64_t i = 0; i < n; i++) {
		struct step next;

		if (*t >= t_end) {
			memcpy(y, y0, N * sizeof(*y));
			*t = 0;
		}
		next = next_step(m, *t, step, t_end);
		rkf_step(m, myocyte_ref_stimulus(m, *t + next.h / 2), next.h, RKF_STAGES_ORDER7, y,
			 k, y_new);
		memcpy(y, y_new, N * sizeof(*y));
		*t = next.end;
	}
}
