/*
 * line_file.h - a record that is no session: a line at a time, each with a checksum, the first with
 * the plan, the last with the hash of all others. docs/records.md has the lines of each kind.
 *
 * It is NAME.jsonl.part, and locked, while it is written.
 */
#ifndef RIFT_RECORD_LINE_FILE_H
#define RIFT_RECORD_LINE_FILE_H

#include "harness/record/journal.h"
#include "harness/record/record.h"

struct line_file {
	char id[32];
	char created[32]; /* UTC, as ISO 8601 has it */
	bool ended;
	struct record_file file; /* fd -1: nothing is written */
	struct lock lock;	 /* of the file */
	char *path;		 /* NAME.jsonl, whatever it is called meanwhile; owned */
};

#define LINE_FILE_NONE ((struct line_file){ .file.fd = -1 })

/* What a kind's lines are. */
struct line_kind {
	const char *name;    /* the first line's "record" */
	const char *command; /* that writes it: "rift share" */
	/* The plan of the first line. 0, or a negative errno after one line that begins with where.
	 */
	int (*plan)(void *of, const json_t *plan, const char *where);
	/* A line behind it: the member that is wrong; NULL: none is, and it was taken. */
	const char *(*take)(void *of, const json_t *line);
};

/* Does this file begin like one of that kind? */
bool line_file_is(const char *path, const char *kind);

/* All that return int return 0, or a negative errno after one line. */

/* A new one for path, which must not exist; its first line has the plan, whose reference goes. */
int line_file_create(struct line_file *f, const struct line_kind *kind, const char *path,
		     json_t *plan);

/* Reads one that is whole or under way. *torn: NULL, or whether its last line was dropped. */
int line_file_read(struct line_file *f, const struct line_kind *kind, const char *path, void *of,
		   bool *torn);

/* The same of NAME.part, which is then gone on with. */
int line_file_resume(struct line_file *f, const struct line_kind *kind, const char *path, void *of);

/* A line that was measured: taken, and written where a file is open. The reference goes. */
int line_file_add(struct line_file *f, const struct line_kind *kind, void *of, json_t *line);

/* The last line, and the name. */
int line_file_end(struct line_file *f);

/* Removes the file, which is still called NAME.part: nothing in it is worth a name. */
void line_file_abandon(struct line_file *f);

void line_file_release(struct line_file *f);

#endif
