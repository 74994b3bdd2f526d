/*
 * gemm.c - the matrix products of a step, as cuBLAS takes them.
 *
 * Matrices of the network lie row by row, and cuBLAS counts columns first: what it sees are the
 * transposes, so that Z = A W becomes Z' = W' A', where W' is W as it lies.
 */
#include "workloads/mlp/mlp.h"

/* W of layer l as products read it. */
static const void *product_weight(const struct mlp_state *s, int l)
{
	size_t at = s->net.weight_at[l];

	return s->half ? (const void *)(s->copy + at) : (const void *)(s->weight + at);
}

struct mlp_gemm mlp_gemm_forward(const struct mlp_state *s, int l)
{
	int in = (int)s->net.width[l - 1], out = (int)s->net.width[l];
	bool last = l == s->net.last;

	return (struct mlp_gemm){
		.m = out,
		.n = (int)s->batch,
		.k = in,
		.a = product_weight(s, l),
		.lda = out,
		.b = s->activation[l - 1],
		.ldb = in,
		.d = last ? s->logits : s->activation[l],
		.ldd = out,
		.wide = last,
	};
}

struct mlp_gemm mlp_gemm_back(const struct mlp_state *s, int l)
{
	int in = (int)s->net.width[l], out = (int)s->net.width[l + 1];

	return (struct mlp_gemm){
		.trans_a = true,
		.m = in,
		.n = (int)s->batch,
		.k = out,
		.a = product_weight(s, l + 1),
		.lda = out,
		.b = s->delta[l + 1],
		.ldb = out,
		.d = s->delta[l],
		.ldd = in,
	};
}

struct mlp_gemm mlp_gemm_weight(const struct mlp_state *s, int l)
{
	int in = (int)s->net.width[l - 1], out = (int)s->net.width[l];

	return (struct mlp_gemm){
		.trans_b = true,
		.m = out,
		.n = in,
		.k = (int)s->batch,
		.a = s->delta[l],
		.lda = out,
		.b = s->activation[l - 1],
		.ldb = in,
		.d = s->gradient + s->net.weight_at[l],
		.ldd = out,
		.wide = true,
	};
}
