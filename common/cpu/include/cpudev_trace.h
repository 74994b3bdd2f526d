/*
 * cpudev_trace.h - ranges that a program names, for the trace of what it does (C and C++). They are
 * what NVTX's nvtxRangePushA() and nvtxRangePop() are on a GPU. Nothing here is CUDA's.
 */
#ifndef RIFT_CPU_CPUDEV_TRACE_H
#define RIFT_CPU_CPUDEV_TRACE_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Ranges of the calling thread, one in the other. Where nothing is recorded they do nothing. */
void cpudev_range_push(const char *name);
void cpudev_range_pop(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
