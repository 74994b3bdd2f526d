/*
 * across.h - several records of `rift share` together: what each workload takes among its own kind,
 * who hurts whom in pairs, how long the shortest steps take beside each neighbour, and harm.
 *
 * Each figure is of one record and held against a client alone of the same record, so records may
 * be of several machines with the same device.
 */
#ifndef RIFT_SHARE_ACROSS_H
#define RIFT_SHARE_ACROSS_H

#include <stdio.h>

#include "harness/base/picture.h"
#include "harness/share/findings.h"

enum { ACROSS_RECORDS_MAX = 64, ACROSS_WORKLOADS_MAX = 32 };

struct across {
	struct share record[ACROSS_RECORDS_MAX];
	struct share_findings found[ACROSS_RECORDS_MAX];
	int records;
	struct text_line workload[ACROSS_WORKLOADS_MAX]; /* each once, in the order of records */
	int workloads;
	int paired; /* the first of them that are in a pair of two clients; rows of a matrix */
	int pair[ACROSS_WORKLOADS_MAX];
};

/* Reads all. 0, or a negative errno after one line. across_release() follows in any case. */
int across_read(struct across *a, char *const *paths, int n);
void across_release(struct across *a);

/* A record of one workload without layers, whose sets make a curve over their number. */
bool across_grows(const struct across *a, int record);

/* A client among two, one of each workload: what there is of it. */
struct across_client {
	struct interval slowdown; /* of two of the same workload: of the set */
	const double *quantile_ns;
};

/* False: no record has such a pair under this arm. */
bool across_beside(const struct across *a, enum share_arm arm, int of, int beside,
		   struct across_client *out);

/* Quantiles of this workload alone in one process, or NULL. */
const double *across_alone(const struct across *a, int of);

/* The paired workload with the shortest steps alone; -1: none is. */
int across_shortest(const struct across *a);

/* Has any pair of two workloads been measured under it? */
bool across_has(const struct across *a, enum share_arm arm);

void across_print(const void *across, FILE *out);
json_t *across_json(const void *across);
int across_exit_code(const struct across *a);

/*
 * For each arm: what each workload takes among its own kind; where there are pairs a matrix, and
 * the shortest steps beside each neighbour (across_chart.c).
 */
enum { ACROSS_CHARTS = 3 * ARMS };
int across_charts_write(struct picture p[ACROSS_CHARTS], int *n, const struct across *a,
			const char *folder);
void across_charts_release(struct picture p[ACROSS_CHARTS]);

#endif
