/*
 * truth.c [TRIALS] - how often `rift compare` is wrong, where the truth is known (truth.h).
 *
 * Prints, in percent of simulated sessions: how often B is called slower where it is slower by 0,
 * by the margin (2 %, of separate sessions 5 %: there every "slower" is wrong), by 5 and
 * by 10 %; how often the interval of a workload holds the true ratio; and the same of a fitted
 * parameter, in a quarter of the trials. docs/validation.md has the tables. 4,000 trials have a
 * standard error of 0.3 at 5 %.
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
	struct world at_margin = *w;
	struct found f;

	at_margin.longer = 1 + truth_margin(w);
	f = simulate(&at_margin, trials);
	printf("| %s | %d | %.1f | %.1f | %.1f | %.1f | ", name, w->n, slower_by(*w, 1, trials),
	       f.slower, slower_by(*w, 1.05, trials), slower_by(*w, 1.1, trials));
	if (f.level > 0)
		printf("%.1f | %.1f |\n", f.covered, f.level);
	else
		printf("- | - |\n");
}

static const char *const design_names[] = { "Pairs", "Groups of one session", "Separate sessions" };

static void print_one_workload(enum design_of_world design, int trials)
{
	static const int n[] = { 3, 5, 6, 8, 9, 10, 12, 15, 20, 30 };

	printf("\n%s, one workload\n\n", design_names[design]);
	printf("| scatter | n | slower, by 0 %% | by the margin | by 5 %% | by 10 %% | covered | "
	       "level |\n|---|---|---|---|---|---|---|---|\n");
	for (int s = 0; s < SCATTERS; s++)
		for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++)
			print_row(&(struct world){ .scatter = (enum scatter)s,
						   .design = design,
						   .n = n[i],
						   .workloads = 1,
						   .planted = 1,
						   .correlation = 0.5 },
				  scatter_names[s], trials);
}

static void print_several(enum design_of_world design, int workloads, int planted, int trials)
{
	static const int n[] = { 6, 9, 12, 20 };
	static const enum scatter scatter[] = { NORMAL, HEAVY, TWO_KINDS, KINDS_OF_B };

	printf("\n%s, %d workloads, B slower in %d of them\n\n", design_names[design], workloads,
	       planted);
	printf("| scatter | n | slower, by 0 %% | by the margin | by 5 %% | by 10 %% | covered | "
	       "level |\n|---|---|---|---|---|---|---|---|\n");
	for (size_t s = 0; s < sizeof(scatter) / sizeof(*scatter); s++)
		for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++)
			print_row(&(struct world){ .scatter = scatter[s],
						   .design = design,
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
				   .design = ONE_SESSION,
				   .n = 20,
				   .workloads = 1,
				   .planted = 1,
				   .longer = 1,
				   .correlation = correlation[i] };
		struct found groups = simulate(&w, trials), pairs;

		w.design = PAIRED;
		pairs = simulate(&w, trials);
		printf("| %.1f | %.1f | %.1f | %.1f | %.1f |\n", correlation[i], groups.covered,
		       groups.level, pairs.covered, pairs.level);
	}
}

static void print_fixed_pairs(const struct world *w, const char *name, int trials)
{
	static const int n[] = { 5, 6, 7, 8, 9, 12, 20, 30 };

	printf("| %s |", name);
	for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++) {
		struct world at = *w;

		at.n = n[i];
		printf(" %.1f |", simulate_parameter(&at, 0, trials).covered);
	}
	printf("\n");
}

static void print_stopped(const struct world *w, const char *name, int trials)
{
	static const double goal[] = { 0.02, 0.015, 0.01, 0.007 };

	printf("| %s |", name);
	for (size_t i = 0; i < sizeof(goal) / sizeof(*goal); i++) {
		struct parameter_found f = simulate_parameter(w, goal[i], trials);

		printf(" %.1f (%.0f pairs) |", f.covered, f.pairs);
	}
	printf("\n");
}

static void print_parameters(int trials)
{
	struct world w = { .design = PAIRED, .n = TRUTH_N_MAX, .workloads = 1, .planted = 1 };

	printf("\nThe difference of a parameter, pairs: its 95 %% interval covers\n\n"
	       "| scatter | n = 5 | 6 | 7 | 8 | 9 | 12 | 20 | 30 |\n"
	       "|---|---|---|---|---|---|---|---|---|\n");
	for (int s = NORMAL; s <= TWO_KINDS; s++) {
		w.scatter = (enum scatter)s;
		print_fixed_pairs(&w, scatter_names[s], trials);
	}
	printf("\nThe same where the session ends once it is known to +-2 to +-0.7 %% of the "
	       "time\n\n"
	       "| scatter | 2 %% | 1.5 %% | 1 %% | 0.7 %% |\n|---|---|---|---|---|\n");
	for (int s = NORMAL; s <= TWO_KINDS; s++) {
		w.scatter = (enum scatter)s;
		print_stopped(&w, scatter_names[s], trials);
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
	for (int design = PAIRED; design <= TWO_SESSIONS; design++) {
		print_one_workload((enum design_of_world)design, trials);
		for (int workloads = 3; workloads <= 12 && design != ONE_SESSION; workloads += 9) {
			print_several((enum design_of_world)design, workloads, 1, trials);
			print_several((enum design_of_world)design, workloads, workloads, trials);
		}
	}
	print_windows(trials);
	print_parameters((trials + 3) / 4); /* each takes 5,000 draws */
	return 0;
}
