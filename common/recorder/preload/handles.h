/*
 * handles.h - numbers of a program's streams, events and graphs, as addresses are never in a trace:
 * the first is 1. A handle that is made again has a new number. And the names of its kernels.
 */
#ifndef RIFT_RECORDER_PRELOAD_HANDLES_H
#define RIFT_RECORDER_PRELOAD_HANDLES_H

#include <stdbool.h>
#include <stdint.h>

enum handle_kind { HANDLE_STREAM, HANDLE_EVENT, HANDLE_GRAPH, HANDLE_KERNEL, HANDLE_KINDS };

struct handle {
	uint32_t number;   /* 0: no memory */
	uint32_t kind;	   /* of a stream: enum trace_stream_kind */
	int32_t priority;  /* of a stream */
	uint64_t recorded; /* how often an event was recorded */
	const char *name;  /* of a kernel */
	bool is_kept;	   /* the name lives as long as the process */
};

/* Any thread. What it is; where it is not known it is made as that, but for the number. */
struct handle handle_find(enum handle_kind kind, uint64_t handle, const struct handle *made);

/* It is made; or gone. */
void handle_make(enum handle_kind kind, uint64_t handle, const struct handle *made);
void handle_drop(enum handle_kind kind, uint64_t handle);

/* An event is recorded once more: what it is from then on. */
struct handle handle_record(uint64_t event);

/*
 * What a program launches: the address of a kernel's host function, or the handle that it asked for
 * by that. The name lives until the kernel is registered again.
 */
void handle_name_kernel(uint64_t kernel, const char *name);
void handle_like_kernel(uint64_t kernel, uint64_t function);

/* Its name, which lives as long as the process; NULL: not known. */
const char *handle_kernel_name(uint64_t kernel);

#endif
