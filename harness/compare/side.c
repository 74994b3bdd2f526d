/* side.c - who is compared: two sides, and the points that they have in common. */
#include "harness/compare/side.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/record/journal.h"
#include "workloads/workload.h"

/* ---- a side ---------------------------------------------------------------------------- */

static bool is_taken(enum half half, int process)
{
	bool second = process % 4 == 1 || process % 4 == 2;

	return half == HALF_BOTH || second == (half == HALF_SECOND);
}

static int count_failed(const struct journal *view)
{
	int failed = 0;

	for (int i = 0; i < view->replicates * view->plan.n_points; i++)
		failed += view->status[i] != POINT_OK;
	return failed;
}

void side_init(struct compared_side *p, const struct journal *session, const char *path, int side,
	       enum half half)
{
	int all = journal_processes(session);
	int *process = calloc((size_t)all, sizeof(*process));

	CHECK(process, "memory of %d processes", all);
	*p = (struct compared_side){
		.path = path, .side = side, .half = half, .alone = session->sides == 1
	};
	for (int i = 0; i < all; i++)
		if (is_taken(half, i))
			process[p->n++] = i;
	journal_view(&p->view, session, side, process, p->n);
	p->failed = count_failed(&p->view);
	p->canary_ns = journal_canary_ns(&p->view, 0);
	free(process);
}

void side_release(struct compared_side *p)
{
	journal_view_release(&p->view);
	*p = (struct compared_side){ 0 };
}

bool side_is_pair(const struct compared_side *a, const struct compared_side *b)
{
	return a->view.plan.design.pairs && a->side != b->side && a->half == b->half &&
	       a->n == b->n && !strcmp(a->view.session_id, b->view.session_id);
}

const json_t *side_header(const struct compared_side *p)
{
	return p->view.header[0];
}

bool side_is_model(const struct compared_side *p)
{
	const json_t *layers = json_object_get(side_header(p), "layers"), *layer;
	size_t i;

	json_array_foreach(layers, i, layer)
	{
		if (!strcmp(json_get_text(layer, "label"), "model"))
			return true;
	}
	return false;
}

int side_values(const struct compared_side *p, int point, double *value)
{
	const struct journal *v = &p->view;
	int n = 0;

	for (int i = 0; i < p->n; i++) {
		size_t at = (size_t)i * (size_t)v->plan.n_points + (size_t)point;

		if (v->status[at] == POINT_OK && isfinite(v->total_ns[at]) && v->total_ns[at] > 0)
			value[n++] = v->total_ns[at] / (double)v->plan.point[point].depth;
	}
	return n;
}

/* ---- why two plans have no point in common ---------------------------------------------- */

enum { VALUE = 64, LIST = 160 };

/* What a point says of one thing: a parameter's value, a mode, a depth. */
typedef void label(const struct plan *p, int point, const void *which, char out[VALUE]);

static void label_workload(const struct plan *p, int point, const void *which, char out[VALUE])
{
	(void)which;
	snprintf(out, VALUE, "%s", plan_workload(p, point)->name);
}

static void label_param(const struct plan *p, int point, const void *which, char out[VALUE])
{
	param_format(which, p->config[p->point[point].config].params.opts, out, VALUE);
}

static void label_mode(const struct plan *p, int point, const void *which, char out[VALUE])
{
	(void)which;
	snprintf(out, VALUE, "%s", mode_name(p->point[point].mode));
}

static void label_depth(const struct plan *p, int point, const void *which, char out[VALUE])
{
	(void)which;
	snprintf(out, VALUE, "%ld", (long)p->point[point].depth);
}

/* The values of a plan's points of this workload, NULL: of all -> true. New reference. */
static json_t *distinct_values(const struct plan *p, const struct workload *w, label *what,
			       const void *which)
{
	json_t *values = json_object();
	char text[VALUE];

	for (int i = 0; i < p->n_points; i++) {
		if (w && plan_workload(p, i) != w)
			continue;
		what(p, i, which, text);
		json_object_set_new_nocheck(values, text, json_true());
	}
	return values;
}

/* "8, 64, 256 ..." */
static void list_values(const json_t *values, char out[LIST])
{
	const char *name;
	json_t *v;
	size_t used = 0;

	snprintf(out, LIST, "nothing");
	json_object_foreach((json_t *)(uintptr_t)values, name, v)
	{
		if (used + strlen(name) + 8 > LIST) {
			snprintf(out + used, LIST - used, " ...");
			return;
		}
		used += (size_t)snprintf(out + used, LIST - used, "%s%s", used ? ", " : "", name);
	}
}

/* One line where the two have no value in common. */
static bool refuse_sides(const struct plan *a, const struct plan *b, const struct workload *w,
			 label *what, const void *which, const char *name)
{
	json_t *in_a = distinct_values(a, w, what, which),
	       *in_b = distinct_values(b, w, what, which), *v;
	char text_a[LIST], text_b[LIST];
	const char *value;
	bool common = false;

	json_object_foreach(in_a, value, v)
	{
		common |= json_object_get(in_b, value) != NULL;
	}
	list_values(in_a, text_a);
	list_values(in_b, text_b);
	json_decref(in_a);
	json_decref(in_b);
	if (!common)
		complain(EPROTONOSUPPORT,
			 "not comparable, no point is in both: %s%s%s is %s in A, %s in B",
			 w ? w->name : "", w ? " " : "", name, text_a, text_b);
	return !common;
}

