/*
 * grid.h - one workload's probe over values of its parameters, in a few fresh processes: what
 * `rift probe WORKLOAD name=values` measures.
 *
 * A grid file is one JSON object. It has the fields of a costs file (costs.h), and:
 *
 *   record, schema    "probe_grid", GRID_SCHEMA; another major version is refused
 *   workload          whose probe it is
 *   configs[]         one object a configuration: the parameters that were given, as text
 *   rows[].config     which configuration the row is of, from 0; of the process itself: none
 */
#ifndef RIFT_PROBE_GRID_H
#define RIFT_PROBE_GRID_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "harness/stats/bootstrap.h"

struct workload;

#define GRID_SCHEMA "1.0"
enum {
	GRID_SCHEMA_MAJOR = 1,
	GRID_CONFIGS_MAX = 256,
	GRID_GROUPS_MAX = 64,
	GRID_LINE_MIN = 3,
	GRID_NAMES_MAX = 64
};

/* ---- asking for one ------------------------------------------------------------------------ */

/*
 * Every combination of the values that "name=value,value" words give, the last word's fastest: a
 * new array of arrays of "name=value". Returns 0, or -EINVAL after one line: a workload without a
 * probe, a word that is none, a value or a combination that the workload refuses.
 */
int grid_parse(json_t **configs, const struct workload *w, char *const *words, int n);

/* "probe=one" where the workload's probe can be of one configuration alone, else "probe=quick". */
const char *grid_probe(const struct workload *w);

/* ---- reading one --------------------------------------------------------------------------- */

/* Returns 0 and a new reference, or a negative errno after one line; as costs_read(). grid_is() in
 * recorded.h says whether a file is one. */
int grid_read(const char *path, json_t **grid);

/* A file of call costs or a grid. */
bool grid_is_one(const json_t *read);

/* NULL: there is none. */
const json_t *grid_row(const json_t *grid, int config, const char *name);

int grid_configs(const json_t *grid);

/* The configuration of the other grid with the same parameters; -1: it has none. */
int grid_config_like(const json_t *grid, const json_t *other, int config);

/*
 * May the two stand side by side? Returns 0, or after one line -EXDEV (other workloads, no
 * configuration in common) or -EINVAL (the same file).
 */
int grid_refuse_pair(const json_t *a, const json_t *b);

/* How many configurations both have. */
int grid_common_configs(const json_t *a, const json_t *b);

/* Names of rows with a number in some configuration, in the order of the file. Returns how many. */
int grid_names(const json_t *grid, const char *name[GRID_NAMES_MAX]);

/*
 * Quantities that programs wait for, of graphs. Charts draw them, and they decide a comparison:
 * over the size, and where there is no size.
 */
extern const char *const grid_over_size[], *const grid_by_config[]; /* end with NULL */

/*
 * Configurations that differ in nothing but the size axis, at least GRID_LINE_MIN, through which a
 * line can be drawn.
 */
struct grid_group {
	char label[64]; /* "width=4", of parameters that differ between groups; "" for one alone */
	int n, config[GRID_CONFIGS_MAX];
};

/* Returns how many. */
int grid_groups(const json_t *grid, struct grid_group *group);

/* "width=4 order=late": the parameters that vary, but for the one left out. */
void grid_label(const json_t *grid, int config, const char *left_out, char *out, size_t size);

/* "graph topology=chains": the workload, and the parameters that do not vary. Static. */
const char *grid_given(const json_t *grid);

/* What a configuration's x is: the nodes of its graph, or whatever its size axis is; NAN. */
double grid_size(const json_t *grid, int config);

/*
 * A line through a row's values over the size: one of each process, and the median of these with
 * its interval. False: it has no such line.
 */
struct grid_line {
	struct interval fixed, slope;
};

/* The lines of the processes: arrays of COSTS_PROCESSES_MAX. False: some are not measured. */
bool grid_fit_each(double *fixed, double *slope, const json_t *grid, const struct grid_group *group,
		   const char *name);

bool grid_fit(struct grid_line *out, const json_t *grid, const struct grid_group *group,
	      const char *name);

/* ---- showing one --------------------------------------------------------------------------- */

/* Tables of the configurations, lines over the size, and why a row has no value (grid_text.c). */
void grid_print(const json_t *grid, FILE *out);

#endif
