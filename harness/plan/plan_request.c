/* plan_request.c - what the user asked for, as values of each axis. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/command.h"
#include "harness/preset.h"
#include "harness/spell.h"
#include "harness/plan/plan_build.h"

static const char *const mode_names[] = { "stream", "graph", "fused", NULL };
const struct param plan_mode_row = { "mode", PARAM_CHOICE, 0,  "",   "",   0,
				     0,	     mode_names,   "", NULL, NULL, false };
const struct param plan_depth_row = { "depth",	      PARAM_SIZE, 0,  "steps", "",   1,
				      PLAN_DEPTH_MAX, NULL,	  "", NULL,    NULL, false };

enum { QUICK_SIZES = 6 };
static const char full_depths[] = "1:4096:x2", quick_depths[] = "1:4096:x4";
static const char express_depths[] = "1,16,256,4096";

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
	struct spell near;

	name.s[strcspn(name.s, "=")] = '\0';
	near = spell_start(name.s);
	for (const struct workload *const *w = r->workload; *w; w++)
		for (const struct param *row = (*w)->params; row->name; row++)
			spell_offer(&near, row->name);
	return complain(EINVAL, "unknown parameter '%s' of %s%s", name.s, (*r->workload)->name,
			near.best ? spell_hint(&near).s : "; `rift list` shows them");
}

/* The length of "stereo" in "stereo.width=640"; 0: it is for all that have the parameter. */
static size_t prefix_of(const char *text)
{
	size_t len = strcspn(text, ".=");

	return text[len] == '.' ? len : 0;
}

const char *plan_own(const struct workload *w, const char *text)
{
	size_t len = prefix_of(text);

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
		return complain(EINVAL, "'%s' is not name=value or name=v1,v2", text_shown(text).s);
	if (row && row->written)
		return complain(EINVAL, "%s: a sweep writes no such file; use rift run",
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
		preset = preset_find(b->workload, own);
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
static int go_around(struct builder *b, const char *around)
{
	size_t len = strcspn(around, "=");
	int i = params_find(b->workload->params, around, len);
	const struct param *row = &b->workload->params[i];

	for (int k = 0; b->workload->params[k].name; k++)
		if (b->values[k].n)
			keep_centre(&b->values[k]);
	keep_centre(&b->depths);
	if (row->axis)
		return complain(EINVAL, "--around %s: this is the axis of the grid itself",
				row->name);
	axis_release(&b->values[i]);
	return axis_parse(&b->values[i], row, row->name, around[len] ? around + len + 1 : "");
}

int plan_take_request(struct builder *b, int size_row, const char *around)
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
		err = go_around(b, around);
	return err;
}
