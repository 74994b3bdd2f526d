/* share_file.h - the record of `rift share`: written a line at a time, gone on with, read, checked.
 */
#ifndef RIFT_SHARE_SHARE_FILE_H
#define RIFT_SHARE_SHARE_FILE_H

#include "harness/share/share.h"

/* Does this file begin like one? */
bool share_file_is(const char *path);

/* Sets and their windows of a plan that is there; nothing is measured yet, nothing is written. */
void share_init(struct share *s);
void share_release(struct share *s);

/* A new record at NAME.jsonl, as NAME.jsonl.part until it ends. s->plan is there. */
int share_create(struct share *s, const char *path);

/*
 * Reads a whole one, or one under way of which a set is finished. Every line is held against
 * docs/records.md.
 */
int share_read(struct share *s, const char *path);

/* The same of one under way, which is then gone on with. */
int share_resume(struct share *s, const char *path);

/* A line measured: kept, and written where a file is open. Drops the reference. */
int share_add(struct share *s, json_t *line);

/* The head of a line of a set. New reference. */
json_t *share_line(const char *record, const struct share_set *set);

/* The last line, and the name. */
int share_end(struct share *s);

/* Removes the file where nothing was measured yet. */
void share_abandon(struct share *s);

/* All of them that return int return 0, or a negative errno after one line. */

/* `rift show --check`: one line of what it holds. *incomplete: it has not ended, and is no .part.
 */
int share_check(const char *path, bool *incomplete);

#endif
