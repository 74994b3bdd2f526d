/* plan_json.c - the plan as a record, and back; what a point is called. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/decide.h"
#include "harness/json.h"
#include "harness/sweep/plan.h"
#include "harness/sweep/record.h"

/* ---- out -------------------------------------------------------------------------------- */

/* Whole ns; null where not known. */
static json_t *ns_json(double ns)
{
	return isfinite(ns) ? json_integer((json_int_t)llround(ns)) : json_null();
}

static json_t *design_json(const struct design *d)
{
	json_t *o = json_pack("{s:s, s:i, s:i, s:I, s:i, s:i}", "name", d->quick ? "quick" : "full",
			      "processes", d->processes, "rounds", d->rounds, "visit_ns",
			      (json_int_t)d->visit_ns, "blocks_min", d->blocks_min, "blocks_max",
			      d->blocks_max);

	json_object_set_new(o, "sequential", json_boolean(d->sequential));
	json_object_set_new(o, "half_width_max", json_real(d->half_width_max));
	json_object_set_new(o, "warmup_min_ns", json_integer(d->warmup_min_ns));
	json_object_set_new(o, "warmup_max_ns", json_integer(d->warmup_max_ns));
	json_object_set_new(o, "pause_min_ns", json_integer(d->pause_min_ns));
	json_object_set_new(o, "pause_max_ns", json_integer(d->pause_max_ns));
	json_object_set_new(o, "check_steps", json_integer(d->check_steps));
	json_object_set_new(o, "sync", json_string(sync_names[d->sync]));
	json_object_set_new(o, "seed", json_integer((json_int_t)d->seed));
	return o;
}

/* All parameters as values, and those that are not defaults as texts that parse back. */
static json_t *config_json(const struct config *c)
{
	json_t *all = json_object(), *set = json_object();
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
	return json_pack("{s:s, s:o, s:o, s:I, s:i, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "workload",
			 c->workload->name, "params", all, "set", set, "depth_max",
			 (json_int_t)c->depth_max, "size_index", c->size_index, "size_given",
			 c->size_given, "setup_ns", ns_json(c->setup_ns), "ends_ns",
			 ns_json(c->ends_ns), "step_ns", ns_json(c->step_ns), "gap_ns",
			 ns_json(c->gap_ns), "check_ends_ns", ns_json(c->check_ends_ns),
			 "check_step_ns", ns_json(c->check_step_ns));
}

json_t *plan_json(const struct plan *p)
{
	json_t *configs = json_array(), *points = json_array();

	for (int i = 0; i < p->n_configs; i++)
		json_array_append_new(configs, config_json(&p->config[i]));
	for (int i = 0; i < p->n_points; i++) {
		const struct plan_point *at = &p->point[i];

		json_array_append_new(points, json_pack("{s:i, s:s, s:I, s:o, s:s}", "config",
							at->config, "mode", mode_name(at->mode),
							"depth", (json_int_t)at->depth, "block_ns",
							ns_json(at->block_ns), "key", at->key));
	}
	return json_pack("{s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "design", design_json(&p->design),
			 "declared_platform", *p->declared ? json_text(p->declared) : json_null(),
			 "depth_given", p->depth_given, "start_ns", ns_json(p->start_ns),
			 "calibrate_ns", ns_json(p->calibrate_ns), "configs", configs, "points",
			 points);
}

/* ---- in --------------------------------------------------------------------------------- */

