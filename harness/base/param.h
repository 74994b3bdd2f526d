/*
 * param.h - declared parameters: name=value into a struct, and back into text.
 *
 * Rows are those of common/param.h; the options of `rift run` are rows as well. Every
 * value is parsed whole or refused with one line that says what would be right. Syntax:
 *   int     digits with an optional '-'; no exponent, so that 1e3 is not read as 1
 *   size    the same with k, K, M or G behind it: powers of 1024
 *   real    decimal with an optional exponent; no inf, nan or hexadecimal
 *   choice  one of the names
 *   path    any text but none
 *   list    1 to PARAM_LIST_MAX sizes with commas between them
 */
#ifndef RIFT_BASE_PARAM_H
#define RIFT_BASE_PARAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/base/text.h"

struct param; /* common/param.h */
union param_value;

enum { PARAM_ROWS_MAX = 64 };

/* A struct that rows describe, and which of its fields the user has set. */
struct params {
	const struct param *rows;
	const char *owner;    /* whose parameters, for messages: "myocyte" */
	const char *prefix;   /* before names in messages: "", "--", or "FILE:1: " */
	const char *shown_by; /* for messages: what lists them; NULL: rift list */
	void *opts;	      /* of the caller; its paths are owned by this */
	bool given[PARAM_ROWS_MAX];
};

/*
 * Sets every field to its default. opts must be zeroed; a field whose row has the default ""
 * stays zero. A default that does not parse is a bug in the row and aborts.
 */
void params_init(struct params *p, const struct param *rows, const char *owner, void *opts);

/*
 * Parses "name=value" into its field. Returns 0, or -EINVAL after one line: no '=', an unknown
 * name (with the nearest), a name given before, or a refused value. Then nothing has changed.
 */
int params_assign(struct params *p, const char *assignment);

/* The same with name and value apart. */
int params_set(struct params *p, const char *name, const char *value);

/* Sets field i to a value that is read already: a copy of it. It counts as given. */
void params_put(struct params *p, int i, const union param_value *value);

/* Index of the row called name (name_len bytes of it), or -1. */
int params_find(const struct param *rows, const char *name, size_t name_len);

/* Frees the paths. */
void params_release(struct params *p);

/*
 * Parses one value into the row's field of opts; label is its name in the message ("cells",
 * "--depth"). Returns 0 or -EINVAL after one line. Frees a path that it replaces.
 */
int param_parse(const struct param *row, const char *label, const char *value, void *opts);

/* The same into a value that was zeroed, not into opts. */
int param_read(const struct param *row, const char *label, const char *text,
	       union param_value *out);

/* Are two fields of this row equal? */
bool param_equal(const struct param *row, const void *a, const void *b);

/* Gives back what a value owns. */
void param_drop(const struct param *row, union param_value *value);

/* Writes the field as the shortest text that parses back; "" for no path. Cut to fit size. */
void param_format(const struct param *row, const void *opts, char *out, size_t size);

/* Writes "1 to 64k", "0.1 to 1", "stream, graph, fused", "file name", or the form
 * of a text or of a list; without the unit. */
void param_range(const struct param *row, char *out, size_t size);

/* "int", "size", "real", "choice", "path", "text", "list". */
const char *param_kind_name(const struct param *row);

/* Is the field's value the default? */
bool param_is_default(const struct param *row, const void *opts);

/* The unit as it stands behind a number: " cells", or "" where there is none. */
struct text param_unit(const struct param *row);

/* The field as a JSON value, typed; null for no path. New reference. */
json_t *param_json(const struct param *row, const void *opts);

/* The row itself: name, kind, unit, default, min, max, choices, help, axis. New reference. */
json_t *param_row_json(const struct param *row);

#endif
