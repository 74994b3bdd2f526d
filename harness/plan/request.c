/* plan_build.c - the grid of one workload: every configuration x depth x mode that is allowed. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/param_need.h"
#include "harness/preset.h"
#include "harness/run.h"
#include "harness/plan/plan_build.h"

static const char *const mode_names[] = { "stream", "graph", "fused", NULL };

static void *grow(void *array, int n, size_t size)
{
	/* by doubling, at powers of two */
	if (n & (n - 1))
		return array;
	array = realloc(array, (n ? 2 * (size_t)n : 1) * size);
	CHECK(array, "memory of %d elements", n);
	return array;
}

/* Sets the values that the odometer shows. */
static int set_values(const struct builder *b, struct params *params)
{
	int err = 0;

	for (int i = 0; params->rows[i].name && !err; i++)
		if (b->values[i].n)
			err = params_set(params, params->rows[i].name,
					 b->values[i].value[b->at[i]]);
	return err;
}

static void config_init(struct config *c, const struct workload *w)
{
	void *opts = calloc(1, w->opts_size ? w->opts_size : 1);

	CHECK(opts, "%zu bytes of options", w->opts_size);
	*c = (struct config){ .workload = w,
			      .timing = { side_timing_unknown(), side_timing_unknown() } };
	params_init(&c->params, w->params, w->name, opts);
}

static int admit(const struct config *c, struct limits *limits)
{
	const struct workload *w = c->workload;
	int err;

	*limits = (struct limits){ 0 };
	err = w->limits(c->params.opts, limits);
	if (!err && limits->action)
		err = complain(EINVAL,
			       "%s: these parameters ask for an action: there is nothing "
			       "to sweep; use rift run",
			       w->name);
	if (!err && limits->device_refused)
		err = complain(ENODEV, "%s does not run on this device: %s", w->name,
			       limits->device_refused);
	return err;
}

/* ---- points ----------------------------------------------------------------------------- */

static void note_refusal(struct plan *p, const char *what, const char *why)
{
	if (!p->refused++)
		snprintf(p->refused_why, sizeof(p->refused_why), "%s: %s", what, why);
}

static void add_point(struct builder *b, int config, enum mode mode, int64_t depth, double corner)
{
	struct plan *p = b->plan;
	struct plan_point *point;

	p->point = grow(p->point, p->n_points, sizeof(*p->point));
	point = &p->point[p->n_points++];
	*point = (struct plan_point){ .config = config,
				      .mode = mode,
				      .depth = depth,
				      .corner = corner,
				      .block_ns = { NAN, NAN } };
}

/* 0 to 1 along an axis of n values; a single one is in its middle. */
static double place(int i, int n)
{
	return n > 1 ? (double)i / (n - 1) : 0.5;
}

static void add_depths(struct builder *b, int config, enum mode mode, const struct limits *limits,
		       double size_place)
{
	if (limits->depth_asked && !b->request->depth) {
		b->plan->depth_given = true;
		add_point(b, config, mode, limits->depth_asked, size_place);
		return;
	}
	for (int i = 0; i < b->depths.n; i++) {
		int64_t depth;

		CHECK(!param_parse(&plan_depth_row, "depth", b->depths.value[i], &depth), "depth");
		if (limits->depth_max && depth > limits->depth_max)
			note_refusal(b->plan, "depth", limits->depth_why ? limits->depth_why : "");
		else
			add_point(b, config, mode, depth, size_place * place(i, b->depths.n));
	}
}

static void add_modes(struct builder *b, int config, const struct limits *limits, double size_place)
{
	for (int i = 0; i < b->modes.n; i++) {
		const char *why;
		int mode;

		CHECK(!param_parse(&plan_mode_row, "mode", b->modes.value[i], &mode), "mode");
		why = mode_refused(b->workload, limits, (enum mode)mode);
		if (why)
			note_refusal(b->plan, mode_names[mode], why);
		else
			add_depths(b, config, (enum mode)mode, limits, size_place);
	}
}

