/*
 * ranges.h - the ranges that a traced program names (NVTX): how often it was in each and how long,
 * what it called there, and what the device did of that.
 *
 * A range has two sides. The host's is from its begin to its end. The device's is from the start of
 * the first operation that was submitted in it to the end of the last one: it may begin after the
 * host's has ended, as the host only queues. Both are right.
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
	/* Of the device, re-timed where that is known, added up. NAN: nothing was submitted in it.
	 */
	double device_ns, busy_ns;
};

/* Once in a range; times as re-timed where that is known, else as recorded. */
struct range_span {
	int32_t name, thread;
	int depth; /* how many ranges of its thread are around it */
	struct span host;
	bool has_device;    /* something was submitted in it; else there is no more */
	struct span device; /* from its first operation's start to its last one's end */
	double busy_ns;	    /* of that: the union of their times, of graphs their kernels' */
};

struct ranges {
	struct range *list; /* the longest first */
	int64_t n;
	struct range_span *span; /* in the order of their ends */
	int64_t spans;
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
