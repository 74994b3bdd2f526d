/* plan_parse.c - a plan read back from its record. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/decide.h"
#include "harness/sweep/clocks.h"
#include "harness/sweep/plan.h"
#include "harness/sweep/record.h"

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

/* One kind, or several, each once; false: neither. */
static bool kinds_parse(struct design *d, const json_t *o)
{
	const json_t *kinds = json_object_get(o, "sync_kinds"), *v;
	bool seen[SYNC_COUNT] = { false };
	size_t i;

	d->sync = (enum sync_kind)find_name(sync_names,
					    json_string_value(json_object_get(o, "sync")));
	if (!kinds)
		return (int)d->sync >= 0;
	json_array_foreach(kinds, i, v)
	{
		int kind = find_name(sync_names, json_string_value(v));

		if (kind < 0 || seen[kind])
			return false;
		seen[kind] = true;
		d->kind[d->kinds++] = (enum sync_kind)kind;
	}
	d->sync = d->kind[0];
	return d->kinds > 1;
}

/* Absent, "base", or MHz; false: none of them. */
static bool lock_parse(struct design *d, const json_t *o)
{
	const json_t *v = json_object_get(o, "lock_clocks_mhz");
	const char *text = json_string_value(v);
	json_int_t mhz = json_integer_value(v);

	d->lock = v != NULL;
	if (!v || (text && !strcmp(text, "base")))
		return true;
	d->lock_mhz = (int)mhz;
	return mhz >= 1 && mhz <= CLOCK_MHZ_MAX;
}

static int design_parse(struct design *d, const json_t *o)
{
	const char *name = json_string_value(json_object_get(o, "name"));
	const json_t *half = json_object_get(o, "half_width_max");

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
	d->seed = (uint64_t)integer(o, "seed");
	if (integer(o, "processes") > PROCESSES_MAX || d->processes < 1 || d->rounds < 1 ||
	    d->rounds > ROUNDS_MAX || d->visit_ns < 1 || d->blocks_min < 1 ||
	    d->blocks_max < d->blocks_min || !kinds_parse(d, o) || !lock_parse(d, o))
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

static bool key_parse(char out[HASH_TEXT], const json_t *o, const char *name)
{
	const char *key = json_string_value(json_object_get(o, name));

	return key && snprintf(out, HASH_TEXT, "%s", key) + 1 == HASH_TEXT;
}

/* Of several kinds a point says which is its, and what its key is without. */
static bool kind_parse(struct plan_point *at, const json_t *o, const struct plan *p)
{
	int kind = find_name(sync_names, json_string_value(json_object_get(o, "sync")));

	at->sync = p->design.kinds ? (enum sync_kind)kind : p->design.sync;
	strcpy(at->alone, at->key);
	return !p->design.kinds ||
	       (kind >= 0 && plan_has_kind(p, at->sync) && key_parse(at->alone, o, "key_alone"));
}

static int point_parse(struct plan_point *at, const json_t *o, const struct plan *p)
{
	static const char *const modes[] = { "stream", "graph", "fused", NULL };
	int mode = find_name(modes, json_string_value(json_object_get(o, "mode")));

	*at = (struct plan_point){ .config = (int)integer(o, "config"),
				   .mode = (enum mode)mode,
				   .depth = integer(o, "depth"),
				   .block_ns = ns_of(o, "block_ns") };
	if (!key_parse(at->key, o, "key") || mode < 0 || at->depth < 1 || at->config < 0 ||
	    at->config >= p->n_configs || !kind_parse(at, o, p))
		return complain(EINVAL, "the plan has a point without a key, mode, depth, kind of "
					"waiting or configuration");
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
				  json_array_get(points, (size_t)out->n_points), out);
	return err;
}
