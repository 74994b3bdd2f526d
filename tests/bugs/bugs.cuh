/*
 * bugs.cuh - programs with a seeded bug each, and correct ones beside them: what the checkers of
 * the CPU device must find, and what they must leave alone.
 *
 *   build/cpu-tsan/bugs                   prints who must find what
 *   build/cpu-tsan/bugs missing_barrier   runs one; says "end" if it gets there
 */
#ifndef RIFT_TESTS_BUGS_H
#define RIFT_TESTS_BUGS_H

#include "common/cuda_check.h"
#include "common/gpu.h"

/*
 * who finds it: "asan" (with undefined behaviour), "tsan", "device" (the CPU device itself, in
 * any build); "nobody" for a correct program.
 */
struct bug {
	const char *name, *found_by;
	void (*run)(void);
};

/* Each ends with a NULL name. */
extern const struct bug race_bugs[], memory_bugs[], fault_bugs[], correct_programs[];

/* Device memory for n ints, all zero. */
static inline int *zeroed_ints(size_t n)
{
	int *p;

	CUDA(cudaMalloc(&p, n * sizeof(*p)));
	CUDA(cudaMemset(p, 0, n * sizeof(*p)));
	return p;
}

static inline cudaStream_t new_stream(void)
{
	cudaStream_t s;

	CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	return s;
}

#endif
