/*
 * limit.h - what a process may have of the device, with the costs `compute` and `memory`.
 *
 * Compute is a token bucket. It fills with `compute` of the time that passes, up to that share of
 * `window`, and starts full. A launch waits in its thread until something is in it, and takes what
 * kernels ran for lately; when its own has ended, by events around it, what it ran for is taken
 * instead. That may leave the bucket below empty. So launches need not be waited for: a kernel may
 * wait for the host, or for a later kernel.
 *
 * Memory is counted in bytes as the program asks for them, of cudaMalloc, cudaMallocManaged and
 * pools. What is freed may be taken again at once.
 */
#ifndef RIFT_LAYER_EMULATE_LIMIT_H
#define RIFT_LAYER_EMULATE_LIMIT_H

#include "layers/emulate/preload/packet.h"

bool limit_has_compute(void);
bool limit_has_memory(void);

/* Makes a launch, of a kernel or a graph, into this stream when it may run. */
int limit_launch(long call, const uint64_t words[WORDS], const void *stream);

/* Makes an allocation whose words are where to, and bytes. Beyond the limit it fails with
 * cudaErrorMemoryAllocation, which the runtime then has as its last error. */
int limit_allocate(long call, const uint64_t words[WORDS]);

/* This memory is freed. */
void limit_freed(const void *memory);

/* cudaMemGetInfo: what is free and what there is are no more than the limit says. */
int limit_tell_memory(long call, const uint64_t words[WORDS]);

#endif