/* The configuration that the odometer shows, and its points. */
static int add_config(struct builder *b, int size_row)
{
	struct plan *p = b->plan;
	struct limits limits;
	struct config *c;
	int err;

	p->config = grow(p->config, p->n_configs, sizeof(*p->config));
	c = &p->config[p->n_configs++];
	config_init(c, b->workload);
	c->size_index = b->at[size_row];
	c->size_given = b->size_given;
	err = set_values(b, &c->params);
	if (!err)
		err = param_needs_check(&c->params, b->workload->needs);
	if (!err)
		err = admit(c, &limits);
	if (err)
		return err;
	c->depth_max = limits.depth_max;
	add_modes(b, p->n_configs - 1, &limits, place(b->at[size_row], b->values[size_row].n));
	if (p->n_points > PLAN_POINTS_MAX)
		return complain(EINVAL, "more than %d points: give fewer values",
				(int)PLAN_POINTS_MAX);
	return 0;
}

/* Steps the odometer on, the sizes fastest, so that they are neighbours; false at its end. */
static bool turn(struct builder *b, int size_row)
{
	int n_rows = 0;

	if (++b->at[size_row] < b->values[size_row].n)
		return true;
	b->at[size_row] = 0;
	while (b->workload->params[n_rows].name)
		n_rows++;
	for (int i = n_rows - 1; i >= 0; i--) {
		if (i == size_row || !b->values[i].n)
			continue;
		if (++b->at[i] < b->values[i].n)
			return true;
		b->at[i] = 0;
	}
	return false;
}

/* ---- the whole grid --------------------------------------------------------------------- */

/* Images of the user's have a size already: the workload's own sizes are none of theirs. */
static int drop_sizes_without_effect(struct builder *b, int size_row)
{
	struct axis sizes = b->values[size_row];
	struct config c;
	int err;

	if (b->size_given)
		return 0;
	config_init(&c, b->workload);
	b->values[size_row] = (struct axis){ 0 };
	err = set_values(b, &c.params);
	if (!err && !param_counts(&c.params, b->workload->needs, c.params.rows[size_row].name))
		axis_release(&sizes);
	b->values[size_row] = sizes;
	params_release(&c.params); /* reads the options */
	free(c.params.opts);
	return err;
}

/* The grid, or, around its centre, the values of one more parameter. */
static int add_values(struct plan *p, const struct plan_request *r, const struct workload *w,
		      const char *around)
{
	struct builder b = { .plan = p, .request = r, .workload = w };
	int size_row = (int)(workload_axis(w) - w->params);
	int err = plan_take_request(&b, size_row, around);

	if (!err)
		err = drop_sizes_without_effect(&b, size_row);
	if (!err)
		do
			err = add_config(&b, size_row);
		while (!err && turn(&b, size_row));
	for (int i = 0; w->params[i].name; i++)
		axis_release(&b.values[i]);
	axis_release(&b.depths);
	axis_release(&b.modes);
	return err;
}

/* Is the name in front of '=' that of a parameter of this workload? NULL: it is for another one. */
static bool has(const struct workload *w, const char *own)
{
	return own && params_find(w->params, own, strcspn(own, "=")) >= 0;
}

/* A preset may name any of them. */
static bool names(const char *own, const struct param *row)
{
	size_t len = strlen(row->name);

	if (!own)
		return false;
	return preset_is(own) || (!strncmp(own, row->name, len) && own[len] == '=');
}

static bool is_named(const struct plan_request *r, const struct workload *w,
		     const struct param *row)
{
	for (int i = 0; i < r->n_assignments; i++)
		if (names(plan_own(w, r->assignment[i]), row))
			return true;
	for (int i = 0; i < r->n_arounds; i++)
		if (names(plan_own(w, r->around[i]), row))
			return true;
	return false;
}

/* The workload's side axes go with a full design whose grid the user has not chosen. */
static int add_asides(struct plan *p, const struct plan_request *r, const struct workload *w)
{
	int err = 0;
	char around[512];

	if (r->design.quick || r->size || r->depth || is_named(r, w, workload_axis(w)))
		return 0;
	for (const struct param *row = w->params; row->name && !err; row++) {
		if (!row->aside || is_named(r, w, row))
			continue;
		snprintf(around, sizeof(around), "%s=%s", row->name, row->aside);
		err = add_values(p, r, w, around);
	}
	return err;
}

int plan_add_workload(struct plan *p, const struct plan_request *r, const struct workload *w)
{
	int before = p->n_points, err = add_values(p, r, w, NULL);

	for (int i = 0; i < r->n_arounds && !err; i++)
		if (has(w, plan_own(w, r->around[i])))
			err = add_values(p, r, w, plan_own(w, r->around[i]));
	if (!err)
		err = add_asides(p, r, w);
	if (!err && p->n_points == before)
		err = complain(EINVAL, "%s allows none of these points: %s", w->name,
			       p->refused_why);
	return err;
}
