/*
 * check_allowance.c - how far a cell may be off the reference, by solver, precision and time.
 *
 * A state may be off by a share of |reference| + |initial value|: so a gate that decays to nothing
 * (h reaches 1e-300) counts absolutely. V may be off by the same share of some mV. How large
 * a share depends on the jump of the model at V = -40 mV: before it an adaptive run is as good
 * as its tolerance, after it as good as its step fell on the jump.
 */
#include <math.h>

#include "workloads/myocyte/check.h"

/*
 * Adaptive, before the jump. Worst of 64 cells and seven tolerances: 0.37 of the tolerance, and
 * 1e-11 mV.
 */
static struct allowance before_jump(double tolerance)
{
	return (struct allowance){ fmax(4 * tolerance, 1e-8), 1 };
}

/*
 * Adaptive, after it. Worst of 64 cells, tolerances of 1e-10 to 1e-4 and jitters up to 0.5:
 * 4.8e-4, and 0.011 mV when V climbs by 200 mV/ms; 1.9e-3 with a tolerance of 1e-2.
 */
static struct allowance after_jump(double tolerance)
{
	return (struct allowance){ 1e-3 + tolerance, 20 };
}

/*
 * A stiff solver's steps are as long as the tolerance lets them be, not as stability does. Worst
 * of 8 cells, tolerances of 1e-6 to 1e-2 and jitters up to 0.5, 20 times in a beat: before the
 * jump 0.1 of the tolerance and 8 mV of it, where the stimulus ends; after it 0.04 with a
 * tolerance of 1e-2, 3.3e-3 with 1e-3, 9.7e-4 with 1e-4: y3, which V opens as it climbs.
 */
static struct allowance of_rosenbrock(double tolerance, bool before)
{
	return before ? (struct allowance){ fmax(4 * tolerance, 1e-8), 10 }
		      : (struct allowance){ 1e-3 + 10 * tolerance, 20 };
}

/* Fixed: rounding, fused multiply-add and the GPU's exp, times what the upstroke amplifies. */
static const struct allowance same_steps = { 1e-9, 20 };

/*
 * In float rounding adds up. Worst of 48 cells with a jitter of 0.3, tolerances of 1e-5 to 1e-3
 * and fixed steps: before the jump 1.6e-4, after it 0.018, and 0.02 mV where V falls. The 0.018 is
 * that of y59, a small difference of large numbers, in cells 200 ms and more into the beat.
 */
static struct allowance in_float(double tolerance, bool before)
{
	return before ? (struct allowance){ fmax(4 * tolerance, 5e-4), 1 }
		      : (struct allowance){ 0.04 + tolerance, 1.5 };
}

/* In the first stimulus V only climbs: if it is below -40 mV now, it never was above. */
static bool jump_is_ahead(const struct comparison *c, double t, double V)
{
	const double below_mV = -45, stimulus_ms = 5;

	return t <= stimulus_ms && V < below_mV && c->state->initial[MYOCYTE_V] < below_mV;
}

struct allowance myocyte_allowance(const struct comparison *c, double t, double V)
{
	const struct myocyte_opts *o = c->opts;
	bool fixed = o->solver == MYOCYTE_FIXED;
	bool before = jump_is_ahead(c, t, V);

	if (o->precision == MYOCYTE_FLOAT)
		return in_float(fixed ? 0 : myocyte_tolerance(o), before);
	if (fixed)
		return same_steps;
	if (o->solver == MYOCYTE_ROSENBROCK)
		return of_rosenbrock(myocyte_tolerance(o), before);
	return before ? before_jump(myocyte_tolerance(o)) : after_jump(myocyte_tolerance(o));
}
