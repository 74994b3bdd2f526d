/* plan_parse.c - a plan read back from its record. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/decide.h"
#include "harness/session/stopping.h"
#include "harness/plan/estimate.h"

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

static void kinds_parse(struct design *d, const json_t *o)
{
	const json_t *kinds = json_object_get(o, "sync_kinds"), *v;
	size_t i;

	d->sync = (enum sync_kind)find_name(sync_names,
					    json_string_value(json_object_get(o, "sync")));
	json_array_foreach(kinds, i, v)
	{
		d->kind[d->kinds++] = (enum sync_kind)find_name(sync_names, json_string_value(v));
	}
	if (d->kinds)
		d->sync = d->kind[0];
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
	kinds_parse(d, o);
	goals_parse(&d->goals, json_object_get(o, "resolve"));
	d->goals.margin = json_number_value(json_object_get(o, "resolve_margin"));
	d->lock = json_object_get(o, "lock_clocks_mhz") != NULL;
	d->lock_mhz = (int)integer(o, "lock_clocks_mhz"); /* "base": 0 */
}

static struct side_timing timing_parse(const json_t *o)
{
	return (struct side_timing){ .setup_ns = ns_of(o, "setup_ns"),
				     .ends_ns = ns_of(o, "ends_ns"),
				     .step_ns = ns_of(o, "step_ns"),
				     .gap_ns = ns_of(o, "gap_ns"),
				     .check_ends_ns = ns_of(o, "check_ends_ns"),
				     .check_step_ns = ns_of(o, "check_step_ns") };
}

static const struct workload *look_up(const struct workload *const *table, const char *name)
{
	for (; name && *table; table++)
		if (!strcmp((*table)->name, name))
			return *table;
	return NULL;
}

struct side_timing side_timing_unknown(void)
{
	return timing_parse(NULL);
}

static int config_parse(struct config *c, const json_t *o, const struct workload *const *table,
			const char *where)
{
	const char *name = json_string_value(json_object_get(o, "workload")), *param;
	const struct workload *w = look_up(table, name);
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
				   .block_ns = { ns_of(o, "block_ns"), NAN } };
	at->block_ns[1] = predict_block_ns(p, at, 1);
	if (p->design.kinds) {
		at->sync = (enum sync_kind)find_name(sync_names,
						     json_string_value(json_object_get(o, "sync")));
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

	*out = (struct plan){ 0 };
	if (*wrong.s)
		return complain(EINVAL, "%sthe plan is damaged: %s", where, wrong.s);
	out->config = calloc(n_configs + 1, sizeof(*out->config));
	out->point = calloc(n_points + 1, sizeof(*out->point));
	CHECK(out->config && out->point, "memory of %zu points", n_points);
	out->depth_given = json_is_true(json_object_get(o, "depth_given"));
	out->start_ns[0] = ns_of(o, "start_ns");
	out->calibrate_ns[0] = ns_of(o, "calibrate_ns");
	out->start_ns[1] = ns_of(json_object_get(o, "b"), "start_ns");
	out->calibrate_ns[1] = ns_of(json_object_get(o, "b"), "calibrate_ns");
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
