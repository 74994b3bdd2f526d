/* fit_data.c - what the parts of a fit are fitted to. */
#include "harness/model/fit_data.h"

#include <errno.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/model/grid_kernel.h"

static double *array_of(size_t n)
{
	double *p = calloc(n + 1, sizeof(*p));

	CHECK(p, "memory of %zu numbers", n);
	return p;
}

/* ---- all processes ------------------------------------------------------------------------ */

static void set_kernels(struct fit_data *d, const struct grid *g)
{
	for (int i = 0; i < g->n_sizes; i++)
		d->kernel_ns[i] =
			g->nominal ? g->size[i].kernel_ns : grid_kernel_ns(g, i, d->total_ns);
}

void fit_data_of(struct fit_data *d, const struct grid *g)
{
	d->total_ns = array_of((size_t)g->n_points);
	d->enq_ns = array_of((size_t)g->n_points);
	d->kernel_ns = array_of((size_t)g->n_sizes);
	for (int i = 0; i < g->n_points; i++) {
		d->total_ns[i] = g->point[i].total_ns;
		d->enq_ns[i] = g->point[i].enq_ns;
	}
	set_kernels(d, g);
}

void fit_data_release(struct fit_data *d)
{
	free(d->total_ns);
	free(d->enq_ns);
	free(d->kernel_ns);
}

/* ---- draws -------------------------------------------------------------------------------- */

int fit_draws_init(struct fit_draws *m, const struct grid *g, uint32_t group)
{
	size_t draws = BOOTSTRAP_DRAWS;
	double of_all;

	*m = (struct fit_draws){ .total = array_of(draws * (size_t)g->n_points),
				 .enq = array_of(draws * (size_t)g->n_points) };
	if (resamples_init(&m->resamples, g->processes, g->j->plan.design.seed, group))
		return complain(EINVAL, "%d processes: the bootstrap takes 1 to %d", g->processes,
				(int)BOOTSTRAP_N_MAX);
	for (int i = 0; i < g->n_points; i++) {
		const struct grid_point *p = &g->point[i];
		size_t at = draws * (size_t)i;

		CHECK(!resamples_medians(&m->resamples, p->total, &m->total[at], &of_all) &&
			      !resamples_medians(&m->resamples, p->enq, &m->enq[at], &of_all),
		      "values of point %d", p->point);
	}
	return 0;
}

void fit_draws_release(struct fit_draws *m)
{
	resamples_release(&m->resamples);
	free(m->total);
	free(m->enq);
}

void fit_draws_take(const struct fit_draws *m, const struct grid *g, int draw, struct fit_data *d)
{
	for (int i = 0; i < g->n_points; i++) {
		size_t at = (size_t)BOOTSTRAP_DRAWS * (size_t)i + (size_t)draw;

		d->total_ns[i] = m->total[at];
		d->enq_ns[i] = m->enq[at];
	}
	set_kernels(d, g);
}
