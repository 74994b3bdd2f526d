/*
 * ranges.h - the ranges that a traced program names (NVTX): how often it was in each and how long,
 * and what it called there.
 */
#ifndef RIFT_PROFILE_RANGES_H
#define RIFT_PROFILE_RANGES_H

#include <jansson.h>
#include <stdio.h>

#include "common/trace/retime.h"

enum { RANGES_SHOWN = 10 }; /* in text, at most */

/* All ranges of one name, in all threads. One that is within another of its name does not count. */
struct range {
	int32_t name; /* index of a string */
	int64_t times, launches, waits;
	int64_t ns;	   /* as recorded, threads added up */
	double retimed_ns; /* the same without the recorder; NAN: not known */
};

struct ranges {
	struct range *list; /* the longest first */
	int64_t n;
};

/*
 * A range without an end ends with the trace, an end without a range is none. retimed: when calls
 * are without the recorder; NULL: not known. What begins or ends between two calls of a thread
 * keeps its place between them.
 */
void ranges_make(struct ranges *out, const struct trace *t, const struct timed *retimed);
void ranges_release(struct ranges *r);

/* The longest of them, a line each; nothing where there are none. */
void ranges_print(const struct ranges *r, const struct trace *t, FILE *out);
json_t *ranges_json(const struct ranges *r, const struct trace *t); /* all; a new reference */

#endif
