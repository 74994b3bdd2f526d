/* request.c - what the user asked for, read once: names, values, presets, what is varied aside. */
#include "harness/measure/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/param.h"
#include "harness/base/command.h"
#include "harness/base/text.h"
#include "harness/base/together.h"
#include "harness/measure/run.h"

static const char *const mode_names[] = { "stream", "graph", "fused", NULL };
/* How --depth and --mode are read. */
static const struct param mode_row = { "mode", PARAM_CHOICE, 0,	 "",   "",   0,
				       0,      mode_names,   "", NULL, NULL, false };
static const struct param depth_row = { "depth",	PARAM_SIZE, 0,	"steps", "",   1,
					PLAN_DEPTH_MAX, NULL,	    "", NULL,	 NULL, false };

enum { QUICK_SIZES = 6 };
static const char full_depths[] = "1:4096:x2", quick_depths[] = "1:4096:x4";
/* p takes three depths beyond 1 (POINTS_MIN of the fit). */
static const char express_depths[] = "1,16,64,256";

/* ---- names: whose parameter is it? ------------------------------------------------------ */

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

/* The row that an assignment names, -1: it is another workload's. */
static int find_row(const struct workload *w, const char *own)
{
	return own ? params_find(w->params, own, strcspn(own, "=")) : -1;
}

static int refuse_prefix(const char *text)
{
	struct text name = text_shown(text);

	name.s[strcspn(name.s, ".")] = '\0';
	if (!workload_find(name.s))
		return -EINVAL;
	return complain(EINVAL, "%s: %s is not swept; name it among the workloads",
			text_shown(text).s, name.s);
}

static int refuse_unknown(const struct workload *const *about, const char *assignment)
{
	struct text name = text_shown(assignment);
	struct suggestion near;

	name.s[strcspn(name.s, "=")] = '\0';
	near = suggest_start(name.s);
	for (const struct workload *const *w = about; *w; w++)
		for (const struct param *row = (*w)->params; row->name; row++)
			suggest_offer(&near, row->name);
	return complain(EINVAL, "unknown parameter '%s' of %s%s", name.s, (*about)->name,
			near.best ? suggest_hint(&near).s : "; `rift list` shows them");
}

/* One of these workloads must have the parameter; the first that has says what it is. */
static int check_parameter(const struct workload *const *about, const char *text)
{
	size_t len = strcspn(text, "=");
	int i = -1;

	if (!text[len] || !len)
		return complain(EINVAL, "'%s' must be name=value or name=v1,v2",
				text_shown(text).s);
	for (const struct workload *const *w = about; *w && i < 0; w++) {
		i = find_row(*w, text);
		if (i >= 0 && (*w)->params[i].written)
			return complain(EINVAL, "%s: cannot be written by a sweep; use rift run",
					text_shown(text).s);
	}
	return i < 0 ? refuse_unknown(about, text) : 0;
}

static int check_text(const struct plan_request *r, const char *text, bool may_be_preset)
{
	const struct workload *one[] = { NULL, NULL };
	const struct workload *const *w = r->workload;
	const char *own = text;

	if (prefix(text)) {
		while (*w && !plan_own(*w, text))
			w++;
		if (!*w)
			return refuse_prefix(text);
		one[0] = *w;
		own = plan_own(*w, text);
	}
	if (may_be_preset && preset_is(own))
		return 0;
	return check_parameter(one[0] ? one : r->workload, own);
}

int request_check(const struct plan_request *r)
{
	int err = 0;

	for (int i = 0; i < r->n_assignments && !err; i++)
		err = check_text(r, r->assignment[i], true);
	for (int i = 0; i < r->n_arounds && !err; i++)
		err = check_text(r, r->around[i], false);
	return err;
}

/* ---- values ----------------------------------------------------------------------------- */

static int take_own(struct axes *a, const char *own)
{
	int i = find_row(a->workload, own);
	const struct param *row;

	if (i < 0)
		return 0;
	row = &a->workload->params[i];
	if (a->values[i].n)
		return complain(EINVAL, "%s is given twice", row->name);
	return axis_parse(&a->values[i], row, row->name, strchr(own, '=') + 1);
}

/* What is given by name; *preset is the text that names one, or NULL. */
static int take_assignments(struct axes *a, const struct plan_request *r, const char **preset)
{
	int err = 0;

	*preset = NULL;
	for (int i = 0; i < r->n_assignments && !err; i++) {
		const char *own = plan_own(a->workload, r->assignment[i]);

		if (!own || !preset_is(own))
			err = take_own(a, own);
		else if (*preset)
			err = complain(EINVAL, "%s: a preset is given twice", a->workload->name);
		else
			*preset = own;
	}
	return err;
}

