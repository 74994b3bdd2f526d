/* pair.c - the points that two parties have in common. */
#include "harness/compare/pair.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/compare/disjoint.h"

static const struct workload *workload_at(const struct plan *p, int point)
{
	return p->config[p->point[point].config].workload;
}

/* The keys of a plan's points with this workload -> their numbers. New reference. */
static json_t *keys_of(const struct plan *p, const struct workload *workload)
{
	json_t *keys = json_object();

	for (int i = 0; i < p->n_points; i++)
		if (!workload || workload_at(p, i) == workload)
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

static void take_values(struct pair *pair, const struct party *a, const struct party *b)
{
	const struct party *of[] = { a, b };

	pair->whole = true;
	for (int k = 0; k < 2; k++) {
		pair->value[k] = calloc((size_t)of[k]->n + 1, sizeof(double));
		CHECK(pair->value[k], "memory of %d values", of[k]->n);
		pair->n[k] = party_values(of[k], pair->at[k], pair->value[k]);
		pair->whole &= pair->n[k] == of[k]->n;
	}
}

int pairs_make(struct pairs *out, const struct party *a, const struct party *b,
	       const struct workload *workload)
{
	const struct plan *plan_a = &a->view.plan, *plan_b = &b->view.plan;
	json_t *keys = keys_of(plan_b, workload), *found;
	size_t room = (size_t)plan_a->n_points + 1;

	*out = (struct pairs){ .pair = calloc(room, sizeof(*out->pair)),
			       .workload = calloc(room, sizeof(*out->workload)) };
	CHECK(out->pair && out->workload, "memory of %d points", plan_a->n_points);
	for (int i = 0; i < plan_a->n_points; i++) {
		struct pair *p = &out->pair[out->n];

		if (workload && workload_at(plan_a, i) != workload)
			continue;
		found = json_object_get(keys, plan_a->point[i].key);
		if (!found) {
			out->only[PAIR_A]++;
			continue;
		}
		p->at[PAIR_A] = i;
		p->at[PAIR_B] = (int)json_integer_value(found);
		p->workload = workload_number(out, workload_at(plan_a, i));
		take_values(p, a, b);
		out->n++;
	}
	out->only[PAIR_B] = (int)json_object_size(keys) - out->n;
	json_decref(keys);
	return out->n ? 0 : disjoint_refuse(plan_a, plan_b, workload);
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
