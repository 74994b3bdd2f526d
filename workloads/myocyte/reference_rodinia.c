/*
 * reference_rodinia.c - the solver of Rodinia's myocyte benchmark (openmp/myocyte, its mode of
 * threads across instances), with the errors that its numbers depend on; see reference.h.
 *
 * What makes it other than a solver: the error is judged per unit time, never multiplied by
 * h; the tolerance follows from the length of the run; each row starts over at h = 1; and what
 * an accepted step leaves of its millisecond is never integrated.
 */
#include "workloads/myocyte/reference.h"

#include <errno.h>
#include <math.h>

#include "workloads/myocyte/reference_model.h"

enum { N = MYOCYTE_STATES };

/* clang-format off */
#define H_FIRST		1.0		/* ms */
#define H_CEILING	0.9		/* ms, of every attempt but the first */
#define SAFETY		0.8
#define Q_MIN		0.125
#define Q_MAX		4.0
#define ORDER		7
#define ERROR_WEIGHT	(41.0 / 840)	/* (order 8 - order 7) of k1 + k11 - k12 - k13 */
/* clang-format on */

void myocyte_ref_rodinia_step(const struct myocyte_model *m, double t, double h,
			      const double y[MYOCYTE_STATES], double y_new[MYOCYTE_STATES],
			      double error[MYOCYTE_STATES])
{
	const struct ref_tableau *rkf = &myocyte_ref_tableau;
	double k[RKF_STAGES][N], at[N];

	for (int s = 0; s < RKF_STAGES; s++) {
		myocyte_ref_advance(y, h, rkf->a[s], s, k, at);
		myocyte_ref_rhs(m, myocyte_ref_stimulus(m, t + rkf->c[s] * h), at, k[s]);
		myocyte_ref_guard(k[s]);
	}
	myocyte_ref_advance(y, h, rkf->b7, RKF_STAGES_ORDER7, k, y_new);
	/* summed before it is weighed: where terms overflow, the order decides what comes out */
	for (int i = 0; i < N; i++)
		error[i] = fabs(ERROR_WEIGHT * (k[0][i] + k[10][i] - k[11][i] - k[12][i]));
}

/*
 * Comparisons are written so that NaN goes the benchmark's way: an error that is NaN is not
 * above its tolerance, and a q that is NaN is not below another.
 */
struct myocyte_ref_judgement myocyte_ref_rodinia_judge(int64_t rows, const double y[MYOCYTE_STATES],
						       const double error[MYOCYTE_STATES])
{
	struct myocyte_ref_judgement j = { .accepted = true, .q = Q_MAX };
	double tolerance = 10 / (double)rows;

	for (int i = 0; i < N; i++) {
		double allowed = tolerance * (y[i] == 0 ? tolerance : fabs(y[i]));
		double q = SAFETY * pow(allowed / error[i], 1.0 / ORDER);

		if (error[i] > allowed)
			j.accepted = false;
		if (q < j.q)
			j.q = q;
		if (error[i] / allowed > j.ratio)
			j.ratio = error[i] / allowed, j.worst = i;
	}
	if (j.q < Q_MIN)
		j.q = Q_MIN;
	return j;
}

double myocyte_ref_rodinia_next(double t, int64_t rows, double h, double q)
{
	double end = (double)rows;

	h = q * h;
	if (h >= H_CEILING)
		h = H_CEILING;
	if (t + h > end)
		return end - t;
	return t + 1.5 * h > end ? h / 2 : h;
}

int myocyte_ref_rodinia_row(const struct myocyte_model *m, int64_t k, int64_t rows,
			    const double y[MYOCYTE_STATES], double y_new[MYOCYTE_STATES], double *h)
{
	double t = (double)(k - 1), error[N];

	*h = H_FIRST;
	for (int attempt = 1; attempt <= MYOCYTE_RODINIA_ATTEMPTS; attempt++) {
		struct myocyte_ref_judgement j;

		myocyte_ref_rodinia_step(m, t, *h, y, y_new, error);
		j = myocyte_ref_rodinia_judge(rows, y, error);
		if (j.accepted)
			return attempt;
		*h = myocyte_ref_rodinia_next(t, rows, *h, j.q);
	}
	return -EDOM;
}
