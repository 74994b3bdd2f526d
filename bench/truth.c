/*
 * truth.c [TRIALS] - how often `rift compare` is wrong, where the truth is known (truth.h).
 *
 * Prints, in percent of simulated sessions: how often B is called slower where it is slower by 0,
 * by the margin (2 % of pairs, 5 % of separate sessions: there every "slower" is wrong), by 5 and
 * by 10 %; and how often the interval of a workload holds the true ratio. docs/validation.md has
 * the tables. 4,000 trials have a standard error of 0.3 at 5 %.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/truth.h"

enum { TRIALS = 4000 };

static double slower_by(struct world w, double longer, int trials)
{
	w.longer = longer;
	return simulate(&w, trials).slower;
}

static void print_row(const struct world *w, const char *name, int trials)
{
	double margin = w->paired ? MARGIN_DEFAULT : BETWEEN_MARGIN_DEFAULT;
	struct world at_margin = *w;
	struct found f;

	at_margin.longer = 1 + margin;
	f = simulate(&at_margin, trials);
	printf("| %s | %d | %.1f | %.1f | %.1f | %.1f | ", name, w->n, slower_by(*w, 1, trials),
	       f.slower, slower_by(*w, 1.05, trials), slower_by(*w, 1.1, trials));
	if (f.level > 0)
		printf("%.1f | %.1f |\n", f.covered, f.level);
	else
		printf("- | - |\n");
}

static void print_one_workload(bool paired, int trials)
{
	static const int n[] = { 3, 5, 6, 8, 9, 10, 12, 15, 20, 30 };

	printf("\n%s, one workload\n\n", paired ? "Pairs" : "Separate sessions");
	printf("| scatter | n | slower, by 0 %% | by the margin | by 5 %% | by 10 %% | covered | "
	       "level |\n|---|---|---|---|---|---|---|---|\n");
	for (int s = 0; s < SCATTERS; s++)
		for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++)
			print_row(&(struct world){ .scatter = (enum scatter)s,
						   .paired = paired,
						   .n = n[i],
						   .workloads = 1,
						   .planted = 1,
						   .correlation = 0.5 },
				  scatter_names[s], trials);
}

static void print_several(bool paired, int workloads, int planted, int trials)
{
	static const int n[] = { 6, 9, 12, 20 };
	static const enum scatter scatter[] = { NORMAL, HEAVY, TWO_KINDS, KINDS_OF_B };

	printf("\n%s, %d workloads, B slower in %d of them\n\n",
	       paired ? "Pairs" : "Separate sessions", workloads, planted);
	printf("| scatter | n | slower, by 0 %% | by the margin | by 5 %% | by 10 %% | covered | "
	       "level |\n|---|---|---|---|---|---|---|---|\n");
	for (size_t s = 0; s < sizeof(scatter) / sizeof(*scatter); s++)
		for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++)
			print_row(&(struct world){ .scatter = scatter[s],
						   .paired = paired,
						   .n = n[i],
						   .workloads = workloads,
						   .planted = planted },
				  scatter_names[scatter[s]], trials);
}

/* Windows of `rift share` resemble the ones before them. */
static void print_windows(int trials)
{
	static const double correlation[] = { 0, 0.5, 0.9 };

	printf("\nWindows that resemble the ones before, n = 20\n\n");
	printf("| correlation | groups: covered | level | pairs: covered | level |\n"
	       "|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof(correlation) / sizeof(*correlation); i++) {
		struct world w = { .scatter = CORRELATED,
				   .paired = false,
				   .n = 20,
				   .workloads = 1,
				   .planted = 1,
				   .longer = 1,
				   .correlation = correlation[i] };
		struct found groups = simulate(&w, trials), pairs;

		w.paired = true;
		pairs = simulate(&w, trials);
		printf("| %.1f | %.1f | %.1f | %.1f | %.1f |\n", correlation[i], groups.covered,
		       groups.level, pairs.covered, pairs.level);
	}
}

int main(int argc, char **argv)
{
	int trials = argc > 1 ? atoi(argv[1]) : TRIALS;

	if (trials < 1 || argc > 2) {
		fprintf(stderr, "usage: truth [TRIALS], 1 or more (default: %d)\n", TRIALS);
		return RIFT_USAGE;
	}
	printf("%d sessions a cell; in percent\n", trials);
	for (int paired = 1; paired >= 0; paired--) {
		print_one_workload(paired, trials);
		for (int workloads = 3; workloads <= 12; workloads += 9) {
			print_several(paired, workloads, 1, trials);
			print_several(paired, workloads, workloads, trials);
		}
	}
	print_windows(trials);
	return 0;
}
