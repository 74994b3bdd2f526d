/*
 * programmatic.h - launches that may begin before the one before them in their stream has ended
 * (programmatic dependent launch): the option launch=. What kernels need is in programmatic.cuh.
 *
 * It is another call (cudaLaunchKernelExC with an attribute), another kind of edge in a graph, and
 * needs compute capability 9.0. So it is asked for, never taken by itself: a layer that virtualizes
 * GPUs may not pass it on, and platforms without it are to run the same.
 */
#ifndef RIFT_PROGRAMMATIC_H
#define RIFT_PROGRAMMATIC_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum programmatic { PROGRAMMATIC_NO, PROGRAMMATIC_YES };

/* The names of these for a parameter launch=, "ordinary,programmatic"; end with NULL. */
extern const char *const programmatic_names[];

/* Rows of workloads/workload.h for the field `launch` of struct T: its parameter, its need. */
#define PROGRAMMATIC_PARAM(T)                                                                      \
	PARAM_CHOICE(                                                                              \
		T, launch, "ordinary", programmatic_names,                                         \
		"whether a launch waits for the end of the previous one, or may begin earlier")
/* clang-format off */
#define PROGRAMMATIC_NEED { "launch", "data=resident" }
/* clang-format on */

/* Why a fused step is refused, which is one launch. */
extern const char programmatic_fused[];

/*
 * Does the device run it? 0, or -ENOTSUP after one line. The CPU device takes the call, and runs
 * one launch after the other.
 */
int programmatic_check(enum programmatic launch);

#ifdef __cplusplus
}
#endif
#endif
