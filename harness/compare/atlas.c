/* atlas.c - many layers or platforms against one base: what is held against what. */
#include "harness/compare/atlas_impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/platform/in_force.h"
#include "harness/measure/run.h"
#include "harness/base/param.h"
#include "harness/record/environment.h"
#include "harness/record/recorded.h"

const enum model_param atlas_parameters[ATLAS_PARAMETERS] = {
	MODEL_C, MODEL_P, MODEL_G, MODEL_Z, MODEL_GRAPH_A, MODEL_GRAPH_G,
};

const int atlas_depths[ATLAS_DEPTHS] = { 1, 64 };

const char *const atlas_state_names[] = { "not identified", "not supported", "wrong results",
					  "not resolved", "known" };

/* ---- names ------------------------------------------------------------------------------ */

/* FILE of folder/FILE.jsonl; "FILE, side a" where that is not clear. */
static void name_by_file(const struct atlas_entry *e, char out[ATLAS_NAME])
{
	const char *path = e->session.path, *slash = strrchr(path, '/');
	char *end;

	snprintf(out, ATLAS_NAME - 16, "%s", slash ? slash + 1 : path);
	end = strstr(out, ".jsonl");
	if (end && end > out)
		*end = '\0';
	if (!e->own_base && !e->side[PAIR_B].alone)
		snprintf(out + strlen(out), 16, ", side %s",
			 journal_side_name(e->side[PAIR_B].side));
}

/* What the command line calls it; its layers, the platform that was declared, or the file. */
static void name_entry(struct atlas_entry *e)
{
	const json_t *header = side_header(&e->side[PAIR_B]);
	const json_t *layers = json_object_get(header, "layers");
	const char *declared = json_get_text(json_object_get(header, "virt"), "declared_platform");

	e->is_model = side_is_model(&e->side[PAIR_B]);
	if (e->given_name)
		snprintf(e->name, sizeof(e->name), "%.200s%s", text_escaped(e->given_name).s,
			 e->is_model ? " (model)" : "");
	else if (json_array_size(layers))
		layers_text_short(layers, e->name, sizeof(e->name));
	else if (*declared)
		snprintf(e->name, sizeof(e->name), "%s", declared);
	else
		name_by_file(e, e->name);
}

/* Two rows of one name would be no names: the later one has its file, too. */
static void tell_apart(const struct atlas *a, int number)
{
	struct atlas_entry *e = &a->entry[number];
	char file[ATLAS_NAME];
	size_t used = strlen(e->name);
	bool twice = false;

	for (int i = 0; i < number; i++)
		twice |= !strcmp(a->entry[i].name, e->name);
	if (!twice)
		return;
	name_by_file(e, file);
	snprintf(e->name + used, sizeof(e->name) - used, ", %s", file);
}

/* ---- is it comparable ------------------------------------------------------------------- */

static bool devices_differ(const struct compared_side *a, const struct compared_side *b, char *what,
			   size_t size)
{
	const json_t *x = side_header(a), *y = side_header(b);

	return environment_field_differs(x, y, "gpu", "name", what, size) ||
	       environment_field_differs(x, y, "gpu", "sms", what, size);
}

/* What rift compare refuses or says of the build, of sides that may be other platforms. */
static bool figures_differ(const struct compared_side *base, const struct compared_side *side,
			   char *what, size_t size)
{
	enum wait_policy sync_a = base->view.plan.design.sync;
	enum wait_policy sync_b = side->view.plan.design.sync;

	if (devices_differ(base, side, what, size))
		return true;
	if (sync_a != sync_b) {
		snprintf(what, size, "sync: %s -> %s", sync_names[sync_a], sync_names[sync_b]);
		return true;
	}
	return environment_field_differs(side_header(base), side_header(side), "build",
					 "binary_sha256", what, size);
}

/* Another card of the same model does: two sides of one session have one anyway. */
static json_t *without_uuid(const json_t *header)
{
	json_t *copy = json_deep_copy(header);

	json_object_del(json_object_get(copy, "gpu"), "uuid");
	return copy;
}

