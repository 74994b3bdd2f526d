/*
 * check.c - the cells against the reference (reference.h), at equal times.
 *
 * Adaptive: every cell has its own time t after so many attempts; the reference goes from 0 to
 * that t with steps and a tolerance of its own. Fixed: the reference takes the same steps, so
 * what differs is rounding. The benchmark's solver: app_rodinia.c.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/philox.h"
#include "workloads/myocyte/check.h"
#include "workloads/workload.h"

enum { SAMPLE = 16, SAMPLE_STIFF = 2, CHUNK = 4096, SAMPLE_STREAM = 2 };
enum { PIECE = 1024 }; /* steps of the reference between looks for Ctrl-C: 13 ms */

static const double budget_s = 0.2, evaluation_s = 1.1e-6;

/* ---- which cells ----------------------------------------------------------------------- */

/*
 * Evaluations of the reference for one cell. The steps of a stiff solver do not give how far it
 * went: to the end of its span at most, which the reference reaches in steps of 0.018 ms.
 */
static double evaluations_of_reference(const struct comparison *c)
{
	enum myocyte_solver solver = (enum myocyte_solver)c->opts->solver;

	if (solver == MYOCYTE_ROSENBROCK)
		return MYOCYTE_STAGES * (1 + c->opts->span / 0.018);
	return myocyte_stages(solver) * ((double)c->steps + 1);
}

static int64_t cells_in_budget(const struct comparison *c)
{
	double n = budget_s / (evaluations_of_reference(c) * evaluation_s);

	return n < (double)c->opts->cells ? (int64_t)n : c->opts->cells;
}

/*
 * All cells, or the first, the last and one of each of n equal parts between, in order.
 * Returns how many; the caller frees *which.
 */
static int64_t choose_cells(const struct comparison *c, int64_t **which)
{
	int64_t least = c->opts->solver == MYOCYTE_ROSENBROCK ? SAMPLE_STIFF : SAMPLE;
	int64_t cells = c->opts->cells, n = cells_in_budget(c), used = 0;

	n = n < least ? least : n;
	if (c->verdict->full || n + 2 >= cells)
		n = cells - 2;
	*which = malloc((size_t)(n + 2) * sizeof(**which));
	CHECK(*which, "%ld cells", (long)n);
	(*which)[used++] = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t first = 1 + i * (cells - 2) / n, next = 1 + (i + 1) * (cells - 2) / n;
		struct philox r = philox4x32((uint32_t)i, (uint32_t)(i >> 32), SAMPLE_STREAM, 0,
					     c->verdict->seed);

		(*which)[used++] = first + r.word[0] % (next - first);
	}
	if (cells > 1)
		(*which)[used++] = cells - 1;
	return used;
}

/* ---- one cell -------------------------------------------------------------------------- */

/* The parameters that the cell must have; drawn here again, not read back. */
static struct myocyte_model reference_model(const struct comparison *c, int64_t id)
{
	const struct myocyte_opts *o = c->opts;
	struct myocyte_model m = { myocyte_equations(o), { 0 } };

	for (int i = 0; i < MYOCYTE_PARAMS; i++) {
		struct philox r = philox4x32((uint32_t)id, (uint32_t)(id >> 32), (uint32_t)i,
					     MYOCYTE_JITTER_STREAM, (uint64_t)o->seed);
		double raise = id > 0 && i > 0 ? o->jitter * philox_uniform(r.word[0]) : 0;

		m.p[i] = c->state->parameters[i] * (1 + raise);
	}
	return m;
}

/* y at the device's time t. NaN everywhere where the reference itself fails or is interrupted. */
static void reference_adaptive(const struct comparison *c, const struct myocyte_model *m, double t,
			       double y[MYOCYTE_STATES])
{
	double tolerance = fmax(1e-10, fmin(1e-8, myocyte_tolerance(c->opts) / 100));
	double h = MYOCYTE_STEP_FIRST_MS;

	for (int i = 0; i < MYOCYTE_STATES; i++)
		y[i] = c->state->initial[i];
	if (!(t >= 0 && t <= c->opts->span) || myocyte_ref_adaptive(m, tolerance, 0, t, &h, y) < 0)
		for (int i = 0; i < MYOCYTE_STATES; i++)
			y[i] = NAN;
}

/* The same steps; NaN everywhere where the device is at another time after them. */
static void reference_fixed(const struct comparison *c, const struct myocyte_model *m, double t,
			    double y[MYOCYTE_STATES])
{
	double at = 0;

	for (int i = 0; i < MYOCYTE_STATES; i++)
		y[i] = c->state->initial[i];
	for (int64_t i = 0; i < c->steps && !interrupted(); i += PIECE)
		myocyte_ref_fixed(m, c->opts->step, c->opts->span,
				  c->steps - i < PIECE ? c->steps - i : PIECE, c->state->initial,
				  &at, y);
	for (int i = 0; i < MYOCYTE_STATES && !(fabs(at - t) <= 1e-12 * c->opts->span); i++)
		y[i] = NAN;
}

