/*
 * fields.h - the fields that records of a session have. One table decides how records are checked
 * and thinned, how a point is made of its visits, and which columns a CSV file has. docs/records.md
 * explains the fields; tests/harness/record/test_fields.c compares it with the table.
 * `rift show --check` calls a record of today's schema invalid if it has a field that the table
 * lacks.
 */
#ifndef RIFT_RECORD_FIELDS_H
#define RIFT_RECORD_FIELDS_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/base/text.h"

enum field_kind {
	FIELD_TEXT,
	FIELD_WHOLE,
	FIELD_NUMBER,
	FIELD_ARRAY,
	FIELD_OBJECT,
	FIELD_TRUTH,
};

enum {
	FIELD_ALWAYS = 1,   /* each such record has it; others may be missing, or null: not known */
	FIELD_MEASURED = 2, /* so does a point that was measured */
	FIELD_THIN = 4,	    /* a thinned record has it as it was, and needs it as much */
	FIELD_THINNED = 8, /* a thinned one needs it too, in another form (harness/record/thin.c) */
	FIELD_OLD = 16,	   /* only records of older schemas have it */
	/* what a point makes of the same field of its visits: */
	FIELD_JOINED = 32, /* the arrays, one after the other */
	FIELD_SUMMED = 64,
	FIELD_ALIKE = 128, /* what every visit says, from the first that has it */
	/* `rift show --check --csv` writes it, in the order of the table */
	FIELD_COLUMN = 256,
};

struct record_field {
	const char *record, *name;
	enum field_kind kind;
	unsigned flags;
};

/*
 * Ends with record NULL. The rows "summary" are the parts of a point's `summary`, the rows "series"
 * those of its `t_enq_ns` and `t_total_ns`.
 */
extern const struct record_field record_fields[];

/* Is v there, and of the kind? */
bool field_is(const json_t *v, enum field_kind kind);

/* The record in the table that has the parts of field f; NULL: the table does not list them. */
const char *field_parts(const struct record_field *f);

struct field_rules {
	bool is_thinned, is_measured;
	bool knows_all; /* of today's schema: no field that the table lacks */
};

/* What is wrong with the fields of o, a record "plan", "point", ...; "": nothing. */
struct text fields_wrong(const json_t *o, const char *record, struct field_rules rules);

/* The fields of o that a thinned record has as they are. New reference. */
json_t *fields_thin(const json_t *o, const char *record);

#endif
