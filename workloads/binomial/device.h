/* device.h - what the host and the kernels of the binomial workload share. */
#ifndef RIFT_BINOMIAL_DEVICE_H
#define RIFT_BINOMIAL_DEVICE_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "common/slots.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a node comes from the two behind it; both are a multiplication and a fused one. */
enum binomial_form {
	BINOMIAL_LERP, /* v += p (v' - v), and one discount at the end */
	BINOMIAL_TWO,  /* a v' + b v, discounted in a and b */
};

enum {
	BINOMIAL_STEPS_MAX = 8192,
	BINOMIAL_WARP_STEPS_MAX = 2048, /* of trees that one warp goes through */
	BINOMIAL_INPUTS = 5,		/* arrays, as in struct binomial_option */
	BINOMIAL_WARPS = 4,		/* of a block: a tree each, or one larger tree */
	BINOMIAL_PANELS_MAX = 160,
};

/* An option, as kernels read it. */
struct binomial_option {
	float S, X; /* price and strike */
	float up;   /* logarithm of the factor that the price goes up by in a step */
	float a, b; /* lerp: p, and the discount of all steps; two: p and 1 - p, discounted */
};

/*
 * Nodes of a lane: the plan takes the least width that holds all nodes that are left. Odd, so that
 * lanes that read so many words apart have no conflicts of banks of shared memory.
 */
#define BINOMIAL_WIDTHS(X)                                                                         \
	X(1)                                                                                       \
	X(3) X(5) X(7) X(9) X(11) X(13) X(15) X(17) X(21) X(25) X(29) X(33) X(41) X(49) X(57) X(65)

enum { BINOMIAL_NARROW = 17, BINOMIAL_WIDE = 65 }; /* the widest panels of kernels */

/* Steps back that a warp computes in its registers, before nodes are laid out anew. */
struct binomial_panel {
	uint16_t steps, width;
};

/* The way from the leaves to the root: plan.c. */
struct binomial_plan {
	uint32_t steps;	      /* of the tree, which has one leaf more */
	uint32_t warps;	      /* that go through it together: 1, or BINOMIAL_WARPS */
	uint32_t widest;      /* of the panels */
	uint32_t smem_floats; /* floats of shared memory for the nodes */
	uint32_t panels;
	struct binomial_panel panel[BINOMIAL_PANELS_MAX];
};

/* The arrays of all slots, of `stride` floats each. */
struct binomial_arrays {
	float *in[BINOMIAL_INPUTS], *out;
	int64_t stride;
};

/* A launch: n steps on options [first, end) of slots in turn. */
struct binomial_launch {
	struct binomial_arrays arrays;
	struct slots_counter *counter;
	uint32_t first, end;
	uint32_t slots;
	uint32_t steps;
	uint32_t advance; /* steps that it counts: all of them, or 0 where more launches follow */
	float minus_one;  /* see difference() in kernels.cu */
	struct binomial_plan plan;
};

/* Makes the driver load the kernels. */
void binomial_load_kernels(void);

/* Enqueues the steps of a launch. */
void binomial_price(const struct binomial_launch *launch, enum binomial_form form,
		    cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
