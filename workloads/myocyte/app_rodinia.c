/*
 * app_rodinia.c - cells of solver=rodinia against the reference, by two comparisons.
 *
 * Followed: the last row once more from the row before it, with the device's own h. This does
 * not suffer from the chaos of that solver's steps, and is exact. Free: all rows since the start
 * by the reference alone. Runs part after some ten rows, so this one is coarse, but it would see
 * a wrong row anywhere.
 *
 * In 1.8 million attempts disturbed in the last bit, rows followed differed by 1.4e-11, the step
 * chosen by 2.3e-6, and no decision changed; free runs by 1e-9 to row 9, 4.7e-3 of a state and
 * 0.01 mV later. With float-like disturbances: rows followed by 4e-3, free runs by 3e-2 and
 * 0.13 mV. Twice to ten times that is allowed.
 */
#include <math.h>
#include <string.h>

#include "workloads/myocyte/check.h"

static const struct allowance followed_double = { 1e-9, 1 }, followed_float = { 1e-2, 5 };
static const struct allowance free_early = { 1e-8, 1 }, free_late = { 1e-2, 2 };
static const struct allowance free_float = { 6e-2, 4 };

enum { ROWS_EARLY = 9 };

/* h follows from a computation that diverges: in float it may be anything up to a factor of 2. */
static bool step_is_right(const struct comparison *c, double h, double reference)
{
	const double share = 1e-4;

	return c->opts->precision == MYOCYTE_FLOAT || fabs(h - reference) <= share * reference;
}

/* The last row from the one before it. */
static struct difference follow_row(const struct comparison *c, const struct myocyte_model *m,
				    const struct myocyte_cell *cell)
{
	const struct allowance *may =
		c->opts->precision == MYOCYTE_FLOAT ? &followed_float : &followed_double;
	double y[MYOCYTE_STATES], ignored[MYOCYTE_STATES], error[MYOCYTE_STATES], h;
	int64_t k = (int64_t)cell->t, rows = (int64_t)c->opts->span;

	if (myocyte_ref_rodinia_row(m, k, rows, cell->before, ignored, &h) < 0 ||
	    !step_is_right(c, cell->taken, h))
		return (struct difference){ NAN, 0, -1 };
	myocyte_ref_rodinia_step(m, (double)(k - 1), cell->taken, cell->before, y, error);
	if (!myocyte_ref_rodinia_judge(rows, cell->before, error).accepted)
		return (struct difference){ NAN, 0, -1 };
	return myocyte_worst_state(c, may, cell->y, y);
}

/* All rows of this span. */
static struct difference run_free(const struct comparison *c, const struct myocyte_model *m,
				  const struct myocyte_cell *cell)
{
	const struct allowance *may = cell->t <= ROWS_EARLY ? &free_early : &free_late;
	double y[MYOCYTE_STATES], next[MYOCYTE_STATES], h;

	memcpy(y, c->state->initial, sizeof(y));
	for (int64_t k = 1; k <= (int64_t)cell->t; k++) {
		if (myocyte_ref_rodinia_row(m, k, (int64_t)c->opts->span, y, next, &h) < 0)
			return (struct difference){ NAN, 0, -1 };
		memcpy(y, next, sizeof(y));
	}
	return myocyte_worst_state(c, c->opts->precision == MYOCYTE_FLOAT ? &free_float : may,
				   cell->y, y);
}

struct difference myocyte_compare_rows(const struct comparison *c, const struct myocyte_model *m,
				       const struct myocyte_cell *cell)
{
	struct difference all, last;

	if (!(cell->t >= 0 && cell->t <= c->opts->span))
		return (struct difference){ NAN, 0, -1 };
	all = run_free(c, m, cell);
	if (!(cell->t > 0))
		return all;
	last = follow_row(c, m, cell);
	return all.error <= last.error || isnan(last.error) ? last : all;
}
