/*
 * reference.h - the myocyte model on the CPU, in plain C double: what the device is checked
 * against. Written apart from the kernels; shares no arithmetic with them.
 *
 * Sources: Shannon et al., Biophys. J. 87 (2004) 3351; Saucerman and Bers, Biophys. J. 95
 * (2008) 4597; Fehlberg, NASA TR R-287 (1968).
 */
#ifndef RIFT_MYOCYTE_REFERENCE_H
#define RIFT_MYOCYTE_REFERENCE_H

#include <stdbool.h>
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
 * their size at t0 counts too. Returns the number of evaluations, 13 an attempt. Returns -EDOM for
 * arguments outside of that, and when the state stops being finite or the step falls below 1e-12
 * ms. Returns -EINTR after Ctrl-C (common/interrupt.h). In both cases y is the last good state.
 */
int64_t myocyte_ref_adaptive(const struct myocyte_model *m, double tolerance, double t0, double t1,
			     double *h, double y[MYOCYTE_STATES]);

/*
 * n steps of at most `step` ms by the order-7 formula from time *t. Each is shortened to land on
 * the next stimulus edge or on t_end. Starts over (y = y0, t = 0) in the step that follows one that
 * reached t_end, as the device does. *t is updated.
 */
void myocyte_ref_fixed(const struct myocyte_model *m, double step, double t_end, int64_t n,
		       const double y0[MYOCYTE_STATES], double *t, double y[MYOCYTE_STATES]);

/* ---- the benchmark's own solver -------------------------------------------------------- */

/*
 * A run of N rows: row 0 is the initial state, row k = 1..N one accepted step from row k - 1.
 * The step begins at t = k - 1 ms with a trial of h = 1 ms and ends with some h <= 1; row k is
 * the state at t + h, and row k + 1 takes it for the state at t + 1. Nothing but the state goes
 * from row to row.
 *
 * Free runs part after ten rows in double, sooner in float: the h of the third attempt follows
 * from the error of a second one that diverges. To compare further, follow the other run, from
 * its row k - 1 and with its h. This was tried in 1.8 million attempts of up to 10,000 rows,
 * disturbed in the last bit of state and derivative. y_new then moved by at most 1.4e-11 of itself
 * and the next h by 2.3e-6; no decision changed.
 */
enum { MYOCYTE_RODINIA_ATTEMPTS = 12 }; /* in a row, at most */

/*
 * One attempt: y_new, of order 7, h ms after y, and |order 8 - order 7| per ms in error. Each
 * stage takes the stimulus of its own time t + c h, and its derivatives pass the guard. Both
 * outputs may hold what is not finite. y overlaps neither.
 */
void myocyte_ref_rodinia_step(const struct myocyte_model *m, double t, double h,
			      const double y[MYOCYTE_STATES], double y_new[MYOCYTE_STATES],
			      double error[MYOCYTE_STATES]);

struct myocyte_ref_judgement {
	bool accepted; /* no error is above its tolerance; one that is NaN is not */
	double q;      /* what a rejected h is multiplied by, 0.125 to 4 */
	double ratio;  /* the largest error over its tolerance, NaN left out: <= 1 if accepted */
	int worst;     /* the first state that has it; 0 if no error is above 0 */
};

/*
 * What the controller of a run of `rows` rows makes of an attempt that began at y: the tolerance
 * of state i is 10/rows |y[i]|, or (10/rows)^2 where y[i] is 0.
 */
struct myocyte_ref_judgement myocyte_ref_rodinia_judge(int64_t rows, const double y[MYOCYTE_STATES],
						       const double error[MYOCYTE_STATES]);

/* The h to try after one that was rejected with q, in the row that begins at t ms. */
double myocyte_ref_rodinia_next(double t, int64_t rows, double h, double q);

/*
 * Row k of `rows`, 1 <= k <= rows, from row k - 1 in y, which y_new does not overlap. Returns
 * the number of attempts, *h being the last one's, or -EDOM when all failed: then y_new is what
 * the last one made, and *h the step that would have come next, as in the benchmark.
 */
int myocyte_ref_rodinia_row(const struct myocyte_model *m, int64_t k, int64_t rows,
			    const double y[MYOCYTE_STATES], double y_new[MYOCYTE_STATES],
			    double *h);

#ifdef __cplusplus
}
#endif
#endif
