/*
 * fleet.c [TRIALS] - how often `rift compare --each node` is wrong, where the truth is known:
 * fleets whose nodes and processes scatter normally, some of them with slow nodes. Prints tables
 * that docs/validation.md has.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/fleet.h"
#include "common/check.h"

static void print_row(const struct fleet_world *w, double margin, int trials)
{
	struct fleet_found f = fleet_simulate(w, margin, trials);

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
		struct fleet_world w = { nodes[i], 3, 0, 0, 0.01, 0.005 };

		print_row(&w, 0.02, n);
		w.slow = nodes[i] < 100 ? 1 : nodes[i] / 100;
		w.by = 0.05;
		print_row(&w, 0.02, n);
		w.sd_nodes = FLEET_MYOCYTE_NODES;
		w.sd_processes = FLEET_MYOCYTE_PROCESSES;
		print_row(&w, 0.02, n);
	}
	return 0;
}
