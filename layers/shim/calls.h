/*
 * calls.h - what the wrapper and rift's side of the layer agree on: in which class each function
 * counts, and where the counts lie.
 */
#ifndef RIFT_LAYER_SHIM_CALLS_H
#define RIFT_LAYER_SHIM_CALLS_H

#include <stdint.h>

#include "layers/interpose.h"

/* A function counts in the first class whose words its name holds. */
#define SHIM_CLASSES(ROW)                                                                          \
	ROW(graph, "Graph", "Capture")                                                             \
	ROW(launch, "Launch", "LaunchKernel")                                                      \
	ROW(copy, "Memcpy", "Memset")                                                              \
	ROW(memory, "Malloc", "Free")                                                              \
	ROW(wait, "Synchronize", "Query")                                                          \
	ROW(event, "Event", "Event")                                                               \
	ROW(stream, "Stream", "Stream")                                                            \
	ROW(other, "", "")

/* The variable that names the file of counts, numbers of 64 bit that are shared by all processes
 * under the layer: RUNTIME_CALLS, and of processes with a runtime in which none was counted. */
#define SHIM_VARIABLE "RIFT_LAYER_SHIM"
enum { SHIM_PAST = RUNTIME_CALLS, SHIM_COUNTS };

/* The wrapper's: the calls of this process and all others under it, RUNTIME_CALLS of them. */
typedef const volatile uint64_t *shim_counts_function(void);
#define SHIM_COUNTS_FUNCTION "rift_shim_counts"

#endif