static double ns_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static int find_name(const char *const *names, const char *name)
{
	for (int i = 0; name && names[i]; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

static int64_t integer(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static int design_parse(struct design *d, const json_t *o)
{
	const char *name = json_string_value(json_object_get(o, "name"));
	const json_t *half = json_object_get(o, "half_width_max");
	int sync;

	*d = (struct design){ .quick = name && !strcmp(name, "quick") };
	d->processes = (int)integer(o, "processes");
	d->sequential = json_is_true(json_object_get(o, "sequential"));
	d->half_width_max = json_is_number(half) ? json_number_value(half)
			    : d->quick		 ? HALF_WIDTH_MAX_QUICK
						 : HALF_WIDTH_MAX;
	d->rounds = (int)integer(o, "rounds");
	d->visit_ns = integer(o, "visit_ns");
	d->blocks_min = (int)integer(o, "blocks_min");
	d->blocks_max = (int)integer(o, "blocks_max");
	d->warmup_min_ns = integer(o, "warmup_min_ns");
	d->warmup_max_ns = integer(o, "warmup_max_ns");
	d->pause_min_ns = integer(o, "pause_min_ns");
	d->pause_max_ns = integer(o, "pause_max_ns");
	d->check_steps = integer(o, "check_steps");
	sync = find_name(sync_names, json_string_value(json_object_get(o, "sync")));
	d->sync = (enum sync_kind)sync;
	d->seed = (uint64_t)integer(o, "seed");
	if (integer(o, "processes") > PROCESSES_MAX || d->processes < 1 || d->rounds < 1 ||
	    d->rounds > ROUNDS_MAX || d->visit_ns < 1 || d->blocks_min < 1 ||
	    d->blocks_max < d->blocks_min || sync < 0)
		return complain(EINVAL, "the plan's design is not one that can be measured");
	return 0;
}

static const struct workload *look_up(const struct workload *const *table, const char *name)
{
	for (; name && *table; table++)
		if (!strcmp((*table)->name, name))
			return *table;
	return NULL;
}

static int config_parse(struct config *c, const json_t *o, const struct workload *const *table)
{
	const char *name = json_string_value(json_object_get(o, "workload")), *param;
	const struct workload *w = look_up(table, name);
	json_t *value;
	void *opts;
	int err;

	*c = (struct config){ 0 };
	if (!w)
		return complain(EINVAL, "the plan needs workload '%s', which is not built in",
				text_shown(name ? name : "").s);
	opts = calloc(1, w->opts_size ? w->opts_size : 1);
	CHECK(opts, "%zu bytes of options", w->opts_size);
	c->workload = w;
	params_init(&c->params, w->params, w->name, opts);
	json_object_foreach(json_object_get(o, "set"), param, value)
	{
		err = params_set(&c->params, param,
				 json_is_string(value) ? json_string_value(value) : "");
		if (err)
			return err;
	}
	c->depth_max = integer(o, "depth_max");
	c->size_index = (int)integer(o, "size_index");
	c->size_given = json_is_true(json_object_get(o, "size_given"));
	c->setup_ns = ns_of(o, "setup_ns");
	c->ends_ns = ns_of(o, "ends_ns");
	c->step_ns = ns_of(o, "step_ns");
	c->gap_ns = ns_of(o, "gap_ns");
	c->check_ends_ns = ns_of(o, "check_ends_ns");
	c->check_step_ns = ns_of(o, "check_step_ns");
	return 0;
}

static int point_parse(struct plan_point *at, const json_t *o, int n_configs)
{
	const char *key = json_string_value(json_object_get(o, "key"));
	static const char *const modes[] = { "stream", "graph", "fused", NULL };
	int mode = find_name(modes, json_string_value(json_object_get(o, "mode")));

	*at = (struct plan_point){ .config = (int)integer(o, "config"),
				   .mode = (enum mode)mode,
				   .depth = integer(o, "depth"),
				   .block_ns = ns_of(o, "block_ns") };
	if (!key || strlen(key) + 1 != HASH_TEXT || mode < 0 || at->depth < 1 || at->config < 0 ||
	    at->config >= n_configs)
		return complain(EINVAL, "the plan has a point without a key, mode, depth or "
					"configuration");
	strcpy(at->key, key);
	return 0;
}

int plan_parse(struct plan *out, const json_t *o, const struct workload *const *table)
{
	const json_t *configs = json_object_get(o, "configs");
	const json_t *points = json_object_get(o, "points");
	size_t n_configs = json_array_size(configs), n_points = json_array_size(points);
	int err;

	*out = (struct plan){ 0 };
	out->config = calloc(n_configs + 1, sizeof(*out->config));
	out->point = calloc(n_points + 1, sizeof(*out->point));
	CHECK(out->config && out->point, "memory of %zu points", n_points);
	out->depth_given = json_is_true(json_object_get(o, "depth_given"));
	out->start_ns = ns_of(o, "start_ns");
	out->calibrate_ns = ns_of(o, "calibrate_ns");
	if (json_string_value(json_object_get(o, "declared_platform")))
		snprintf(out->declared, sizeof(out->declared), "%s",
			 json_string_value(json_object_get(o, "declared_platform")));
	err = design_parse(&out->design, json_object_get(o, "design"));
	if (!err && !n_points)
		err = complain(EINVAL, "the plan has no points");
	for (; !err && out->n_configs < (int)n_configs; out->n_configs++)
		err = config_parse(&out->config[out->n_configs],
				   json_array_get(configs, (size_t)out->n_configs), table);
	for (; !err && out->n_points < (int)n_points; out->n_points++)
		err = point_parse(&out->point[out->n_points],
				  json_array_get(points, (size_t)out->n_points), out->n_configs);
	return err;
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
		used += (size_t)snprintf(out + used, size - used, " %s=%s", row->name, value);
	}
	if (used < size)
		snprintf(out + used, size - used, " %s depth %ld", mode_name(at->mode),
			 (long)at->depth);
}
