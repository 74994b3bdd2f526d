/*
 * chrome_events.h - files of Chrome's trace events, read an event at a time: {"traceEvents": [...]}
 * with members beside it, or the list alone; they may be compressed with gzip.
 *
 * Source: "Trace Event Format", the Chromium project.
 */
#ifndef RIFT_TRACE_CHROME_EVENTS_H
#define RIFT_TRACE_CHROME_EVENTS_H

#include <jansson.h>
#include <stdbool.h>

/* Does this file begin like one? No word of anything else that it may be, or lack. */
bool chrome_events_are(const char *path);

struct chrome_reader {
	/* An event, an object. 0, or what chrome_events_read() is to return. */
	int (*event)(const json_t *event, void *arg);
	/* A member beside the events. */
	void (*member)(const char *name, const json_t *value, void *arg);
	void *arg;
};

/*
 * Returns 0, what event() returned as soon as that is not 0, or a negative errno after one line: it
 * cannot be read, is no JSON or is cut off, -EFBIG more than 1 GiB once unpacked.
 */
int chrome_events_read(const char *path, const struct chrome_reader *reader);

#endif
