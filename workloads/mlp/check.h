/* check.h - what the two ways to check a step share. */
#ifndef RIFT_MLP_CHECK_H
#define RIFT_MLP_CHECK_H

#include "workloads/mlp/reference.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A step that is looked at: what it began with, on the device. */
struct mlp_before {
	uint64_t step;		  /* its number */
	float *weight, *velocity; /* as struct mlp_net says */
	uint16_t *copy;		  /* of weight in bf16, or NULL */
};

/* How far products may be off, relative: norms of differences over norms. */
double mlp_tolerance(const struct mlp_opts *o);

/* The number that these bits are in fp16 (infer_check.c). */
double mlp_fp16_value(uint16_t bits);

/*
 * Notes an error in units of what is allowed, and where, if it is the largest so far. NaN is larger
 * than anything.
 */
void mlp_note(struct verdict *v, double error, double allowed, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Norms of what is compared: errors are relative to what is right. */
struct mlp_norms {
	double difference, right; /* sums of squares */
};
void mlp_compare(struct mlp_norms *n, double got, double want);

/* A sum of products, of n numbers each, and the sum of their magnitudes; b NULL: of the a's. */
struct mlp_terms {
	double v, magnitudes;
};
struct mlp_terms mlp_dot(const double *a, const double *b, int64_t n);

/*
 * The same for a sum: where nearly all of it cancels, a hundredth of the magnitudes counts as
 * right, as no sum of floats could be much better.
 */
void mlp_compare_sum(struct mlp_norms *n, double got, const struct mlp_terms *want);
double mlp_relative(const struct mlp_norms *n);

/* Room for n numbers; to be freed. */
double *mlp_array(int64_t n);

/* A row-by-row matrix on the device, in float or bf16. */
struct mlp_matrix {
	const void *at;
	bool half;
	int64_t rows, cols;
};

/* Rows and columns from (row, col) on, as double into out [rows][cols]; waits. */
void mlp_fetch(const struct mlp_matrix *m, int64_t row, int64_t col, int64_t rows, int64_t cols,
	       double *out);

/* n whole rows, or columns, from `first` on: [n][cols], or [n][rows]. To be freed. */
double *mlp_fetch_strip(const struct mlp_matrix *m, bool columns, int64_t first, int64_t n);

/* Elements from `first` on of a tensor's gradient, its parts added up. */
void mlp_fetch_gradient(const struct mlp_tensor *t, int64_t first, int64_t n, double *out);

/* What is looked at, and where it is noted. */
struct mlp_look {
	const struct mlp_opts *o;
	struct mlp_state *s;
	const struct mlp_before *b;
	struct verdict *v;
};

/* V = momentum V + g and W = W - rate V, with the device's own g; n numbers of a tensor. */
void mlp_check_update(const struct mlp_look *k, int layer, bool bias, int64_t first, int64_t n);

/* The whole gradient against the reference's. */
void mlp_check_whole(const struct mlp_look *k);

/*
 * Pieces of everything that a step computes, each from what it was computed from. Takes about as
 * long for any network.
 */
void mlp_check_tiles(const struct mlp_look *k);

#ifdef __cplusplus
}
#endif
#endif
