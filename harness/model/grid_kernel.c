/* grid_kernel.c - K of each size of a grid. */
#include "harness/model/grid_kernel.h"

#include <stdlib.h>
#include <string.h>

#include "common/check.h"

/* ns of a unit of time; 0: the axis is no duration. */
static double ns_of_unit(const char *unit)
{
	return !strcmp(unit, "ns")   ? 1
	       : !strcmp(unit, "us") ? 1e3
	       : !strcmp(unit, "ms") ? 1e6
	       : !strcmp(unit, "s")  ? 1e9
				     : 0;
}

/* The deepest point of a size and mode that is shallower than `below`; -1: none. */
static int deepest(const struct grid *g, int size, enum mode mode, double below)
{
	int best = -1;

	for (int i = 0; i < g->n_points; i++) {
		const struct grid_point *p = &g->point[i];

		if (p->size == size && p->batch.mode == mode && p->batch.depth < below &&
		    (best < 0 || p->batch.depth > g->point[best].batch.depth))
			best = i;
	}
	return best;
}

/*
 * Graph nodes stand closest together while each is still a launch of its own; a fused unit may do
 * less than a launch, and stream launches may be held up by the host.
 */
static void choose(struct grid *g, int size)
{
	static const enum mode order[] = { MODE_GRAPH, MODE_FUSED, MODE_STREAM };
	struct grid_size *s = &g->size[size];

	for (int i = 0; i < MODE_COUNT && s->deep < 0; i++) {
		s->deep = deepest(g, size, order[i], 1e300);
		if (s->deep >= 0)
			s->shallow = deepest(g, size, order[i], g->point[s->deep].batch.depth);
	}
	g->point[s->deep].is_k = true;
	if (s->shallow >= 0)
		g->point[s->shallow].is_k = true;
}

double grid_kernel_ns(const struct grid *g, int size, const double *total_ns)
{
	const struct grid_size *s = &g->size[size];
	const struct batch *deep = &g->point[s->deep].batch;
	double ns = total_ns[s->deep], launches = deep->depth * deep->launches;

	if (s->shallow >= 0) {
		const struct batch *shallow = &g->point[s->shallow].batch;

		ns -= total_ns[s->shallow];
		launches -= shallow->depth * shallow->launches;
	}
	return ns / launches;
}

void grid_kernels(struct grid *g)
{
	double unit_ns = ns_of_unit(g->axis->unit);
	double *total_ns = calloc((size_t)g->n_points + 1, sizeof(*total_ns));

	CHECK(total_ns, "memory of %d points", g->n_points);
	for (int i = 0; i < g->n_points; i++)
		total_ns[i] = g->point[i].total_ns;
	g->nominal = unit_ns > 0;
	for (int i = 0; i < g->n_sizes; i++) {
		if (!g->nominal)
			choose(g, i);
		g->size[i].kernel_ns =
			g->nominal ? g->size[i].value * unit_ns : grid_kernel_ns(g, i, total_ns);
	}
	for (int i = 0; i < g->n_points; i++)
		g->point[i].batch.kernel_ns = g->size[g->point[i].size].kernel_ns;
	free(total_ns);
}
