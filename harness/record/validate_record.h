/* validate_record.h - is a record file whole and valid; its summaries as CSV. */
#ifndef RIFT_RECORD_VALIDATE_RECORD_H
#define RIFT_RECORD_VALIDATE_RECORD_H

#include <jansson.h>

#include "harness/base/text.h"
#include "harness/record/point_record.h"
#include "harness/record/record.h"

struct record_facts {
	char session_id[32], schema[16];
	int headers, points, ok, failed, trailers, visits, sides;
	int processes; /* of each side; at most, where the sequential rule decides */
	int enough;    /* processes of each side after which the sequential rule stopped; 0: not */
	bool torn;
	bool incomplete; /* no .part, though processes are missing */
};

/*
 * Reads a .jsonl, .part or .visits file and holds every record against docs/records.md. csv, where
 * not NULL, gets a line for each point of its side. Returns 0, or -EINVAL or another negative errno
 * after one line that names the first thing that is wrong. A torn last line is not wrong.
 */
int record_check(struct record_facts *out, const char *path, struct csv_points *csv);

/*
 * The same, and a record of today's schema with a field that harness/record/fields.c lacks is
 * wrong. For `rift show --check`: whoever only reads a record loses nothing by such a field.
 */
int record_check_strictly(struct record_facts *out, const char *path, struct csv_points *csv);

/*
 * The same for a reader that wants the lines as well: each() gets every line that nothing is wrong
 * with, so that the file is read and parsed once. What becomes of the lines is no part of the
 * check.
 */
int record_check_each(struct record_facts *out, const char *path,
		      void (*each)(const json_t *o, const struct record_scan *scan, void *arg),
		      void *arg);

#endif
