/*
 * control.cuh - the solver's decisions for one cell: where to, how far, was it good, what next.
 *
 * Runs on the device, or on the host with control=host: every product that is added to is
 * written as fma() or stands alone, so that both round alike.
 */
#ifndef RIFT_MYOCYTE_CONTROL_CUH
#define RIFT_MYOCYTE_CONTROL_CUH

#include "workloads/myocyte/rkf78.cuh"
#include "workloads/myocyte/stops.cuh"

namespace myocyte
{
namespace
{
/* ---- beginning ------------------------------------------------------------------------- */

EITHER void copy_states(real *to, const real *from, int64_t n)
{
	for (int i = 0; i < STATES; i++)
		to[i * n] = from[i * n];
}

/* The benchmark tries a whole ms first, in every row. */
EITHER double first_step(const struct myocyte_cells &a)
{
	switch (a.solver) {
	case MYOCYTE_ADAPTIVE:
	case MYOCYTE_ROSENBROCK:
		return MYOCYTE_STEP_FIRST_MS;
	case MYOCYTE_FIXED:
		return a.step;
	default:
		return 1;
	}
}

/* All but the states. */
EITHER void set_back(const struct myocyte_cells &a, int64_t id)
{
	a.t[id] = 0;
	a.h[id] = first_step(a);
	a.count[MYOCYTE_TRIES * a.stride + id] = 0;
}

EITHER void start_over(const struct myocyte_cells &a, int64_t id)
{
	for (int i = 0; i < STATES; i++)
		((real *)a.y)[i * a.stride + id] = a.start[i];
	set_back(a, id);
}

EITHER void reset_cell(const struct myocyte_cells &a, int64_t id)
{
	start_over(a, id);
	for (int i = 0; i < MYOCYTE_COUNTS; i++)
		a.count[i * a.stride + id] = 0;
	a.taken[id] = 0;
	for (int i = 0; i < STATES; i++)
		((real *)a.end)[i * a.stride + id] = 0;
	for (int i = 0; i < STATES && a.before; i++)
		((real *)a.before)[i * a.stride + id] = 0;
}

/* ---- which step ------------------------------------------------------------------------ */

struct plan {
	struct step step;
	struct stop stop;
	bool landing; /* the step was cut or stretched to end at the stop */
};

EITHER struct step step_at(const struct myocyte_cells &a, int64_t id, double h)
{
	return { a.t[id], h, double(((const real *)a.p)[par::T_cycle * a.stride + id]), a.benchmark,
		 a.solver == MYOCYTE_AS_RODINIA };
}

EITHER struct plan plan_to(const struct step &step, const struct stop &stop)
{
	struct plan plan = { step, stop, fma(step.h, 1 + 1e-9, step.t) >= stop.t }; /* no sliver */

	/* as the precision has it, so that time and state go equally far */
	plan.step.h = double(real(plan.landing ? stop.t - step.t : step.h));
	return plan;
}

/* Plans an attempt of a cell that has not completed its span. */
EITHER struct plan plan_step(const struct myocyte_cells &a, int64_t id)
{
	struct step step = step_at(a, id, a.h[id]);

	if (step.as_rodinia)
		return { step, { 0, false }, false };
	return plan_to(step, next_stop(a, step.t, step.T));
}

/* Plans an attempt of any cell: the one after the end of the span starts over. */
EITHER struct plan next_plan(const struct myocyte_cells &a, int64_t id)
{
	if (a.t[id] >= a.span)
		start_over(a, id);
	return plan_step(a, id);
}

/* The host planned: t and h are the step to try. */
EITHER struct plan plan_given(const struct myocyte_cells &a, int64_t id)
{
	return { step_at(a, id, a.h[id]), { 0, false }, false };
}

/* ---- what becomes of it ---------------------------------------------------------------- */

EITHER void count(const struct myocyte_cells &a, enum myocyte_count what, int64_t id)
{
	a.count[what * a.stride + id]++;
}

EITHER void lose_cell(const struct myocyte_cells &a, int64_t id)
{
	a.count[MYOCYTE_LOST * a.stride + id] = 1;
}

/* What an attempt came to, for whoever moves the states. */
struct settled {
	bool accepted;
	bool completed; /* the span */
	bool row;	/* of the trajectory */
	double h, tries;
};

/* The cell is at t now, by a step of h. */
EITHER struct settled accept_step(const struct myocyte_cells &a, int64_t id, double t, double h,
				  bool output)
{
	int64_t *tries = a.count + MYOCYTE_TRIES * a.stride + id;
	struct settled s = { true, t >= a.span, output && a.rows, h, double(*tries) };

	a.t[id] = t;
	a.taken[id] = h;
	count(a, MYOCYTE_ACCEPTED, id);
	if (s.completed)
		count(a, MYOCYTE_SPANS, id);
	*tries = 0;
	return s;
}

/* Keeps h usable; a cell that cannot go on with the shortest step is lost. */
EITHER struct settled reject_step(const struct myocyte_cells &a, int64_t id)
{
	count(a, MYOCYTE_REJECTED, id);
	if (a.h[id] < MYOCYTE_STEP_LEAST_MS) {
		a.h[id] = MYOCYTE_STEP_LEAST_MS;
		lose_cell(a, id);
	}
	return {};
}

/*
 * A step cut short to land on a stop says little about the one that was meant: that one may
 * grow, not shrink.
 */
EITHER struct settled settle_step(const struct myocyte_cells &a, int64_t id,
				  const struct plan &plan, const struct myocyte_outcome &o)
{
	double meant = a.h[id], next = plan.step.h * o.factor;

	if (a.solver == MYOCYTE_ADAPTIVE)
		a.h[id] = o.within && plan.landing ? fmax(meant, next) : next;
	else if (!o.finite)
		lose_cell(a, id);
	if (!o.within)
		return reject_step(a, id);
	return accept_step(a, id, plan.landing ? plan.stop.t : plan.step.t + plan.step.h,
			   plan.step.h, plan.landing && plan.stop.output);
}

/* The benchmark's next trial in a row that began at t. For the end of the run to act on it, a
 * step must exceed 2/3 ms. */
EITHER double next_trial(real t, real h, real q, real end)
{
	h = q * h;
	if (h >= real(0.9))
		h = 0.9;
	if (t + h > end)
		h = end - t;
	else if (fma(1.5, double(h), double(t)) > double(end))
		h = h / real(2);
	return double(h);
}

/*
 * The benchmark's rows: a step is accepted, and a whole ms is taken for passed. It gives up
 * after 12 attempts; the cell is lost then, and starts over.
 */
EITHER struct settled settle_row(const struct myocyte_cells &a, int64_t id, const struct step &step,
				 const struct myocyte_outcome &o)
{
	double k = step.t + 1;

	if (o.within) {
		a.h[id] = first_step(a);
		if (!o.finite)
			lose_cell(a, id);
		return accept_step(a, id, k, step.h, k >= a.span || fmod(k, a.every) == 0);
	}
	count(a, MYOCYTE_REJECTED, id);
	a.h[id] = next_trial(step.t, step.h, o.factor, a.span);
	if (a.count[MYOCYTE_TRIES * a.stride + id] == MYOCYTE_TRIES_MAX) {
		lose_cell(a, id);
		a.t[id] = a.span;
	}
	return {};
}

/* Decides; moves no state. */
EITHER struct settled decide_step(const struct myocyte_cells &a, int64_t id,
				  const struct plan &plan, const struct myocyte_outcome &o)
{
	count(a, MYOCYTE_TRIES, id);
	if (a.solver == MYOCYTE_AS_RODINIA)
		return settle_row(a, id, plan.step, o);
	return settle_step(a, id, plan, o);
}

EITHER void append_row(const struct myocyte_cells &a, const struct cell &c, double t,
		       const struct settled &s)
{
	struct myocyte_row *row = a.rows + (*a.n_rows)++;

	row->t = t;
	row->h = s.h;
	row->attempts = s.tries;
	for (int i = 0; i < STATES; i++)
		row->y[i] = double(c.y[i * c.n]);
}

/* Decides, and takes the new state where it was good. */
EITHER void settle_step(const struct myocyte_cells &a, const struct cell &c, int64_t id,
			const struct plan &plan, const struct myocyte_outcome &o)
{
	struct settled s = decide_step(a, id, plan, o);

	if (!s.accepted)
		return;
	if (a.before)
		copy_states((real *)a.before + id, c.y, c.n);
	copy_states(c.y, c.trial, c.n);
	if (s.completed)
		copy_states((real *)a.end + id, c.trial, c.n);
	if (s.row)
		append_row(a, c, a.t[id], s);
}
} // namespace
} // namespace myocyte

#endif
