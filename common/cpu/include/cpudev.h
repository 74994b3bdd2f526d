/*
 * cpudev.h - what compiled kernels and the CPU device's library agree on (C and C++).
 *
 * Workloads include cuda_runtime.h and use CUDA's names and the macros of common/gpu.h; what is
 * declared here is for those.
 */
#ifndef RIFT_CPU_CPUDEV_H
#define RIFT_CPU_CPUDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver_types.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* initial-exec: one load to reach them. The library is always loaded with the program. */
#define CPUDEV_TLS __attribute__((tls_model("initial-exec")))

extern __thread uint3 threadIdx CPUDEV_TLS, blockIdx CPUDEV_TLS;
extern __thread dim3 blockDim CPUDEV_TLS, gridDim CPUDEV_TLS;

struct cpudev_tls {
	int sequential; /* no thread of the block has waited yet: they run one after the other */
	void *dynamic;	/* the launch's dynamic shared memory */
	void **shared;	/* static shared arrays, by slot */
};
extern __thread struct cpudev_tls cpudev_tls CPUDEV_TLS;

/* A kernel, as KERNEL() describes it. The fields below `offset` belong to the library. */
struct cpudev_kernel {
	const void *function;	       /* address that the host launches by */
	void (*run)(const char *args); /* the kernel's loop over threads; see cpudev_next() */
	const char *name;
	unsigned n_params;
	const unsigned *size;	/* of each parameter, bytes */
	const unsigned *offset; /* of each in the packed arguments; [n_params]: their end */
	struct cpudev_kernel *next;
	int dynamic_limit_bytes; /* 0: the default */
	int64_t block_ns;	 /* what a block took at the last launch; 0: not known */
	bool waits;		 /* a thread of it has waited for another */
};

/* Adds a kernel. The same one may come from several object files; the first is kept. */
void cpudev_register(struct cpudev_kernel *kernel);

/* Makes a variable known to copies; before main(), as SYMBOL() does. */
void cpudev_symbol(void *address, size_t bytes);

/*
 * Reserves a slot in cpudev_tls.shared for a static shared array, before main(). Each worker
 * gets a block of exactly that size there before the first thread of a launch runs.
 */
unsigned cpudev_shared_slot(size_t bytes, size_t align);

/*
 * The kernel call of the current thread has returned. Makes the next thread current and returns
 * 1 when this coroutine must call the kernel again, 0 when it must leave `run`.
 */
int cpudev_next_thread(void);

enum cpudev_reduction { CPUDEV_NONE, CPUDEV_COUNT, CPUDEV_AND, CPUDEV_OR };

/* __syncthreads and its reducing forms; returns the reduction of `predicate`. */
unsigned cpudev_barrier(enum cpudev_reduction reduction, int predicate);

enum cpudev_warp_op { CPUDEV_SHUFFLE, CPUDEV_BALLOT, CPUDEV_SYNCWARP, CPUDEV_MATCH };

/*
 * Waits for the lanes of mask and returns: for a shuffle the value of lane `source`, for a ballot
 * the mask of lanes with a value other than 0, for a match that of lanes with an equal value.
 */
uint64_t cpudev_warp(enum cpudev_warp_op op, uint32_t mask, uint64_t value, unsigned source);

void cpudev_fence(void);    /* sequentially consistent; see __threadfence */
int64_t cpudev_clock(void); /* ns, monotonic */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
