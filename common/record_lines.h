/*
 * record_lines.h - JSON Lines, read: one JSON object a line, the first of which says a version.
 * docs/records.md and docs/trace.md describe the files that rift has in this form.
 */
#ifndef RIFT_RECORD_LINES_H
#define RIFT_RECORD_LINES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/hash.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a reader is. */
struct record_scan {
	const char *path;
	int64_t line, bytes; /* of whole lines so far, the current one excluded */
	struct hash hash;    /* of those bytes */
	bool torn;	     /* the last line was dropped */
	bool packed;	     /* the file is compressed, once all of it was read */
	int64_t dropped;     /* by record_salvage_as(): lines that are damaged */
};

/* A kind of file, with versions of its own. */
struct record_format {
	const char *version; /* the member that says "MAJOR.MINOR"; the first line has it */
	int oldest, newest;  /* majors that can be read */
	const char *what;    /* for messages: "record file" */
};

/*
 * Calls each() with every line's object; the file may be compressed with gzip. Returns 0, what
 * each() returned as soon as that is not 0, or a negative errno after one line: no such file or no
 * regular one, a line in the middle that is no JSON object, another major version
 * (-EPROTONOSUPPORT), broken gzip (-EBADMSG). A torn last line is dropped and leaves scan->torn
 * set; where the gzip around it is broken, nothing is known to be the last line.
 */
int record_read_as(struct record_scan *scan, const char *path, const struct record_format *format,
		   int (*each)(const json_t *o, const struct record_scan *scan, void *arg),
		   void *arg);

/*
 * The same for a file that is worth what can still be read of it: a line in the middle that is no
 * JSON object, or of another version, is counted and stepped over.
 */
int record_salvage_as(struct record_scan *scan, const char *path,
		      const struct record_format *format,
		      int (*each)(const json_t *o, const struct record_scan *scan, void *arg),
		      void *arg);

enum { RECORD_NAME = 16 };

/*
 * What a file of rift says at once that it is, in its first 63 bytes: {"record": NAME. False, and
 * name "": it says nothing there, or cannot be read; no line tells.
 */
bool record_first_name(const char *path, char name[RECORD_NAME]);

#ifdef __cplusplus
}
#endif
#endif
