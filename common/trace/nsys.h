/*
 * nsys.h - what NVIDIA Nsight Systems exports as SQLite, as the trace events that kineto.h reads:
 *
 *   nsys export --type sqlite report.nsys-rep
 *
 *   CUPTI_ACTIVITY_KIND_RUNTIME          calls of the runtime and the driver
 *   CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY, _MEMSET, _GRAPH_TRACE   operations
 *   CUPTI_ACTIVITY_KIND_SYNCHRONIZATION  which stream a synchronize waited for
 *   NVTX_EVENTS                          ranges: those that are pushed and popped
 *   CUDNN_EVENTS, CUBLAS_EVENTS          ranges: calls of these libraries
 *   TARGET_INFO_GPU, PROCESSES           names
 *
 * A table that is not there has no rows. SQLite's library is loaded when such a file is read, and
 * only then.
 *
 * Source: "SQLite Schema Reference" in the Nsight Systems User Guide, NVIDIA.
 */
#ifndef RIFT_TRACE_NSYS_H
#define RIFT_TRACE_NSYS_H

#include <stdbool.h>

#include "common/trace/chrome_events.h"

/* Does this file begin as SQLite's do? */
bool nsys_is(const char *path);

/*
 * All events of the file. Returns 0, what event() returned as soon as that is not 0, or a negative
 * errno after one line: no such library, no such file, an SQLite file of something else, a table
 * without a column that is needed.
 */
int nsys_read(const char *path, const struct chrome_reader *reader);

#endif
