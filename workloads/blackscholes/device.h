/* device.h - what the host and the kernels of the blackscholes workload share. */
#ifndef RIFT_BLACKSCHOLES_DEVICE_H
#define RIFT_BLACKSCHOLES_DEVICE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/slots.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the normal distribution is computed, and with which functions. */
enum blackscholes_cnd { BLACKSCHOLES_POLY, BLACKSCHOLES_EXACT };
enum blackscholes_math { BLACKSCHOLES_FAST, BLACKSCHOLES_ACCURATE };

enum {
	BLACKSCHOLES_INPUTS = 3,  /* S: price, X: strike, T: years */
	BLACKSCHOLES_OUTPUTS = 2, /* call, put */
	BLACKSCHOLES_THREADS = 256,
	BLACKSCHOLES_EACH = 4, /* options a thread: 16 bytes of each array */
};

/* The arrays of all slots, of `stride` floats each; what is behind the options stays as it is. */
struct blackscholes_arrays {
	float *in[BLACKSCHOLES_INPUTS], *out[BLACKSCHOLES_OUTPUTS];
	int64_t stride;
};

/* What is the same for all options; in float what was computed in double. */
struct blackscholes_market {
	float rate, volatility;
	float drift;   /* rate + volatility^2 / 2 */
	float inverse; /* 1 / volatility */
};

/* A launch: n steps on options [first, end) of slots in turn. */
struct blackscholes_launch {
	struct blackscholes_arrays arrays;
	struct blackscholes_market market;
	uint32_t first, end; /* first: a multiple of DATASET_ALIGN */
	uint32_t slots;
	uint32_t steps;
	uint32_t advance;  /* steps that it counts: all of them, or 0 where more launches follow */
	bool pdl;	   /* programmatic dependent launch, of one step, which it counts */
	uint32_t resident; /* blackscholes_resident(), for pdl */
	struct slots_counter *counter;
};

/* Makes the driver load the kernels. */
void blackscholes_load_kernels(void);

/* Blocks of such a launch that the device holds at a time. */
uint32_t blackscholes_resident(enum blackscholes_cnd cnd, enum blackscholes_math math);

/* Enqueues the steps of a launch. */
void blackscholes_price(const struct blackscholes_launch *launch, enum blackscholes_cnd cnd,
			enum blackscholes_math math, cudaStream_t stream);

/* Enqueues: inputs of one slot, n options at `arrays` (its slot 0), become those of the seed. */
void blackscholes_fill(const struct blackscholes_arrays *arrays, int64_t n, uint32_t slot,
		       uint64_t seed, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
