/* contract.c - does a workload fill in what workloads/workload.h asks for? */
#include "harness/measure/contract.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "common/param.h"
#include "harness/base/together.h"
#include "workloads/workload.h"

/* The first text or hook that is missing, or NULL. limits, fused, report and plot are optional. */
static const char *missing_hook(const struct workload *w)
{
	const struct {
		const char *name;
		bool there;
	} fields[] = {
		{ "summary", w->summary },     { "source", w->source },
		{ "step_unit", w->step_unit }, { "params", w->params },
		{ "setup", w->setup != NULL }, { "reset", w->reset != NULL },
		{ "step", w->step != NULL },   { "check", w->check != NULL },
		{ "cost", w->cost != NULL },   { "teardown", w->teardown != NULL },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!fields[i].there)
			return fields[i].name;
	return NULL;
}

static int axis_rows(const struct workload *w)
{
	int n = 0;

	for (const struct param *row = w->params; row->name; row++)
		n += row->axis != NULL;
	return n;
}

/* Every value parses, and the workload takes them together. */
static bool preset_fits(const struct workload *w, const struct preset *preset)
{
	void *opts = calloc(1, w->opts_size ? w->opts_size : 1);
	struct limits limits;
	struct params params;
	bool fits;

	CHECK(opts, "%zu bytes of options", w->opts_size);
	params_init(&params, w->params, w->name, opts);
	fits = !preset_apply(&params, preset) && !workload_limits(w, opts, &limits) &&
	       !param_needs_check(&params, w->needs);
	params_release(&params);
	free(opts);
	return fits;
}

static int check_presets(const struct workload *w)
{
	for (const struct preset *p = w->presets; p && p->name; p++)
		if (!preset_fits(w, p))
			return complain(EINVAL, "workload %s: preset %s is none of its own: %s",
					w->name, p->name, p->values);
	if (w->presets && params_find(w->params, "preset", strlen("preset")) >= 0)
		return complain(EINVAL, "workload %s has presets and a parameter of that name",
				w->name);
	return 0;
}

static int check_added(const struct workload *w)
{
	for (const char *const *name = w->added; name && *name; name++)
		if (params_find(w->params, *name, strlen(*name)) < 0)
			return complain(EINVAL,
					"workload %s: .added names %s, which is no parameter",
					w->name, *name);
	return 0;
}

/* The entries before this one are known to be in order. */
static int check_entry(const struct workload *const *table, size_t i)
{
	const struct workload *w = table[i];
	const struct param_need *need;
	const char *lacks;

	if (!w->name || !*w->name)
		return complain(EINVAL, "entry %zu of the workload table has no name", i);
	lacks = missing_hook(w);
	if (lacks)
		return complain(EINVAL, "workload %s does not set .%s (workloads/workload.h)",
				w->name, lacks);
	if (axis_rows(w) != 1)
		return complain(EINVAL,
				"workload %s marks %d parameters as kernel-size axis, not 1",
				w->name, axis_rows(w));
	if (!param_needs_fit(w->params, w->needs, &need))
		return complain(
			EINVAL,
			"workload %s: .needs says %s when %s, which are no parameters or choices",
			w->name, need->name, need->when);
	for (size_t j = 0; j < i; j++)
		if (!strcmp(table[j]->name, w->name))
			return complain(EINVAL, "two workloads call themselves %s; set .name",
					w->name);
	if (check_added(w))
		return -EINVAL;
	return check_presets(w);
}

int contract_check(const struct workload *const *table)
{
	int err = 0;

	for (size_t i = 0; table[i] && !err; i++)
		err = check_entry(table, i);
	return err;
}

int workload_set_up(const struct workload *w, const void *opts, void *state)
{
	int err = w->setup(opts, state);

	if (!err)
		CUDA(cudaDeviceSynchronize());
	return err;
}

bool verdict_holds(const struct verdict *v)
{
	return v->passed && v->error <= v->tolerance && v->compared > 0;
}
