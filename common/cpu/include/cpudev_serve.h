/*
 * cpudev_serve.h - what a process asks of the CPU device that serves it to another one (C and C++).
 *
 * Nothing here is CUDA's.
 */
#ifndef RIFT_CPU_CPUDEV_SERVE_H
#define RIFT_CPU_CPUDEV_SERVE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * From now on memory of the device that this thread allocates is taken from these addresses, whole
 * pages, which the caller has mapped without access (PROT_NONE). What is freed goes back there, and
 * faults. None may be allocated there at the call. Where the addresses do not suffice, cudaMalloc
 * returns cudaErrorMemoryAllocation.
 */
void cpudev_place(void *base, size_t bytes);

/* No longer: the addresses are the caller's again. None may be allocated there. */
void cpudev_unplace(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
