/*
 * fold.h - a sequence of calls on its way to the file, in which what repeats is folded into one
 * row.
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
	int64_t t0, t1; /* from the end of the sequence's call before to that of the last call */
};

/* A call with its operation, or a mark. */
struct trace_entry {
	struct trace_event call, op;
	bool op_came;
	bool is_plain;	   /* stays a row */
	int64_t gap_ns;	   /* since the sequence's previous call */
	int64_t before;	   /* when the operation before it on its stream ended; 0: there is none */
	int64_t behind_ns; /* how far behind that; -1: it was not queued */
	uint64_t hash;	   /* equal where all but times and recordings are */
};

/* Entries first .. n wait. Those before joined have all that they wait for, and are hashed. */
struct trace_sequence {
	struct trace_writer *w; /* not its own */
	bool folds;		/* false: every row as it is */
	struct trace_entry *entry;
	size_t first, n, room, joined;
	struct trace_fold open; /* n 0: none */
	size_t at;		/* entries that are the beginning of another repeat of it */
	size_t plain, folded;	/* that were written as rows, and in folds */
	uint64_t unique;	/* entries that are like no other */
};

/* One more, zeroed; entries may move. NULL: no memory. */
struct trace_entry *trace_sequence_append(struct trace_sequence *s);

/* Once all of e is known: what it must have in common with others to fold with them. */
void trace_sequence_hash(struct trace_sequence *s, struct trace_entry *e);

/* What is joined is written, but for a window in which periods are looked for, and the open fold.
 */
void trace_sequence_advance(struct trace_sequence *s);

/* All that is joined is written. */
void trace_sequence_flush(struct trace_sequence *s);

void trace_sequence_release(struct trace_sequence *s);

#endif
