/*
 * api.h - the highest floor of the CPU device: the functions of CUDA's runtime (internal).
 *
 * include/cuda_runtime_api.h is what this floor offers. A function here looks at its arguments,
 * asks the floors below to do what it says, and returns their error:
 *
 *   cudaError_t cudaThing(struct thing *t)
 *   {
 *           INJECT();
 *           return charge(COST_ALLOC, result(thing(t)));
 *   }
 *
 * result() remembers the error for cudaGetLastError; charge() spends what the settings say that
 * the call costs. No function here calls another of CUDA's.
 */
#ifndef RIFT_CPU_API_H
#define RIFT_CPU_API_H

#include "common/cpu/graph/graph.h"

/*
 * The first line of every call of the interface: returns the error that RIFT_CPU_FAIL has for it,
 * before the call has done anything.
 */
#define INJECT()                                                                                   \
	do {                                                                                       \
		cudaError_t injected_ = injects ? injected_error(__func__) : cudaSuccess;          \
		if (injected_)                                                                     \
			return result(injected_);                                                  \
	} while (0)

#endif
