/*
 * fleet.c [TRIALS] - how often `rift compare --each node` is wrong, where the truth is known:
 * fleets whose nodes and processes scatter normally, some of them with slow nodes. Prints tables
 * that docs/validation.md has.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/check.h"
#include "common/philox.h"
#include "harness/compare/fleet.h"

/* A fleet whose first `slow` nodes are slower by a share `by`. */
struct world {
	int nodes, processes, slow;
	double by, sd_nodes, sd_processes;
};

struct found {
	double right, wrong; /* slow nodes called slow, others called slow or fast: a fleet */
	double any_wrong;    /* share of fleets with one of these */
	double s;	     /* a fleet */
};

static uint32_t drawn;

static double uniform(uint64_t seed)
{
	return philox_uniform(philox4x32(drawn++, 0, 0, 0, seed).word[0]);
}

static double normal(uint64_t seed)
{
	double radius = sqrt(-2 * log(uniform(seed)));

	return radius * cos(2 * acos(-1) * uniform(seed));
}

static void make(struct fleet *f, const struct world *w, uint64_t seed)
{
	drawn = 0;
	*f = (struct fleet){ .nodes = 0 };
	for (int i = 0; i < w->nodes; i++) {
		double effect = w->sd_nodes * normal(seed) + (i < w->slow ? log1p(w->by) : 0);
		struct fleet_node *n;
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		n = fleet_node(f, name);
		n->sessions = 1;
		for (int k = 0; k < w->processes; k++)
			fleet_add(n, 0, effect + w->sd_processes * normal(seed));
	}
}

static void count(const struct fleet *f, const struct world *w, struct found *sum)
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

static struct found simulate(const struct world *w, double margin, int trials)
{
	struct found sum = { .right = 0 };
	clock_t begun = clock();

	for (int i = 0; i < trials; i++) {
		struct fleet f;

		make(&f, w, (uint64_t)i + 1);
		fleet_judge(&f, margin);
		count(&f, w, &sum);
		fleet_release(&f);
	}
	sum.s = (double)(clock() - begun) / CLOCKS_PER_SEC / trials;
	sum.right /= trials;
	sum.wrong /= trials;
	sum.any_wrong /= trials;
	return sum;
}

static void print_row(const struct world *w, double margin, int trials)
{
	struct found f = simulate(w, margin, trials);

	printf("| %d | %d | %.1f | %.1f | %g | %d by %g %% | %.2f | %.3f | %.1f | %.2f |\n",
	       w->nodes, w->processes, 100 * w->sd_nodes, 100 * w->sd_processes, 100 * margin,
	       w->slow, 100 * w->by, f.right, f.wrong, 100 * f.any_wrong, f.s);
}

int main(int argc, char **argv)
{
	static const int nodes[] = { 3, 4, 5, 8, 10, 20, 50, 100, 1000 };
	int trials = argc > 1 ? atoi(argv[1]) : 1000;

	CHECK(trials > 0, "%s is no number of trials", argv[1]);
	printf("| nodes | processes | sd of nodes, %% | of processes, %% | margin, %% | "
	       "slow | found | wrong | fleets with one, %% | s "
	       "|\n|---|---|---|---|---|---|---|---|"
	       "---|---|\n");
	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
		int n = nodes[i] < 1000 ? trials : 1 + trials / 20;
		struct world w = { nodes[i], 3, 0, 0, 0.01, 0.005 };

		print_row(&w, 0.02, n);
		w.slow = nodes[i] < 100 ? 1 : nodes[i] / 100;
		w.by = 0.05;
		print_row(&w, 0.02, n);
		w.sd_nodes = w.sd_processes = 0.005;
		print_row(&w, 0.02, n);
	}
	return 0;
}
