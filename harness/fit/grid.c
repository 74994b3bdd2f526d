/* grid.c - the mode x K x D grid of one side of a session: of what, K, and its points. */
#include "harness/fit/grid.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/text.h"
#include "harness/measure/run.h"
#include "harness/stats/stats.h"

/* ---- which of a session's configurations a grid is of ----------------------------------- */

static const struct workload *only_workload(const struct journal *j)
{
	const struct workload *w = j->plan.config[0].workload;

	for (int i = 1; i < j->plan.n_configs; i++)
		if (j->plan.config[i].workload != w) {
			complain(EINVAL,
				 "%s has several workloads: name one, --workload %s or --workload "
				 "%s",
				 j->path ? j->path : "the session", w->name,
				 j->plan.config[i].workload->name);
			return NULL;
		}
	return w;
}

static const struct workload *named_workload(const struct journal *j, const char *name)
{
	struct suggestion near = suggest_start(name);
	size_t len = strcspn(name, " ");

	for (int i = 0; i < j->plan.n_configs; i++) {
		const struct workload *w = j->plan.config[i].workload;

		if (strlen(w->name) == len && !strncmp(w->name, name, len))
			return w;
		suggest_offer(&near, w->name);
	}
	complain(EINVAL, "--workload=%s: not in the session%s", text_shown(name).s,
		 near.best ? suggest_hint(&near).s : "; `rift show` lists what it has");
	return NULL;
}

/* All but the axis and what was given, NULL: nothing. */
static bool is_default(const struct config *c, const struct param *axis, const bool *given)
{
	const struct param *rows = c->params.rows;

	for (int i = 0; rows[i].name; i++)
		if (&rows[i] != axis && !(given && given[i]) &&
		    !param_is_default(&rows[i], c->params.opts))
			return false;
	return true;
}

static bool is_same(const struct param *row, const void *x, const void *y)
{
	return param_equal(row, (const char *)x + row->offset, (const char *)y + row->offset);
}

bool grid_alike(const struct config *x, const struct config *y, const struct param *axis)
{
	for (const struct param *row = x->params.rows; row->name; row++)
		if (row != axis && !is_same(row, x->params.opts, y->params.opts))
			return false;
	return true;
}

/* Are parameters that were given as given? */
static bool has_given(const struct config *c, const struct params *given)
{
	for (int i = 0; given->rows[i].name; i++)
		if (given->given[i] && !is_same(&given->rows[i], c->params.opts, given->opts))
			return false;
	return true;
}

/* 0, or -EINVAL after one line. */
static int assign_words(struct params *given, const char *words)
{
	struct text word;
	int err = 0;

	for (size_t len; *words && !err; words += len) {
		words += strspn(words, " ");
		len = strcspn(words, " ");
		snprintf(word.s, sizeof(word.s), "%.*s", (int)len, words);
		err = len ? params_assign(given, word.s) : 0;
	}
	return err;
}

/* The configuration with these values and defaults beside them, else the first one with them. */
static const struct config *config_with(const struct grid *g, const struct params *given)
{
	const struct config *first = NULL;

	for (int i = 0; i < g->j->plan.n_configs; i++) {
		const struct config *c = &g->j->plan.config[i];

		if (c->workload != g->workload || (given && !has_given(c, given)))
			continue;
		if (is_default(c, g->axis, given ? given->given : NULL))
			return c;
		first = first ? first : c;
	}
	return first;
}

/* That of "radixsort data=streamed"; NULL after one line: there is none. */
static const struct config *named_config(const struct grid *g, const char *name)
{
	struct params given;
	void *opts = calloc(1, g->workload->opts_size);
	const struct config *found = NULL;

	CHECK(opts, "parameters of %s", g->workload->name);
	params_init(&given, g->workload->params, g->workload->name, opts);
	if (!assign_words(&given, name + strcspn(name, " "))) {
		found = config_with(g, &given);
		if (!found)
			complain(EINVAL, "--workload=%s: the session has no point of these",
				 text_shown(name).s);
	}
	params_release(&given);
	free(opts);
	return found;
}

const struct config *grid_base(const struct grid *g)
{
	return config_with(g, NULL);
}

void grid_name_others(struct grid *g)
{
	size_t used = 0;
	const struct params *base = &g->base->params;
	char value[64];

	for (const struct param *row = base->rows; row->name; row++) {
		if (row == g->axis || param_is_default(row, base->opts) ||
		    used >= sizeof(g->others))
			continue;
		param_format(row, base->opts, value, sizeof(value));
		used += (size_t)snprintf(g->others + used, sizeof(g->others) - used, "%s%s=%s",
					 used ? " " : "", row->name, value);
	}
}

const struct workload *grid_workload(const struct journal *j, const char *name)
{
	return name ? named_workload(j, name) : only_workload(j);
}

/* ---- K of each size of a grid ----------------------------------------------------------- */

/* ns of a unit of time; 0: the axis is no duration. */
static double ns_of_unit(const char *unit)
{
	return !strcmp(unit, "ns")   ? 1
	       : !strcmp(unit, "us") ? 1e3
	       : !strcmp(unit, "ms") ? 1e6
	       : !strcmp(unit, "s")  ? 1e9
				     : 0;
}

/* The largest batch of a size and mode of a depth less than `below`; -1: none. */
static int largest_batch(const struct grid *g, int size, enum mode mode, double below)
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
static void choose_points(struct grid *g, int size)
{
	static const enum mode order[] = { MODE_GRAPH, MODE_FUSED, MODE_STREAM };
	struct grid_size *s = &g->size[size];

	for (int i = 0; i < MODE_COUNT && s->large < 0; i++) {
		s->large = largest_batch(g, size, order[i], 1e300);
		if (s->large >= 0)
			s->small = largest_batch(g, size, order[i], g->point[s->large].batch.depth);
	}
	g->point[s->large].is_k = true;
	if (s->small >= 0)
		g->point[s->small].is_k = true;
}

