/*
 * matmul.h - the matmul workload: the product of two matrices of floats, by tiles of our own or by
 * cuBLAS.
 *
 * A step multiplies the matrices of one slot. Options and what they mean: README.md.
 */
#ifndef RIFT_MATMUL_H
#define RIFT_MATMUL_H

#include "common/blas.h"
#include "common/dataset.h"
#include "workloads/matmul/device.h"
#include "workloads/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MATMUL_MAX = 32768 }; /* rows, columns, inner length */

enum matmul_impl { MATMUL_TILED, MATMUL_CUBLAS };

/* A slot's arrays. */
enum { MATMUL_A, MATMUL_B, MATMUL_C };

struct matmul_opts {
	int64_t n, m, k; /* m, k: 0 as n */
	int impl;	 /* enum matmul_impl */
	int tile;	 /* enum matmul_tile */
	int fill;	 /* enum matmul_fill */
	int64_t seed;
	struct dataset_opts set;
};

/* cuBLAS, as steps use it. Zero: nothing is there. */
struct matmul_library {
	const struct blas *blas;
	cublasHandle_t handle;
	void *workspace;
	cudaStream_t stream; /* that the handle stands at */
};

struct matmul_state {
	struct dataset set;
	struct matmul_shape shape;
	enum matmul_tile tile; /* which it is */
	struct matmul_library library;
};

/* ---- hooks, and what they share --------------------------------------------------------- */

int matmul_setup(const void *opts, void *state);
int matmul_reset(const void *opts, void *state, cudaStream_t stream);
int matmul_step(const void *opts, void *state, cudaStream_t stream);
int matmul_fused(const void *opts, void *state, cudaStream_t stream, int64_t n);
int matmul_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int matmul_report(const void *opts, void *state, struct report *out);
void matmul_teardown(void *state);

struct matmul_shape matmul_shape_from(const struct matmul_opts *o);

/* The arrays of a slot: A and C are cut by rows, B comes whole. */
struct dataset_shape matmul_layout(const struct matmul_opts *o);

extern const struct dataset_work matmul_work;

/* ---- impl=cublas ------------------------------------------------------------------------ */

enum { MATMUL_WORKSPACE = 32 << 20 }; /* bytes: what NVIDIA recommends for capability 9.0 */

/* 0, or a negative errno after one line. */
int matmul_library_init(struct matmul_library *l);
void matmul_library_release(struct matmul_library *l); /* takes zero, and leaves it */

/* Enqueues C = A B. */
void matmul_library_multiply(struct matmul_library *l, struct matmul_shape shape, const float *a,
			     const float *b, float *c, cudaStream_t stream);

extern const struct workload workload_matmul;

#ifdef __cplusplus
}
#endif
#endif
