/*
 * costs_compare.h - two costs files, or two grids of probes: what do calls cost on B over A.
 *
 * Judged exactly, by the processes of both (harness/stats/contrast.h): the difference of two times,
 * against a margin, with a floor of 20 ns. Rates are taken as the time of a megabyte.
 * The lines of the page that decide are corrected for each other by Holm; all others inform, by
 * themselves.
 *
 * Of grids the configurations that both have are compared. What decides are quantities that
 * programs wait for (grid_over_size and grid_by_config of grid.h, and the page's rows that decide;
 * where a grid has none of them, all its times): each process's geometric mean over the
 * configurations. A quantity in one configuration informs, and so do the two parts of a line over
 * the size.
 */
#ifndef RIFT_PROBE_COSTS_COMPARE_H
#define RIFT_PROBE_COSTS_COMPARE_H

#include "harness/compare/compare.h"
#include "harness/probe/costs.h"

/*
 * Call costs are taken in a minute, on hosts whose clocks come and go: what separate costs files of
 * one system differ by is assumed to be more than what sessions differ by
 * (harness/compare/compare.h), and so is what matters.
 */
#define COSTS_MARGIN_DEFAULT 0.10
#define COSTS_SESSION_SD_DEFAULT 0.03

enum costs_pair_kind {
	COSTS_ROW,
	GRID_MEAN, /* a quantity, over all configurations */
	GRID_CONFIG,
	GRID_FIXED, /* of a line over the size */
	GRID_SLOPE,
};

struct costs_pair {
	enum costs_pair_kind kind;
	const json_t *row[2]; /* of A, B */
	const char *workload, *name, *unit;
	const char *section, *label; /* of the page; of others workload and name */
	char where[80];		     /* of a grid: the section */
	bool decides;
	double value[2];	    /* medians in the row's unit; NAN of means over several */
	struct interval ratio;	    /* of times, B / A */
	struct interval difference; /* of times, us; NaN for rates */
	struct judged judged;
	bool known; /* every process of both has a value */
};

struct costs_comparison {
	const char *path[2];
	const json_t *costs[2];
	struct compare_options options;
	json_t *environment_diff, *warnings;
	struct costs_pair *pair;
	int n;		 /* of the page first, in its order, then the others; of a grid by name */
	int configs;	 /* of a grid: that both have */
	int tests;	 /* that decide */
	double level;	 /* of intervals; NAN: none */
	int left_out[2]; /* rows that only this one has */
	enum outcome outcome;
};

/* Of two files of one kind. Returns 0, -EPROTONOSUPPORT or -EXDEV where they are not comparable, or
 * another negative errno. */
int costs_compare(struct costs_comparison *c, const json_t *a, const json_t *b,
		  const struct compare_options *options);
void costs_compare_release(struct costs_comparison *c);

enum exit_code costs_compare_exit_code(const struct costs_comparison *c);

void costs_compare_print(const struct costs_comparison *c, bool all, FILE *out);
json_t *costs_compare_json(const struct costs_comparison *c);

#endif
