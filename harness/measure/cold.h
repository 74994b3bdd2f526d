/*
 * cold.h - what a process pays that starts, sets a workload up and runs one block of it: what a
 * stopwatch beside a whole program sees, and timed blocks leave out.
 */
#ifndef RIFT_MEASURE_COLD_H
#define RIFT_MEASURE_COLD_H

/* In ns; NAN where not known. What a process does to end is not in it: no process sees that. */
struct cold {
	double start_ns; /* from the start of the process to the workload's set-up: the CUDA
			    runtime, a context, and rift's look at device and host */
	double setup_ns; /* the hook setup: inputs, memory, kernels */
	double block_ns; /* the first block: t_total of a block, not yet warm */
};

/*
 * Since this process was started, by the kernel's book, which counts in hundredths of a second;
 * NAN where that cannot be read.
 */
double cold_since_start_ns(void);

/* All of it. */
double cold_total_ns(const struct cold *c);

#endif
