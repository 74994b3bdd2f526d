/* layer_group.h - the rows of an atlas by what is proven of them, in words. */
#ifndef RIFT_REPORT_LAYER_GROUP_H
#define RIFT_REPORT_LAYER_GROUP_H

#include <stdio.h>

#include "harness/base/text.h"
#include "harness/compare/atlas.h"
#include "harness/record/trust.h"
#include "harness/report/page.h"

/*
 * By the outcome of rift compare, and where that is open by the mean over workloads: a mean that
 * is the same, or faster, says nothing of a program that may be slower.
 */
enum layer_group {
	LAYER_SLOWER,	/* the mean is */
	LAYER_PROGRAMS, /* the mean is not, but a workload is */
	LAYER_SAME,
	LAYER_NOT_SLOWER,
	LAYER_FASTER,
	LAYER_LIKELY, /* open; the mean's interval is beyond the margin, its test does not agree */
	LAYER_MEAN_SAME, /* open; the mean alone is decided */
	LAYER_MEAN_NOT_SLOWER,
	LAYER_MEAN_FASTER,
	LAYER_MIXED, /* open; some workloads are slower and others faster, by their intervals */
	LAYER_OPEN,
};

enum layer_group layer_group(const struct atlas_entry *e);
enum page_tone layer_tone(enum layer_group group);

/* "slower: proven"; "average: no difference; 7 of 12 programs not decided" */
struct text_line layer_sure(const struct atlas_entry *e);

/* The mean over all workloads; of one workload, its own. */
const struct compared_workload *layer_mean(const struct comparison *c);

/* The one workload that alone puts the mean where it is, and what it is without that; NULL: none,
 * or there is no effect to have a cause. */
const struct compared_workload *layer_carrier(const struct atlas_entry *e, struct interval *rest);

/* Workloads by their intervals against the margin, none corrected. */
struct programs {
	int slower, faster, open, all;
};
struct programs programs_of(const struct comparison *c);

/* In percent. */
double layers_margin(const struct atlas *a);

/* The rows, those that take longest first; to be freed. */
const struct atlas_entry **layers_sorted(const struct atlas *a);

/* The rows, and the base, that are not to be believed. */
struct distrusted layers_distrusted(const struct atlas *a);

/* How many rows are slower and which takes longest; what is wrong; how many are what. A line each.
 * found: a struct atlas. */
void layers_finding(const void *found, FILE *out);

#endif
