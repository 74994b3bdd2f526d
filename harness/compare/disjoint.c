/* disjoint.c - why two plans have no point in common. */
#include "harness/compare/disjoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"

enum { VALUE = 64, LIST = 160 };

/* What a point says of one thing: a parameter's value, a mode, a depth. */
typedef void say(const struct plan *p, int point, const void *which, char out[VALUE]);

static const struct workload *workload_at(const struct plan *p, int point)
{
	return p->config[p->point[point].config].workload;
}

static void say_workload(const struct plan *p, int point, const void *which, char out[VALUE])
{
	(void)which;
	snprintf(out, VALUE, "%s", workload_at(p, point)->name);
}

static void say_param(const struct plan *p, int point, const void *which, char out[VALUE])
{
	param_format(which, p->config[p->point[point].config].params.opts, out, VALUE);
}

static void say_mode(const struct plan *p, int point, const void *which, char out[VALUE])
{
	(void)which;
	snprintf(out, VALUE, "%s", mode_name(p->point[point].mode));
}

static void say_depth(const struct plan *p, int point, const void *which, char out[VALUE])
{
	(void)which;
	snprintf(out, VALUE, "%ld", (long)p->point[point].depth);
}

/* The values of a plan's points of this workload, NULL: of all -> true. New reference. */
static json_t *values_of(const struct plan *p, const struct workload *w, say *what,
			 const void *which)
{
	json_t *values = json_object();
	char text[VALUE];

	for (int i = 0; i < p->n_points; i++) {
		if (w && workload_at(p, i) != w)
			continue;
		what(p, i, which, text);
		json_object_set_new_nocheck(values, text, json_true());
	}
	return values;
}

/* "8, 64, 256 ..." */
static void list(const json_t *values, char out[LIST])
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
static bool refuse(const struct plan *a, const struct plan *b, const struct workload *w, say *what,
		   const void *which, const char *name)
{
	json_t *in_a = values_of(a, w, what, which), *in_b = values_of(b, w, what, which), *v;
	char text_a[LIST], text_b[LIST];
	const char *value;
	bool common = false;

	json_object_foreach(in_a, value, v)
	{
		common |= json_object_get(in_b, value) != NULL;
	}
	list(in_a, text_a);
	list(in_b, text_b);
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
		if (refuse(a, b, w, say_param, row, row->name))
			return true;
	return false;
}

static bool has_workload(const struct plan *p, const struct workload *w)
{
	for (int i = 0; i < p->n_configs; i++)
		if (p->config[i].workload == w)
			return true;
	return false;
}

/* The first workload that both have. */
static const struct workload *common_workload(const struct plan *a, const struct plan *b)
{
	for (int i = 0; i < a->n_configs; i++)
		if (has_workload(b, a->config[i].workload))
			return a->config[i].workload;
	return NULL;
}

/* Is the workload that was asked for missing in one or both? */
static bool refuse_missing(const struct plan *a, const struct plan *b, const struct workload *w)
{
	bool in_a = has_workload(a, w), in_b = has_workload(b, w);

	if (in_a && in_b)
		return false;
	complain(EPROTONOSUPPORT, "not comparable: --workload=%s is not in %s", w->name,
		 in_a	? "B"
		 : in_b ? "A"
			: "A nor in B");
	return true;
}

int disjoint_refuse(const struct plan *a, const struct plan *b, const struct workload *workload)
{
	const struct workload *w = workload ? workload : common_workload(a, b);

	if (workload && refuse_missing(a, b, workload))
		return -EPROTONOSUPPORT;
	if (!refuse(a, b, NULL, say_workload, NULL, "workload") &&
	    !refuse(a, b, w, say_mode, NULL, "mode") &&
	    !refuse(a, b, w, say_depth, NULL, "depth") && !refuse_params(a, b, w))
		complain(EPROTONOSUPPORT,
			 "not comparable, no point is in both: %s has other combinations of "
			 "parameters, mode and depth, or other parameters altogether",
			 w->name);
	return -EPROTONOSUPPORT;
}
