/* parameters.c - the model's parameters of two sides. */
#include "harness/compare/parameters.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "workloads/workload.h"

/* What is fitted on each side for one workload. */
struct fits {
	struct grid grid[2];
	struct fit fit[2];
};

/* ---- one parameter ------------------------------------------------------------------------ */

/* Draws of B - A, and of that less and with what does not matter. */
struct draws {
	double difference[BOOTSTRAP_DRAWS], ratio[BOOTSTRAP_DRAWS];
	double over[BOOTSTRAP_DRAWS], under[BOOTSTRAP_DRAWS];
};

static double does_not_matter(const struct compared_parameter *p, double a, double margin)
{
	return fmax(margin * fabs(a), p->is_ns ? PARAMETER_FLOOR_NS : 0);
}

static void fill_draws(struct draws *d, const struct compared_parameter *p,
		       const struct fit_param *const side[2], const struct parameter_terms *t)
{
	for (int i = 0; i < BOOTSTRAP_DRAWS; i++) {
		double a = side[PAIR_A]->draws[i];
		double b = side[PAIR_B]->draws[i] * (t->factor ? t->factor[i] : 1);
		double margin = does_not_matter(p, a, t->margin);

		d->difference[i] = b - a;
		d->ratio[i] = b / a;
		d->over[i] = b - a - margin;
		d->under[i] = b - a + margin;
	}
}

/* A ratio to what may be nothing has no interval. */
static struct interval ratio_of(const struct draws *d, double a, double b, int n)
{
	struct interval ratio;

	if (a > 0 && !interval_of_draws(&ratio, b / a, n, d->ratio))
		return ratio;
	return interval_unknown(n);
}

/* Room for draws is too much for a stack. */
static void compare_identified(struct compared_parameter *p, const struct fit_param *const side[2],
			       const struct parameter_terms *t)
{
	struct draws *d = calloc(1, sizeof(*d));
	double a = side[PAIR_A]->interval.value, b = side[PAIR_B]->interval.value;
	double beyond = does_not_matter(p, a, t->margin);
	int of_a = side[PAIR_A]->interval.n, of_b = side[PAIR_B]->interval.n;
	int n = of_a < of_b ? of_a : of_b;

	CHECK(d, "memory of draws");
	fill_draws(d, p, side, t);
	if (interval_of_draws(&p->difference, b - a, n, d->difference))
		p->difference = interval_unknown(n);
	p->ratio = ratio_of(d, a, b, n);
	p->judged = judged_difference(
		&(struct draws_judged){ d->over, d->under, b - a - beyond, b - a + beyond, n });
	free(d);
}

static void compare_one(struct compared_parameter *p, enum model_param which, const struct fits *f,
			const struct parameter_terms *t)
{
	const struct fit_param *const side[] = { &f->fit[PAIR_A].param[which],
						 &f->fit[PAIR_B].param[which] };

	*p = (struct compared_parameter){ .workload = f->grid[PAIR_A].workload,
					  .row = &model_param_rows[which],
					  .difference = interval_unknown(0),
					  .ratio = interval_unknown(0),
					  .judged = judged_unknown() };
	p->is_ns = !strcmp(p->row->unit, "ns");
	p->identified = side[PAIR_A]->identified && side[PAIR_B]->identified;
	for (int k = 0; k < 2; k++) {
		p->of[k] = side[k]->interval;
		snprintf(p->why[k], sizeof(p->why[k]), "%s", side[k]->why);
	}
	if (p->identified && side[PAIR_A]->draws && side[PAIR_B]->draws)
		compare_identified(p, side, t);
}

/* ---- one workload ------------------------------------------------------------------------- */

/* As many as fit.h asks for; it would complain, and a model is no must here. */
static bool has_enough(const struct grid *g, enum mode mode)
{
	double first = NAN;
	bool two_depths = false;
	int n = 0;

	for (int i = 0; i < g->n_points; i++) {
		const struct batch *b = &g->point[i].batch;

		if (b->mode != mode)
			continue;
		first = n++ ? first : b->depth;
		two_depths |= b->depth != first;
	}
	return n >= 3 && two_depths;
}

