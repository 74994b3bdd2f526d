/* costs_compare_impl.h - what comparisons of costs files and of grids share. */
#ifndef RIFT_PROBE_COSTS_COMPARE_IMPL_H
#define RIFT_PROBE_COSTS_COMPARE_IMPL_H

#include "harness/probe/costs_compare.h"

struct process_times {
	double of[2][COSTS_PROCESSES_MAX]; /* of A, B; us */
};

/* Nothing is known yet. */
void costs_pair_init(struct costs_pair *p);

/* Every process's time, and the medians in the row's unit. False: some have no value. */
bool costs_pair_times(const struct costs_comparison *c, struct costs_pair *p,
		      struct process_times *t);

/* Ratio, difference and verdict of times; none where some is not above 0. */
void costs_pair_judge(const struct costs_comparison *c, const struct contrast *by,
		      struct costs_pair *p, const struct process_times *t);

/* ---- grids (grid_compare.c) ---------------------------------------------------------------- */

/* Makes the pairs, and judges them. */
void grid_compare_pairs(struct costs_comparison *c, const struct contrast *by);

void grid_compare_print(const struct costs_comparison *c, bool all, FILE *out);

#endif
