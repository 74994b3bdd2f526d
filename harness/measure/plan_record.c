/* plan_record.c - the plan as a record, checked, and read back; what a point is called. */
#include "harness/measure/plan_record.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/measure/estimate.h"
#include "harness/platform/system.h"
#include "harness/stats/decide.h"
#include "workloads/workload.h"

/* ---- written ---------------------------------------------------------------------------- */

/* Whole ns; null where not known. */
static json_t *ns_json(double ns)
{
	return isfinite(ns) ? json_integer((json_int_t)llround(ns)) : json_null();
}

static json_t *policies_json(const struct design *d)
{
	json_t *allowed = json_array();

	for (int i = 0; i < d->policies; i++)
		json_array_append_new(allowed, json_string(sync_names[d->policy[i]]));
	return allowed;
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
	if (d->policies)
		json_object_set_new(o, "sync_kinds", policies_json(d));
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
	if (c->apart)
		json_object_set_new(o, "apart", json_true());
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

	if (p->design.policies) {
		json_object_set_new(o, "sync", json_string(sync_names[at->sync]));
		json_object_set_new(o, "key_alone", json_string(at->alone));
	}
	return o;
}

/* The CPU device is not warmed up to see how long that takes. */
static void add_warmup(json_t *o, double ns)
{
	if (isfinite(ns))
		json_object_set_new(o, "warmup_ns", ns_json(ns));
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
	add_warmup(o, p->warmup_ns[0]);
	if (isfinite(p->start_ns[1])) {
		json_object_set_new(o, "b",
				    json_pack("{s:o, s:o}", "start_ns", ns_json(p->start_ns[1]),
					      "calibrate_ns", ns_json(p->calibrate_ns[1])));
		add_warmup(json_object_get(o, "b"), p->warmup_ns[1]);
	}
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

	if (p->design.policies)
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
			 (long)at->depth, p->design.policies ? " sync " : "",
			 p->design.policies ? sync_names[at->sync] : "");
}

/* ---- is this a plan: fields, kinds and ranges ------------------------------------------- */

/* Longer than any visit, warm-up or pause, ns: a day. */
static const json_int_t ns_max = (json_int_t)86400 * 1000000000;

enum { BLOCKS_MOST = 1000000 };

__attribute__((format(printf, 1, 2))) static struct text format_text(const char *fmt, ...)
{
	struct text t;
	va_list args;

	va_start(args, fmt);
	vsnprintf(t.s, sizeof(t.s), fmt, args);
	va_end(args);
	return t;
}

static const struct text nothing;

/* ---- fields ----------------------------------------------------------------------------- */

static bool is_whole(const json_t *o, const char *name, json_int_t lo, json_int_t hi)
{
	const json_t *v = json_object_get(o, name);

	return json_is_integer(v) && json_integer_value(v) >= lo && json_integer_value(v) <= hi;
}

