/*
 * atlas_costs.c - what each entry adds to copies, to taking memory, and to the start of a process.
 *
 * Copies and allocations are points of a sweep like all others. Which they are is told by what
 * records say of a step: it does that one thing and launches nothing.
 */
#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/compare/atlas_impl.h"
#include "harness/measure/run.h"
#include "harness/base/param.h"

/* ---- which point says it ---------------------------------------------------------------- */

enum of_sizes { SMALLEST, LARGEST, USUAL };

/* What a step has to do, and which of several sizes and depths is taken. */
static const struct wanted {
	int to_device, to_host, allocations;
	enum of_sizes size;
	bool deep;
} wanted[ATLAS_COSTS] = {
	[ATLAS_COPY_TO_DEVICE] = { 1, 0, 0, SMALLEST, false },
	[ATLAS_RATE_TO_DEVICE] = { 1, 0, 0, LARGEST, true },
	[ATLAS_COPY_TO_HOST] = { 0, 1, 0, SMALLEST, false },
	[ATLAS_RATE_TO_HOST] = { 0, 1, 0, LARGEST, true },
	[ATLAS_ALLOCATION] = { 0, 0, 2, USUAL, false },
};

const char *const atlas_cost_names[ATLAS_COSTS] = {
	[ATLAS_COPY_TO_DEVICE] = "copy to the device",
	[ATLAS_RATE_TO_DEVICE] = "rate to the device",
	[ATLAS_COPY_TO_HOST] = "copy to the host",
	[ATLAS_RATE_TO_HOST] = "rate to the host",
	[ATLAS_ALLOCATION] = "allocation",
	[ATLAS_START] = "cold start",
};

bool atlas_is_rate(int which)
{
	return which == ATLAS_RATE_TO_DEVICE || which == ATLAS_RATE_TO_HOST;
}

/* By a side that has measured it: what a platform lacks is counted by the other one. */
static const struct cost *step_of(const struct atlas_entry *e, const struct pair *p)
{
	const struct cost *a = &e->c.side[PAIR_A]->view.step[p->at[PAIR_A]];

	return isfinite(a->launches) ? a : &e->c.side[PAIR_B]->view.step[p->at[PAIR_B]];
}

static bool is_wanted(const struct cost *step, const struct wanted *w)
{
	return step->launches == 0 && step->within.calls == 0 &&
	       step->to_device.calls == w->to_device && step->to_host.calls == w->to_host &&
	       step->allocations == w->allocations;
}

/* Parameters beside the axis that are no defaults: the plainest kind of copy is taken. */
static int count_set(const struct config *c)
{
	const struct param *axis = workload_axis(c->workload);
	int n = 0;

	for (const struct param *row = c->workload->params; row->name; row++)
		n += row != axis && !param_is_default(row, c->params.opts);
	return n;
}

static double default_size(const struct workload *w)
{
	const struct param *axis = workload_axis(w);
	void *opts = calloc(1, w->opts_size ? w->opts_size : 1);
	struct params params;
	json_t *value;
	double size;

	CHECK(opts, "memory of options");
	params_init(&params, w->params, w->name, opts);
	value = axis ? param_json(axis, opts) : NULL;
	size = json_number_value(value);
	json_decref(value);
	params_release(&params);
	free(opts);
	return size;
}

/* The smaller, the better. */
static double rank_size(const struct config *c, double size, enum of_sizes which)
{
	if (which == USUAL)
		return fabs(log(fmax(size, 1) / fmax(default_size(c->workload), 1)));
	return which == SMALLEST ? size : -size;
}

/* Is the point x to be taken before y? */
static bool is_before(const struct plan *plan, int x, int y, const struct wanted *w)
{
	const struct config *of_x = &plan->config[plan->point[x].config];
	const struct config *of_y = &plan->config[plan->point[y].config];
	double size_x = rank_size(of_x, atlas_point_size(plan, x), w->size);
	double size_y = rank_size(of_y, atlas_point_size(plan, y), w->size);
	int set_x = count_set(of_x), set_y = count_set(of_y);

	if (set_x != set_y)
		return set_x < set_y;
	if (size_x != size_y)
		return size_x < size_y;
	return (plan->point[x].depth < plan->point[y].depth) != w->deep &&
	       plan->point[x].depth != plan->point[y].depth;
}

