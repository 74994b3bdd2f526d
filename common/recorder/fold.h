/*
 * fold.h - the rows of a trace put together: each call with its operation, and what repeats folded
 * into one row.
 *
 * A program's calls come in periods: the same classes, streams and sizes in the same order. A fold
 * holds one period, how often it came, and distributions of its times. Order and counts are exact;
 * the sum of a distribution is right to half a nanosecond a value.
 */
#ifndef RIFT_RECORDER_FOLD_H
#define RIFT_RECORDER_FOLD_H

#include <stddef.h>

#include "common/recorder/writer.h"

/* Values of one size, to 12 %: how many, and their sum. */
struct trace_bin {
	uint32_t bin;
	uint64_t count;
	int64_t sum;
};

struct trace_distribution {
	struct trace_bin *bin; /* ascending */
	size_t n, room;
};

/* An entry of a period. */
struct trace_step {
	struct trace_event call, op; /* as they came first; op where call.has_op */
	uint64_t recording_step;     /* added to the recording at each repeat */
	uint64_t hash;		     /* of what is equal in all repeats */
	uint64_t not_recorded;	     /* calls before it, over all repeats */
	struct trace_distribution gap, took, cpu, op_took, op_lag, op_behind, op_busy;
};

/* times repeats of n steps. */
struct trace_fold {
	struct trace_step *step;
	size_t n;
	uint64_t times;
	int64_t t0,
		t1; /* from the end of the call before, in its sequence, to that of the last call */
};

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
