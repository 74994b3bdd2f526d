/*
 * card.h - the platform card: what each call costs here, from the probes of the microworkloads in
 * a few fresh processes.
 *
 * A card is one JSON object. Its fields are those of a session's header
 * (harness/record/RECORDS.md), and:
 *
 *   record, schema    "card", CARD_SCHEMA; another major version is refused
 *   session_id        16 random hexadecimal digits
 *   processes, seed   replicates, and what the intervals are drawn with
 *   sync              how ends are waited for: "spin", ...
 *   device            name, kind ("cuda", "cpu"), ...: as in `rift run --json`
 *   failed[]          {workload, code}: a probe that failed in some process
 *   rows[]            workload, name, unit; values[], one of each process; median, lo, hi (95 %
 *                     over processes); samples: what a process's value is the median of, or null;
 *                     text: why there is no value, or null
 */
#ifndef RIFT_PROBE_CARD_H
#define RIFT_PROBE_CARD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "harness/measure/submit.h"
#include "harness/stats/bootstrap.h"

#define CARD_SCHEMA "1.0"
enum { CARD_SCHEMA_MAJOR = 1, CARD_PROCESSES = 5, CARD_PROCESSES_MAX = 100 };

/* The reference that cards are shown beside, in the source tree. */
#define CARD_REFERENCE "data/sessions/h200-card.json"

/* ---- which rows count ------------------------------------------------------------------- */

/* A row of the page. Of the others a card has the figures, and nobody is shown them. */
struct card_line {
	const char *section; /* of the page, for its first line; NULL: the one above goes on */
	const char *workload, *name;
	const char *label;
	bool decides; /* in a comparison */
	bool rate;    /* more is better */
};

extern const struct card_line card_lines[]; /* ends with a NULL workload */

/* ---- taking one ------------------------------------------------------------------------- */

struct card_request {
	int processes;
	enum sync_kind sync;
	const char *platform; /* as declared, or NULL */
	bool host_name;
	double patience_s; /* a process that does not come back from a call for so long hangs */
};

/*
 * Runs the processes one after the other. Returns 0 and a new reference in *card, or a negative
 * errno after one line.
 */
int card_take(const struct card_request *r, json_t **card);

/* What a process does (the command behind `rift sweep`): lines to out. Returns 0, or -errno. */
int card_work(FILE *out, const json_t *job);

/* ---- reading one ------------------------------------------------------------------------ */

/* Does this file begin like a card? No word of anything else that it may be, or lack. */
bool card_is(const char *path);

/*
 * Returns 0 and a new reference in *card; -EPROTONOSUPPORT after one line for another major
 * version; or another negative errno after one line: no card, or one whose rows are damaged.
 */
int card_read(const char *path, json_t **card);

/* NULL: it has no such row. */
const json_t *card_row(const json_t *card, const char *workload, const char *name);

bool card_is_cpu(const json_t *card);
int card_processes(const json_t *card);

/* Is some row refused: "not supported here"? */
bool card_has_refusals(const json_t *card);

/* Values of every process; false where some process has none. value: room for CARD_PROCESSES_MAX.
 */
bool card_values(const json_t *card, const json_t *row, double *value);

/* "2.43 us", "55.1 GB/s", "1023 launches", by the row's unit. Static for two calls. */
const char *card_number(double value, const char *unit);

/* ---- showing one ------------------------------------------------------------------------ */

/* Beside the reference, where there is one and it is not this card itself. */
void card_print(const json_t *card, FILE *out);

/* Beside another card, or NULL. */
void card_print_beside(const json_t *card, const json_t *reference, FILE *out);

#endif
