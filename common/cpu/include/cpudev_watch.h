/*
 * cpudev_watch.h - what tests of workloads ask of the CPU device, and a GPU would not tell (C and
 * C++): memory and handles that are given out, what kernels do, launches that go wrong.
 *
 * Nothing here is CUDA's. A program that calls none of it pays a load a launch.
 */
#ifndef RIFT_CPU_CPUDEV_WATCH_H
#define RIFT_CPU_CPUDEV_WATCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- what is given out ------------------------------------------------------------------ */

/* Device memory that the program may write to: between the calls nothing must run. */
struct cpudev_block {
	char *base;
	size_t bytes;
	uint64_t number; /* allocations are numbered as they come */
};

/*
 * The blocks that cudaMalloc and cudaMallocAsync gave out and nobody has freed, in the order of
 * their allocation; at most room of them. Returns how many there are.
 */
size_t cpudev_device_blocks(struct cpudev_block *out, size_t room);

struct cpudev_held {
	size_t device, pinned; /* allocations */
	size_t registered;     /* ranges of the host's, by cudaHostRegister */
	size_t streams, events, graphs, execs;
};

struct cpudev_held cpudev_held(void);

/* ---- what kernels do -------------------------------------------------------------------- */

struct cpudev_work {
	uint64_t launches, blocks; /* that ran, launches of graphs' nodes included */
	int64_t cpu_ns;		   /* that threads spent in blocks, by their own clocks */
	const void *function;	   /* of the last launch */
};

/* From now on kernels are watched; from zero at each call. Nothing must run. */
void cpudev_watch(void);
struct cpudev_work cpudev_watched(void);

/* Ends that, and what follows. */
void cpudev_watch_end(void);

/*
 * The n-th launch since cpudev_watch(), from 0, runs so many times: 0 is a lost launch, 2 a
 * doubled one. For one launch; cpudev_watch() forgets it.
 */
void cpudev_spoil_launch(uint64_t n, unsigned times);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
