/* contract.c - does a workload fill in what workloads/workload.h asks for? */
#include "harness/contract.h"

#include <errno.h>
#include <string.h>

#include "common/check.h"
#include "harness/param_need.h"

/* The first text or hook that is missing, or NULL. fused, report and plot are optional. */
static const char *missing(const struct workload *w)
{
	const struct {
		const char *name;
		bool there;
	} fields[] = {
		{ "summary", w->summary },	     { "source", w->source },
		{ "step_unit", w->step_unit },	     { "params", w->params },
		{ "limits", w->limits != NULL },     { "setup", w->setup != NULL },
		{ "reset", w->reset != NULL },	     { "step", w->step != NULL },
		{ "check", w->check != NULL },	     { "cost", w->cost != NULL },
		{ "teardown", w->teardown != NULL },
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

/* The entries before this one are known to be in order. */
static int check_entry(const struct workload *const *table, size_t i)
{
	const struct workload *w = table[i];
	const struct param_need *need;
	const char *lacks;

	if (!w->name || !*w->name)
		return complain(EINVAL, "entry %zu of the workload table has no name", i);
	lacks = missing(w);
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
	return 0;
}

int contract_check(const struct workload *const *table)
{
	int err = 0;

	for (size_t i = 0; table[i] && !err; i++)
		err = check_entry(table, i);
	return err;
}
