/* request.c - what the user asked for, as the points of a plan: values, axes, the grid. */
#include "harness/plan/request.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/command.h"
#include "harness/base/text.h"
#include "harness/measure/run.h"
#include "harness/params/param.h"
#include "harness/params/together.h"
#include "harness/plan/plan_record.h"

/* ---- values of one parameter ------------------------------------------------------------ */

/* Room for one value of any kind, as a parser wants it. */
union field {
	int64_t whole;
	double real;
	int choice;
	char *path;
	struct param_list list;
};

/* What is being parsed, for messages. */
struct source {
	const struct param *row;
	const char *label, *text;
};

static int refuse_text(const struct source *s, const char *why)
{
	return complain(EINVAL, "%s=%s: %s", s->label, text_shown(s->text).s, why);
}

static int keep_value(struct axis *out, const struct source *s, const char *value)
{
	for (int i = 0; i < out->n; i++)
		if (!strcmp(out->value[i], value))
			return refuse_text(s, "one value twice");
	if (out->n == AXIS_VALUES_MAX)
		return refuse_text(s, "more than 256 values");
	out->value = realloc(out->value, (size_t)(out->n + 1) * sizeof(*out->value));
	CHECK(out->value, "memory of %d values", out->n);
	out->value[out->n] = strdup(value);
	CHECK(out->value[out->n], "memory of a value");
	out->n++;
	return 0;
}

/* Parses the text into field, then keeps it in the spelling that all values of a row share. */
static int parse_value(struct axis *out, const struct source *s, const char *text,
		       union field *field)
{
	struct param alone = *s->row;
	char value[512];
	int err;

	alone.offset = 0;
	err = param_parse(&alone, s->label, text, field);
	if (err)
		return err;
	if (alone.kind == PARAM_PATH)
		return keep_value(out, s, text);
	param_format(&alone, field, value, sizeof(value));
	return keep_value(out, s, value);
}

static int take_one(struct axis *out, const struct source *s, const char *text)
{
	union field field = { 0 };
	int err = parse_value(out, s, text, &field);

	if (s->row->kind == PARAM_PATH)
		free(field.path);
	return err;
}

/* "x2" or "+10" into a factor or an increment; the other one stays neutral. */
static int parse_step(const struct source *s, const char *step, double *factor, double *more)
{
	char *end;
	double v = strtod(*step ? step + 1 : step, &end);

	*factor = 1;
	*more = 0;
	if (*step == 'x' && !*end && v > 1)
		*factor = v;
	else if (*step == '+' && !*end && v > 0)
		*more = v;
	else
		return refuse_text(s,
				   "a range is FROM:TO:xFACTOR or FROM:TO:+STEP, factor above 1");
	return 0;
}

static double get_number(const struct param *row, const union field *f)
{
	return row->kind == PARAM_REAL ? f->real : (double)f->whole;
}

/* Values from lo on; rounding must not lose the last one. */
static int take_range(struct axis *out, const struct source *s, double lo, double hi,
		      const char *step)
{
	double factor, more, v = lo;
	int err = parse_step(s, step, &factor, &more);
	char text[80];

	if (!err && !(lo <= hi && (lo > 0 || factor == 1)))
		err = refuse_text(s, "a range must rise, and with a factor start above 0");
	for (; !err && v <= hi * (1 + 1e-12); v = v * factor + more) {
		if (s->row->kind == PARAM_REAL)
			snprintf(text, sizeof(text), "%s", text_real(v).s);
		else
			snprintf(text, sizeof(text), "%.0f", v);
		err = take_one(out, s, text);
	}
	return err;
}

/* FROM:TO:STEP; the parts are cut out of a copy. */
static int parse_range(struct axis *out, const struct source *s, char *item)
{
	char *to = strchr(item, ':') + 1, *step = strchr(to, ':');
	struct param alone = *s->row;
	union field lo = { 0 }, hi = { 0 };
	int err;

	to[-1] = '\0';
	if (step)
		*step++ = '\0';
	alone.offset = 0;
	err = param_parse(&alone, s->label, item, &lo);
	if (!err)
		err = param_parse(&alone, s->label, to, &hi);
	if (!err)
		err = take_range(out, s, get_number(&alone, &lo), get_number(&alone, &hi),
				 step ? step : "x2");
	return err;
}

static bool is_number(const struct param *row)
{
	return row->kind == PARAM_INT || row->kind == PARAM_SIZE || row->kind == PARAM_REAL;
}

