/* variants.h - all that a session holds, by sets of parameters: a workload may be there with
 * several. */
#ifndef RIFT_CHART_VARIANTS_H
#define RIFT_CHART_VARIANTS_H

#include "harness/chart/chart.h"

/* One set for each workload and each of its sets of parameters but for the size. */
struct variants {
	const struct chart_set **set; /* those that were given first, then the others */
	int sets;
	struct chart_set *other; /* made here */
	int others;
};

/*
 * The given sets, of one side over the size axis, and what they leave out of their workloads.
 * Returns 0, or a negative errno after one line. To be released after a failure too.
 */
int variants_init(struct variants *v, const struct chart_set *given, int sets);
void variants_release(struct variants *v);

#endif
