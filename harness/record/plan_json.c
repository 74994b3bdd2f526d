/* plan_json.c - the plan as a record; what a point is called. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/decide.h"
#include "harness/json.h"
#include "harness/session/stopping.h"
#include "harness/plan/plan.h"
#include "harness/record/record.h"
#include "harness/text.h"

/* Whole ns; null where not known. */
static json_t *ns_json(double ns)
{
	return isfinite(ns) ? json_integer((json_int_t)llround(ns)) : json_null();
}

static json_t *kinds_json(const struct design *d)
{
	json_t *kinds = json_array();

	for (int i = 0; i < d->kinds; i++)
		json_array_append_new(kinds, json_string(sync_names[d->kind[i]]));
	return kinds;
}

json_t *design_lock_json(const struct design *d)
{
	return d->lock_mhz ? json_integer(d->lock_mhz) : json_string("base");
}

static json_t *design_json(const struct design *d)
{
	json_t *o =
		json_pack("{s:s, s:i, s:i, s:I, s:i, s:i}", "name", design_name(d), "processes",
			  d->processes, "rounds", d->rounds, "visit_ns", (json_int_t)d->visit_ns,
			  "blocks_min", d->blocks_min, "blocks_max", d->blocks_max);

	json_object_set_new(o, "sequential", json_boolean(d->sequential));
	if (d->pairs)
		json_object_set_new(o, "pairs", json_true());
	if (design_gave_pairs_up(d))
		json_object_set_new(o, "company_over_alone",
				    json_pack("{s:o, s:o}", "a", json_number(d->company[0]), "b",
					      json_number(d->company[1])));
	json_object_set_new(o, "half_width_max", json_real(d->half_width_max));
	json_object_set_new(o, "warmup_min_ns", json_integer(d->warmup_min_ns));
	json_object_set_new(o, "warmup_max_ns", json_integer(d->warmup_max_ns));
	json_object_set_new(o, "pause_min_ns", json_integer(d->pause_min_ns));
	json_object_set_new(o, "pause_max_ns", json_integer(d->pause_max_ns));
	json_object_set_new(o, "check_steps", json_integer(d->check_steps));
	if (goals_any(&d->goals))
		json_object_set_new(o, "resolve", goals_json(&d->goals));
	if (d->goals.margin > 0)
		json_object_set_new(o, "resolve_margin", json_real(d->goals.margin));
	if (d->kinds)
		json_object_set_new(o, "sync_kinds", kinds_json(d));
	else
		json_object_set_new(o, "sync", json_string(sync_names[d->sync]));
	if (d->lock)
		json_object_set_new(o, "lock_clocks_mhz", design_lock_json(d));
	json_object_set_new(o, "seed", json_integer((json_int_t)d->seed));
	return o;
}

static void add_timing(json_t *o, const struct side_timing *t)
{
	json_object_set_new(o, "setup_ns", ns_json(t->setup_ns));
	json_object_set_new(o, "ends_ns", ns_json(t->ends_ns));
	json_object_set_new(o, "step_ns", ns_json(t->step_ns));
	json_object_set_new(o, "gap_ns", ns_json(t->gap_ns));
	json_object_set_new(o, "check_ends_ns", ns_json(t->check_ends_ns));
	json_object_set_new(o, "check_step_ns", ns_json(t->check_step_ns));
}

/* A worker that set a configuration up says how long that took, whatever came of it. */
static bool is_probed(const struct side_timing *t)
{
	return isfinite(t->setup_ns);
}

