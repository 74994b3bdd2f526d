/*
 * fleet.h - fleets whose truth is known, judged by rift's own code: how often is `rift compare
 * --each node` wrong? Nodes and processes scatter normally.
 */
#ifndef RIFT_BENCH_FLEET_H
#define RIFT_BENCH_FLEET_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/philox.h"
#include "harness/compare/fleet.h"

/*
 * What myocyte's steps scatter by on H200s, as `rift compare --each node --workload myocyte` says
 * of the bare sides of the kept sessions (data/sessions/atlas-h200), as shares.
 */
#define FLEET_MYOCYTE_NODES 0.0068
#define FLEET_MYOCYTE_PROCESSES 0.0076

/* A fleet whose first `slow` nodes are slower by a share `by`. */
struct fleet_world {
	int nodes, processes, slow;
	double by, sd_nodes, sd_processes;
};

struct fleet_found {
	double right, wrong; /* slow nodes called slow, others called slow or fast: a fleet */
	double any_wrong;    /* share of fleets with one of these */
	double s;	     /* a fleet */
};

static uint32_t fleet_drawn;

static inline double fleet_uniform(uint64_t seed)
{
	return philox_uniform(philox4x32(fleet_drawn++, 0, 0, 0, seed).word[0]);
}

static inline double fleet_normal(uint64_t seed)
{
	double radius = sqrt(-2 * log(fleet_uniform(seed)));

	return radius * cos(2 * acos(-1) * fleet_uniform(seed));
}

static inline void fleet_make(struct fleet *f, const struct fleet_world *w, uint64_t seed)
{
	fleet_drawn = 0;
	*f = (struct fleet){ .nodes = 0 };
	for (int i = 0; i < w->nodes; i++) {
		double effect = w->sd_nodes * fleet_normal(seed) + (i < w->slow ? log1p(w->by) : 0);
		struct fleet_node *n;
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		n = fleet_node(f, name);
		n->sessions = 1;
		for (int k = 0; k < w->processes; k++)
			fleet_add(n, 0, effect + w->sd_processes * fleet_normal(seed));
	}
}

static inline void fleet_count(const struct fleet *f, const struct fleet_world *w,
			       struct fleet_found *sum)
{
	int right = 0, wrong = 0;

	for (int i = 0; i < f->nodes; i++) {
		bool slow = atoi(f->node[i].name) < w->slow;

		right += slow && f->node[i].stands_out > 0;
		wrong += f->node[i].stands_out < 0 || (!slow && f->node[i].stands_out > 0);
	}
	sum->right += right;
	sum->wrong += wrong;
	sum->any_wrong += wrong > 0;
}

static inline struct fleet_found fleet_simulate(const struct fleet_world *w, double margin,
						int trials)
{
	struct fleet_found sum = { .right = 0 };
	clock_t begun = clock();

	for (int i = 0; i < trials; i++) {
		struct fleet f;

		fleet_make(&f, w, (uint64_t)i + 1);
		fleet_judge(&f, margin);
		fleet_count(&f, w, &sum);
		fleet_release(&f);
	}
	sum.s = (double)(clock() - begun) / CLOCKS_PER_SEC / trials;
	sum.right /= trials;
	sum.wrong /= trials;
	sum.any_wrong /= trials;
	return sum;
}

#endif