int axis_parse(struct axis *out, const struct param *row, const char *label, const char *text)
{
	const struct source s = { row, label, text };
	char *copy, *rest, *item;
	int err = 0;

	*out = (struct axis){ 0 };
	if (row->kind == PARAM_PATH)
		return take_one(out, &s, text);
	copy = rest = strdup(text);
	CHECK(copy, "%zu bytes", strlen(text));
	while (!err && (item = strsep(&rest, row->kind == PARAM_LIST ? "/" : ",")))
		err = is_number(row) && strchr(item, ':') ? parse_range(out, &s, item)
							  : take_one(out, &s, item);
	free(copy);
	return err;
}

void axis_thin(struct axis *a, int n)
{
	if (a->n <= n || n < 2)
		return;
	for (int i = 0; i < n; i++) {
		/* nearest; never the same twice, as the axis has more values than n */
		int from = (int)((2 * (long)i * (a->n - 1) + (n - 1)) / (2 * (n - 1)));
		char *kept = a->value[from];

		a->value[from] = a->value[i];
		a->value[i] = kept;
	}
	for (int i = n; i < a->n; i++)
		free(a->value[i]);
	a->n = n;
}

void axis_release(struct axis *a)
{
	for (int i = 0; i < a->n; i++)
		free(a->value[i]);
	free(a->value);
	*a = (struct axis){ 0 };
}

/* ---- what was asked for ----------------------------------------------------------------- */

/* What is being built for one workload. */
struct builder {
	struct plan *plan;
	const struct plan_request *request;
	const struct workload *workload;
	struct axis values[PARAM_ROWS_MAX]; /* of each row; none: the default */
	struct axis depths, modes;
	bool size_given;
	int at[PARAM_ROWS_MAX]; /* the odometer: which value of each row */
};

static const char *const mode_names[] = { "stream", "graph", "fused", NULL };
/* How --depth and --mode are read. */
static const struct param plan_mode_row = { "mode", PARAM_CHOICE, 0,  "",   "",	  0,
					    0,	    mode_names,	  "", NULL, NULL, false };
static const struct param plan_depth_row = { "depth",	     PARAM_SIZE, 0,  "steps", "",   1,
					     PLAN_DEPTH_MAX, NULL,	 "", NULL,    NULL, false };

enum { QUICK_SIZES = 6 };
static const char full_depths[] = "1:4096:x2", quick_depths[] = "1:4096:x4";
/* p takes three depths beyond 1 (POINTS_MIN of the fit). */
static const char express_depths[] = "1,16,64,256";

/* The parameter that this names, of the first workload of the request that has one; else NULL. */
static const struct param *find_row(const struct plan_request *r, const char *assignment,
				    size_t len)
{
	for (const struct workload *const *w = r->workload; *w; w++) {
		int i = params_find((*w)->params, assignment, len);

		if (i >= 0)
			return &(*w)->params[i];
	}
	return NULL;
}

static int refuse_unknown(const struct plan_request *r, const char *assignment)
{
	struct text name = text_shown(assignment);
	struct suggestion near;

	name.s[strcspn(name.s, "=")] = '\0';
	near = suggest_start(name.s);
	for (const struct workload *const *w = r->workload; *w; w++)
		for (const struct param *row = (*w)->params; row->name; row++)
			suggest_offer(&near, row->name);
	return complain(EINVAL, "unknown parameter '%s' of %s%s", name.s, (*r->workload)->name,
			near.best ? suggest_hint(&near).s : "; `rift list` shows them");
}

/* The length of "stereo" in "stereo.width=640"; 0: it is for all that have the parameter. */
static size_t prefix(const char *text)
{
	size_t len = strcspn(text, ".=");

	return text[len] == '.' ? len : 0;
}

/*
 * "name=values" out of "name=values" or "stereo.name=values" on the command line, as this workload
 * is to read it; NULL: it is for another workload.
 */
static const char *plan_own(const struct workload *w, const char *text)
{
	size_t len = prefix(text);

	if (!len)
		return text;
	return !strncmp(w->name, text, len) && !w->name[len] ? text + len + 1 : NULL;
}

/* Some workload of the request must have the name in front of the dot. */
static int check_prefix(const struct plan_request *r, const char *text)
{
	struct text name = text_shown(text);

	for (const struct workload *const *w = r->workload; *w; w++)
		if (plan_own(*w, text))
			return 0;
	name.s[strcspn(name.s, ".")] = '\0';
	if (!workload_find(name.s))
		return -EINVAL;
	return complain(EINVAL, "%s: %s is not swept; name it among the workloads",
			text_shown(text).s, name.s);
}

static int check_parameter(const struct plan_request *r, const char *text)
{
	size_t len = strcspn(text, "=");
	const struct param *row = find_row(r, text, len);

	if (!text[len] || !len)
		return complain(EINVAL, "'%s' must be name=value or name=v1,v2",
				text_shown(text).s);
	if (row && row->written)
		return complain(EINVAL, "%s: cannot be written by a sweep; use rift run",
				text_shown(text).s);
	return row ? 0 : refuse_unknown(r, text);
}

