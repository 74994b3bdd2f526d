/*
 * reference.h - the myocyte model on the CPU, in plain C double: what the device is checked
 * against. Written apart from the kernels; shares no arithmetic with them.
 *
 * Sources: Shannon et al., Biophys. J. 87 (2004) 3351; Saucerman and Bers, Biophys. J. 95
 * (2008) 4597; Fehlberg, NASA TR R-287 (1968).
 */
#ifndef RIFT_MYOCYTE_REFERENCE_H
#define RIFT_MYOCYTE_REFERENCE_H

#include <stdint.h>

#include "workloads/myocyte/inputs.h"

#ifdef __cplusplus
extern "C" {
#endif

struct myocyte_model {
	enum myocyte_equations equations;
	double p[MYOCYTE_PARAMS];
};

/* Stimulus current in A/F at time t in ms; edges belong to the stimulus. */
double myocyte_ref_stimulus(const struct myocyte_model *m, double t);

/*
 * f[i] = dy[i]/dt per ms, for the given stimulus current in A/F. With MYOCYTE_RODINIA the
 * singular points (V = -47.13, 0, ...) give NaN as in the benchmark; with MYOCYTE_PUBLISHED
 * they take their limits. No guard is applied.
 */
void myocyte_ref_rhs(const struct myocyte_model *m, double stimulus, const double *y, double *f);

/* The benchmark's guard: NaN and +Inf become 1e-4; -Inf stays. */
void myocyte_ref_guard(double f[MYOCYTE_STATES]);

/*
 * Integrates y from t0 to t1 (ms, t0 <= t1) by RKF7(8), order 7 propagated, landing on the
 * stimulus edges between. *h is the step to try first and, on return, the step to go on with
 * (1e-4 at the very start). tolerance is relative, > 0; of states near zero a thousandth of
 * their size at t0 counts too. Returns the number of evaluations, 13 an attempt, or -EDOM for
 * arguments outside of that, when the state stops being finite, and when the step falls below
 * 1e-12 ms, or -EINTR after Ctrl-C (common/interrupt.h); y is then the last good state.
 */
int64_t myocyte_ref_adaptive(const struct myocyte_model *m, double tolerance, double t0, double t1,
			     double *h, double y[MYOCYTE_STATES]);

/*
 * n steps of at most `step` ms by the order-7 formula from time *t, each shortened to land on
 * the next stimulus edge or on t_end; starts over (y = y0, t = 0) in the step that follows one
 * that reached t_end, as the device does. *t is updated.
 */
void myocyte_ref_fixed(const struct myocyte_model *m, double step, double t_end, int64_t n,
		       const double y0[MYOCYTE_STATES], double *t, double y[MYOCYTE_STATES]);

#ifdef __cplusplus
}
#endif
#endif