/* The first NaN ends the search. */
struct difference myocyte_worst_state(const struct comparison *c, const struct allowance *may,
				      const double y[], const double reference[])
{
	const double least = 1e-9; /* of a state's size, as in the solver's own error test */
	const double *initial = c->state->initial;
	struct difference worst = { -1, 0, 0 };

	for (int i = 0; i < MYOCYTE_STATES && !isnan(worst.error); i++) {
		double size = fabs(reference[i]) + fmax(fabs(initial[i]), least);
		double off = fabs(y[i] - reference[i]);
		double e = off / (may->share * (i == MYOCYTE_V ? may->V_mV : size));

		if (!(e <= worst.error))
			worst = (struct difference){ e, off, i };
	}
	return worst;
}

/* A cell that is stuck agrees with the reference at its t: its counts tell. */
static bool went_on(const struct comparison *c, const struct myocyte_cell *cell)
{
	const int64_t *n = cell->count;

	return n[MYOCYTE_ACCEPTED] + n[MYOCYTE_REJECTED] == c->steps && !n[MYOCYTE_LOST] &&
	       (n[MYOCYTE_SPANS] > 0 || cell->t > 0 || !n[MYOCYTE_ACCEPTED]);
}

static struct difference compare_cell(const struct comparison *c, int64_t id,
				      const struct myocyte_cell *cell)
{
	struct myocyte_model m = reference_model(c, id);
	double reference[MYOCYTE_STATES];

	struct allowance may;

	if (!went_on(c, cell))
		return (struct difference){ NAN, 0, -1 };
	if (c->opts->solver == MYOCYTE_AS_RODINIA)
		return myocyte_compare_rows(c, &m, cell);
	if (c->opts->solver == MYOCYTE_FIXED)
		reference_fixed(c, &m, cell->t, reference);
	else
		reference_adaptive(c, &m, cell->t, reference);
	may = myocyte_allowance(c, cell->t, reference[MYOCYTE_V]);
	return myocyte_worst_state(c, &may, cell->y, reference);
}

/* ---- all of them ----------------------------------------------------------------------- */

static void describe(struct verdict *v, int64_t id, const struct difference *d,
		     const struct myocyte_cell *cell)
{
	const int64_t *n = cell->count;
	char name[16] = "V";

	if (d->state != MYOCYTE_V)
		snprintf(name, sizeof(name), "y%d", d->state);
	if (d->state < 0)
		snprintf(v->worst, sizeof(v->worst),
			 "cell %ld: not finite, or stuck, at %.6g ms after %ld attempts", (long)id,
			 cell->t, (long)(n[MYOCYTE_ACCEPTED] + n[MYOCYTE_REJECTED]));
	else
		snprintf(v->worst, sizeof(v->worst), "%s of cell %ld at %.6g ms: off by %.2g", name,
			 (long)id, cell->t, d->off);
}

static int compare_chunk(const struct comparison *c, const int64_t *which, int64_t n,
			 const struct myocyte_cell *cells)
{
	struct verdict *v = c->verdict;

	for (int64_t i = 0; i < n && !isnan(v->error); i++) {
		struct difference d = compare_cell(c, which[i], &cells[i]);

		if (interrupted())
			return -EINTR; /* and d may be of a reference cut short */
		if (!v->compared++ || !(d.error <= v->error)) {
			v->error = d.error;
			describe(v, which[i], &d, &cells[i]);
		}
	}
	return 0;
}

static int compare_all(const struct comparison *c, const int64_t *which, int64_t n)
{
	int64_t chunk = n < CHUNK ? n : CHUNK;
	struct myocyte_cell *cells = malloc((size_t)chunk * sizeof(*cells));
	int err = 0;

	CHECK(cells, "%ld cells", (long)chunk);
	for (int64_t i = 0; i < n && !err; i += chunk) {
		int64_t part = n - i < chunk ? n - i : chunk;

		err = myocyte_read_cells(c->state, which + i, part, cells);
		if (!err)
			err = compare_chunk(c, which + i, part, cells);
	}
	free(cells);
	return err;
}

static const char *const measures[] = {
	[MYOCYTE_ADAPTIVE] = "largest difference of a state, in units of what its step allows",
	[MYOCYTE_FIXED] = "largest difference of a state, in units of what rounding allows",
	[MYOCYTE_AS_RODINIA] = "largest difference of the last row, in units of what is allowed",
	[MYOCYTE_ROSENBROCK] = "largest difference of a state, in units of what its step allows",
};

int myocyte_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	struct comparison c = { opts, state, steps, v };
	int64_t *which;
	int64_t n = choose_cells(&c, &which);
	int err;

	v->total = c.opts->cells;
	v->compared = 0;
	v->error = 0;
	v->tolerance = 1;
	v->measure = measures[c.opts->solver];
	err = compare_all(&c, which, n);
	v->passed = !err && v->error <= v->tolerance;
	free(which);
	return err;
}
