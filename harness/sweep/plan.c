/* plan.c - which points a sweep measures. */
#include "harness/sweep/plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/decide.h"
#include "harness/sweep/plan_build.h"

struct design design_of(bool quick)
{
	const int64_t ms = 1000000;

	if (quick)
		return (struct design){ .quick = true,
					.processes = 5,
					.half_width_max = HALF_WIDTH_MAX_QUICK,
					.rounds = 3,
					.visit_ns = ms / 2,
					.blocks_min = 3,
					.blocks_max = 50,
					.warmup_min_ns = 300 * ms,
					.warmup_max_ns = 1000 * ms,
					.pause_min_ns = 200 * ms,
					.pause_max_ns = 400 * ms,
					.check_steps = 256 };
	return (struct design){ .processes = 30, /* the last look */
				.sequential = true,
				.half_width_max = HALF_WIDTH_MAX,
				.rounds = 5,
				.visit_ns = 2 * ms,
				.blocks_min = 3,
				.blocks_max = 200,
				.warmup_min_ns = 500 * ms,
				.warmup_max_ns = 5000 * ms,
				.pause_min_ns = 200 * ms,
				.pause_max_ns = 1000 * ms,
				.check_steps = 256 };
}

static void find_keys(struct plan *p)
{
	for (int i = 0; i < p->n_points; i++) {
		const struct plan_point *at = &p->point[i];
		const struct params *params = &p->config[at->config].params;
		json_t *all = json_object();
		json_t *axes = json_pack(
			"{s:s, s:s, s:I, s:o}", "workload", p->config[at->config].workload->name,
			"mode", mode_name(at->mode), "depth", (json_int_t)at->depth, "params", all);

		for (const struct param *row = params->rows; row->name; row++)
			json_object_set_new(all, row->name, param_json(row, params->opts));
		hash_json(axes, p->point[i].key);
		json_decref(axes);
	}
}

/* A value that goes around the centre may be the centre's own. */
static bool is_again(const struct plan *p, int point, void *arg)
{
	json_t *seen = arg;
	const char *key = p->point[point].key;

	if (json_object_get(seen, key))
		return true;
	json_object_set_new(seen, key, json_true());
	return false;
}

static void drop_doubles(struct plan *p)
{
	json_t *seen = json_object();

	plan_drop(p, is_again, seen);
	json_decref(seen);
}

int plan_make(struct plan *out, const struct plan_request *r)
{
	int err = 0;

	*out = (struct plan){ .design = r->design,
			      .depth_given = r->depth != NULL,
			      .start_ns = NAN,
			      .calibrate_ns = NAN };
	for (const struct workload *const *w = r->workload; *w && !err; w++)
		err = plan_add_workload(out, r, *w);
	if (err)
		return err;
	find_keys(out);
	drop_doubles(out);
	return 0;
}

static void config_release(struct config *c)
{
	params_release(&c->params);
	free(c->params.opts);
}

void plan_release(struct plan *p)
{
	for (int i = 0; i < p->n_configs; i++)
		config_release(&p->config[i]);
	free(p->config);
	free(p->point);
	*p = (struct plan){ 0 };
}

/* Moves the configurations that still have points together. */
static void drop_unused_configs(struct plan *p)
{
	int *moved = calloc((size_t)p->n_configs + 1, sizeof(*moved)), n = 0;

	CHECK(moved, "memory of %d configurations", p->n_configs);
	for (int i = 0; i < p->n_points; i++)
		moved[p->point[i].config] = 1;
	for (int i = 0; i < p->n_configs; i++) {
		if (!moved[i]) {
			config_release(&p->config[i]);
			continue;
		}
		moved[i] = n;
		p->config[n++] = p->config[i];
	}
	for (int i = 0; i < p->n_points; i++)
		p->point[i].config = moved[p->point[i].config];
	p->n_configs = n;
	free(moved);
}

int plan_drop(struct plan *p, bool (*drop)(const struct plan *, int point, void *), void *arg)
{
	bool *gone = calloc((size_t)p->n_points + 1, sizeof(*gone));
	int n = 0, before = p->n_points;

	CHECK(gone, "memory of %d points", p->n_points);
	for (int i = 0; i < before; i++)
		gone[i] = drop(p, i, arg);
	for (int i = 0; i < before; i++)
		if (!gone[i])
			p->point[n++] = p->point[i];
	p->n_points = n;
	free(gone);
	drop_unused_configs(p);
	return before - n;
}