/* A preset's values are taken where the user gives none. */
struct preset_into {
	struct axes *axes;
	bool size_given; /* by --size */
};

static int take_value(void *arg, const char *assignment)
{
	struct preset_into *into = arg;
	int i = find_row(into->axes->workload, assignment);

	if (into->axes->values[i].n || (into->size_given && into->axes->workload->params[i].axis))
		return 0;
	return take_own(into->axes, assignment);
}

static int take_preset(struct axes *a, const struct plan_request *r, const char *text)
{
	struct preset_into into = { a, r->size != NULL };
	const struct preset *preset =
		preset_find(a->workload->presets, a->workload->name, "rift list", text);

	return preset ? preset_each(preset, take_value, &into) : -EINVAL;
}

/* The axes that every grid has: by option, sizes also by name, else those of the design; few sizes
 * in a quick one. */
static int take_grid(struct axes *a, const struct plan_request *r, const struct param *size)
{
	struct axis *sizes = &a->values[size - a->workload->params];
	const char *depth = r->design.express ? express_depths
			    : r->design.quick ? quick_depths
					      : full_depths;
	const struct {
		struct axis *to;
		const struct param *row;
		const char *label, *text;
	} part[] = {
		{ sizes, size, r->size ? "--size" : size->name, r->size ? r->size : size->axis },
		{ &a->depths, &depth_row, "--depth", r->depth ? r->depth : depth },
		{ &a->modes, &mode_row, "--mode", r->mode ? r->mode : "stream,graph,fused" },
	};
	int err = 0;

	if (r->size && sizes->n)
		return complain(EINVAL, "--size and %s= are the same: give one", size->name);
	a->size_given = r->size || sizes->n;
	for (size_t i = 0; i < sizeof(part) / sizeof(*part) && !err; i++)
		if (!part[i].to->n)
			err = axis_parse(part[i].to, part[i].row, part[i].label, part[i].text);
	if (!err && !a->size_given && r->design.quick)
		axis_thin(sizes, QUICK_SIZES);
	return err;
}

/* ---- what is varied aside of the grid --------------------------------------------------- */

/* What the user wants around the grid; the workload's own side axes go with a full design whose
 * grid the user has not chosen. */
static int take_asides(struct axes *a, const struct plan_request *r, const struct param *size,
		       const bool named[PARAM_ROWS_MAX])
{
	const struct param *rows = a->workload->params;
	bool own = !r->design.quick && !r->size && !r->depth && !named[size - rows];
	const char *wanted[PARAM_ROWS_MAX] = { NULL }, *around[PARAM_ROWS_MAX] = { NULL };
	int err = 0;

	for (int i = 0; rows[i].name; i++)
		wanted[i] = own && !named[i] ? rows[i].one_factor : NULL;
	for (int k = 0; k < r->n_arounds; k++) {
		const char *text = plan_own(a->workload, r->around[k]);
		int i = find_row(a->workload, text);

		if (i >= 0 && around[i])
			return complain(EINVAL, "--around %s is given twice", rows[i].name);
		if (i >= 0)
			wanted[i] = around[i] = strchr(text, '=') + 1;
	}
	if (wanted[size - rows])
		return complain(EINVAL, "--around %s: is already the size axis of the grid",
				size->name);
	for (int i = 0; rows[i].name && !err; i++)
		if (wanted[i])
			err = axis_parse(&a->aside[i], &rows[i], rows[i].name, wanted[i]);
	return err;
}

int request_read(struct axes *out, const struct plan_request *r, const struct workload *w)
{
	const struct param *size = workload_axis(w);
	bool named[PARAM_ROWS_MAX] = { false };
	const char *preset;
	int err;

	*out = (struct axes){ .workload = w, .depth_given = r->depth != NULL };
	err = take_assignments(out, r, &preset);
	/* a preset may name any of them */
	for (int i = 0; w->params[i].name; i++)
		named[i] = preset || out->values[i].n;
	if (!err && preset)
		err = take_preset(out, r, preset);
	if (!err)
		err = take_grid(out, r, size);
	return err ? err : take_asides(out, r, size, named);
}

void axes_release(struct axes *a)
{
	for (int i = 0; a->workload->params[i].name; i++) {
		axis_release(&a->values[i]);
		axis_release(&a->aside[i]);
	}
	axis_release(&a->depths);
	axis_release(&a->modes);
}
