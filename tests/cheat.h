/*
 * cheat.h - a workload whose hooks cheat as they are told to, for tests/cpu/test_cpu_conformance.c:
 * what does not find these finds nothing.
 *
 * A step mixes CHEAT_CELLS words into the sum of all steps and into one of `slots` data sets. The
 * check is a weak one: it asks for the count of steps and the last data set only.
 */
#ifndef RIFT_TESTS_CHEAT_H
#define RIFT_TESTS_CHEAT_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CHEAT_CELLS = 64, CHEAT_SLOTS = 16, CHEAT_THREADS = 32 };

enum cheat {
	CHEAT_NONE,
	CHEAT_ONCE,	    /* fused: works once and counts n */
	CHEAT_NOTHING,	    /* fused: counts only, the answers of the run before are there */
	CHEAT_LAST,	    /* fused: without sum; only as many steps as there are data sets */
	CHEAT_SKIPS_ONE,    /* fused: leaves the first step out */
	CHEAT_HALF_BLOCK,   /* fused: half of the threads */
	CHEAT_LAUNCHES,	    /* fused: n launches */
	CHEAT_OTHER_KERNEL, /* fused: another kernel than the step's */
	CHEAT_KNOWN,	    /* all modes: keeps what looks like an answer */
	CHEAT_BLIND,	    /* a launch that is not counted and whose loss nobody sees */
	CHEAT_GRAPH,	    /* the step's number is the host's: graphs repeat it */
	CHEAT_RESET,	    /* leaves the sum as it is */
	CHEAT_TEARDOWN,	    /* keeps memory */
	CHEATS,
};

struct cheat_memory {
	uint32_t steps, blind;
	uint32_t sum[CHEAT_CELLS];
	uint32_t slot[CHEAT_SLOTS][CHEAT_CELLS];
};

uint32_t cheat_cell(uint32_t step, uint32_t cell); /* never 0 */

/* first: UINT32_MAX: by the device's count. */
void cheat_launch(struct cheat_memory *m, enum cheat cheat, uint32_t slots, uint32_t first,
		  uint32_t n, int other, cudaStream_t stream);
void cheat_blind(struct cheat_memory *m, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