/* The number among the pairs; -1: none. */
static int pick_point(const struct atlas_entry *e, const struct wanted *w)
{
	const struct plan *plan = &e->c.side[PAIR_A]->view.plan;
	int best = -1;

	for (int i = 0; i < e->c.pairs.n; i++) {
		const struct pair *p = &e->c.pairs.pair[i];

		if (plan->point[p->at[PAIR_A]].mode != MODE_STREAM || !is_wanted(step_of(e, p), w))
			continue;
		if (best < 0 || is_before(plan, p->at[PAIR_A], e->c.pairs.pair[best].at[PAIR_A], w))
			best = i;
	}
	return best;
}

/* ---- how much --------------------------------------------------------------------------- */

/* values: in the order of processes */
static void take_difference(struct atlas_cost *cost, const struct atlas_entry *e,
			    const struct point_pair *values)
{
	if (!contrast_difference(&cost->of, &e->c.contrast, values))
		cost->state = atlas_state_of(&cost->of, 0);
	else
		cost->of = interval_unknown(0); /* no process is behind it */
}

/* One copy is bytes; time in ns. */
static double rate_of(double bytes, double ns)
{
	return 1e9 * bytes / ns;
}

static struct interval rates_of(double bytes, const struct interval *ns)
{
	struct interval rate = *ns;

	rate.value = rate_of(bytes, ns->value);
	rate.lo = rate_of(bytes, ns->hi);
	rate.hi = rate_of(bytes, ns->lo);
	return rate;
}

static void take_values(struct atlas_cost *cost, const struct atlas_entry *e, bool is_rate)
{
	double *value[2];

	for (int k = 0; k < 2; k++) {
		value[k] = calloc((size_t)cost->pair->n[k] + 1, sizeof(*value[k]));
		CHECK(value[k], "memory of %d processes", cost->pair->n[k]);
		for (int i = 0; i < cost->pair->n[k]; i++)
			value[k][i] = is_rate ? rate_of(cost->bytes, cost->pair->value[k][i])
					      : cost->pair->value[k][i];
	}
	take_difference(cost, e, &(struct point_pair){ .b = value[PAIR_B], .a = value[PAIR_A] });
	free(value[PAIR_A]);
	free(value[PAIR_B]);
}

/* A size that is there as a time already, which stands before its rate, is no rate as well. */
static bool is_told(const struct atlas_entry *e, int which, double bytes)
{
	const struct atlas_cost *time = atlas_is_rate(which) ? &e->cost[which - 1] : NULL;

	return time && time->pair && time->bytes == bytes;
}

static void find_point(struct atlas_entry *e, int which)
{
	struct atlas_cost *cost = &e->cost[which];
	const struct plan *plan = &e->c.side[PAIR_A]->view.plan;
	int at = pick_point(e, &wanted[which]);
	double bytes = at < 0 ? 0 : atlas_point_size(plan, e->c.pairs.pair[at].at[PAIR_A]);

	if (at < 0 || is_told(e, which, bytes))
		return;
	cost->pair = &e->c.pairs.pair[at];
	cost->bytes = bytes;
	for (int k = 0; k < 2; k++)
		cost->own[k] = atlas_is_rate(which) ? rates_of(bytes, &e->c.point[at].step_ns[k])
						    : e->c.point[at].step_ns[k];
	if (atlas_is_unsupported(e, cost->pair))
		cost->state = ATLAS_NOT_SUPPORTED;
	else if (cost->pair->whole)
		take_values(cost, e, atlas_is_rate(which));
}

/* ---- the start of a process ------------------------------------------------------------- */

/* One that is not known leaves all of its side so. */
static void find_start(struct atlas_entry *e)
{
	struct atlas_cost *cost = &e->cost[ATLAS_START];
	const struct compared_side *const *side = e->c.side;
	double *draws = calloc(BOOTSTRAP_DRAWS, sizeof(*draws));

	CHECK(draws, "memory of draws");
	for (int k = 0; k < 2; k++)
		if (bootstrap_median(&cost->own[k], &e->c.resamples[k], side[k]->view.startup_ns,
				     draws))
			cost->own[k] = interval_unknown(0);
	free(draws);
	take_difference(cost, e,
			&(struct point_pair){ .b = side[PAIR_B]->view.startup_ns,
					      .a = side[PAIR_A]->view.startup_ns });
}

void atlas_find_costs(struct atlas_entry *e)
{
	for (int i = 0; i < ATLAS_COSTS; i++) {
		e->cost[i] =
			(struct atlas_cost){ .of = interval_unknown(0),
					     .own = { interval_unknown(0), interval_unknown(0) } };
		if (i != ATLAS_START)
			find_point(e, i);
	}
	find_start(e);
}
