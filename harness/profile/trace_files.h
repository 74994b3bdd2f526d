/*
 * trace_files.h - the files of a recording: the trace, those of processes that the program started
 * (PATH.PID, written by the recorder in them), and those of further recordings until one is chosen.
 */
#ifndef RIFT_PROFILE_TRACE_FILES_H
#define RIFT_PROFILE_TRACE_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* OUTPUT for number 0, else OUTPUT.again-NUMBER. */
void trace_files_name(const char *output, int number, char out[PATH_MAX]);

/* How many files PATH.PID there are. */
size_t trace_files_children(const char *path);

/* Their names, "a.trace.12, a.trace.13", without those of another such list; to be freed. */
char *trace_files_names(const char *path, const char *but);

/*
 * Where its folder cannot be written to, a negative errno after one line: the program itself writes
 * the trace. A trace replaces nothing: where OUTPUT exists, -EEXIST after one line. So it is with
 * several recordings where a name of one of them exists, or one with a PID behind it: those that
 * are not kept are removed, and others' files could not be told from them. -ENAMETOOLONG likewise.
 */
int trace_files_refuse(const char *output, int recordings);

/* Could so many be recorded? Says nothing. */
bool trace_files_free(const char *output, int recordings);

/*
 * Where two processes record to one name at once, the second is refused, -EEXIST after one line.
 * The name is held until it is let go, or the process ends. Where a machine refuses sockets nothing
 * is held, and *held is -1.
 */
int trace_files_hold(const char *output, int *held);
void trace_files_let_go(int *held);

/* The trace at this path and its children's. Renaming returns 0, or a negative errno after one
 * line. */
void trace_files_remove(const char *path);
int trace_files_rename(const char *path, const char *to);

#endif
