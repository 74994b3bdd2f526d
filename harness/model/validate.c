/* validate.c - does the model predict blocks that it has not seen? */
#include "harness/model/validate.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/model/fit_data.h"
#include "harness/model/fit_parts.h"
#include "harness/stats/sorted.h"

/* ---- errors ------------------------------------------------------------------------------- */

/* Of the points of one regime; REGIMES: of all. */
static struct errors errors_of(const struct validation *v, int n_points, enum regime regime)
{
	struct errors e = { .worst_point = -1, .median = NAN, .p95 = NAN, .worst = NAN };
	double *size = calloc((size_t)n_points + 1, sizeof(*size));

	CHECK(size, "memory of %d errors", n_points);
	for (int i = 0; i < n_points; i++) {
		const struct predicted *p = &v->point[i];

		if (isnan(p->error) || (regime != REGIMES && p->regime != regime))
			continue;
		size[e.n++] = fabs(p->error);
		if (e.worst_point < 0 || fabs(p->error) > e.worst) {
			e.worst = fabs(p->error);
			e.worst_point = i;
		}
	}
	if (e.n) {
		sort_doubles(size, e.n);
		e.median = quantile_of_sorted(size, e.n, 0.5);
		e.p95 = quantile_of_sorted(size, e.n, 0.95);
	}
	free(size);
	return e;
}

static void sum_up(struct validation *v, int n_points)
{
	for (int r = 0; r < REGIMES; r++)
		v->regime[r] = errors_of(v, n_points, (enum regime)r);
	v->all = errors_of(v, n_points, REGIMES);
	v->accepted = v->all.median <= ERROR_MEDIAN_MAX && v->all.p95 <= ERROR_P95_MAX;
}

static void start(struct validation *v, int n_points)
{
	*v = (struct validation){ 0 };
	v->point = calloc((size_t)n_points + 1, sizeof(*v->point));
	CHECK(v->point, "memory of %d points", n_points);
	for (int i = 0; i < n_points; i++)
		v->point[i] = (struct predicted){ NAN, NAN, REGIME_LAUNCH };
}

static void predict(struct predicted *p, const struct model *m, const struct grid_point *at)
{
	p->regime = model_regime(m, &at->batch);
	p->total_ns = model_total_ns(m, &at->batch);
	p->error = at->is_k ? NAN : p->total_ns / at->total_ns - 1;
}

/* ---- held out ----------------------------------------------------------------------------- */

static int depth_index(const struct grid *g, double depth)
{
	int i = 0;

	while (i < g->n_depths && (double)g->depth[i] < depth)
		i++;
	return i;
}

/* Fits to the squares of one colour, and predicts the others. */
static void predict_half(struct validation *v, const struct grid *g, const struct fit_data *d,
			 int colour)
{
	bool *in = calloc((size_t)g->n_points + 1, sizeof(*in));
	struct fit_parts parts;
	struct model m;

	CHECK(in, "memory of %d points", g->n_points);
	for (int i = 0; i < g->n_points; i++)
		in[i] = (g->point[i].size + depth_index(g, g->point[i].batch.depth)) % 2 == colour;
	parts_fit(&parts, g, in, d, &m);
	for (int i = 0; i < g->n_points; i++)
		if (!in[i] && parts.has[g->point[i].batch.mode])
			predict(&v->point[i], &m, &g->point[i]);
	parts_release(&parts);
	free(in);
}

void validate_grid(struct validation *out, const struct grid *g)
{
	struct fit_data d;

	start(out, g->n_points);
	fit_data_of(&d, g);
	for (int colour = 0; colour < 2; colour++)
		predict_half(out, g, &d, colour);
	fit_data_release(&d);
	sum_up(out, g->n_points);
}

/* ---- off the grid ------------------------------------------------------------------------- */

void validate_off_grid(struct validation *out, const struct fit *f, const struct grid *other)
{
	start(out, other->n_points);
	for (int i = 0; i < other->n_points; i++) {
		if (fit_covers(f, &other->point[i].batch))
			predict(&out->point[i], &f->model, &other->point[i]);
		else
			out->outside++;
	}
	sum_up(out, other->n_points);
}

void validation_release(struct validation *v)
{
	free(v->point);
	*v = (struct validation){ 0 };
}
