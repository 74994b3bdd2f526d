/*
 * recursion.h - the model launch by launch: exact for kernels of any lengths, and what the closed
 * form of model.h is the sum of.
 *
 *   A_i = max(A_{i-1}, F_{i-Q} + r) + c    launch call i returns
 *   W_i = max(A_i, W_{i-1}) + d            leaves what stands behind the call
 *   S_i = max(W_i + L, F_{i-1} + g)        starts on the device
 *   F_i = S_i + k K_i + e                  ends
 *   T   = max(A_N, F_N) + s
 *
 * A tandem queue with a window. Only sums of its constants are known (model.h): d is taken to be p
 * where p > c, else 0; L to be Z - c - d, and s to be 0. Neither choice changes T. Graphs are the
 * same with a + b n for c, n kernels and their gaps for K and G for g, without a window.
 */
#ifndef RIFT_MODEL_RECURSION_H
#define RIFT_MODEL_RECURSION_H

#include "harness/model/model.h"

struct block_times {
	double total_ns, enqueue_ns;
};

/* Stream launches of n kernels; kernel_ns[i] nominal where the axis is a duration. n >= 1. */
struct block_times recursion_stream(const struct model *m, const double *kernel_ns, int64_t n);

/* A block of equal kernels, in any mode. */
struct block_times recursion_block(const struct model *m, const struct batch *b);

#endif
