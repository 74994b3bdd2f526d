/*
 * kineto.h - a trace from what PyTorch's profiler writes: Kineto's trace events for Chrome. A file
 * of `rift profile --chrome` is one too, and nsys.h makes such events of what Nsight Systems
 * exports.
 *
 *   cuda_runtime, cuda_driver       calls; one that lies within another of its thread is part of it
 *   kernel, gpu_memcpy, gpu_memset  operations, of the call with the same args.correlation
 *   user_annotation                 ranges; ProfilerStep#1, ProfilerStep#2, ... are one
 *   cuda_sync                       which stream a synchronize waited for, where it says so
 *
 * Times are us. Operations of a call that launches a graph are that graph's: its time is from the
 * first one's start to the last one's end, and graphs of as many operations are one graph. Other
 * categories are ignored. What such a file does not say is not known: which events a call is about,
 * what calls cost without the recorder, when the process began and ended.
 *
 * Source: libkineto's output_json.cpp in github.com/pytorch/kineto, which names these members.
 */
#ifndef RIFT_TRACE_KINETO_H
#define RIFT_TRACE_KINETO_H

#include "common/trace/trace_impl.h"

/* Does this file begin like one of these? No word of anything else that it may be, or lack. */
bool kineto_is(const char *path);

/* Into r->t, which is then linked, as trace_read() says. 0, or a negative errno after one line. */
int kineto_read(struct reading *r);

#endif
