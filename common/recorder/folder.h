/*
 * folder.h - the rows of a trace put together: each call with its operation, each thread's calls as
 * a sequence that is folded (fold.h), or those of several threads where they take turns.
 */
#ifndef RIFT_RECORDER_FOLDER_H
#define RIFT_RECORDER_FOLDER_H

#include <stddef.h>

#include "common/recorder/writer.h"

struct trace_folder;

/* Writes to w, which it does not own; fold false: every row as it is. NULL: no memory. */
struct trace_folder *trace_folder_new(struct trace_writer *w, bool fold);
void trace_folder_free(struct trace_folder *f);

/*
 * From now on calls of all threads come in the order of their starts, but for long ones. Then
 * threads that take turns, several calls each, are one sequence and folded together, unless most of
 * it does not fold.
 */
void trace_folder_expect_order(struct trace_folder *f);

/*
 * A call, a mark or an operation. Calls and marks of a thread come in order; an operation may come
 * before its call.
 */
void trace_folder_take(struct trace_folder *f, const struct trace_event *e);

/* Operations that came are given to their calls, and what is complete goes on. */
void trace_folder_advance(struct trace_folder *f);

/*
 * All goes to the writer, calls whose operations have not come as well. Operations whose calls have
 * not come wait for these.
 */
void trace_folder_flush(struct trace_folder *f);

/* Calls and marks that are not written yet. */
size_t trace_folder_waiting(const struct trace_folder *f);

/* So far; operations whose calls never came are left out. */
uint64_t trace_folder_calls(const struct trace_folder *f);
uint64_t trace_folder_ops(const struct trace_folder *f);

#endif
