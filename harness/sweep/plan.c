/* plan.c - which points a sweep measures: every configuration x depth x mode that is allowed. */
#include "harness/sweep/plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/run.h"
#include "harness/spell.h"
#include "harness/sweep/axis.h"

const char *const sync_names[] = { "spin", "yield", "blocking", NULL };

static const char *const mode_names[] = { "stream", "graph", "fused", NULL };
static const struct param mode_row = {
	"mode", PARAM_CHOICE, 0, "", "", 0, 0, mode_names, "", NULL
};
static const struct param depth_row = { "depth", PARAM_SIZE, 0,	   "steps", "",
					1,	 1 << 24,    NULL, "",	    NULL };

enum { QUICK_SIZES = 6, ROWS_MAX = PARAM_ROWS_MAX };
static const char full_depths[] = "1:4096:x2", quick_depths[] = "1:4096:x4";

struct design design_of(bool quick)
{
	const int64_t ms = 1000000;

	if (quick)
		return (struct design){ true,	   5,	     3,	       ms / 2, 3, 50, 300 * ms,
					1000 * ms, 200 * ms, 400 * ms, 256,    0, 0 };
	return (struct design){ false,	   10,	     5,		2 * ms, 3, 200, 500 * ms,
				5000 * ms, 200 * ms, 1000 * ms, 256,	0, 0 };
}

/* ---- configurations --------------------------------------------------------------------- */

/* What is being built for one workload. */
struct builder {
	struct plan *plan;
	const struct plan_request *request;
	const struct workload *workload;
	struct axis values[ROWS_MAX]; /* of each row; none: the default */
	struct axis depths, modes;
	bool size_given;
	int at[ROWS_MAX]; /* the odometer: which value of each row */
};

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
	*c = (struct config){
		.workload = w, .setup_ns = NAN, .ends_ns = NAN, .step_ns = NAN, .gap_ns = NAN
	};
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
	*point = (struct plan_point){
		.config = config, .mode = mode, .depth = depth, .corner = corner, .block_ns = NAN
	};
}

/* -1 to 1 along an axis of n values. */
static double place(int i, int n)
{
	return n > 1 ? 2.0 * i / (n - 1) - 1 : 0;
}

static void add_depths(struct builder *b, int config, enum mode mode, const struct limits *limits,
		       double size_place)
{
	for (int i = 0; i < b->depths.n; i++) {
		int64_t depth;

		CHECK(!param_parse(&depth_row, "depth", b->depths.value[i], &depth), "depth");
		if (limits->depth_max && depth > limits->depth_max)
			note_refusal(b->plan, "depth", limits->depth_why ? limits->depth_why : "");
		else
			add_point(b, config, mode, depth,
				  fabs(size_place) + fabs(place(i, b->depths.n)));
	}
}

static void add_modes(struct builder *b, int config, const struct limits *limits, double size_place)
{
	for (int i = 0; i < b->modes.n; i++) {
		const char *why;
		int mode;

		CHECK(!param_parse(&mode_row, "mode", b->modes.value[i], &mode), "mode");
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

/* ---- what the user asked for ------------------------------------------------------------- */

/* Does any workload of the request have this parameter? */
static bool known_to_any(const struct plan_request *r, const char *assignment, size_t len)
{
	for (const struct workload *const *w = r->workload; *w; w++)
		if (params_find((*w)->params, assignment, len) >= 0)
			return true;
	return false;
}

static int refuse_unknown(const struct plan_request *r, const char *assignment)
{
	struct text name = text_shown(assignment);
	struct spell near;

	name.s[strcspn(name.s, "=")] = '\0';
	near = spell_start(name.s);
	for (const struct workload *const *w = r->workload; *w; w++)
		for (const struct param *row = (*w)->params; row->name; row++)
			spell_offer(&near, row->name);
	return complain(EINVAL, "unknown parameter '%s' of %s%s", name.s, (*r->workload)->name,
			near.best ? spell_hint(&near).s : "; `rift list` shows them");
}

static int take_assignment(struct builder *b, const char *text)
{
	size_t len = strcspn(text, "=");
	int i = params_find(b->workload->params, text, len);

	if (!text[len] || !len)
		return complain(EINVAL, "'%s' is not name=value or name=v1,v2", text_shown(text).s);
	if (!known_to_any(b->request, text, len))
		return refuse_unknown(b->request, text);
	if (i < 0)
		return 0; /* another workload's */
	if (b->values[i].n)
		return complain(EINVAL, "%s is given twice", b->workload->params[i].name);
	return axis_parse(&b->values[i], &b->workload->params[i], b->workload->params[i].name,
			  text + len + 1);
}

/* The sizes: given by name or by --size, else the workload's own, fewer in a quick design. */
static int take_sizes(struct builder *b, int size_row)
{
	const struct param *row = &b->workload->params[size_row];
	struct axis *sizes = &b->values[size_row];
	int err;

	if (b->request->size && sizes->n)
		return complain(EINVAL, "--size and %s= are the same: give one", row->name);
	b->size_given = b->request->size || sizes->n;
	if (sizes->n)
		return 0;
	err = axis_parse(sizes, row, b->request->size ? "--size" : row->name,
			 b->request->size ? b->request->size : row->axis);
	if (!err && !b->size_given && b->request->design.quick)
		axis_thin(sizes, QUICK_SIZES);
	return err;
}

static int take_request(struct builder *b, int size_row)
{
	const struct plan_request *r = b->request;
	const char *depth = r->design.quick ? quick_depths : full_depths;
	int err = 0;

	for (int i = 0; i < r->n_assignments && !err; i++)
		err = take_assignment(b, r->assignment[i]);
	if (!err)
		err = take_sizes(b, size_row);
	if (!err)
		err = axis_parse(&b->depths, &depth_row, "--depth", r->depth ? r->depth : depth);
	if (!err)
		err = axis_parse(&b->modes, &mode_row, "--mode",
				 r->mode ? r->mode : "stream,graph,fused");
	return err;
}

static int add_workload(struct plan *p, const struct plan_request *r, const struct workload *w)
{
	struct builder b = { .plan = p, .request = r, .workload = w };
	const struct param *axis = workload_axis(w);
	int size_row = (int)(axis - w->params), before = p->n_points;
	int err = take_request(&b, size_row);

	if (!err)
		do
			err = add_config(&b, size_row);
		while (!err && turn(&b, size_row));
	if (!err && p->n_points == before)
		err = complain(EINVAL, "%s allows none of these points: %s", w->name,
			       p->refused_why);
	for (int i = 0; w->params[i].name; i++)
		axis_release(&b.values[i]);
	axis_release(&b.depths);
	axis_release(&b.modes);
	return err;
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

int plan_make(struct plan *out, const struct plan_request *r)
{
	int err = 0;

	*out = (struct plan){ .design = r->design,
			      .depth_given = r->depth != NULL,
			      .start_ns = NAN };
	for (const struct workload *const *w = r->workload; *w && !err; w++)
		err = add_workload(out, r, *w);
	if (!err)
		find_keys(out);
	return err;
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
