/*
 * writer.h - the file of a trace (docs: the format of traces): rows of JSON, a line each, and the
 * tables that they use.
 *
 * One thread writes. A row of a table comes before the first row that uses it. Only whole lines go
 * to the file, so what a killed program leaves is valid up to its last line.
 */
#ifndef RIFT_RECORDER_WRITER_H
#define RIFT_RECORDER_WRITER_H

#include <stddef.h>
#include <stdio.h>

#include "common/recorder/event.h"

/* Times of the calibration: 5th, 50th and 95th percentile, ns; n 0: not measured. */
struct trace_spread {
	int64_t p05, p50, p95;
	int n;
};

/* What a recorder measures of itself and of the platform before it records. */
struct trace_calibration {
	struct trace_spread launch_call, launch_and_wait, gap;
	int window;	 /* launches that fit into a queue; 0: not known */
	int64_t call_ns; /* that recording adds between two adjacent calls */
	int64_t pace_ns, kernel_ns;
	int64_t copy_pace_ns;	 /* added between copies; 0: not measured */
	int64_t not_recorded_ns; /* added to a call that has no row; 0: nothing */
	bool has_graphs;
	int64_t graph_launch_ns,
		graph_node_ns; /* a launch of a graph without nodes; each node more */
};

/* The first row. Texts are those of the process. */
struct trace_header {
	const char *recorder; /* "cpu-device", "cupti", "calls" */
	const char *device;
	int runtime, driver, cupti;	 /* versions as CUDA has them; 0: none */
	bool is_anonymous, has_no_times; /* has_no_times: there will be no operations */
	int64_t start_ns;		 /* CLOCK_MONOTONIC: the trace's 0 */
	int64_t process_start_ns;	 /* CLOCK_MONOTONIC; 0: not known */
	int64_t delay_ns, duration_ns, max_events;
	const char *range;			     /* NULL: none */
	const struct trace_calibration *calibration; /* NULL: none */
};

struct trace_writer;

/* A new file. NULL with errno where it cannot be made: EEXIST where there is one. */
struct trace_writer *trace_writer_new(const char *path);

void trace_write_header(struct trace_writer *w, const struct trace_header *h);

/* Before the first row of that thread. */
void trace_write_thread(struct trace_writer *w, uint32_t thread, int tid, const char *name);

/* A row of a call, an operation or a mark, by e->what. */
void trace_write(struct trace_writer *w, const struct trace_event *e);

/* The recorder itself worked, and the program's thread waited for it. */
void trace_write_own(struct trace_writer *w, uint32_t thread, int64_t t0, int64_t t1);

struct trace_fold;
void trace_write_fold(struct trace_writer *w, const struct trace_fold *fold);

/* call_ns: what recording added beside a call; 0: not written. reason: "exit", "limit" or "stop".
 */
void trace_write_end(struct trace_writer *w, int64_t t, uint64_t calls, uint64_t ops,
		     uint64_t dropped, int64_t call_ns, const char *reason);

/* Takes the end back: more rows follow. */
void trace_write_no_end(struct trace_writer *w);

/* Rows so far, those of tables left out; an entry of a fold's body is one. */
int64_t trace_rows(const struct trace_writer *w);

/* A hash of a text, for tables of names. */
unsigned trace_hash(const char *text);

/*
 * What is buffered goes to the file. 0, or a negative errno: nothing more will be written, and the
 * file's last row says why where it can.
 */
int trace_flush(struct trace_writer *w);

/* Flushes, closes and frees. */
void trace_writer_free(struct trace_writer *w);

/* In a forked child: closes the file, and leaves all else as the parent's threads had it. */
void trace_writer_abandon(struct trace_writer *w);

#endif
