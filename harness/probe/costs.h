/*
 * costs.h - the call costs: what each call costs here, from the probes of the microworkloads in
 * a few fresh processes.
 *
 * A costs file is one JSON object. Its fields are those of a session's header
 * (docs/records.md), and:
 *
 *   record, schema    "call_costs", COSTS_SCHEMA; another major version is refused
 *   session_id        16 random hexadecimal digits
 *   processes, seed   replicates, and what the intervals are drawn with
 *   sync              how ends are waited for: "spin", ...
 *   device            name, kind ("cuda", "cpu"), ...: as in `rift run --json`
 *   failed[]          {workload, code}: a probe that failed in some process
 *   rows[]            workload, name, unit; values[], one of each process; median, lo, hi (95 %
 *                     over processes); samples: what a process's value is the median of, or null;
 *                     text: why there is no value, or null
 */
#ifndef RIFT_PROBE_COSTS_H
#define RIFT_PROBE_COSTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "harness/measure/wait.h"
#include "harness/stats/bootstrap.h"

#define COSTS_SCHEMA "2.0"
enum {
	COSTS_SCHEMA_MAJOR = 2,
	COSTS_SCHEMA_OLDEST = 1,
	COSTS_PROCESSES = 5,
	COSTS_PROCESSES_MAX = 100
};

/* The reference that costs files are shown beside, in the source tree. */
#define COSTS_REFERENCE "data/sessions/h200-costs.json"

/* ---- which rows count ------------------------------------------------------------------- */

/* A row of the page. A costs file has further rows, which are not printed. */
struct costs_line {
	const char *section; /* of the page, for its first line; NULL: the one above goes on */
	const char *workload, *name;
	const char *label;
	bool decides; /* in a comparison */
	bool rate;    /* more is better */
};

extern const struct costs_line costs_lines[]; /* ends with a NULL workload */

/* ---- taking one ------------------------------------------------------------------------- */

struct costs_request {
	int processes;
	enum wait_policy sync;
	const char *platform; /* as declared, or NULL */
	bool host_name;
	double patience_s; /* a process that does not come back from a call for so long hangs */
	const struct workload *workload; /* of a grid (grid.h), with its configurations; or NULL */
	const json_t *configs;
	/*
	 * A layer as a shell's command before the process (layer_command()): then two files are
	 * made, without it and under it, by processes in turns, so that a machine that changes
	 * meanwhile changes both. NULL: one.
	 */
	const char *layer;
};

enum { COSTS_SIDES = 2 }; /* without the layer, under it */

/*
 * Runs the processes one after the other. Returns 0 and a new reference in costs[0], and with a
 * layer in costs[1], or a negative errno after one line.
 */
int costs_take(const struct costs_request *r, json_t *costs[COSTS_SIDES]);

/* What a process does (the command behind `rift sweep`): lines to out. Returns 0, or -errno. */
int costs_work(FILE *out, const json_t *job);

/* ---- reading one ------------------------------------------------------------------------ */

/*
 * Returns 0 and a new reference in *costs; -EPROTONOSUPPORT after one line for another major
 * version; or another negative errno after one line: no costs file, or one whose rows are damaged.
 */
int costs_read(const char *path, json_t **costs);

/* NULL: it has no such row. */
const json_t *costs_row(const json_t *costs, const char *workload, const char *name);

bool costs_is_cpu(const json_t *costs);
int costs_processes(const json_t *costs);

/* Is some row refused: "not supported here"? */
bool costs_has_refusals(const json_t *costs);

/* Values of every process; false where some process has none. value: of COSTS_PROCESSES_MAX.
 */
bool costs_values(const json_t *costs, const json_t *row, double *value);

/* "2.43 us", "55.1 GB/s", "1023 launches", by the row's unit. Static for two calls. */
const char *costs_number(double value, const char *unit);

/* ---- showing one ------------------------------------------------------------------------ */

/* Beside the reference, where there is one and it is not this costs file itself. */
void costs_print(const json_t *costs, FILE *out);

/* What any of them begins with: where and when; and what ends it, probes that failed. */
void costs_print_head(const json_t *costs, FILE *out);
void costs_print_failed(const json_t *costs, FILE *out);

/* Beside another costs file, or NULL. */
void costs_print_beside(const json_t *costs, const json_t *reference, FILE *out);

#endif
