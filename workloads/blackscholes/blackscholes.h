/*
 * blackscholes.h - the blackscholes workload: prices of European options, by the formula of Black
 * and Scholes.
 *
 * A step prices all options of one slot. Options and what they mean: README.md.
 */
#ifndef RIFT_BLACKSCHOLES_H
#define RIFT_BLACKSCHOLES_H

#include "common/dataset.h"
#include "common/programmatic.h"
#include "workloads/blackscholes/device.h"
#include "workloads/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BLACKSCHOLES_OPTIONS_MAX = 1 << 29 };

struct blackscholes_opts {
	int64_t options;
	double rate, volatility;
	int cnd;    /* enum blackscholes_cnd */
	int math;   /* enum blackscholes_math */
	int launch; /* enum programmatic */
	int64_t seed;
	struct dataset_opts set;
};

struct blackscholes_state {
	struct dataset set;
	struct blackscholes_market market;
	uint32_t resident; /* blocks at a time, for programmatic dependent launch */
};

/* ---- hooks, and what they share --------------------------------------------------------- */

int blackscholes_setup(const void *opts, void *state);
int blackscholes_reset(const void *opts, void *state, cudaStream_t stream);
int blackscholes_step(const void *opts, void *state, cudaStream_t stream);
int blackscholes_fused(const void *opts, void *state, cudaStream_t stream, int64_t n);
int blackscholes_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int blackscholes_report(const void *opts, void *state, struct report *out);
void blackscholes_teardown(void *state);

/* The arrays of a slot: three inputs, then calls and puts. */
struct dataset_shape blackscholes_shape(const struct blackscholes_opts *o);

extern const struct dataset_work blackscholes_work;

/* The arrays of all slots of the device. */
struct blackscholes_arrays blackscholes_device_arrays(const struct blackscholes_state *s);

extern const struct workload workload_blackscholes;

#ifdef __cplusplus
}
#endif
#endif
