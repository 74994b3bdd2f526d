/* device.h - what the host and the kernels of the matmul workload share. */
#ifndef RIFT_MATMUL_DEVICE_H
#define RIFT_MATMUL_DEVICE_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "common/slots.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What matrices are filled with: integers from -8 to 7, or floats in [-1, 1). */
enum matmul_fill { MATMUL_SMALL, MATMUL_UNIFORM };

/* Outputs of a block: so many rows and columns. */
enum matmul_tile { MATMUL_TILE_AUTO, MATMUL_TILE_128, MATMUL_TILE_64, MATMUL_TILE_32 };

enum {
	MATMUL_THREADS = 256,
	MATMUL_ALIGN = 64, /* floats: matrices begin at multiples, 256 bytes */
};

/* C = A B, row by row: A is m x k, B k x n. */
struct matmul_shape {
	uint32_t m, n, k;
};

/* The matrices of all slots; those of slot s begin s strides behind the first, in floats. */
struct matmul_arrays {
	float *a, *b, *c;
	int64_t a_stride, b_stride, c_stride;
};

/* A launch: n steps on slots in turn; rows of A and C before arrays.a and arrays.c stay as is. */
struct matmul_launch {
	struct matmul_arrays arrays;
	struct matmul_shape shape;
	uint32_t slots;
	uint32_t steps;
	uint32_t advance; /* steps that it counts: all of them, or 0 where more launches follow */
	struct slots_counter *counter;
};

/* The tile with which a product of this shape is done soonest on an H200. */
enum matmul_tile matmul_tile_for(struct matmul_shape shape);

/* Makes the driver load the kernels. */
void matmul_load_kernels(void);

/* Enqueues; the tile is one of the three. */
void matmul_multiply(const struct matmul_launch *launch, enum matmul_tile tile,
		     cudaStream_t stream);

/* Enqueues: counts a step that was no launch of ours. */
void matmul_count(struct slots_counter *counter, cudaStream_t stream);

/* Enqueues: A and B of one slot, at `arrays` (its slot 0), become those of the seed. */
void matmul_fill(const struct matmul_arrays *arrays, struct matmul_shape shape, uint32_t slot,
		 uint64_t seed, enum matmul_fill fill, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
