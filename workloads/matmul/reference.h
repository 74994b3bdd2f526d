/* reference.h - products in double of matrices that are made anew, for checks. */
#ifndef RIFT_MATMUL_REFERENCE_H
#define RIFT_MATMUL_REFERENCE_H

#include <stdint.h>

#include "workloads/matmul/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The two matrices of a slot. */
struct matmul_inputs {
	struct matmul_shape shape;
	uint32_t slot;
	uint64_t seed;
	enum matmul_fill fill;
};

/* Row i of A: k numbers. */
void matmul_row(const struct matmul_inputs *in, uint32_t i, double *row);

/* So many columns of B, side by side: that of column[c] in row l is out[l * count + c]. */
void matmul_columns(const struct matmul_inputs *in, const uint32_t *column, uint32_t count,
		    double *out);

/* sum[c]: the product of a row and column c of these. */
void matmul_reference(const double *row, const double *columns, uint32_t k, uint32_t count,
		      double *sum);

/* The Euclidean norm of k numbers, `apart` from each other. */
double matmul_norm(const double *x, uint32_t k, uint32_t apart);

#ifdef __cplusplus
}
#endif
#endif