/* All that a platform is known by (environment.h). */
static bool platforms_differ(const struct compared_side *base, const struct compared_side *side,
			     char *what, size_t size)
{
	json_t *a = without_uuid(side_header(base)), *b = without_uuid(side_header(side));
	bool found = environment_differs(a, b, what, size);

	json_decref(a);
	json_decref(b);
	return found;
}

static int refuse_other(const struct atlas *a, struct atlas_entry *e)
{
	const struct compared_side *base = &a->base.side[PAIR_B];
	const struct compared_side *side = &e->side[e->own_base ? PAIR_A : PAIR_B];
	const char *of = e->own_base ? ", side a" : "", *with = a->base.session.path;
	char *what = e->not_comparable;
	bool is = !figures_differ(base, side, what, sizeof(e->not_comparable)) &&
		  !(e->own_base && platforms_differ(base, side, what, sizeof(e->not_comparable)));

	if (is && e->own_base) {
		of = ", side b";
		with = "side a";
		is = !devices_differ(side, &e->side[PAIR_B], what, sizeof(e->not_comparable));
	}
	if (is || a->options.force)
		return 0;
	return complain(EPROTONOSUPPORT,
			"%s%s: not comparable with %s: %s; --force compares them all the same",
			e->session.path, of, with, text_escaped(what).s);
}

/* ---- does it share a point -------------------------------------------------------------- */

static bool has_point(const struct plan *p, const char *key)
{
	for (int i = 0; i < p->n_points; i++)
		if (!strcmp(p->point[i].key, key))
			return true;
	return false;
}

static int refuse_disjoint(const struct atlas *a, const struct atlas_entry *e)
{
	const struct plan *base = &a->base.session.plan, *plan = &e->session.plan;
	const struct workload *only = a->options.workload;

	for (int i = 0; i < base->n_points; i++)
		if ((!only || plan_workload(base, i) == only) &&
		    has_point(plan, base->point[i].key))
			return 0;
	return complain(EPROTONOSUPPORT,
			"%s: not comparable with %s: points: none%s%s has the same workload, "
			"parameters, mode and depth",
			e->session.path, a->base.session.path, only ? " of " : "",
			only ? only->name : "");
}

/* ---- entries ---------------------------------------------------------------------------- */

void atlas_init(struct atlas *a, int n, const struct compare_options *options)
{
	*a = (struct atlas){ .n = n, .options = *options };
	a->base.session = JOURNAL_NONE;
	a->entry = calloc((size_t)n + 1, sizeof(*a->entry));
	CHECK(a->entry, "memory of %d sessions", n);
	for (int i = 0; i < n; i++)
		a->entry[i].session = JOURNAL_NONE;
}

static void entry_release(struct atlas_entry *e)
{
	compare_release(&e->c);
	for (int k = 0; k < 2; k++)
		side_release(&e->side[k]);
	journal_release(&e->session);
	free(e->given_name);
}

void atlas_release(struct atlas *a)
{
	for (int i = 0; i < a->n; i++)
		entry_release(&a->entry[i]);
	entry_release(&a->base);
	free(a->entry);
	*a = (struct atlas){ 0 };
}

/* Differences are of one session, or of separate ones, as rift compare has them. */
static int compare_entry(const struct atlas *a, struct atlas_entry *e,
			 const struct compared_side *base, bool separate)
{
	struct compare_options o = compare_options_usual(a->options, separate);
	int err;

	o.force = true; /* refuse_other() has asked */
	err = compare(&e->c, base, &e->side[PAIR_B], &o);
	if (!err)
		atlas_find_costs(e);
	return err;
}

int atlas_set_base(struct atlas *a, int side)
{
	struct atlas_entry *e = &a->base;

	if (a->options.workload && !plan_has_workload(&e->session.plan, a->options.workload))
		return complain(EPROTONOSUPPORT, "--workload=%s: %s has no points of it",
				a->options.workload->name, e->session.path);
	side_init(&e->side[PAIR_B], &e->session, e->session.path, side, HALF_BOTH);
	name_entry(e);
	return compare_entry(a, e, &e->side[PAIR_B], false);
}

