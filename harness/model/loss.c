/* loss.c - the values that make a prediction fit measurements best. */
#include "harness/model/loss.h"

#include <math.h>
#include <nlopt.h>
#include <stdint.h>

#include "common/check.h"

static double huber(double r)
{
	double size = fabs(r);

	return size <= LOSS_KNEE ? r * r / 2 : LOSS_KNEE * (size - LOSS_KNEE / 2);
}

static double sum_of(const struct loss *l, const double *x)
{
	double sum = 0;

	l->predict(l->arg, x, l->room);
	for (int i = 0; i < l->n; i++)
		sum += huber(l->room[i] / l->measured[i] - 1);
	return sum;
}

double loss_at(const struct loss *l, const struct unknown *u, int n)
{
	double x[LOSS_X_MAX] = { 0 };

	for (int i = 0; i < n; i++)
		x[i] = u[i].x;
	return sum_of(l, x);
}

static double objective(unsigned n, const double *x, double *gradient, void *arg)
{
	(void)n;
	(void)gradient; /* none is asked for by these methods */
	return sum_of(arg, x);
}

/*
 * Stops where the parameters stand still: by a guess to a share of what matters, as it chooses what
 * is fitted; from near to a millionth, or in a flat valley draws would end where they began, and
 * intervals be too narrow by a third.
 */
static void set_limits(nlopt_opt opt, const struct unknown *u, int n, enum loss_start start)
{
	double lo[LOSS_X_MAX], hi[LOSS_X_MAX], step[LOSS_X_MAX], still[LOSS_X_MAX];
	double share = start == LOSS_NEAR ? 0.1 : 1;

	for (int i = 0; i < n; i++) {
		lo[i] = u[i].lo;
		hi[i] = u[i].hi;
		step[i] = share * u[i].step;
		still[i] = (start == LOSS_NEAR ? 1e-6 : 1e-4) * u[i].step;
	}
	CHECK(nlopt_set_lower_bounds(opt, lo) > 0 && nlopt_set_upper_bounds(opt, hi) > 0 &&
		      nlopt_set_initial_step(opt, step) > 0 && nlopt_set_xtol_abs(opt, still) > 0 &&
		      nlopt_set_ftol_rel(opt, start == LOSS_NEAR ? 1e-12 : 1e-10) > 0 &&
		      nlopt_set_maxeval(opt, 4000) > 0,
	      "%d unknowns", n);
}

double loss_minimise(const struct loss *l, struct unknown *u, int n, enum loss_start start)
{
	double x[LOSS_X_MAX], least, before = loss_at(l, u, n);
	nlopt_opt opt;
	nlopt_result end;

	CHECK(n >= 1 && n <= LOSS_X_MAX, "%d unknowns", n);
	/* BOBYQA takes two unknowns or more */
	opt = nlopt_create(start == LOSS_NEAR && n > 1 ? NLOPT_LN_BOBYQA : NLOPT_LN_SBPLX,
			   (unsigned)n);
	CHECK(opt, "memory of an optimiser");
	set_limits(opt, u, n, start);
	nlopt_set_min_objective(opt, objective, (void *)(uintptr_t)l);
	for (int i = 0; i < n; i++)
		x[i] = fmin(fmax(u[i].x, u[i].lo), u[i].hi);
	end = nlopt_optimize(opt, x, &least);
	nlopt_destroy(opt);
	/* one that was stopped by rounding is as good as it gets; one that failed changes nothing
	 */
	if ((end < 0 && end != NLOPT_ROUNDOFF_LIMITED) || !(least <= before))
		return before;
	for (int i = 0; i < n; i++)
		u[i].x = x[i];
	return least;
}
