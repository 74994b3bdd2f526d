/*
 * thin.h - a complete session without its blocks: what rift's commands read of it, in a tenth of
 * the bytes, for a record that is to be kept for years. docs/records.md describes it.
 */
#ifndef RIFT_RECORD_THIN_H
#define RIFT_RECORD_THIN_H

#include <jansson.h>
#include <stdbool.h>

/* Digits of a point's key in a thinned record; the plan has all of them. */
enum { THIN_KEY_DIGITS = 12 };

/*
 * Writes the session at `from`, which may be compressed, to the new file `to`. What `rift show`,
 * compare, fit, predict, atlas and plot say of both is the same. Returns 0, or a negative errno
 * after one line: not valid, not complete, thinned already, `to` exists.
 */
int record_thin(const char *from, const char *to);

/* Of a plan record. */
bool plan_is_thinned(const json_t *plan_record);

/* Is given, of a record, the key or the first digits of it? */
bool is_key(const char *given, const char *key);

/* The member of an object by point that is of this key; NULL: none. */
const json_t *of_key(const json_t *by_point, const char *key);

#endif
