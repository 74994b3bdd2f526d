/* measure.h - single calls that take memory and give it back, timed: for probe=yes, the picture. */
#ifndef RIFT_MEMORY_MEASURE_H
#define RIFT_MEMORY_MEASURE_H

#include "workloads/memory/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Times of one call, us; n samples of each but first, which is one. */
struct measure_call {
	double first, median, p99;
	int64_t n;
};

struct measure_pair {
	struct measure_call take, give;
};

struct measure_plan {
	int samples;	   /* at most, and at least 5 */
	int64_t budget_ns; /* of the samples of one pair */
	cudaStream_t stream, other;
	unsigned long long *count; /* device memory: what kernels say that they ran */
	unsigned long long ran;	   /* how many should have */
};

void memory_measure_init(struct measure_plan *p, bool quick);
/* Frees it. -EIO after one line: kernels that should have kept the device busy did not run. */
int memory_measure_release(struct measure_plan *p);

/*
 * Takes and gives back, again and again; the pool is told to keep what it has, or emptied before
 * each sample. Then tries memory (memory_try). With busy_us kernels of that length run in another
 * stream: one is launched before each call. Returns 0, -EINTR, or a negative errno after one line.
 */
int memory_measure_pair(struct measure_plan *p, enum memory_call call, int64_t bytes,
			int64_t busy_us, struct measure_pair *out);

/* Fresh memory written to for the first time (take), and once more (give). */
int memory_measure_touch(struct measure_plan *p, bool on_device, int64_t bytes,
			 struct measure_pair *out);

#ifdef __cplusplus
}
#endif
#endif
