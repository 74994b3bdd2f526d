/* grid_base.c - which of a session's configurations a grid is of. */
#include "harness/model/grid_base.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/spell.h"

static const struct workload *only_workload(const struct journal *j)
{
	const struct workload *w = j->plan.config[0].workload;

	for (int i = 1; i < j->plan.n_configs; i++)
		if (j->plan.config[i].workload != w) {
			complain(EINVAL,
				 "%s holds several workloads: name one, --workload %s or "
				 "--workload %s",
				 j->path ? j->path : "the session", w->name,
				 j->plan.config[i].workload->name);
			return NULL;
		}
	return w;
}

static const struct workload *named_workload(const struct journal *j, const char *name)
{
	struct spell near = spell_start(name);

	for (int i = 0; i < j->plan.n_configs; i++) {
		const struct workload *w = j->plan.config[i].workload;

		if (!strcmp(w->name, name))
			return w;
		spell_offer(&near, w->name);
	}
	complain(EINVAL, "--workload=%s: the session holds none of that name%s", text_shown(name).s,
		 near.best ? spell_hint(&near).s : "; `rift check` says what it holds");
	return NULL;
}

static bool is_default(const struct config *c, const struct param *axis)
{
	for (const struct param *row = c->params.rows; row->name; row++)
		if (row != axis && !param_is_default(row, c->params.opts))
			return false;
	return true;
}

bool grid_alike(const struct config *x, const struct config *y, const struct param *axis)
{
	char a[512], b[512];

	for (const struct param *row = x->params.rows; row->name; row++) {
		param_format(row, x->params.opts, a, sizeof(a));
		param_format(row, y->params.opts, b, sizeof(b));
		if (row != axis && strcmp(a, b))
			return false;
	}
	return true;
}

const struct config *grid_base(const struct grid *g)
{
	const struct config *first = NULL;

	for (int i = 0; i < g->j->plan.n_configs; i++) {
		const struct config *c = &g->j->plan.config[i];

		if (c->workload != g->workload)
			continue;
		if (is_default(c, g->axis))
			return c;
		first = first ? first : c;
	}
	return first;
}

void grid_name_others(struct grid *g)
{
	size_t used = 0;
	const struct params *base = &g->base->params;
	char value[64];

	for (const struct param *row = base->rows; row->name; row++) {
		if (row == g->axis || param_is_default(row, base->opts) ||
		    used >= sizeof(g->others))
			continue;
		param_format(row, base->opts, value, sizeof(value));
		used += (size_t)snprintf(g->others + used, sizeof(g->others) - used, "%s%s=%s",
					 used ? " " : "", row->name, value);
	}
}

const struct workload *grid_workload(const struct journal *j, const char *name)
{
	return name ? named_workload(j, name) : only_workload(j);
}