/* All parameters as values, and those that are not defaults as texts that parse back. */
static json_t *config_json(const struct config *c)
{
	json_t *all = json_object(), *set = json_object(), *o;
	char text[512];

	for (const struct param *row = c->params.rows; row->name; row++) {
		const void *field = (const char *)c->params.opts + row->offset;

		json_object_set_new(all, row->name, param_json(row, c->params.opts));
		if (param_is_default(row, c->params.opts))
			continue;
		param_format(row, c->params.opts, text, sizeof(text));
		json_object_set_new(set, row->name,
				    row->kind == PARAM_PATH ? json_text(*(const char *const *)field)
							    : json_string(text));
	}
	o = json_pack("{s:s, s:o, s:o, s:I, s:i, s:b}", "workload", c->workload->name, "params",
		      all, "set", set, "depth_max", (json_int_t)c->depth_max, "size_index",
		      c->size_index, "size_given", c->size_given);
	add_timing(o, &c->timing[0]);
	if (is_probed(&c->timing[1])) {
		json_object_set_new(o, "b", json_object());
		add_timing(json_object_get(o, "b"), &c->timing[1]);
	}
	return o;
}

static json_t *point_json(const struct plan *p, const struct plan_point *at)
{
	json_t *o = json_pack("{s:i, s:s, s:I, s:o, s:s}", "config", at->config, "mode",
			      mode_name(at->mode), "depth", (json_int_t)at->depth, "block_ns",
			      ns_json(at->block_ns[0]), "key", at->key);

	if (p->design.kinds) {
		json_object_set_new(o, "sync", json_string(sync_names[at->sync]));
		json_object_set_new(o, "key_alone", json_string(at->alone));
	}
	return o;
}

json_t *plan_json(const struct plan *p)
{
	json_t *configs = json_array(), *points = json_array(), *o;

	for (int i = 0; i < p->n_configs; i++)
		json_array_append_new(configs, config_json(&p->config[i]));
	for (int i = 0; i < p->n_points; i++)
		json_array_append_new(points, point_json(p, &p->point[i]));
	o = json_pack("{s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "design", design_json(&p->design),
		      "declared_platform", *p->declared ? json_text(p->declared) : json_null(),
		      "depth_given", p->depth_given, "start_ns", ns_json(p->start_ns[0]),
		      "calibrate_ns", ns_json(p->calibrate_ns[0]), "configs", configs, "points",
		      points);
	if (isfinite(p->start_ns[1]))
		json_object_set_new(o, "b",
				    json_pack("{s:o, s:o}", "start_ns", ns_json(p->start_ns[1]),
					      "calibrate_ns", ns_json(p->calibrate_ns[1])));
	return o;
}

/* ---- names ------------------------------------------------------------------------------ */

/* The kernel-size axis, and what any configuration of the workload has set. */
static bool is_shown(const struct plan *p, const struct workload *w, const struct param *row)
{
	if (row->axis)
		return true;
	for (int i = 0; i < p->n_configs; i++)
		if (p->config[i].workload == w && !param_is_default(row, p->config[i].params.opts))
			return true;
	return false;
}

json_t *plan_axes_json(const struct plan *p, int point)
{
	const struct plan_point *at = &p->point[point];
	const struct config *c = &p->config[at->config];
	json_t *o = json_pack("{s:s, s:s, s:I}", "workload", c->workload->name, "mode",
			      mode_name(at->mode), "depth", (json_int_t)at->depth);

	if (p->design.kinds)
		json_object_set_new(o, "sync", json_string(sync_names[at->sync]));
	for (const struct param *row = c->params.rows; row->name; row++)
		if (is_shown(p, c->workload, row))
			json_object_set_new(o, row->name, param_json(row, c->params.opts));
	return o;
}

void plan_point_text(const struct plan *p, int point, char *out, size_t size)
{
	const struct plan_point *at = &p->point[point];
	const struct config *c = &p->config[at->config];
	size_t used = (size_t)snprintf(out, size, "%s", c->workload->name);
	char value[64];

	for (const struct param *row = c->params.rows; row->name && used < size; row++) {
		if (!row->axis && param_is_default(row, c->params.opts))
			continue;
		param_format(row, c->params.opts, value, sizeof(value));
		used += (size_t)snprintf(out + used, size - used, " %s=%s", row->name,
					 text_escaped(value).s);
	}
	if (used < size)
		snprintf(out + used, size - used, " %s depth %ld%s%s", mode_name(at->mode),
			 (long)at->depth, p->design.kinds ? " sync " : "",
			 p->design.kinds ? sync_names[at->sync] : "");
}
