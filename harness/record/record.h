/*
 * record.h - record files: JSON Lines, one JSON object a line. The fields are documented in
 * docs/records.md.
 *
 * A file under way is called NAME.part; it only grows, a line at a time, and what stands in it is
 * never changed. A torn last line (the writer was killed, the disk was full) is not an error: it
 * is dropped and said.
 */
#ifndef RIFT_RECORD_H
#define RIFT_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/record_lines.h"

/* ---- lines ------------------------------------------------------------------------------ */

#define RECORD_SCHEMA "2.4"
/* Major versions: the one written, and the oldest read (docs/records.md has the names of older
 * ones). */
enum { RECORD_SCHEMA_MAJOR = 2, RECORD_SCHEMA_OLDEST = 1 };

/*
 * What is to be known of a block: bits of marks[]. The first three disturbed it. A full queue is a
 * property of the point, which it has in every block, and events are part of the design.
 */
enum mark {
	MARK_SWITCHED = 1, /* the thread was switched away from */
	MARK_MOVED = 2,	   /* it ended on another processor than it began on */
	MARK_CLOCK = 4,	   /* a canary beside it was off */
	MARK_QUEUE = 8,	   /* more launches than the queue holds: calls wait for a place */
	MARK_EVENTS = 16,  /* an event pair was recorded around it, which costs time */
	MARK_ALL = 31,
	MARK_DISTURBED = MARK_SWITCHED | MARK_MOVED | MARK_CLOCK,
};

/* ---- reading ---------------------------------------------------------------------------- */

extern const struct record_format record_sessions;

/* record_read_as() and record_salvage_as() of sessions. */
int record_read(struct record_scan *scan, const char *path,
		int (*each)(const json_t *o, const struct record_scan *scan, void *arg), void *arg);

int record_salvage(struct record_scan *scan, const char *path,
		   int (*each)(const json_t *o, const struct record_scan *scan, void *arg),
		   void *arg);

/* Is o of this kind: "plan", "header", "point", ... ? */
bool record_is(const json_t *o, const char *kind);

/* What is wrong with a session that begins with such a line. */
const char *record_is_no_plan(const json_t *o);

/* Does the file's name end so, with ".gz" behind it or without? */
bool record_is_called(const char *path, const char *end);

/* ---- writing ---------------------------------------------------------------------------- */

struct record_file {
	int fd; /* -1: not open */
	char *path;
	int64_t bytes, lines;
	struct hash hash; /* of all bytes */
	int64_t synced_ns;
	bool dirty;
};

/* A new file, which must not exist. Returns 0, or a negative errno after one line. */
int record_create(struct record_file *f, const char *path);

/* One that exists. Nothing may be written to it before record_go_on(). */
int record_open(struct record_file *f, const char *path);

/*
 * To go on behind its last whole line: scan is of record_read(). A compressed file is refused as it
 * is, -EINVAL: nothing can be added to it, and its lines are not at these bytes of it.
 */
int record_go_on(struct record_file *f, const struct record_scan *scan);

/* Both. */
int record_append(struct record_file *f, const struct record_scan *scan);

/* Says what that refusal says: -EINVAL. */
int record_refuse_packed(const char *path);

/* zlib's CRC-32 of the line that o is in a record, without its field crc32 and its end. */
uint32_t record_crc32(const json_t *o);

/*
 * Adds a line and drops the reference. Returns 0, or a negative errno after one line (disk full);
 * then the file ends with its last whole line.
 */
int record_write(struct record_file *f, json_t *o);

/* Brings lines to the disk; not more than once a second unless now. */
int record_sync(struct record_file *f, bool now);

/* Empties the file. */
int record_clear(struct record_file *f);

void record_close(struct record_file *f);

#endif
