/* fit_part.c - parameters that are fitted together. */
#include "harness/model/fit_part.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"

void part_init(struct fit_part *p, const struct grid *g)
{
	size_t n = (size_t)g->n_points + 1;

	*p = (struct fit_part){ .grid = g };
	p->at = calloc(n, sizeof(*p->at));
	p->measured = calloc(n, sizeof(*p->measured));
	p->room = calloc(n, sizeof(*p->room));
	CHECK(p->at && p->measured && p->room, "memory of %zu points", n);
}

void part_release(struct fit_part *p)
{
	free(p->at);
	free(p->measured);
	free(p->room);
	*p = (struct fit_part){ 0 };
}

void part_take(struct fit_part *p, int i)
{
	p->at[p->n++] = i;
}

/* ---- prediction --------------------------------------------------------------------------- */

struct task {
	const struct fit_part *part;
	const struct fit_data *data;
	const struct model *fixed;
};

static struct model model_with(const struct task *t, const double *x)
{
	struct model m = *t->fixed;

	for (int i = 0; i < t->part->n_free; i++)
		m.v[t->part->free[i]] = x[i];
	return m;
}

static void predict(const void *arg, const double *x, double *out)
{
	const struct task *t = arg;
	const struct fit_part *p = t->part;
	const struct model m = model_with(t, x);
	double offset = p->offset ? x[p->n_free] : 0;
	double cost_ns = p->effect ? x[p->n_free + p->offset] : 0;

	for (int i = 0; i < p->n; i++) {
		const struct grid_point *point = &p->grid->point[p->at[i]];
		struct batch b = point->batch;

		b.kernel_ns = t->data->kernel_ns[point->size];
		out[i] = offset + (p->enqueue ? model_enqueue_ns(&m, &b) : model_total_ns(&m, &b));
		if (p->effect)
			out[i] += cost_ns * p->effect(&b, p->effect_at);
	}
}

/* ---- unknowns ----------------------------------------------------------------------------- */

/* Where K is measured in graphs, a gap is what it is beyond theirs: it may be negative. */
static double gap_least(const struct grid *g)
{
	return g->nominal ? 0 : -0.5 * g->size[0].kernel_ns;
}

/* The smallest that is not empty. */
static double least_kernel(const struct grid *g)
{
	for (int i = 0; i < g->n_sizes; i++)
		if (g->size[i].kernel_ns > 0)
			return g->size[i].kernel_ns;
	return 0;
}

static struct unknown unknown_of(const struct grid *g, const struct model *m,
				 enum model_param which)
{
	double x = m->v[which];

	switch (which) {
	case MODEL_CLOCK:
	case MODEL_FUSED_PHI:
		return (struct unknown){ x, 0.25, 4, 0.05 };
	case MODEL_E:
		return (struct unknown){ x, -0.5 * least_kernel(g), HUGE_VAL,
					 fmax(0.2 * fabs(x), 100) };
	case MODEL_G:
	case MODEL_GRAPH_G:
	case MODEL_FUSED_B:
	case MODEL_FUSED_B0:
		return (struct unknown){ x, gap_least(g), HUGE_VAL, fmax(0.2 * fabs(x), 100) };
	default:
		return (struct unknown){ x, 0, HUGE_VAL, fmax(0.2 * x, 100) };
	}
}

static int unknowns_of(const struct fit_part *p, const struct model *m, struct unknown *u)
{
	for (int i = 0; i < p->n_free; i++)
		u[i] = unknown_of(p->grid, m, p->free[i]);
	if (p->offset)
		u[p->n_free] = (struct unknown){ 0, -HUGE_VAL, HUGE_VAL, 1000 };
	if (p->effect)
		u[p->n_free + p->offset] = (struct unknown){ 0, 0, HUGE_VAL, 1000 };
	return p->n_free + p->offset + (p->effect != NULL);
}

/* ---- fit ---------------------------------------------------------------------------------- */

static struct loss loss_of(struct fit_part *p, const struct task *t)
{
	const double *from = p->enqueue ? t->data->enq_ns : t->data->total_ns;

	for (int i = 0; i < p->n; i++)
		p->measured[i] = from[p->at[i]];
	return (struct loss){
		.n = p->n, .measured = p->measured, .room = p->room, .predict = predict, .arg = t
	};
}

double part_fit(struct fit_part *p, const struct fit_data *d, struct model *m,
		enum loss_start start)
{
	const struct task t = { p, d, m };
	const struct loss l = loss_of(p, &t);
	struct unknown u[LOSS_X_MAX];
	int n = unknowns_of(p, m, u);
	double loss;

	if (!p->n || !p->n_free)
		return 0;
	loss = loss_minimise(&l, u, n, start);
	for (int i = 0; i < p->n_free; i++)
		m->v[p->free[i]] = u[i].x;
	p->effect_ns = p->effect ? u[n - 1].x : 0;
	return loss;
}

/* By how much the loss is above the least, in units of what noise gives, where one is held at x. */
static double rise_at(struct fit_part *p, const struct fit_data *d, const struct model *m,
		      enum model_param which, double x)
{
	const struct task t = { p, d, m };
	const struct loss l = loss_of(p, &t);
	struct unknown u[LOSS_X_MAX];
	int n = unknowns_of(p, m, u), spare = p->n - n > 1 ? p->n - n : 1;
	double least, held;

	least = loss_minimise(&l, u, n, LOSS_GUESS);
	for (int i = 0; i < p->n_free; i++)
		if (p->free[i] == which) {
			u[i].x = u[i].lo = u[i].hi = fmax(x, u[i].lo);
		}
	held = loss_minimise(&l, u, n, LOSS_GUESS);
	/* residuals of a millionth: rounding, no noise */
	return (held - least) / fmax(least / spare, 1e-12);
}

bool part_holds(struct fit_part *p, const struct fit_data *d, const struct model *m,
		enum model_param which, double least)
{
	static const double chi2_95 = 3.84; /* of one degree of freedom */
	double x = m->v[which], step = fmax(0.5 * fabs(x), least);

	if (rise_at(p, d, m, which, x + step) < chi2_95)
		return false;
	return x - step < 0 || rise_at(p, d, m, which, x - step) >= chi2_95;
}
