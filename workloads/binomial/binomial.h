/*
 * binomial.h - the binomial workload: prices of European options by trees.
 *
 * A step prices all options of one slot. Options and what they mean: README.md.
 */
#ifndef RIFT_BINOMIAL_H
#define RIFT_BINOMIAL_H

#include "common/dataset.h"
#include "workloads/binomial/device.h"
#include "workloads/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BINOMIAL_OPTIONS_MAX = 65536 };

struct binomial_opts {
	int64_t steps; /* of a tree */
	int64_t options, launch_options;
	double rate, volatility;
	int form; /* enum binomial_form */
	int64_t seed;
	struct dataset_opts set;
};

struct binomial_state {
	struct dataset set;
	struct binomial_plan plan;
};

/* ---- hooks, and what they share --------------------------------------------------------- */

int binomial_setup(const void *opts, void *state);
int binomial_reset(const void *opts, void *state, cudaStream_t stream);
int binomial_step(const void *opts, void *state, cudaStream_t stream);
int binomial_fused(const void *opts, void *state, cudaStream_t stream, int64_t n);
int binomial_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int binomial_report(const void *opts, void *state, struct report *out);
void binomial_teardown(void *state);

/* The arrays of a slot: five inputs, then prices. */
struct dataset_shape binomial_shape(const struct binomial_opts *o);

/* The host makes the inputs: there are at most 65,536 of them. */
void binomial_make(const void *opts, void *state, int64_t slot, int64_t at);

extern const struct dataset_work binomial_work;

/* Launches of a step. */
int64_t binomial_launches(const struct binomial_opts *o);

extern const struct workload workload_binomial;

#ifdef __cplusplus
}
#endif
#endif
