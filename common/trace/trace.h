/*
 * trace.h - a trace of a program: what it asked of the runtime, call by call, and what the device
 * did. docs/trace.md describes the file.
 *
 * Times are ns after the start of the recording; those of operations are on the same clock. Calls
 * are in the order of their starts, over all threads; operations in the order of their calls.
 * Repeats that the file has folded are calls like all others here.
 */
#ifndef RIFT_TRACE_H
#define RIFT_TRACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/record_lines.h"

#define TRACE_VERSION "1.0"

extern const struct record_format trace_format;

/* Calls and operations of a trace, repeats counted each: beyond that it is refused. */
enum { TRACE_ROWS_MAX = 20000000 };

/* And no more memory for them than that: a fold of one line may stand for millions. */
#define TRACE_BYTES_MAX (INT64_C(1) << 30)

/* Ids are small: beyond that a table of them would be mostly empty. */
enum { TRACE_ID_MAX = 1 << 22 };

enum call_class {
	CALL_LAUNCH,
	CALL_GRAPH_LAUNCH,
	CALL_COPY,
	CALL_MEMSET,
	CALL_RECORD,
	CALL_WAIT_EVENT,
	CALL_SYNC_STREAM,
	CALL_SYNC_EVENT,
	CALL_SYNC_DEVICE,
	CALL_QUERY,
	CALL_ALLOC,
	CALL_FREE,
	CALL_HOSTFUNC,
	CALL_MODULE,
	CALL_OTHER,
	CALL_CLASSES
};

enum op_kind { OP_KERNEL, OP_COPY, OP_MEMSET, OP_GRAPH, OP_HOSTFUNC, OP_KINDS };

enum copy_direction { COPY_TO_DEVICE, COPY_TO_HOST, COPY_WITHIN, COPY_PEER, COPY_DIRECTIONS };

enum memory_kind {
	MEMORY_DEVICE,
	MEMORY_PINNED,
	MEMORY_MAPPED,
	MEMORY_MANAGED,
	MEMORY_PAGEABLE,
	MEMORY_KINDS
};

enum stream_kind {
	STREAM_LEGACY,
	STREAM_PER_THREAD,
	STREAM_BLOCKING,
	STREAM_NON_BLOCKING,
	STREAM_KINDS
};

enum mark_kind { MARK_PUSH, MARK_POP, MARK_START, MARK_STOP, MARK_KINDS };

/* As the file has them; then NULL. */
extern const char *const call_class_names[],
	*const op_kind_names[], *const copy_direction_names[],
					*const memory_kind_names[],
						*const stream_kind_names[],
							*const mark_kind_names[];

/* What a number that the file does not give is. */
enum { TRACE_NONE = -1 };

struct trace_call {
	int64_t id; /* of the file; negative: made of a fold */
	int64_t t0, t1;
	int64_t cpu_ns;	   /* of its thread since that one's call before */
	int64_t recording; /* of the event: its how many-th */
	int64_t bytes;
	int64_t not_recorded;  /* calls since the one before that have no row */
	int32_t first_op, ops; /* trace.op[first_op ...] */
	int32_t thread, stream, event, graph, name, memory; /* indexes; event: as the file has it */
	int32_t kernel; /* a launch's, by its name, where its operation is not in the file */
	int32_t fold;	/* trace.fold[fold], which it was made of; TRACE_NONE: it is a row */
	enum call_class class;
	bool async;
	bool captured; /* became a node of a graph: nothing on the device, no event */
};

struct trace_op {
	int64_t call; /* index */
	int64_t t0, t1;
	int64_t bytes;
	int64_t busy_ns; /* of a graph: the union of its kernels' times */
	int32_t stream, name, graph, memory, direction;
	int32_t grid[3], block[3], shared, registers;
	enum op_kind kind;
	bool async;
	/* In a fold: how far behind what its stream had before, where it was queued and the file
	 * says so; else TRACE_NONE. A row has 0. */
	int64_t behind_ns;
};

/* A fold of the file: `times` repeats of n calls, whose ids are id, id - 1, and so on. */
struct trace_fold {
	int64_t id, n, times;
	int64_t t0, t1;
};

struct trace_mark {
	int64_t t;
	int32_t thread, name;
	enum mark_kind kind;
};

/* The recorder itself worked, and the program waited. */
struct trace_own {
	int64_t t0, t1;
	int32_t thread;
};

struct trace_thread {
	int64_t tid;
	char *name; /* or NULL */
};

struct trace_stream {
	int64_t id; /* of the file */
	enum stream_kind kind;
	int32_t priority; /* 0 where the file does not say it, as a stream has that asks for none */
};

struct trace_graph {
	int64_t nodes; /* 0: not known */
	int64_t kernels;
};

enum { QUANTILE_P05, QUANTILE_P50, QUANTILE_P95, QUANTILES };

