/*
 * measure.h - blocks: what is timed, and how often.
 *
 * A block: reset, synchronize, clock, enqueue `depth` steps, clock (t_enq), synchronize, clock
 * (t_total). Times are CLOCK_MONOTONIC_RAW in ns. Every function returns 0, what a hook returned,
 * or -EINTR after Ctrl-C (without a line; common/interrupt.h).
 */
#ifndef RIFT_MEASURE_MEASURE_H
#define RIFT_MEASURE_MEASURE_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "common/mode.h"
#include "harness/platform/system.h"

struct instance; /* harness/measure/submit.h */
struct submission;

struct block {
	int64_t enq_ns;	  /* first call to return of the last */
	int64_t total_ns; /* first call to return of the synchronize */
};

struct warmup {
	int64_t blocks, elapsed_ns;
	int64_t per_block_ns; /* of the last block, reset included */
	int64_t first_ns;     /* t_total of the first block */
	int64_t total_ns;     /* and of the last */
	const char *ended_by; /* "steady": two blocks within 5 %; "time": after 1 s */
};

struct blocks {
	int64_t n;
	int64_t *enq_ns, *total_ns; /* n each, owned; see blocks_release() */
};

enum { BLOCKS_MIN = 5, BLOCKS_MAX = 100 };

/* One block. */
int measure_block(const struct submission *s, struct block *out);

/* The same with an event before the steps and one behind them, within its times. NULL: without. */
int measure_block_between(const struct submission *s, cudaEvent_t first, cudaEvent_t last,
			  struct block *out);

/* t_total of a block of one step: the shortest of three. */
int measure_one_step(const struct instance *instance, enum mode mode, int64_t *step_ns);

/*
 * A default depth that keeps a block near 1 s: depth where its steps fit, else the largest power
 * of two that does, at least 1. On the CPU device a step can be a thousand times a GPU's.
 */
int64_t depth_that_fits(int64_t depth, int64_t step_ns);

/*
 * Untimed blocks, at least 2, until two in turn agree within 5 % or 1 s has passed. Before them,
 * the clock has become as cheap as it will be.
 */
int measure_warmup(const struct submission *s, struct warmup *out);

/* Blocks of this length that fit in 1 s, within BLOCKS_MIN to BLOCKS_MAX. */
int64_t blocks_that_fit(int64_t per_block_ns);

/* n timed blocks. *out may be released after a failure too; it then holds those that ended. */
int measure_blocks(const struct submission *s, int64_t n, struct blocks *out);

void blocks_release(struct blocks *b);

#endif
