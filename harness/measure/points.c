/* points.c - the points of one workload's grid: every configuration x mode x depth that is allowed.
 */
#include "harness/measure/points.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/param.h"
#include "harness/base/together.h"
#include "harness/measure/run.h"

/* Values out of an axis; n = 0: the default. */
struct span {
	const union param_value *value;
	int n;
};

/* What is being built: the grid, or, at its centre, the values of one more parameter. */
struct builder {
	struct plan *plan;
	const struct axes *axes;
	int size_row;
	struct span of[PARAM_ROWS_MAX], depths; /* of each row */
	int at[PARAM_ROWS_MAX];			/* the odometer: which value of each row */
};

static struct span whole(const struct axis *a)
{
	return (struct span){ a->value, a->n };
}

/* The middle one alone. */
static struct span centre(const struct axis *a)
{
	return (struct span){ a->n ? &a->value[a->n / 2] : NULL, a->n > 0 };
}

static struct builder builder_of(struct plan *p, const struct axes *a, const struct axis *aside)
{
	struct builder b = { .plan = p, .axes = a };

	b.size_row = (int)(workload_axis(a->workload) - a->workload->params);
	b.depths = aside ? centre(&a->depths) : whole(&a->depths);
	for (int i = 0; a->workload->params[i].name; i++)
		b.of[i] = aside ? centre(&a->values[i]) : whole(&a->values[i]);
	if (aside)
		b.of[aside->row - a->workload->params] = whole(aside);
	return b;
}

/* ---- a configuration -------------------------------------------------------------------- */

static void *grow(void *array, int n, size_t size)
{
	/* by doubling, at powers of two */
	if (n & (n - 1))
		return array;
	array = realloc(array, (n ? 2 * (size_t)n : 1) * size);
	CHECK(array, "memory of %d elements", n);
	return array;
}

/* With the values that the odometer shows. */
static void config_init(const struct builder *b, struct config *c)
{
	const struct workload *w = b->axes->workload;
	void *opts = calloc(1, w->opts_size ? w->opts_size : 1);

	CHECK(opts, "%zu bytes of options", w->opts_size);
	*c = (struct config){ .workload = w,
			      .timing = { side_timing_unknown(), side_timing_unknown() } };
	params_init(&c->params, w->params, w->name, opts);
	for (int i = 0; w->params[i].name; i++)
		if (b->of[i].n)
			params_put(&c->params, i, &b->of[i].value[b->at[i]]);
}

static int check_config_limits(const struct config *c, struct limits *limits)
{
	const struct workload *w = c->workload;
	int err;

	err = workload_limits(w, c->params.opts, limits);
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

/* ---- its points ------------------------------------------------------------------------- */

static void note_refusal(struct plan *p, const char *what, const char *why)
{
	if (!p->refused++)
		snprintf(p->refused_why, sizeof(p->refused_why), "%s: %s", what, why);
}

static void add_point(struct builder *b, enum mode mode, int64_t depth, double corner)
{
	struct plan *p = b->plan;

	p->point = grow(p->point, p->n_points, sizeof(*p->point));
	p->point[p->n_points++] = (struct plan_point){ .config = p->n_configs - 1,
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

static void add_depths(struct builder *b, enum mode mode, const struct limits *limits)
{
	double size_place = place(b->at[b->size_row], b->of[b->size_row].n);

	if (limits->depth_asked && !b->axes->depth_given) {
		b->plan->depth_given = true;
		add_point(b, mode, limits->depth_asked, size_place);
		return;
	}
	for (int i = 0; i < b->depths.n; i++) {
		int64_t depth = b->depths.value[i].whole;

		if (limits->depth_max && depth > limits->depth_max)
			note_refusal(b->plan, "depth", limits->depth_why ? limits->depth_why : "");
		else
			add_point(b, mode, depth, size_place * place(i, b->depths.n));
	}
}

static void add_modes(struct builder *b, const struct limits *limits)
{
	const struct axis *modes = &b->axes->modes;

	for (int i = 0; i < modes->n; i++) {
		enum mode mode = (enum mode)modes->value[i].choice;
		const char *why = mode_refused(b->axes->workload, limits, mode);

		if (why)
			note_refusal(b->plan, modes->row->choices[mode], why);
		else
			add_depths(b, mode, limits);
	}
}

/* The configuration that the odometer shows, and its points. */
static int add_config(struct builder *b)
{
	struct plan *p = b->plan;
	struct limits limits;
	struct config *c;
	int err;

	p->config = grow(p->config, p->n_configs, sizeof(*p->config));
	c = &p->config[p->n_configs++];
	config_init(b, c);
	c->size_index = b->at[b->size_row];
	c->size_given = b->axes->size_given;
	err = param_needs_check(&c->params, b->axes->workload->needs);
	if (!err)
		err = check_config_limits(c, &limits);
	if (err)
		return err;
	c->depth_max = limits.depth_max;
	add_modes(b, &limits);
	if (p->n_points > PLAN_POINTS_MAX)
		return complain(EINVAL, "more than %d points: give fewer values",
				(int)PLAN_POINTS_MAX);
	return 0;
}

/* ---- the whole grid --------------------------------------------------------------------- */

/* Steps the odometer on, the sizes fastest, so that they are neighbours; false at its end. */
static bool turn(struct builder *b)
{
	int n_rows = 0;

	if (++b->at[b->size_row] < b->of[b->size_row].n)
		return true;
	b->at[b->size_row] = 0;
	while (b->axes->workload->params[n_rows].name)
		n_rows++;
	for (int i = n_rows - 1; i >= 0; i--) {
		if (i == b->size_row || !b->of[i].n)
			continue;
		if (++b->at[i] < b->of[i].n)
			return true;
		b->at[i] = 0;
	}
	return false;
}

/* Images of the user's have a size already: the workload's own sizes are none of theirs. */
static void drop_sizes_without_effect(struct builder *b)
{
	struct span sizes = b->of[b->size_row];
	const struct workload *w = b->axes->workload;
	struct config c;

	if (b->axes->size_given)
		return;
	b->of[b->size_row].n = 0;
	config_init(b, &c);
	if (param_counts(&c.params, w->needs, w->params[b->size_row].name))
		b->of[b->size_row] = sizes;
	params_release(&c.params); /* reads the options */
	free(c.params.opts);
}

static int add_grid(struct plan *p, const struct axes *a, const struct axis *aside)
{
	struct builder b = builder_of(p, a, aside);
	int err;

	drop_sizes_without_effect(&b);
	do
		err = add_config(&b);
	while (!err && turn(&b));
	return err;
}

int points_add(struct plan *p, const struct axes *a)
{
	int before = p->n_points, err = add_grid(p, a, NULL);

	for (int i = 0; a->workload->params[i].name && !err; i++)
		if (a->aside[i].n)
			err = add_grid(p, a, &a->aside[i]);
	if (!err && p->n_points == before)
		err = complain(EINVAL, "%s allows none of these points: %s", a->workload->name,
			       p->refused_why);
	return err;
}
