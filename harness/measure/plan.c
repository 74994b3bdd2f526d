/* plan.c - which points a sweep measures. */
#include "harness/measure/plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/measure/points.h"
#include "harness/stats/decide.h"
#include "workloads/workload.h"

struct side_timing side_timing_unknown(void)
{
	return (struct side_timing){ .setup_ns = NAN,
				     .ends_ns = NAN,
				     .step_ns = NAN,
				     .gap_ns = NAN,
				     .check_ends_ns = NAN,
				     .check_step_ns = NAN,
				     .launch_max_ns = NAN,
				     .device_bytes = NAN };
}

const char *design_name(const struct design *d)
{
	return d->express ? "express" : d->quick ? "quick" : "full";
}

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
	return (struct design){ .processes = 30, /* the last interim analysis */
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

int design_visit_blocks(const struct design *d, double t_ns)
{
	double n = ceil((double)d->visit_ns / fmax(t_ns, 1));
	double most = fmin(d->blocks_max, VISIT_BLOCKS_MAX);

	return (int)fmin(fmax(n, d->blocks_min), most);
}

bool design_has_untimed(double t_ns)
{
	return t_ns < 1e7;
}

/*
 * Warm-up and pauses are a third of what they are, so that points have the time. Processes differ
 * more than rounds do, so there are more of them.
 */
void design_express(struct design *d)
{
	d->express = true;
	d->processes = 9;
	d->warmup_min_ns /= 3;
	d->warmup_max_ns /= 3;
	d->pause_min_ns /= 4;
	d->pause_max_ns /= 4;
}

/*
 * Of 9 pairs that agree a dozen workloads can each be decided, or one workload where one pair does
 * not agree (harness/stats/outcome.h). One pair on the wrong side leaves each of several open: with
 * it 12 pairs decide seven workloads (13 / 4096 <= 2.5 % / 7), and 13 fourteen.
 */
enum { PAIRS_FEW = 9, PAIRS_SEVERAL = 12, PAIRS_MANY = 13 };

static int pairs_planned(const struct workload *const *workload)
{
	int n = 0;

	while (workload[n])
		n++;
	return n <= 2 ? PAIRS_FEW : n <= 7 ? PAIRS_SEVERAL : PAIRS_MANY;
}

void design_pairs(struct design *d)
{
	d->pairs = true;
	d->processes = d->quick ? PAIRS_FEW : d->processes;
	d->rounds = TURNS_LEAST;
	d->visit_ns = d->express ? 1000000 : 4000000;
}

static int next_of(const int *interims, int n, int processes, int most)
{
	for (int i = 0; i < n; i++)
		if (interims[i] > processes)
			return interims[i] < most ? interims[i] : processes < most ? most : 0;
	return 0;
}

int design_next_interim(const struct design *d, int processes)
{
	static const int full[] = { 5, 10, 20, 30 }, pairs[] = { 12, 20, 30 },
			 goals[] = { 8, 12, 18, 28, 42, 64, 100 };

	if (!d->sequential)
		return 0;
	if (goals_any(&d->goals))
		return next_of(goals, 7, processes, d->processes);
	return d->pairs ? next_of(pairs, 3, processes, d->processes)
			: next_of(full, 4, processes, d->processes);
}

int design_looks(const struct design *d)
{
	int looks = 0, processes = 0;

	while ((processes = design_next_interim(d, processes)))
		looks++;
	return looks ? looks : 1;
}

bool design_gave_pairs_up(const struct design *d)
{
	return d->company[0] != 0 || d->company[1] != 0; /* or NaN, of a side that is not known */
}

/* Is it one that sessions from before it know nothing of? (struct workload, added) */
static bool is_added(const struct workload *w, const struct param *row)
{
	for (const char *const *name = w->added; name && *name; name++)
		if (!strcmp(*name, row->name))
			return true;
	return false;
}

/* sync: NULL, or the name of its policy. */
static void find_key(const struct plan *p, const struct plan_point *at, const char *sync,
		     char out[HASH_TEXT])
{
	const struct params *params = &p->config[at->config].params;
	const struct workload *w = p->config[at->config].workload;
	json_t *all = json_object();
	json_t *axes =
		json_pack("{s:s, s:s, s:I, s:o}", "workload", w->name, "mode", mode_name(at->mode),
			  "depth", (json_int_t)at->depth, "params", all);

	for (const struct param *row = params->rows; row->name; row++)
		if (!is_added(w, row) || !param_is_default(row, params->opts))
			json_object_set_new(all, row->name, param_json(row, params->opts));
	if (sync)
		json_object_set_new(axes, "sync", json_string(sync));
	hash_json(axes, out);
	json_decref(axes);
}

static void find_keys(struct plan *p)
{
	for (int i = 0; i < p->n_points; i++) {
		struct plan_point *at = &p->point[i];

		at->sync = p->design.sync;
		find_key(p, at, NULL, at->key);
		strcpy(at->alone, at->key);
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

/*
 * What says most of the model: of the smallest size all depths, which hold c, p, Z, a, b, Zg, gn,
 * Zf and b0; of the three in the middle (k and e take as many; smaller ones may be hidden behind p)
 * depths 1 and 16, which hold g, k, e, phi and bf. A full queue and graphs behind graphs (W, G)
 * take depths of thousands, of which a block is as long as all other points' together.
 */
static bool says_little(const struct plan *p, int point, void *unused)
{
	const struct plan_point *at = &p->point[point];
	const struct config *c = &p->config[at->config];

	(void)unused;
	if (c->size_given || !c->size_index)
		return false;
	return c->size_index == 1 || c->size_index > 4 || (!p->depth_given && at->depth > 16);
}

int plan_make(struct plan *out, const struct plan_request *r)
{
	int err = request_check(r);

	*out = (struct plan){ .design = r->design,
			      .depth_given = r->depth != NULL,
			      .start_ns = { NAN, NAN },
			      .calibrate_ns = { NAN, NAN },
			      .warmup_ns = { NAN, NAN },
			      .free_bytes = { NAN, NAN } };
	for (const struct workload *const *w = r->workload; *w && !err; w++) {
		struct axes axes;

		err = request_read(&axes, r, *w);
		if (!err)
			err = points_add(out, &axes);
		axes_release(&axes);
	}
	if (err)
		return err;
	find_keys(out);
	drop_doubles(out);
	if (r->design.express)
		plan_drop(out, says_little, NULL);
	if (r->pairs_by_workloads)
		out->design.processes = pairs_planned(r->workload);
	return 0;
}

const struct workload *plan_workload(const struct plan *p, int point)
{
	return p->config[p->point[point].config].workload;
}

bool plan_has_workload(const struct plan *p, const struct workload *w)
{
	for (int i = 0; i < p->n_points; i++)
		if (plan_workload(p, i) == w)
			return true;
	return false;
}

bool plan_is_first(const struct plan *p, int config)
{
	return !config || p->config[config - 1].workload != p->config[config].workload;
}

/* ---- wait policies ------------------------------------------------------------------- */

int plan_policies(const struct plan *p)
{
	return p->design.policies ? p->design.policies : 1;
}

bool plan_has_policy(const struct plan *p, enum wait_policy policy)
{
	for (int i = 0; i < p->design.policies; i++)
		if (p->design.policy[i] == policy)
			return true;
	return !p->design.policies && p->design.sync == policy;
}

void plan_take_policies(struct plan *p, const enum wait_policy *policy, int n)
{
	size_t points = (size_t)p->n_points;
	struct plan_point *all = calloc((size_t)n * points + 1, sizeof(*all));

	CHECK(all, "memory of %d kinds of %zu points", n, points);
	p->design.sync = policy[0];
	p->design.policies = n > 1 ? n : 0;
	for (int k = 0; k < n; k++) {
		p->design.policy[k] = policy[k];
		for (size_t i = 0; i < points; i++) {
			struct plan_point *at = &all[(size_t)k * points + i];

			*at = p->point[i];
			at->sync = policy[k];
			if (n > 1)
				find_key(p, at, sync_names[policy[k]], at->key);
		}
	}
	free(p->point);
	p->point = all;
	p->n_points *= n;
}

static bool has_another_policy(const struct plan *p, int point, void *policy)
{
	return p->point[point].sync != *(enum wait_policy *)policy;
}

void plan_keep_policy(struct plan *p, enum wait_policy policy)
{
	plan_drop(p, has_another_policy, &policy);
	p->design.sync = policy;
	p->design.policies = 0;
	for (int i = 0; i < p->n_points; i++)
		strcpy(p->point[i].key, p->point[i].alone);
}

/* ---- fewer points ----------------------------------------------------------------------- */

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
