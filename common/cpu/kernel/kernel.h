/*
 * kernel.h - the floor of kernels: which there are, and running one launch of one of them on CPU
 * threads (CPU device, internal).
 *
 * A launch is run where execute_launch() is called, with helpers beside the calling thread if that
 * is worth it; it is over when the call returns. What is waited for, and in which order launches
 * come, is a matter of the floors above. block.h says how a thread runs a block.
 */
#ifndef RIFT_CPU_KERNEL_H
#define RIFT_CPU_KERNEL_H

#include "common/cpu/base/base.h"
#include "common/cpu/include/cpudev.h"

/* ---- which there are (kernel.c) -------------------------------------------------------- */

enum {
	MAX_THREADS = 1024, /* a block */
	WARP_THREADS = 32,
	DYNAMIC_BYTES_DEFAULT = 48 << 10, /* dynamic shared memory without opting in */
	DYNAMIC_BYTES_MAX = 227 << 10,	  /* as on compute capability 9.0 */
};

/* NULL for a function that KERNEL() has not named. */
struct cpudev_kernel *kernel_find(const void *function);

/* ---- running one ----------------------------------------------------------------------- */

/* One execution of a kernel. */
struct launch {
	struct cpudev_kernel *kernel;
	const char *args; /* packed */
	dim3 grid, block;
	size_t shared_bytes; /* dynamic */
	unsigned n_threads;  /* a block */
	uint64_t n_blocks;
	uint64_t chunk; /* blocks that a worker takes at a time */
	atomic_uint_least64_t next_block;
	char start_tag, end_tag; /* order of a launch, for the thread sanitizer */
};

/* Runs a whole launch, with the help of the worker pool if it is worth it (block.c). */
void execute_launch(struct launch *launch);

/* Gives the thread's executor back; before a thread that ran blocks ends (executor.c). */
void executor_release(void);

/* From the first call on, faults of kernels and copies are explained (fault.c). */
void faults_explain(void);

/* While tests watch launches (kernel.c): how often this one, which is about to run, is to. */
extern atomic_bool launches_watched;
unsigned watch_launch(const struct launch *l);

#endif