/*
 * What a parameter holds depends on the points that it is fitted to: without empty kernels gn holds
 * an empty kernel's own time. So both sides are fitted to the same points.
 */
static bool *points_of_both(const struct pairs *pairs, int k, const struct compared_side *p)
{
	bool *wanted = calloc((size_t)p->view.plan.n_points + 1, sizeof(*wanted));

	CHECK(wanted, "memory of %d points", p->view.plan.n_points);
	for (int i = 0; i < pairs->n; i++)
		wanted[pairs->pair[i].at[k]] = pairs->pair[i].whole;
	return wanted;
}

static int fit_side(struct fits *f, int k, const struct compared_side *const side[2],
		    const struct pairs *pairs, const struct workload *w)
{
	const struct compared_side *p = side[k];
	const struct grid *g = &f->grid[k];
	bool *wanted = points_of_both(pairs, k, p);
	int err = grid_make_of(&f->grid[k], &p->view, 0, w->name, wanted);

	free(wanted);
	if (err)
		return err;
	if (k == PAIR_B && side_is_pair(side[0], side[1]))
		grid_pair(&f->grid[PAIR_B], &f->grid[PAIR_A]);
	if (!has_enough(g, MODE_STREAM) && !has_enough(g, MODE_GRAPH) && !has_enough(g, MODE_FUSED))
		return -ENODATA;
	return fit_make(&f->fit[k], g, side_is_pair(side[0], side[1]) ? 0 : (uint32_t)k);
}

static int fit_sides(struct fits *f, const struct compared_side *const side[2],
		     const struct pairs *pairs, struct modelled *m)
{
	int err = 0;

	for (int k = 0; k < 2 && !err; k++) {
		err = fit_side(f, k, side, pairs, m->workload);
		if (err)
			snprintf(m->why_not, sizeof(m->why_not),
				 "too few points that both have: a fit takes 3 of a mode, at 2 "
				 "depths");
		m->residual[k] = f->fit[k].residual;
	}
	if (!err && strcmp(f->grid[PAIR_A].others, f->grid[PAIR_B].others)) {
		snprintf(m->why_not, sizeof(m->why_not),
			 "A has a grid of %.50s, B of %.50s: their models say different things",
			 *f->grid[PAIR_A].others ? f->grid[PAIR_A].others : "defaults",
			 *f->grid[PAIR_B].others ? f->grid[PAIR_B].others : "defaults");
		err = 1;
	}
	return err;
}

static void compare_workload(struct parameters *out, int number,
			     const struct compared_side *const side[2], const struct pairs *pairs,
			     const struct parameter_terms *t)
{
	struct modelled *m = &out->modelled[number];
	struct fits *f = calloc(1, sizeof(*f));

	CHECK(f, "memory of fits");
	m->workload = pairs->workload[number];
	m->is = !fit_sides(f, side, pairs, m);
	for (int i = 0; i < MODEL_PARAMS && m->is; i++)
		if (f->fit[PAIR_A].has[model_param_rows[i].mode] &&
		    f->fit[PAIR_B].has[model_param_rows[i].mode])
			compare_one(&out->row[out->n++], (enum model_param)i, f, t);
	for (int k = 0; k < 2; k++) {
		fit_release(&f->fit[k]);
		grid_release(&f->grid[k]);
	}
	free(f);
}

void parameters_compare(struct parameters *out, const struct compared_side *const side[2],
			const struct pairs *pairs, const struct parameter_terms *terms)
{
	size_t n = (size_t)pairs->n_workloads;

	*out = (struct parameters){ .row = calloc(n * MODEL_PARAMS, sizeof(*out->row)),
				    .modelled = calloc(n, sizeof(*out->modelled)) };
	CHECK(out->row && out->modelled, "memory of %zu models", n);
	for (int i = 0; i < pairs->n_workloads; i++)
		compare_workload(out, i, side, pairs, terms);
}

void parameters_release(struct parameters *p)
{
	free(p->row);
	free(p->modelled);
	*p = (struct parameters){ 0 };
}
