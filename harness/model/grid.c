/* grid.c - the mode x K x D grid of one side of a session. */
#include "harness/model/grid.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/measure/run.h"
#include "harness/model/grid_base.h"
#include "harness/model/grid_kernel.h"
#include "harness/stats/stats.h"

static void *array_of(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	CHECK(p, "memory of %zu elements", n);
	return p;
}

/* ---- sizes and depths --------------------------------------------------------------------- */

static double size_value(const struct grid *g, const struct config *c)
{
	json_t *v = param_json(g->axis, c->params.opts);
	double value = json_number_value(v);

	json_decref(v);
	return value;
}

/* Inserts into an ascending array of doubles, once. */
static void insert_size(struct grid *g, double value)
{
	int i = g->n_sizes;

	for (int k = 0; k < g->n_sizes; k++)
		if (g->size[k].value == value)
			return;
	for (; i > 0 && g->size[i - 1].value > value; i--)
		g->size[i] = g->size[i - 1];
	g->size[i] = (struct grid_size){ .value = value, .deep = -1, .shallow = -1 };
	g->n_sizes++;
}

static void insert_depth(struct grid *g, int64_t depth)
{
	int i = g->n_depths;

	for (int k = 0; k < g->n_depths; k++)
		if (g->depth[k] == depth)
			return;
	for (; i > 0 && g->depth[i - 1] > depth; i--)
		g->depth[i] = g->depth[i - 1];
	g->depth[i] = depth;
	g->n_depths++;
}

static int size_of(const struct grid *g, double value)
{
	for (int i = 0; i < g->n_sizes; i++)
		if (g->size[i].value == value)
			return i;
	return -1;
}

/* ---- points ------------------------------------------------------------------------------- */

/* Process values of a point; false: some process has none. */
static bool take_values(const struct grid *g, int point, double *total, double *enq)
{
	const struct journal *j = g->j;

	for (int i = 0; i < g->processes; i++) {
		size_t slot = (size_t)(g->side * j->plan.design.processes + i);
		size_t at = slot * (size_t)j->plan.n_points + (size_t)point;

		if (j->status[at] != POINT_OK || !(j->total_ns[at] > 0) || !(j->enq_ns[at] > 0))
			return false;
		total[i] = j->total_ns[at];
		enq[i] = j->enq_ns[at];
	}
	return true;
}

/* Every value is a number. */
static double median(const double *value, int n)
{
	struct sample s;

	CHECK(!sample_of(&s, value, n), "%d values", n);
	return s.median;
}

static void add_point(struct grid *g, int point, double value)
{
	const struct plan_point *at = &g->j->plan.point[point];
	struct grid_point *p = &g->point[g->n_points];
	double launches = g->j->launches[point];

	p->total = array_of((size_t)g->processes, sizeof(double));
	p->enq = array_of((size_t)g->processes, sizeof(double));
	if (!take_values(g, point, p->total, p->enq)) {
		free(p->total);
		free(p->enq);
		g->failed++;
		return;
	}
	p->batch = (struct batch){ .mode = at->mode,
				   .depth = (double)at->depth,
				   .launches = launches >= 1 ? launches : 1 };
	p->point = point;
	p->total_ns = median(p->total, g->processes);
	p->enq_ns = median(p->enq, g->processes);
	insert_size(g, value);
	insert_depth(g, at->depth);
	g->n_points++;
}

static void take_points(struct grid *g, const bool *wanted)
{
	const struct plan *p = &g->j->plan;
	size_t n = (size_t)p->n_points;

	g->point = array_of(n, sizeof(*g->point));
	g->size = array_of(n, sizeof(*g->size));
	g->depth = array_of(n, sizeof(*g->depth));
	for (int i = 0; i < p->n_points; i++) {
		const struct config *c = &p->config[p->point[i].config];

		if (c->workload != g->workload)
			continue;
		if (grid_alike(c, g->base, g->axis) && (!wanted || wanted[i]))
			add_point(g, i, size_value(g, c));
		else
			g->left_out++;
	}
	for (int i = 0; i < g->n_points; i++) {
		const struct config *c = &p->config[p->point[g->point[i].point].config];

		g->point[i].size = size_of(g, size_value(g, c));
		g->size[g->point[i].size].launches = g->point[i].batch.launches;
	}
}

static double queue_of(const struct journal *j, int side)
{
	const json_t *calib = json_object_get(j->header[side], "calib");
	const json_t *queue = json_object_get(calib, "queue_depth");

	return json_is_number(queue) && json_number_value(queue) >= 1 ? json_number_value(queue)
								      : INFINITY;
}

/* ---- all ---------------------------------------------------------------------------------- */

/* Fills in a grid that knows its workload, NULL: it was complained of. base: NULL, any. */
static int make(struct grid *out, const struct config *base, const struct param *over,
		const bool *wanted)
{
	const struct journal *j = out->j;

	if (!out->workload)
		return -EINVAL;
	if (out->side >= j->sides)
		return complain(EINVAL, "--side=b: %s has one side: rift sweep --against makes two",
				j->path ? j->path : "the session");
	out->axis = over ? over : workload_axis(out->workload);
	out->base = base ? base : grid_base(out);
	grid_name_others(out);
	out->queue = queue_of(j, out->side);
	take_points(out, wanted);
	grid_kernels(out);
	return 0;
}

static struct grid begin(const struct journal *j, int side)
{
	return (struct grid){ .j = j, .side = side, .processes = journal_processes(j) };
}

int grid_make(struct grid *out, const struct journal *j, int side, const char *name)
{
	return grid_make_over(out, j, side, name, NULL);
}

int grid_make_over(struct grid *out, const struct journal *j, int side, const char *name,
		   const struct param *over)
{
	*out = begin(j, side);
	out->workload = grid_workload(j, name);
	return make(out, NULL, over, NULL);
}

int grid_make_like(struct grid *out, const struct journal *j, int side, const struct config *c)
{
	*out = begin(j, side);
	out->workload = c->workload;
	return make(out, c, NULL, NULL);
}

int grid_make_of(struct grid *out, const struct journal *j, int side, const char *name,
		 const bool *wanted)
{
	*out = begin(j, side);
	out->workload = grid_workload(j, name);
	return make(out, NULL, NULL, wanted);
}

const struct grid_point *grid_find(const struct grid *g, enum mode mode, int size, int64_t depth)
{
	for (int i = 0; i < g->n_points; i++)
		if (g->point[i].batch.mode == mode && g->point[i].size == size &&
		    (int64_t)g->point[i].batch.depth == depth)
			return &g->point[i];
	return NULL;
}

void grid_release(struct grid *g)
{
	for (int i = 0; i < g->n_points; i++) {
		free(g->point[i].total);
		free(g->point[i].enq);
	}
	free(g->point);
	free(g->size);
	free(g->depth);
	*g = (struct grid){ 0 };
}
