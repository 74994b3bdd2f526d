/* sweep_text.h - what `rift sweep` prints: the plan, and what was measured. */
#ifndef RIFT_CMD_SWEEP_TEXT_H
#define RIFT_CMD_SWEEP_TEXT_H

#include <stdio.h>

#include "harness/session/results.h"

/* What was left out while the plan was made, or is measured otherwise. */
struct omitted {
	int launches, too_long, corners;
	int apart;	      /* configurations that do not fit into memory twice */
	double launch_max_ns; /* of some launches */
	double load;	      /* of a machine that is busy; else 0 */
	int processes;	      /* that there is no time for */
	double takes_ns; /* with all that has passed, where that is more than the limit; else 0 */
};

/* The plan: points by workload and mode, what was left out and why, and how long all of it is to
 * take. Planning is part of that: this one took planning_ns. */
void plan_print(const struct plan *p, int sides, const struct omitted *o, double planning_ns,
		FILE *out);

/* A line for each thing that was left out, for stderr; nothing where nothing was. */
void omitted_print(const struct plan *p, const struct omitted *o, FILE *out);

/* A table for each workload, parameter set, mode, wait policy and side: sizes down, depths
 * across. */
void results_print(const struct journal *j, FILE *out);

/* A line a side and call that is not supported there: how many points that costs. */
void refusals_print(const struct journal *j, FILE *out);

/* Before all else: a line that says why nothing below is to be trusted; nothing where it may be. */
void distrust_print(const struct journal *j, FILE *out);

/* A line of how many results are noisy (harness/record/trust.h), and how far clocks went. */
void quality_print(const struct journal *j, FILE *out);

#endif
