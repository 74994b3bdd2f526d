/*
 * outcome.cuh - what came of a step: the new state, in `trial`, and how good it is, for each of
 * the three solvers.
 */
#ifndef RIFT_MYOCYTE_OUTCOME_CUH
#define RIFT_MYOCYTE_OUTCOME_CUH

#include "workloads/myocyte/rkf78.cuh"

namespace myocyte
{
namespace
{
/*
 * The outcome of an adaptive attempt. worst: largest error of a state, in units of what is allowed;
 * root: worst^(-1/8).
 */
EITHER struct myocyte_outcome outcome_from_error(double worst, double root, bool finite)
{
	double factor = finite ? 0.9 * root : 0.1;

	return { fmin(fmax(factor, 0.1), 4.), finite && worst <= 1, finite };
}

/*
 * Order 7 is propagated: the model limits the step by stability, and with order 8 the
 * controller keeps running over that limit.
 */
EITHER struct myocyte_outcome combine_adaptive(const struct cell &c, real h, double tolerance,
					       const double *start)
{
	real worst = 0, R = tolerance;
	bool finite = true;

	for (int i = 0; i < STATES; i++) {
		real now = c.y[i * c.n], then = order_7(c, i, h), e = h * error_rate(c, i);
		real least = R * 1e-3 * fmax(fabs(real(start[i])), real(1e-9));
		real r = e / (least + R * fmax(fabs(now), fabs(then)));

		worst = fmax(worst, r); /* drops NaN: that is what finite is for */
		finite = finite && is_finite(then) && is_finite(e);
		c.trial[i * c.n] = then;
	}
	return outcome_from_error(double(worst), pow(double(worst), -1. / 8), finite);
}

EITHER struct myocyte_outcome combine_fixed(const struct cell &c, real h)
{
	bool finite = true;

	for (int i = 0; i < STATES; i++) {
		real then = order_7(c, i, h);

		finite = finite && is_finite(then);
		c.trial[i * c.n] = then;
	}
	return { 1, true, finite };
}

/*
 * The benchmark's judgement. The error is per unit time, and compared with tol times the state
 * (tol itself where the state is 0). An error that is NaN exceeds nothing, and if none is
 * positive the step counts as good: so the benchmark has it.
 */
EITHER struct myocyte_outcome combine_rodinia(const struct cell &c, real h, real tol)
{
	real least = INFINITY; /* of what is allowed, in units of what is there */
	bool positive = false, over = false, finite = true;

	for (int i = 0; i < STATES; i++) {
		real now = c.y[i * c.n], e = error_rate(c, i);
		real allowed = tol * (now == real(0) ? tol : fabs(now));

		c.trial[i * c.n] = order_7(c, i, h);
		finite = finite && is_finite(c.trial[i * c.n]);
		positive = positive || e > real(0);
		over = over || e > allowed;
		least = fmin(least, allowed / e);
	}
	real q = fmin(0.8 * pow(least, real(1. / 7)), real(4));

	return { double(fmax(q, real(0.125))), !positive || !over, finite };
}

/* tol = 10/N of the benchmark: the longer the run, the stricter. */
EITHER real rodinia_tolerance(const struct myocyte_cells &a)
{
	return real(10) / real(a.span);
}

EITHER struct myocyte_outcome combine_stages(const struct myocyte_cells &a, const struct cell &c,
					     const struct step &step)
{
	switch (a.solver) {
	case MYOCYTE_ADAPTIVE:
		return combine_adaptive(c, step.h, a.tolerance, a.start);
	case MYOCYTE_FIXED:
		return combine_fixed(c, step.h);
	default:
		return combine_rodinia(c, step.h, rodinia_tolerance(a));
	}
}
} // namespace
} // namespace myocyte

#endif
