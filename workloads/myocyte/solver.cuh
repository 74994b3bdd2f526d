/*
 * solver.cuh - one attempt of the solver for one cell: where to, a step, how good, what next.
 *
 * Order 7 is propagated: the model limits the step by stability, and with order 8 the
 * controller keeps running over that limit. Steps end on stimulus edges, so all stages see the
 * stimulus of the step's midpoint.
 */
#ifndef RIFT_MYOCYTE_SOLVER_CUH
#define RIFT_MYOCYTE_SOLVER_CUH

#include "workloads/myocyte/rkf78.cuh"

namespace myocyte
{
/* ---- where steps must end -------------------------------------------------------------- */

/* The first of 5, T, T + 5, 2 T, .. behind t: where the stimulus changes, or a cycle ends. */
static __device__ inline double next_edge(double t, double T)
{
	double cycle = floor(t / T) - 1; /* t/T may round either way when t is an edge */

	for (;; cycle++) {
		double off = cycle * T + t_stim, on = (cycle + 1) * T;

		if (off > t && off < on)
			return off;
		if (on > t)
			return on;
	}
}

/* Output times and other stops nearer than this share of `every` are one. */
constexpr double same_time = 1e-9;

/* The first multiple of `every` behind t. */
static __device__ inline double next_output(double t, double every)
{
	double n = floor(t / every);

	while (!(n * every > t + same_time * every))
		n++;
	return n * every;
}

struct stop {
	double t;
	bool output; /* a row of the trajectory belongs here */
};

static __device__ inline struct stop next_stop(const struct myocyte_cells &a, double t, double T)
{
	double edge = next_edge(t, T);
	struct stop stop = { fmin(edge, a.span), edge >= a.span };
	double output;

	if (!a.rows)
		return stop;
	output = next_output(t, a.every);
	if (output < stop.t - same_time * a.every)
		return { output, true };
	stop.output = stop.output || output <= stop.t + same_time * a.every;
	return stop;
}

/* ---- an attempt ------------------------------------------------------------------------ */

static __device__ inline void copy_states(double *to, const double *from, int n)
{
	for (int i = 0; i < STATES; i++)
		to[i * n] = from[i * n];
}

static __device__ inline void start_over(const struct myocyte_cells &a, int64_t id)
{
	for (int i = 0; i < STATES; i++)
		a.y[i * a.stride + id] = a.start[i];
	a.t[id] = 0;
	a.h[id] = a.fixed ? a.step : MYOCYTE_STEP_FIRST_MS;
}

static __device__ inline void count(const struct myocyte_cells &a, enum myocyte_count what,
				    int64_t id)
{
	a.count[what * a.stride + id]++;
}

static __device__ inline void append_row(const struct myocyte_cells &a, const struct cell &c,
					 double t)
{
	struct myocyte_row *row = a.rows + (*a.n_rows)++;

	row->t = t;
	for (int i = 0; i < STATES; i++)
		row->y[i] = c.y[i * c.n];
}

/*
 * The step to try next. A step cut short to land on a stop says little about the one that was
 * meant: that one may grow, not shrink.
 */
static __device__ inline double next_step(double meant, double tried, bool landing,
					  const struct outcome &o, bool accepted)
{
	double factor = o.finite ? 0.9 * pow(o.error, -1. / 8) : 0.1;
	double next = tried * fmin(fmax(factor, 0.1), 4.);

	return accepted && landing ? fmax(meant, next) : next;
}

static __device__ inline void accept(const struct myocyte_cells &a, const struct cell &c,
				     int64_t id, double t, bool output)
{
	copy_states(c.y, c.trial, c.n);
	a.t[id] = t;
	count(a, MYOCYTE_ACCEPTED, id);
	if (t >= a.span) {
		copy_states(a.end + id, c.trial, c.n);
		count(a, MYOCYTE_SPANS, id);
	}
	if (output && a.rows)
		append_row(a, c, t);
}

static __device__ inline void lose(const struct myocyte_cells &a, int64_t id)
{
	a.count[MYOCYTE_LOST * a.stride + id] = 1;
}

/* Keeps h usable; a cell that cannot go on with the shortest step is lost. */
static __device__ inline void reject(const struct myocyte_cells &a, int64_t id)
{
	count(a, MYOCYTE_REJECTED, id);
	if (a.h[id] < MYOCYTE_STEP_LEAST_MS) {
		a.h[id] = MYOCYTE_STEP_LEAST_MS;
		lose(a, id);
	}
}

/* Of a cell that has not completed its span. */
static __device__ inline void attempt(const struct myocyte_cells &a, int64_t id)
{
	struct cell c = { a.y + id, a.trial + id, a.k + id, a.p + id, (int)a.stride };
	double T = a.p[par::T_cycle * a.stride + id];
	double t = a.t[id], meant = a.h[id];
	struct stop stop = next_stop(a, t, T);
	bool landing = t + meant * (1 + 1e-9) >= stop.t; /* 1e-9: no sliver of a step follows */
	double h = landing ? stop.t - t : meant;
	int stages = a.fixed ? MYOCYTE_STAGES_FIXED : MYOCYTE_STAGES;

	evaluate_stages(c, a.benchmark, stages, h, stimulus_at(t + h / 2, T));

	struct outcome o =
		a.fixed ? combine_fixed(c, h) : combine_adaptive(c, h, a.tolerance, a.start);
	bool accepted = a.fixed || (o.finite && o.error <= 1);

	if (a.fixed && !o.finite)
		lose(a, id);
	if (!a.fixed)
		a.h[id] = next_step(meant, h, landing, o, accepted);
	if (accepted)
		accept(a, c, id, landing ? stop.t : t + h, landing && stop.output);
	else
		reject(a, id);
}
} // namespace myocyte

#endif
