/*
 * calls.h - what the wrapper and rift's side of the layer agree on: which functions there are, in
 * which class each counts, and where the counts lie.
 */
#ifndef RIFT_LAYER_SHIM_CALLS_H
#define RIFT_LAYER_SHIM_CALLS_H

#include <stdint.h>

/* Versions of libcudart that export a function. */
enum shim_versions { CUDA_12 = 1, CUDA_13 = 2, BOTH = 3 };

/* In the order of names.h. */
enum shim_call {
#define SHIM_NAME(function, versions) CALL_##function,
#include "layers/shim/names.h"
#undef SHIM_NAME
	SHIM_CALLS
};

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

/* The variable that names the file of counts: SHIM_CALLS numbers of 64 bit, shared by all
 * processes under the layer. */
#define SHIM_VARIABLE "RIFT_LAYER_SHIM"

/* The wrapper's: the calls of this process and all others under it, SHIM_CALLS of them. */
typedef const volatile uint64_t *shim_counts_function(void);
#define SHIM_COUNTS_FUNCTION "rift_shim_counts"

#endif
