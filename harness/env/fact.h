/*
 * fact.h - one thing about a machine: its value, or why it is not known.
 *
 * A zeroed fact is unknown for a reason that nobody gave. Structs of facts become JSON by a table
 * of their fields, in which an unknown one is null and its reason stands beside it.
 */
#ifndef RIFT_ENV_FACT_H
#define RIFT_ENV_FACT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fact_kind { FACT_UNKNOWN, FACT_TEXT, FACT_INT, FACT_REAL, FACT_BOOL };

struct fact {
	enum fact_kind kind;
	int64_t number; /* of FACT_INT and FACT_BOOL */
	double real;
	char text[256]; /* the value of FACT_TEXT; of FACT_UNKNOWN why, in a few words */
};

/* Blanks at both ends are left out; an empty text is unknown. Longer ones are cut. */
struct fact fact_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
struct fact fact_int(int64_t value);
struct fact fact_real(double value); /* unknown where it is not finite */
struct fact fact_bool(bool value);
struct fact fact_unknown(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static inline bool fact_known(const struct fact *f)
{
	return f->kind != FACT_UNKNOWN;
}

/* Is it this very text; is it known to be true? */
bool fact_is(const struct fact *f, const char *text);
bool fact_true(const struct fact *f);

/* The text, or fallback where it is unknown or no text. */
const char *fact_or(const struct fact *f, const char *fallback);

/* The value, or null. New reference. */
json_t *fact_json(const struct fact *f);

/* Fields of a struct; ends with { 0 }. */
struct fact_row {
	const char *name;
	size_t offset;
};

/*
 * {"name": value or null, ...}, and where there is a null "why_null": {"name": "reason", ...}.
 * New reference.
 */
json_t *facts_json(const struct fact_row *rows, const void *facts);

/* Adds a member that is no fact: the value, whose reference is taken, or null for this reason. */
void facts_add(json_t *o, const char *name, json_t *value, const char *why);

#endif