/* Prices of calls in that process, before the recorder was on, and what the recorder adds. */
struct trace_calibration {
	double launch_call_ns[QUANTILES], launch_and_wait_ns[QUANTILES], gap_ns[QUANTILES];
	double n;		   /* launches that the medians are of; 1: not known */
	double window;		   /* launches a queue takes; INFINITY: not known */
	double graph_launch_ns[2]; /* a, b of a + b n; NAN: not known */
	double call_ns;		   /* added outside each call */
	double pace_ns, kernel_ns; /* added between kernels; what an empty kernel reads */
	double copy_pace_ns;	   /* added between copies; where the file lacks it, pace_ns */
	double not_recorded_ns;	   /* added to each call that has no row */
};

enum { TRACE_RUNS_MAX = 100 };

/* A process that does nothing but begin and end, recorded: what its calls cost, by its median. */
struct trace_empty {
	double wall_ns, own_ns; /* own: what the recorder worked of that */
	double launch_call_ns, launch_and_wait_ns, gap_ns;
};

/* How long the host takes from a call of one function to one of another: host_gaps.h. */
struct trace_host_pair {
	int32_t from, to; /* host_function[] */
	bool after;	  /* another thread's call */
	double n;	  /* of a run */
	double ns;	  /* mean, which may have launches in it */
	double median_ns;
};

struct trace {
	char *path;
	json_t *header; /* the first line */
	char *program;	/* its words, one text */
	bool device_times, is_cpu, is_calibrated;
	bool is_estimated; /* the calibration is by the trace's own calls: own_costs.h */
	bool is_foreign;   /* written by another profiler: kineto.h */
	struct trace_calibration calibration;

	int64_t process_start_ns; /* 0 or less */
	int64_t end_ns;		  /* of the recording; without one, of the last call or operation */
	int64_t dropped, orphans; /* rows not written; operations whose calls are not here */
	bool finished;		  /* has its end */
	bool partial;		  /* limits left out a part of the program */
	bool torn;		  /* without the last line, which was cut off */
	char reason[16];	  /* "exit", "limit", "stop"; "" unfinished */
	char under[240];	  /* the layers of rift that it ran under; "": none */
	char failed[96];	  /* why it could not be written whole; "": it was */

	char **string;
	struct trace_thread *thread;
	struct trace_stream *stream;
	struct trace_graph *graph;
	struct trace_call *call;
	struct trace_op *op;
	struct trace_mark *mark;
	struct trace_own *own;
	struct trace_fold *fold;
	int64_t strings, threads, streams, graphs, calls, ops, marks, owns, folds;

	int64_t profiled_wall_ns; /* TRACE_NONE: not known */
	int64_t exit_status;	  /* as wait() has it; TRACE_NONE: not known */
	int64_t processes; /* of the command, that this is one of; TRACE_NONE: it is the command's
			      own */
	int unprofiled;	   /* runs without the recorder */
	double unprofiled_wall_ns[TRACE_RUNS_MAX];

	int recordings; /* where there were several: how long each took, re-timed */
	double retimed_wall_ns[TRACE_RUNS_MAX];

	int empties, plain_empties; /* processes that do nothing, with the recorder and without */
	struct trace_empty empty[TRACE_RUNS_MAX];
	double plain_empty_ns[TRACE_RUNS_MAX];

	int host_runs;	       /* recordings of calls alone, which the following is of */
	int64_t graph_waits;   /* stretches of a run that waited for graphs */
	double graph_waits_ns; /* their sum */
	bool host_by_kernel;   /* launches are told apart by their kernels */
	char **host_function;
	struct trace_host_pair *host_pair;
	int64_t host_functions, host_pairs;
};

/*
 * Reads a trace and checks every line of it, or another profiler's (kineto.h); it may be
 * compressed with gzip. Returns 0, or a
 * negative errno after one line that names the line of the file: -EPROTONOSUPPORT of another major
 * version, -EINVAL damaged, -EFBIG more than TRACE_ROWS_MAX or TRACE_BYTES_MAX. trace_release() may
 * follow a failure.
 */
int trace_read(struct trace *t, const char *path);
void trace_release(struct trace *t);

/* Says that it was not written whole, and why (struct trace, failed): -EIO. */
int trace_refuse_failed(const char *path, const char *why);

/* Does this file begin like one? No word of anything else that it may be, or lack. */
bool trace_is(const char *path);

/* The name of a call's function or an operation's kernel, "" where it has none. */
const char *trace_name(const struct trace *t, int32_t name);

/* One more than the highest number of an event. */
int64_t trace_events(const struct trace *t);

/* What a class is to the host. */
bool call_is_sync(enum call_class c);
bool call_is_memory(enum call_class c); /* allocations, modules */

/* Is the trace valid? For `rift show --check`: 0 after one line on stdout, or as trace_read(). */
int trace_check(const char *path, bool *incomplete);

#endif