static bool is_name(const json_t *v, const char *const *names)
{
	const char *name = json_string_value(v);

	for (int i = 0; name && names[i]; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* A SHA-256 in hexadecimal digits. */
static bool is_key(const json_t *o, const char *name)
{
	const char *key = json_string_value(json_object_get(o, name));

	return key && strlen(key) + 1 == HASH_TEXT &&
	       strspn(key, "0123456789abcdef") + 1 == HASH_TEXT;
}

/* ---- design ----------------------------------------------------------------------------- */

/* Absent, "base", or MHz. */
static bool is_lock(const json_t *o)
{
	static const char *const base[] = { "base", NULL };
	const json_t *v = json_object_get(o, "lock_clocks_mhz");

	return !v || is_name(v, base) || is_whole(o, "lock_clocks_mhz", 1, CLOCK_MHZ_MAX);
}

/* One wait policy, or several, each once. */
static bool are_kinds(const json_t *o)
{
	const json_t *allowed = json_object_get(o, "sync_kinds"), *v;
	size_t i, n = json_array_size(allowed);

	if (!allowed)
		return is_name(json_object_get(o, "sync"), sync_names);
	json_array_foreach(allowed, i, v)
	{
		if (!is_name(v, sync_names))
			return false;
		for (size_t k = 0; k < i; k++)
			if (json_equal(v, json_array_get(allowed, k)))
				return false;
	}
	return n > 1;
}

static struct text design_wrong(const json_t *o)
{
	const struct {
		const char *name;
		json_int_t lo, hi;
		bool optional;
	} rows[] = {
		{ "processes", 1, PROCESSES_MAX, false },
		{ "rounds", 1, ROUNDS_MAX, false },
		{ "visit_ns", 1, ns_max, false },
		{ "blocks_min", 1, BLOCKS_MOST, false },
		{ "blocks_max", json_integer_value(json_object_get(o, "blocks_min")), BLOCKS_MOST,
		  false },
		{ "warmup_min_ns", 0, ns_max, true },
		{ "warmup_max_ns", 0, ns_max, true },
		{ "pause_min_ns", 0, ns_max, true },
		{ "pause_max_ns", 0, ns_max, true },
		{ "check_steps", 1, PLAN_DEPTH_MAX, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!(rows[i].optional && !json_object_get(o, rows[i].name)) &&
		    !is_whole(o, rows[i].name, rows[i].lo, rows[i].hi))
			return format_text("design.%s must be %lld to %lld", rows[i].name,
					   (long long)rows[i].lo, (long long)rows[i].hi);
	if (!are_kinds(o))
		return format_text(
			"design.sync or sync_kinds must name how samples are waited for");
	if (!is_lock(o))
		return format_text("design.lock_clocks_mhz must be \"base\" or 1 to %d",
				   CLOCK_MHZ_MAX);
	return nothing;
}

/* ---- points ----------------------------------------------------------------------------- */

/* Has the point one of the wait policies, and the key it would have in a session of that alone? */
static bool has_policy(const json_t *o, const json_t *allowed)
{
	size_t i;
	json_t *v;

	json_array_foreach((json_t *)(uintptr_t)allowed, i, v)
	{
		if (json_equal(v, json_object_get(o, "sync")))
			return is_key(o, "key_alone");
	}
	return !allowed;
}

static struct text point_wrong(const json_t *o, int i, int n_configs, const json_t *allowed)
{
	static const char *const modes[] = { "stream", "graph", "fused", NULL };
	const json_t *block = json_object_get(o, "block_ns");

	if (!is_whole(o, "config", 0, n_configs - 1))
		return format_text("points[%d].config must be 0 to %d", i, n_configs - 1);
	if (!is_name(json_object_get(o, "mode"), modes))
		return format_text("points[%d].mode must be stream, graph or fused", i);
	if (!is_whole(o, "depth", 1, PLAN_DEPTH_MAX))
		return format_text("points[%d].depth must be 1 to %d", i, PLAN_DEPTH_MAX);
	if (block && !json_is_null(block) && !(json_number_value(block) >= 0))
		return format_text("points[%d].block_ns must be 0 or more, or null", i);
	if (!is_key(o, "key"))
		return format_text("points[%d].key must be a SHA-256", i);
	if (!has_policy(o, allowed))
		return format_text("points[%d] must have a sync of sync_kinds, and a key_alone", i);
	return nothing;
}

struct text plan_wrong(const json_t *o)
{
	const json_t *design = json_object_get(o, "design"), *points = json_object_get(o, "points");
	int n_configs = (int)json_array_size(json_object_get(o, "configs"));
	int n_points = (int)json_array_size(points);
	struct text wrong = design_wrong(design);

	if (!*wrong.s && !n_points)
		wrong = format_text("points must be there");
	for (int i = 0; i < n_points && !*wrong.s; i++)
		wrong = point_wrong(json_array_get(points, (size_t)i), i, n_configs,
				    json_object_get(design, "sync_kinds"));
	return wrong;
}

/* ---- read back -------------------------------------------------------------------------- */

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

static void policies_parse(struct design *d, const json_t *o)
{
	const json_t *allowed = json_object_get(o, "sync_kinds"), *v;
	size_t i;

	d->sync = (enum wait_policy)find_name(sync_names,
					      json_string_value(json_object_get(o, "sync")));
	json_array_foreach(allowed, i, v)
	{
		d->policy[d->policies++] =
			(enum wait_policy)find_name(sync_names, json_string_value(v));
	}
	if (d->policies)
		d->sync = d->policy[0];
}

static void company_parse(struct design *d, const json_t *o)
{
	static const char *const sides[] = { "a", "b" };

	for (int side = 0; o && side < 2; side++) {
		const json_t *v = json_object_get(o, sides[side]);

		d->company[side] = json_is_number(v) ? json_number_value(v) : NAN;
	}
}

static void design_parse(struct design *d, const json_t *o)
{
	const char *name = json_string_value(json_object_get(o, "name"));
	const json_t *half = json_object_get(o, "half_width_max");

	*d = (struct design){ .express = name && !strcmp(name, "express") };
	d->quick = d->express || (name && !strcmp(name, "quick"));
	d->processes = (int)integer(o, "processes");
	d->sequential = json_is_true(json_object_get(o, "sequential"));
	d->pairs = json_is_true(json_object_get(o, "pairs"));
	company_parse(d, json_object_get(o, "company_over_alone"));
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
	d->seed = (uint64_t)integer(o, "seed");
	policies_parse(d, o);
	goals_parse(&d->goals, json_object_get(o, "resolve"));
	d->goals.margin = json_number_value(json_object_get(o, "resolve_margin"));
	d->lock = json_object_get(o, "lock_clocks_mhz") != NULL;
	d->lock_mhz = (int)integer(o, "lock_clocks_mhz"); /* "base": 0 */
}

static struct side_timing timing_parse(const json_t *o)
{
	return (struct side_timing){ .setup_ns = json_get_number(o, "setup_ns"),
				     .ends_ns = json_get_number(o, "ends_ns"),
				     .step_ns = json_get_number(o, "step_ns"),
				     .gap_ns = json_get_number(o, "gap_ns"),
				     .check_ends_ns = json_get_number(o, "check_ends_ns"),
				     .check_step_ns = json_get_number(o, "check_step_ns") };
}

static const struct workload *find_workload(const struct workload *const *table, const char *name)
{
	for (; name && *table; table++)
		if (!strcmp((*table)->name, name))
			return *table;
	return NULL;
}

static int config_parse(struct config *c, const json_t *o, const struct workload *const *table,
			const char *where)
{
	const char *name = json_string_value(json_object_get(o, "workload")), *param;
	const struct workload *w = find_workload(table, name);
	json_t *value;
	void *opts;
	int err;

	*c = (struct config){ 0 };
	if (!w)
		return complain(EINVAL, "%sthe plan needs workload '%s', which is not built in",
				where, text_shown(name ? name : "").s);
	opts = calloc(1, w->opts_size ? w->opts_size : 1);
	CHECK(opts, "%zu bytes of options", w->opts_size);
	c->workload = w;
	params_init(&c->params, w->params, w->name, opts);
	c->params.prefix = where;
	json_object_foreach(json_object_get(o, "set"), param, value)
	{
		if (params_find(w->params, param, strlen(param)) < 0)
			return complain(EINVAL, "%sthe plan is damaged: %s has no parameter '%s'",
					where, w->name, text_shown(param).s);
		err = params_set(&c->params, param,
				 json_is_string(value) ? json_string_value(value) : "");
		if (err)
			return err;
	}
	c->params.prefix = "";
	c->depth_max = integer(o, "depth_max");
	c->size_index = (int)integer(o, "size_index");
	c->size_given = json_is_true(json_object_get(o, "size_given"));
	c->apart = json_is_true(json_object_get(o, "apart"));
	c->timing[0] = timing_parse(o);
	c->timing[1] = timing_parse(json_object_get(o, "b"));
	return 0;
}

static void point_parse(struct plan_point *at, const json_t *o, const struct plan *p)
{
	static const char *const modes[] = { "stream", "graph", "fused", NULL };
	const char *key = json_string_value(json_object_get(o, "key")), *alone = key;

	*at = (struct plan_point){ .config = (int)integer(o, "config"),
				   .mode = (enum mode)find_name(
					   modes, json_string_value(json_object_get(o, "mode"))),
				   .depth = integer(o, "depth"),
				   .sync = p->design.sync,
				   .block_ns = { json_get_number(o, "block_ns"), NAN } };
	at->block_ns[1] = predict_block_ns(p, at, 1);
	if (p->design.policies) {
		at->sync = (enum wait_policy)find_name(
			sync_names, json_string_value(json_object_get(o, "sync")));
		alone = json_string_value(json_object_get(o, "key_alone"));
	}
	strcpy(at->key, key);
	strcpy(at->alone, alone);
}

int plan_parse(struct plan *out, const json_t *o, const struct workload *const *table,
	       const char *where)
{
	const json_t *configs = json_object_get(o, "configs");
	const json_t *points = json_object_get(o, "points");
	size_t n_configs = json_array_size(configs), n_points = json_array_size(points);
	struct text wrong = plan_wrong(o);
	int err = 0;

	*out = (struct plan){ .free_bytes = { NAN, NAN } };
	if (*wrong.s)
		return complain(EINVAL, "%sthe plan is damaged: %s", where, wrong.s);
	out->config = calloc(n_configs + 1, sizeof(*out->config));
	out->point = calloc(n_points + 1, sizeof(*out->point));
	CHECK(out->config && out->point, "memory of %zu points", n_points);
	out->depth_given = json_is_true(json_object_get(o, "depth_given"));
	out->start_ns[0] = json_get_number(o, "start_ns");
	out->calibrate_ns[0] = json_get_number(o, "calibrate_ns");
	out->warmup_ns[0] = json_get_number(o, "warmup_ns");
	out->warmup_ns[1] = json_get_number(json_object_get(o, "b"), "warmup_ns");
	out->start_ns[1] = json_get_number(json_object_get(o, "b"), "start_ns");
	out->calibrate_ns[1] = json_get_number(json_object_get(o, "b"), "calibrate_ns");
	if (json_string_value(json_object_get(o, "declared_platform")))
		snprintf(out->declared, sizeof(out->declared), "%s",
			 json_string_value(json_object_get(o, "declared_platform")));
	design_parse(&out->design, json_object_get(o, "design"));
	for (; !err && out->n_configs < (int)n_configs; out->n_configs++)
		err = config_parse(&out->config[out->n_configs],
				   json_array_get(configs, (size_t)out->n_configs), table, where);
	for (; !err && out->n_points < (int)n_points; out->n_points++)
		point_parse(&out->point[out->n_points],
			    json_array_get(points, (size_t)out->n_points), out);
	return err;
}
