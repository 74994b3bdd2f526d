/*
 * event.h - what happened in a program that is recorded: a call of CUDA, an operation of the
 * device, a mark. Recorders fill these; writer.h makes rows of them.
 */
#ifndef RIFT_RECORDER_EVENT_H
#define RIFT_RECORDER_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* Classes of calls, by the names that rows have. */
#define TRACE_CLASS_LIST(ROW)                                                                      \
	ROW(launch)                                                                                \
	ROW(graph_launch)                                                                          \
	ROW(copy)                                                                                  \
	ROW(memset)                                                                                \
	ROW(record)                                                                                \
	ROW(wait_event)                                                                            \
	ROW(sync_stream)                                                                           \
	ROW(sync_event)                                                                            \
	ROW(sync_device)                                                                           \
	ROW(query)                                                                                 \
	ROW(alloc)                                                                                 \
	ROW(free)                                                                                  \
	ROW(hostfunc)                                                                              \
	ROW(module)                                                                                \
	ROW(other)

enum trace_class {
#define ROW(name) TRACE_CLASS_##name,
	TRACE_CLASS_LIST(ROW)
#undef ROW
		TRACE_CLASSES
};

#define TRACE_KIND_LIST(ROW)                                                                       \
	ROW(kernel)                                                                                \
	ROW(copy)                                                                                  \
	ROW(memset)                                                                                \
	ROW(graph)                                                                                 \
	ROW(hostfunc)

/* Kinds of operations of the device. */
enum trace_kind {
#define ROW(name) TRACE_KIND_##name,
	TRACE_KIND_LIST(ROW)
#undef ROW
		TRACE_KINDS
};

enum trace_mark { TRACE_MARK_push, TRACE_MARK_pop, TRACE_MARK_start, TRACE_MARK_stop, TRACE_MARKS };

/* Where an allocation is, or the host's side of a copy; none: not known, or there is no such side.
 */
enum trace_memory {
	TRACE_MEMORY_none,
	TRACE_MEMORY_device,
	TRACE_MEMORY_pinned,
	TRACE_MEMORY_mapped,
	TRACE_MEMORY_managed,
	TRACE_MEMORY_pageable,
	TRACE_MEMORIES
};

enum trace_direction {
	TRACE_DIRECTION_none,
	TRACE_DIRECTION_to_device,
	TRACE_DIRECTION_to_host,
	TRACE_DIRECTION_within,
	TRACE_DIRECTION_peer,
	TRACE_DIRECTIONS
};

enum trace_stream_kind {
	TRACE_STREAM_legacy,
	TRACE_STREAM_per_thread,
	TRACE_STREAM_blocking,
	TRACE_STREAM_non_blocking,
	TRACE_STREAM_KINDS
};

/* Numbers of streams, events and graphs count from 1 in a process; 0: there is none. */
struct trace_event {
	enum { TRACE_CALL, TRACE_OP, TRACE_MARK } what;
	int kind;	       /* enum trace_class, trace_kind or trace_mark */
	uint64_t id;	       /* of the call, or of the call that submitted the operation */
	uint32_t thread;       /* that made the call */
	int64_t t0, t1;	       /* ns of CLOCK_MONOTONIC */
	int64_t cpu_ns;	       /* CPU time of the thread since its last call; -1: not measured */
	int64_t busy_ns;       /* of a graph: its kernels' time; -1: not known */
	uint32_t not_recorded; /* calls since the one before that the recorder slows and leaves out
				*/
	const char *name;      /* that lives as long as the process; NULL: none */
	const char *kernel;    /* of a launch whose operation is not recorded: the same */

	uint32_t stream, stream_kind;
	int32_t priority;
	uint32_t graph, nodes, kernels;
	uint32_t event;
	uint64_t recording; /* number of that record of the event */
	uint64_t bytes;
	uint8_t memory, direction;
	bool is_async;
	bool has_op;	  /* a call that the device was given an operation by */
	bool is_captured; /* a call that became a node of a graph, and gave the device nothing */

	uint32_t grid[3], block[3], shared, registers;
};

#endif
