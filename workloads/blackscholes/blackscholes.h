/*
 * blackscholes.h - the blackscholes workload: prices of European options, by the formula of Black
 * and Scholes.
 *
 * A step prices all options of one slot. Options and what they mean: README.md.
 */
#ifndef RIFT_BLACKSCHOLES_H
#define RIFT_BLACKSCHOLES_H

#include "common/streamed.h"
#include "workloads/blackscholes/device.h"
#include "workloads/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BLACKSCHOLES_OPTIONS_MAX = 1 << 29 };

struct blackscholes_opts {
	int64_t options, slots;
	double rate, volatility;
	int cnd;  /* enum blackscholes_cnd */
	int math; /* enum blackscholes_math */
	int64_t seed;
	int data; /* enum streamed_data */
	int64_t block;
	int memory; /* enum streamed_memory */
	int64_t overlap;
};

struct blackscholes_state {
	struct blackscholes_arrays device; /* all slots; streamed: one */
	struct blackscholes_arrays host;   /* streamed: all slots */
	uint32_t device_slots;
	enum streamed_memory memory; /* of the host's arrays */
	struct blackscholes_market market;
	struct slots_counter *counter;
	struct streamed_lanes lanes;
	struct streamed_turn turn;
};

/* ---- hooks, and what they share --------------------------------------------------------- */

int blackscholes_setup(const void *opts, void *state);
int blackscholes_reset(const void *opts, void *state, cudaStream_t stream);
int blackscholes_step(const void *opts, void *state, cudaStream_t stream);
int blackscholes_fused(const void *opts, void *state, cudaStream_t stream, int64_t n);
int blackscholes_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int blackscholes_report(const void *opts, void *state, struct report *out);
void blackscholes_teardown(void *state);

/* How a step of data=streamed copies. */
struct streamed_form blackscholes_form(const struct blackscholes_opts *o);

/* Chunks of a step, and the first option of one; of the one behind the last: the end. */
int blackscholes_chunks(const struct blackscholes_opts *o);
int64_t blackscholes_chunk(const struct blackscholes_opts *o, int chunk);

/* Copies of a step in one direction, of so many arrays. */
struct copies blackscholes_copies(const struct blackscholes_opts *o, int arrays);

/* The launch of `steps` steps on all options, which are counted. */
struct blackscholes_launch blackscholes_launch_of(const struct blackscholes_opts *o,
						  const struct blackscholes_state *s,
						  uint32_t steps);

extern const struct workload workload_blackscholes;

#ifdef __cplusplus
}
#endif
#endif