/* The same side of the same session says nothing twice. */
static int refuse_again(const struct atlas *a, int number, int side)
{
	const struct atlas_entry *e = &a->entry[number];

	if (side == a->base.side[PAIR_B].side && session_same(&e->session, &a->base.session))
		return complain(EINVAL, "%s is the base itself (%s)", e->session.path,
				e->session.session_id);
	for (int i = 0; i < number; i++) {
		const struct atlas_entry *other = &a->entry[i];

		if (session_same(&e->session, &other->session) &&
		    e->side[PAIR_B].side == other->side[PAIR_B].side)
			return complain(EINVAL, "%s and %s are one session (%s)",
					other->session.path, e->session.path,
					e->session.session_id);
	}
	return 0;
}

int atlas_add(struct atlas *a, int number, int side)
{
	struct atlas_entry *e = &a->entry[number];
	const struct compared_side *base = &a->base.side[PAIR_B];
	int err;

	e->own_base = side == SIDE_ANY;
	if (e->own_base)
		side_init(&e->side[PAIR_A], &e->session, e->session.path, 0, HALF_BOTH);
	side_init(&e->side[PAIR_B], &e->session, e->session.path, e->own_base ? 1 : side,
		  HALF_BOTH);
	name_entry(e);
	tell_apart(a, number);
	err = refuse_again(a, number, side);
	if (!err)
		err = refuse_other(a, e);
	if (!err)
		err = refuse_disjoint(a, e);
	return err ? err
		   : compare_entry(a, e, e->own_base ? &e->side[PAIR_A] : base,
				   !e->own_base && !session_same(&e->session, &a->base.session));
}

/* ---- workloads -------------------------------------------------------------------------- */

const struct workload *atlas_workload(const struct atlas *a, int i)
{
	const struct pairs *p = &a->base.c.pairs;

	return i < p->n_workloads ? p->workload[i] : NULL;
}

/* The workload's number among those of the entry; -1: none. */
static int workload_number(const struct atlas_entry *e, const struct workload *w)
{
	for (int i = 0; i < e->c.pairs.n_workloads; i++)
		if (e->c.pairs.workload[i] == w)
			return i;
	return -1;
}

bool atlas_has(const struct atlas_entry *e, const struct workload *w)
{
	return workload_number(e, w) >= 0;
}

/* ---- cells ------------------------------------------------------------------------------ */

/* How many processes of a side have it. */
static int count_status(const struct atlas_entry *e, int side, const struct pair *p,
			enum point_status status)
{
	const struct journal *v = &e->c.side[side]->view;
	int n = 0;

	for (int i = 0; i < e->c.side[side]->n; i++)
		n += v->status[(size_t)i * (size_t)v->plan.n_points + (size_t)p->at[side]] ==
		     status;
	return n;
}

bool atlas_is_unsupported(const struct atlas_entry *e, const struct pair *p)
{
	return count_status(e, PAIR_A, p, POINT_NOT_SUPPORTED) ||
	       count_status(e, PAIR_B, p, POINT_NOT_SUPPORTED);
}

static bool is_mode_unsupported(const struct atlas_entry *e, int workload, enum mode mode)
{
	const struct plan *plan = &e->c.side[PAIR_A]->view.plan;

	for (int i = 0; i < e->c.pairs.n; i++) {
		const struct pair *p = &e->c.pairs.pair[i];

		if (p->workload == workload && plan->point[p->at[PAIR_A]].mode == mode &&
		    atlas_is_unsupported(e, p))
			return true;
	}
	return false;
}

enum atlas_state atlas_state_of(const struct interval *i, double nothing)
{
	if (!isfinite(i->value))
		return ATLAS_NOTHING;
	return i->known && i->lo <= nothing && nothing <= i->hi ? ATLAS_NOT_RESOLVED : ATLAS_KNOWN;
}

struct atlas_cell atlas_parameter(const struct atlas_entry *e, const struct workload *w, int which)
{
	const struct model_param_row *row = &model_param_rows[atlas_parameters[which]];
	struct atlas_cell cell = { .of = interval_unknown(0) };
	int number = workload_number(e, w);

	for (int i = 0; i < e->c.parameters.n; i++) {
		const struct compared_parameter *p = &e->c.parameters.row[i];

		if (p->workload != w || p->row != row)
			continue;
		cell.parameter = p;
		cell.of = p->difference;
		cell.judged = p->judged.known ? &p->judged : NULL;
		cell.state = atlas_state_of(&p->difference, 0);
	}
	if (cell.state == ATLAS_NOTHING && number >= 0 && is_mode_unsupported(e, number, row->mode))
		cell.state = ATLAS_NOT_SUPPORTED;
	return cell;
}

