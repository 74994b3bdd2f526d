/* variants.c - all that a session holds, by sets of parameters. */
#include "harness/chart/variants.h"

#include <stdlib.h>

#include "common/check.h"
#include "harness/measure/run.h"

static bool is_same(const struct config *x, const struct config *y)
{
	return x->workload == y->workload && grid_alike(x, y, workload_axis(x->workload));
}

static bool is_there(const struct variants *v, const struct config *c)
{
	for (int i = 0; i < v->sets; i++)
		if (is_same(v->set[i]->grid[0].base, c))
			return true;
	return false;
}

static bool is_of_these(const struct chart_set *given, int sets, const struct config *c)
{
	for (int i = 0; i < sets; i++)
		if (given[i].grid[0].workload == c->workload)
			return true;
	return false;
}

int variants_init(struct variants *v, const struct chart_set *given, int sets)
{
	const struct plan *p = &given->side->journal->plan;
	size_t room = (size_t)(p->n_configs + sets);
	int err = 0;

	/* a set stays where it is: its fit points into it */
	*v = (struct variants){ .set = calloc(room + 1, sizeof(*v->set)),
				.other = calloc(room + 1, sizeof(*v->other)) };
	CHECK(v->set && v->other, "memory of %zu sets", room);
	for (; v->sets < sets; v->sets++)
		v->set[v->sets] = &given[v->sets];
	for (int i = 0; i < p->n_configs && !err; i++) {
		const struct config *c = &p->config[i];

		if (!is_of_these(given, sets, c) || is_there(v, c))
			continue;
		err = chart_set_init_like(&v->other[v->others], given->side, c);
		v->set[v->sets++] = &v->other[v->others++];
	}
	return err;
}

void variants_release(struct variants *v)
{
	for (int i = 0; i < v->others; i++)
		chart_set_release(&v->other[i]);
	free(v->other);
	free(v->set);
	*v = (struct variants){ 0 };
}