/* Is it a parameter of any workload, or, with its name in front, of this one? */
static int check_name(const struct builder *b, const char *text)
{
	const char *own = plan_own(b->workload, text);
	const struct workload *one[] = { b->workload, NULL };
	struct plan_request alone = *b->request;

	if (!own)
		return check_prefix(b->request, text); /* the rest is that workload's to check */
	if (own > text)
		alone.workload = one;
	return check_parameter(&alone, own);
}

static int take_own(struct builder *b, const char *text)
{
	size_t len = strcspn(text, "=");
	int i = params_find(b->workload->params, text, len);

	if (i < 0)
		return 0; /* another workload's */
	if (b->values[i].n)
		return complain(EINVAL, "%s is given twice", b->workload->params[i].name);
	return axis_parse(&b->values[i], &b->workload->params[i], b->workload->params[i].name,
			  text + len + 1);
}

static int take_assignment(struct builder *b, const char *text)
{
	const char *own = plan_own(b->workload, text);
	int err;

	if (own && preset_is(own))
		return 0; /* later, as what is given besides wins */
	err = check_name(b, text);
	return err || !own ? err : take_own(b, own);
}

/* A value of a preset, where the user gives none. */
static int take_value(void *arg, const char *assignment)
{
	struct builder *b = arg;
	int i = params_find(b->workload->params, assignment, strcspn(assignment, "="));

	if (b->values[i].n || (b->request->size && b->workload->params[i].axis))
		return 0;
	return take_own(b, assignment);
}