bool grid_is_of_streams(const struct grid *g)
{
	for (int i = 0; i < g->n_sizes; i++)
		if (g->nominal || g->point[g->size[i].large].batch.mode != MODE_STREAM)
			return false;
	return true;
}

double grid_kernel_ns(const struct grid *g, int size, const double *total_ns)
{
	const struct grid_size *s = &g->size[size];
	const struct batch *large = &g->point[s->large].batch;
	double ns = total_ns[s->large], launches = large->depth * large->launches;

	if (s->small >= 0) {
		const struct batch *small = &g->point[s->small].batch;

		ns -= total_ns[s->small];
		launches -= small->depth * small->launches;
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
			choose_points(g, i);
		g->size[i].kernel_ns =
			g->nominal ? g->size[i].value * unit_ns : grid_kernel_ns(g, i, total_ns);
	}
	for (int i = 0; i < g->n_points; i++)
		g->point[i].batch.kernel_ns = g->size[g->point[i].size].kernel_ns;
	free(total_ns);
}

/* ---- sizes and depths --------------------------------------------------------------------- */

static void *new_array(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	CHECK(p, "memory of %zu elements", n);
	return p;
}

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
	g->size[i] = (struct grid_size){ .value = value, .large = -1, .small = -1 };
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

static int find_size(const struct grid *g, double value)
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

	p->total = new_array((size_t)g->processes, sizeof(double));
	p->enq = new_array((size_t)g->processes, sizeof(double));
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

	g->point = new_array(n, sizeof(*g->point));
	g->size = new_array(n, sizeof(*g->size));
	g->depth = new_array(n, sizeof(*g->depth));
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

		g->point[i].size = find_size(g, size_value(g, c));
		g->size[g->point[i].size].launches = g->point[i].batch.launches;
	}
}

static double queue_depth(const struct journal *j, int side)
{
	const json_t *calib = json_object_get(j->header[side], "calib");
	const json_t *queue = json_object_get(calib, "queue_depth");

	return json_is_number(queue) && json_number_value(queue) >= 1 ? json_number_value(queue)
								      : INFINITY;
}

/* ---- all ---------------------------------------------------------------------------------- */

/* Fills in a grid that knows its workload, NULL: it was complained of. base: NULL, by the name. */
static int fill_grid(struct grid *out, const struct config *base, const char *name,
		     const struct param *over, const bool *wanted)
{
	const struct journal *j = out->j;

	if (!out->workload)
		return -EINVAL;
	if (out->side >= j->sides)
		return complain(EINVAL, "--side=b: %s has one side: rift sweep --against makes two",
				j->path ? j->path : "the session");
	out->axis = over ? over : workload_axis(out->workload);
	if (!base)
		base = name && strchr(name, ' ') ? named_config(out, name) : grid_base(out);
	if (!base)
		return -EINVAL;
	out->base = base;
	grid_name_others(out);
	out->queue = queue_depth(j, out->side);
	take_points(out, wanted);
	grid_kernels(out);
	return 0;
}

static struct grid empty_grid(const struct journal *j, int side)
{
	return (struct grid){ .j = j, .side = side, .processes = journal_processes(j) };
}

static double median_ratio(const double *b, const double *a, int n)
{
	double *ratio = new_array((size_t)n, sizeof(*ratio)), of_all;

	for (int i = 0; i < n; i++)
		ratio[i] = b[i] / a[i];
	of_all = median(ratio, n);
	free(ratio);
	return of_all;
}

void grid_pair(struct grid *b, const struct grid *a)
{
	CHECK(b->n_points == a->n_points && b->processes == a->processes, "%d points of %d pairs",
	      b->n_points, b->processes);
	b->beside = a;
	for (int i = 0; i < b->n_points; i++) {
		struct grid_point *p = &b->point[i];
		const struct grid_point *q = &a->point[i];

		p->total_ns = q->total_ns * median_ratio(p->total, q->total, b->processes);
		p->enq_ns = q->enq_ns * median_ratio(p->enq, q->enq, b->processes);
	}
	grid_kernels(b);
}

int grid_make(struct grid *out, const struct journal *j, int side, const char *name)
{
	return grid_make_over(out, j, side, name, NULL);
}

int grid_make_over(struct grid *out, const struct journal *j, int side, const char *name,
		   const struct param *over)
{
	*out = empty_grid(j, side);
	out->workload = grid_workload(j, name);
	return fill_grid(out, NULL, name, over, NULL);
}

int grid_make_like(struct grid *out, const struct journal *j, int side, const struct config *c)
{
	*out = empty_grid(j, side);
	out->workload = c->workload;
	return fill_grid(out, c, NULL, NULL, NULL);
}

int grid_make_of(struct grid *out, const struct journal *j, int side, const char *name,
		 const bool *wanted)
{
	*out = empty_grid(j, side);
	out->workload = grid_workload(j, name);
	return fill_grid(out, NULL, name, NULL, wanted);
}

void grid_two_deepest(const struct grid *g, int size, enum mode mode,
		      const struct grid_point **first, const struct grid_point **second)
{
	const struct grid_point *large = NULL, *small = NULL;

	for (int i = 0; i < g->n_points; i++) {
		const struct grid_point *p = &g->point[i];

		if (p->size != size || p->batch.mode != mode)
			continue;
		if (!large || p->batch.depth > large->batch.depth) {
			small = large;
			large = p;
		} else if (!small || p->batch.depth > small->batch.depth) {
			small = p;
		}
	}
	*first = large;
	*second = small;
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