static bool refuse_params(const struct plan *a, const struct plan *b, const struct workload *w)
{
	for (const struct param *row = w->params; row->name; row++)
		if (refuse_sides(a, b, w, label_param, row, row->name))
			return true;
	return false;
}

/* The first workload that both have. */
static const struct workload *common_workload(const struct plan *a, const struct plan *b)
{
	for (int i = 0; i < a->n_configs; i++)
		if (plan_has_workload(b, a->config[i].workload))
			return a->config[i].workload;
	return NULL;
}

/* Is the workload that was asked for missing in one or both? */
static bool refuse_missing(const struct plan *a, const struct plan *b, const struct workload *w)
{
	bool in_a = plan_has_workload(a, w), in_b = plan_has_workload(b, w);

	if (in_a && in_b)
		return false;
	complain(EPROTONOSUPPORT, "not comparable: --workload=%s is not in %s", w->name,
		 in_a	? "B"
		 : in_b ? "A"
			: "A nor in B");
	return true;
}

int common_points_refuse(const struct plan *a, const struct plan *b,
			 const struct workload *workload)
{
	const struct workload *w = workload ? workload : common_workload(a, b);

	if (workload && refuse_missing(a, b, workload))
		return -EPROTONOSUPPORT;
	if (!refuse_sides(a, b, NULL, label_workload, NULL, "workload") &&
	    !refuse_sides(a, b, w, label_mode, NULL, "mode") &&
	    !refuse_sides(a, b, w, label_depth, NULL, "depth") && !refuse_params(a, b, w))
		complain(EPROTONOSUPPORT,
			 "not comparable, no point is in both: %s has other combinations of "
			 "parameters, mode and depth, or other parameters altogether",
			 w->name);
	return -EPROTONOSUPPORT;
}

/* ---- the points that two sides have in common ----------------------------------------- */

/* The keys of a plan's points with this workload -> their numbers. New reference. */
static json_t *point_keys(const struct plan *p, const struct workload *workload)
{
	json_t *keys = json_object();

	for (int i = 0; i < p->n_points; i++)
		if (!workload || plan_workload(p, i) == workload)
			json_object_set_new(keys, p->point[i].key, json_integer(i));
	return keys;
}

static int workload_number(struct pairs *p, const struct workload *w)
{
	int i = 0;

	while (i < p->n_workloads && p->workload[i] != w)
		i++;
	if (i == p->n_workloads)
		p->workload[p->n_workloads++] = w;
	return i;
}

static void take_values(struct pair *pair, const struct compared_side *a,
			const struct compared_side *b)
{
	const struct compared_side *of[] = { a, b };

	pair->whole = true;
	for (int k = 0; k < 2; k++) {
		pair->value[k] = calloc((size_t)of[k]->n + 1, sizeof(double));
		CHECK(pair->value[k], "memory of %d values", of[k]->n);
		pair->n[k] = side_values(of[k], pair->at[k], pair->value[k]);
		pair->whole &= pair->n[k] == of[k]->n;
	}
}

int pairs_make(struct pairs *out, const struct compared_side *a, const struct compared_side *b,
	       const struct workload *workload)
{
	const struct plan *plan_a = &a->view.plan, *plan_b = &b->view.plan;
	json_t *keys = point_keys(plan_b, workload), *found;
	size_t capacity = (size_t)plan_a->n_points;

	*out = (struct pairs){ .pair = calloc(capacity + 1, sizeof(*out->pair)),
			       .workload = calloc(capacity + 1, sizeof(*out->workload)) };
	CHECK(out->pair && out->workload, "memory of %d points", plan_a->n_points);
	for (int i = 0; i < plan_a->n_points; i++) {
		struct pair *p = &out->pair[out->n];

		if (workload && plan_workload(plan_a, i) != workload)
			continue;
		found = json_object_get(keys, plan_a->point[i].key);
		if (!found) {
			out->only[PAIR_A]++;
			continue;
		}
		p->at[PAIR_A] = i;
		p->at[PAIR_B] = (int)json_integer_value(found);
		p->workload = workload_number(out, plan_workload(plan_a, i));
		take_values(p, a, b);
		out->n++;
	}
	out->only[PAIR_B] = (int)json_object_size(keys) - out->n;
	json_decref(keys);
	return out->n ? 0 : common_points_refuse(plan_a, plan_b, workload);
}

void pairs_release(struct pairs *p)
{
	for (int i = 0; i < p->n; i++) {
		free(p->pair[i].value[0]);
		free(p->pair[i].value[1]);
	}
	free(p->pair);
	free(p->workload);
	*p = (struct pairs){ 0 };
}