static int take_preset(struct builder *b)
{
	const struct plan_request *r = b->request;
	const struct preset *preset = NULL;

	for (int i = 0; i < r->n_assignments; i++) {
		const char *own = plan_own(b->workload, r->assignment[i]);

		if (!own || !preset_is(own))
			continue;
		if (preset)
			return complain(EINVAL, "%s: a preset is given twice",
					text_shown(r->assignment[i]).s);
		preset = preset_find(b->workload->presets, b->workload->name, "rift list", own);
		if (!preset)
			return -EINVAL;
	}
	return preset ? preset_each(preset, take_value, b) : 0;
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

/* The middle one alone. */
static void keep_centre(struct axis *a)
{
	char *kept = a->value[a->n / 2];

	a->value[a->n / 2] = a->value[0];
	a->value[0] = kept;
	while (a->n > 1)
		free(a->value[--a->n]);
}

/* The parameter of `around` takes its values at the centre of all that the grid varies. */
static int vary_one_factor(struct builder *b, const char *around)
{
	size_t len = strcspn(around, "=");
	int i = params_find(b->workload->params, around, len);
	const struct param *row = &b->workload->params[i];

	for (int k = 0; b->workload->params[k].name; k++)
		if (b->values[k].n)
			keep_centre(&b->values[k]);
	keep_centre(&b->depths);
	if (row->axis)
		return complain(EINVAL, "--around %s: is already the size axis of the grid",
				row->name);
	axis_release(&b->values[i]);
	return axis_parse(&b->values[i], row, row->name, around[len] ? around + len + 1 : "");
}

/*
 * Fills in the values of a builder from its request, sizes by the row size_row. around: NULL, or
 * a name=values that takes the place of the parameter's values, at the centre of sizes and depths.
 */
static int plan_take_request(struct builder *b, int size_row, const char *around)
{
	const struct plan_request *r = b->request;
	const char *depth = r->design.express ? express_depths
			    : r->design.quick ? quick_depths
					      : full_depths;
	int err = 0;

	for (int i = 0; i < r->n_assignments && !err; i++)
		err = take_assignment(b, r->assignment[i]);
	if (!err)
		err = take_preset(b);
	for (int i = 0; i < r->n_arounds && !err; i++)
		err = check_name(b, r->around[i]);
	if (!err)
		err = take_sizes(b, size_row);
	if (!err)
		err = axis_parse(&b->depths, &plan_depth_row, "--depth",
				 r->depth ? r->depth : depth);
	if (!err)
		err = axis_parse(&b->modes, &plan_mode_row, "--mode",
				 r->mode ? r->mode : "stream,graph,fused");
	if (!err && around)
		err = vary_one_factor(b, around);
	return err;
}

/* ---- the grid of one workload: every configuration x depth x mode that is allowed ------- */

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
	*c = (struct config){ .workload = w,
			      .timing = { side_timing_unknown(), side_timing_unknown() } };
	params_init(&c->params, w->params, w->name, opts);
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
	*point = (struct plan_point){ .config = config,
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

static void add_depths(struct builder *b, int config, enum mode mode, const struct limits *limits,
		       double size_place)
{
	if (limits->depth_asked && !b->request->depth) {
		b->plan->depth_given = true;
		add_point(b, config, mode, limits->depth_asked, size_place);
		return;
	}
	for (int i = 0; i < b->depths.n; i++) {
		int64_t depth;

		CHECK(!param_parse(&plan_depth_row, "depth", b->depths.value[i], &depth), "depth");
		if (limits->depth_max && depth > limits->depth_max)
			note_refusal(b->plan, "depth", limits->depth_why ? limits->depth_why : "");
		else
			add_point(b, config, mode, depth, size_place * place(i, b->depths.n));
	}
}

static void add_modes(struct builder *b, int config, const struct limits *limits, double size_place)
{
	for (int i = 0; i < b->modes.n; i++) {
		const char *why;
		int mode;

		CHECK(!param_parse(&plan_mode_row, "mode", b->modes.value[i], &mode), "mode");
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
		err = param_needs_check(&c->params, b->workload->needs);
	if (!err)
		err = check_config_limits(c, &limits);
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

/* ---- the whole grid --------------------------------------------------------------------- */

/* Images of the user's have a size already: the workload's own sizes are none of theirs. */
static int drop_sizes_without_effect(struct builder *b, int size_row)
{
	struct axis sizes = b->values[size_row];
	struct config c;
	int err;

	if (b->size_given)
		return 0;
	config_init(&c, b->workload);
	b->values[size_row] = (struct axis){ 0 };
	err = set_values(b, &c.params);
	if (!err && !param_counts(&c.params, b->workload->needs, c.params.rows[size_row].name))
		axis_release(&sizes);
	b->values[size_row] = sizes;
	params_release(&c.params); /* reads the options */
	free(c.params.opts);
	return err;
}

/* The grid, or, around its centre, the values of one more parameter. */
static int add_values(struct plan *p, const struct plan_request *r, const struct workload *w,
		      const char *around)
{
	struct builder b = { .plan = p, .request = r, .workload = w };
	int size_row = (int)(workload_axis(w) - w->params);
	int err = plan_take_request(&b, size_row, around);

	if (!err)
		err = drop_sizes_without_effect(&b, size_row);
	if (!err)
		do
			err = add_config(&b, size_row);
		while (!err && turn(&b, size_row));
	for (int i = 0; w->params[i].name; i++)
		axis_release(&b.values[i]);
	axis_release(&b.depths);
	axis_release(&b.modes);
	return err;
}

/* Is the name in front of '=' that of a parameter of this workload? NULL: it is for another one. */
static bool has_param(const struct workload *w, const char *own)
{
	return own && params_find(w->params, own, strcspn(own, "=")) >= 0;
}

/* A preset may name any of them. */
static bool is_about(const char *own, const struct param *row)
{
	size_t len = strlen(row->name);

	if (!own)
		return false;
	return preset_is(own) || (!strncmp(own, row->name, len) && own[len] == '=');
}

static bool is_named(const struct plan_request *r, const struct workload *w,
		     const struct param *row)
{
	for (int i = 0; i < r->n_assignments; i++)
		if (is_about(plan_own(w, r->assignment[i]), row))
			return true;
	for (int i = 0; i < r->n_arounds; i++)
		if (is_about(plan_own(w, r->around[i]), row))
			return true;
	return false;
}

/* The workload's side axes go with a full design whose grid the user has not chosen. */
static int add_one_factor(struct plan *p, const struct plan_request *r, const struct workload *w)
{
	int err = 0;
	char around[512];

	if (r->design.quick || r->size || r->depth || is_named(r, w, workload_axis(w)))
		return 0;
	for (const struct param *row = w->params; row->name && !err; row++) {
		if (!row->one_factor || is_named(r, w, row))
			continue;
		snprintf(around, sizeof(around), "%s=%s", row->name, row->one_factor);
		err = add_values(p, r, w, around);
	}
	return err;
}

int plan_add_workload(struct plan *p, const struct plan_request *r, const struct workload *w)
{
	int before = p->n_points, err = add_values(p, r, w, NULL);

	for (int i = 0; i < r->n_arounds && !err; i++)
		if (has_param(w, plan_own(w, r->around[i])))
			err = add_values(p, r, w, plan_own(w, r->around[i]));
	if (!err)
		err = add_one_factor(p, r, w);
	if (!err && p->n_points == before)
		err = complain(EINVAL, "%s allows none of these points: %s", w->name,
			       p->refused_why);
	return err;
}