/* ---- points ----------------------------------------------------------------------------- */

double atlas_point_size(const struct plan *plan, int point)
{
	const struct config *c = &plan->config[plan->point[point].config];
	const struct param *axis = workload_axis(c->workload);
	json_t *value = axis ? param_json(axis, c->params.opts) : NULL;
	double size = json_number_value(value);

	json_decref(value);
	return size;
}

enum mode atlas_mode(const struct atlas *a, const struct workload *w)
{
	const struct plan *plan = &a->base.session.plan;
	enum mode least = MODE_COUNT;

	for (int i = 0; i < plan->n_points; i++)
		if (plan_workload(plan, i) == w && plan->point[i].mode < least)
			least = plan->point[i].mode;
	return least;
}

/* Is x, of the smaller kernels, or as small and nearer to the depth, to be taken before y? */
static bool is_before(const struct plan *plan, int x, int y, int depth)
{
	double size_x = atlas_point_size(plan, x), size_y = atlas_point_size(plan, y);
	double far_x = fabs(log((double)plan->point[x].depth / depth));
	double far_y = fabs(log((double)plan->point[y].depth / depth));

	return size_x != size_y ? size_x < size_y : far_x < far_y;
}

/* The number among the pairs; -1: none. */
static int pick_point(const struct atlas_entry *e, int workload, enum mode mode, int depth)
{
	const struct plan *plan = &e->c.side[PAIR_A]->view.plan;
	int best = -1;

	for (int i = 0; i < e->c.pairs.n; i++) {
		const struct pair *p = &e->c.pairs.pair[i];

		if (p->workload != workload || plan->point[p->at[PAIR_A]].mode != mode)
			continue;
		if (best < 0 ||
		    is_before(plan, p->at[PAIR_A], e->c.pairs.pair[best].at[PAIR_A], depth))
			best = i;
	}
	return best;
}

struct atlas_cell atlas_step(const struct atlas *a, const struct atlas_entry *e,
			     const struct workload *w, int which)
{
	struct atlas_cell cell = { .of = interval_unknown(0) };
	int number = workload_number(e, w), at;
	enum mode mode = atlas_mode(a, w);

	at = pick_point(e, number, mode, atlas_depths[which]);
	/* one depth is there once */
	if (at < 0 || (which && at == pick_point(e, number, mode, atlas_depths[0])))
		return cell;
	cell.point = &e->c.point[at];
	cell.of = cell.point->ratio;
	cell.judged = &cell.point->judged;
	cell.state = atlas_state_of(&cell.of, 1);
	if (atlas_is_unsupported(e, cell.point->pair))
		cell.state = ATLAS_NOT_SUPPORTED;
	cell.wrong = count_status(e, PAIR_B, cell.point->pair, POINT_CHECK_FAILED);
	cell.processes = e->c.side[PAIR_B]->n;
	if (cell.state == ATLAS_NOTHING && cell.wrong)
		cell.state = ATLAS_WRONG;
	return cell;
}

struct levels atlas_levels(const struct atlas *a)
{
	struct levels l = { 0 };

	for (int i = 0; i < a->n; i++)
		levels_add(&l, a->entry[i].c.contrast.level);
	return l;
}

/* ---- what it comes to ------------------------------------------------------------------- */

static int count_unsupported(const struct compared_side *p)
{
	int n = 0;

	for (int i = 0; i < p->n * p->view.plan.n_points; i++)
		n += p->view.status[i] == POINT_NOT_SUPPORTED;
	return n;
}

int atlas_failed(const struct atlas_entry *e)
{
	int failed = 0;

	for (int k = e->own_base ? PAIR_A : PAIR_B; k <= PAIR_B; k++)
		failed += e->side[k].failed - count_unsupported(&e->side[k]);
	return failed;
}

enum exit_code atlas_exit_code(const struct atlas *a)
{
	int failed = atlas_failed(&a->base);

	for (int i = 0; i < a->n; i++)
		failed += atlas_failed(&a->entry[i]);
	return failed ? RIFT_FAILED_POINTS : RIFT_OK;
}
