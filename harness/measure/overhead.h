/*
 * overhead.h - what a step's kernels take by themselves, and what a block takes beyond them.
 *
 * Model (T of a block of D steps): T = Z + D*K where submission is hidden; Z is what the two
 * ends cost (submit, start, synchronize), K the kernels of a step, both from a straight line
 * through blocks of n and 2n steps. The rest of T is gaps: the host or a stage behind it is
 * slower than the kernels.
 */
#ifndef RIFT_MEASURE_OVERHEAD_H
#define RIFT_MEASURE_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/mode.h"

struct instance; /* harness/measure/submit.h */

struct kernel_time {
	double ns;	     /* K of a step; NaN: not known */
	double ends_ns;	     /* Z of a block; NaN: not known */
	enum mode mode;	     /* of the blocks that it was taken from */
	int64_t steps;	     /* n: blocks of n and 2n steps were timed */
	const char *source;  /* what the slope includes, for people */
	const char *unknown; /* why ns is not known; NULL where it is */
};

/*
 * Times 5 blocks each of n and 2n steps, in turn, in the mode with the smallest gaps that the
 * workload allows: fused, else graph, else stream. n is depth / 2 where that lasts 0.25 to
 * 10 ms, given step_ns of a step (from warm-up). depth_max limits 2n; 0: no limit. Where depth is
 * more than 2n, K comes from 3 fused blocks of the whole depth, if they last at most 2 s each,
 * less the ends: steps of one workload may differ. Returns 0, what a hook returned, or -EINTR.
 */
int kernel_time_measure(struct kernel_time *out, const struct instance *instance,
			const bool allowed[MODE_COUNT], double step_ns, int64_t depth,
			int64_t depth_max);

/* A block, for non_kernel_share(). */
struct timing {
	enum mode mode;
	int64_t depth, depth_max; /* depth_max 0: no limit */
	double total_ns, enq_ns;  /* medians of a block */
	const bool *allowed;	  /* modes, MODE_COUNT */
	const char *axis;	  /* parameter that makes kernels larger, for advice */
};

struct overhead {
	double share;	   /* 1 - D*K/T; negative where noise exceeds it; NaN: K not known */
	char meaning[480]; /* plain sentences: what limits, what to try */
};

void non_kernel_share(struct overhead *out, const struct kernel_time *k, const struct timing *t);

#endif
