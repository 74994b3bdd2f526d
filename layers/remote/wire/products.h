/*
 * products.h - matrix products by cuBLAS and cuBLASLt, as they lie in a command: what both sides
 * know of them. As far as rift's workloads go: numbers of 4 or 2 bytes, sums in fp32.
 */
#ifndef RIFT_REMOTE_PRODUCTS_H
#define RIFT_REMOTE_PRODUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layers/remote/wire/regions.h"
#include "layers/remote/wire/wire.h"

/* cublasStatus_t */
enum blas_status {
	BLAS_SUCCESS = 0,
	BLAS_NOT_INITIALIZED = 1,
	BLAS_ALLOC_FAILED = 3,
	BLAS_INVALID_VALUE = 7,
	BLAS_EXECUTION_FAILED = 13,
	BLAS_INTERNAL_ERROR = 14,
	BLAS_NOT_SUPPORTED = 15,
};

/* In place of a CUDA error: with a cublasStatus_t in the lower bits. No error of CUDA's has it. */
enum { REMOTE_STATUS = 0x10000 };

static inline int remote_status(int status)
{
	return status ? REMOTE_STATUS | status : 0;
}

/* A handle's own memory, which counts as taken: 32 MiB on compute capability 9.0, less before
 * (cuBLAS 13.0, cublasSetWorkspace()). Code that the library loads does not count. */
enum { REMOTE_BLAS_BYTES = 32 << 20 };

/* cublasGemmEx(). alpha and beta: the bits of a float, or addresses, as the pointer mode is. */
struct remote_gemm {
	int32_t trans_a, trans_b, m, n, k, lda, ldb, ldc;
	int32_t type_a, type_b, type_c, compute, algo, reserved;
	uint64_t a, b, c, alpha, beta;
};

/* cublasLtMatrixLayout_t, without attributes. */
struct remote_layout {
	uint64_t rows, cols;
	int64_t ld;
	int32_t type, reserved;
};

/* cublasLtMatmulDesc_t and the layouts: what a product is, without its operands. */
struct remote_product {
	int32_t compute, scale, trans_a, trans_b;
	uint32_t epilogue, reserved;
	uint64_t bias, mask;
	int64_t mask_ld; /* bits */
	struct remote_layout a, b, c, d;
};

struct remote_matmul {
	struct remote_product product;
	uint64_t a, b, c, d, workspace, workspace_bytes;
	float alpha, beta;
	uint32_t has_algo, reserved;
	uint64_t algo[8]; /* cublasLtMatmulAlgo_t */
};

_Static_assert(sizeof(struct remote_gemm) == REMOTE_GEMM_BYTES, "a product");
_Static_assert(sizeof(struct remote_product) == REMOTE_PRODUCT_BYTES, "a product of cuBLASLt");
_Static_assert(sizeof(struct remote_matmul) == REMOTE_MATMUL_BYTES, "and its operands");

/* sizeof(cublasLtMatmulHeuristicResult_t), and how many fit in an answer. */
enum { REMOTE_RESULT_BYTES = 96, REMOTE_RESULTS = 64 };

/* ---- what is forwarded --------------------------------------------------------------------- */

/* Bytes of a cudaDataType: CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF. 0: refused. */
static inline uint64_t product_type_bytes(int type)
{
	enum { R_32F = 0, R_16F = 2, R_16BF = 14 };

	return type == R_32F ? 4 : type == R_16F || type == R_16BF ? 2 : 0;
}

/* A cublasComputeType_t that scales by floats: CUBLAS_COMPUTE_32F and its kin. */
static inline bool product_has_compute(int compute)
{
	enum { FP32 = 68, PEDANTIC = 69, FAST_16F = 74, FAST_16BF = 75, FAST_TF32 = 77 };

	return compute == FP32 || compute == PEDANTIC || compute == FAST_16F ||
	       compute == FAST_16BF || compute == FAST_TF32;
}

enum product_epilogue {
	EPILOGUE_DEFAULT = 1,
	EPILOGUE_RELU = 2,
	EPILOGUE_RELU_BIAS = 6,
	EPILOGUE_RELU_AUX_BIAS = 134,
	EPILOGUE_DRELU_BGRAD = 152,
};

static inline bool product_has_epilogue(uint32_t epilogue)
{
	return epilogue == EPILOGUE_DEFAULT || epilogue == EPILOGUE_RELU ||
	       epilogue == EPILOGUE_RELU_BIAS || epilogue == EPILOGUE_RELU_AUX_BIAS ||
	       epilogue == EPILOGUE_DRELU_BGRAD;
}

/* ---- what a product reads and writes ------------------------------------------------------- */

/* Addresses, and bytes; 0: none. */
struct extent {
	uint64_t at, bytes;
};

/* More than there can be: no memory holds it. */
#define NO_EXTENT(at) ((struct extent){ at, UINT64_MAX })

/* A matrix, columns first. */
static inline struct extent product_extent(uint64_t at, uint64_t rows, uint64_t cols, int64_t ld,
					   uint64_t type_bytes)
{
	uint64_t numbers, bytes;

	if (!rows || !cols)
		return (struct extent){ at, 0 };
	if (ld < 1 || (uint64_t)ld < rows)
		return NO_EXTENT(at);
	numbers = rows_extent(cols, (uint64_t)ld, rows);
	return __builtin_mul_overflow(numbers, type_bytes, &bytes) ? NO_EXTENT(at)
								   : (struct extent){ at, bytes };
}

static inline bool product_holds(const struct regions *r, const struct extent *e, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (e[i].bytes && !regions_hold(r, e[i].at, e[i].bytes))
			return false;
	return true;
}

enum { GEMM_EXTENTS = 5, MATMUL_EXTENTS = 7 };

/* The status of what cannot be, before the library is asked; else fills out. */
static inline int gemm_extents(const struct remote_gemm *g, bool on_device,
			       struct extent out[GEMM_EXTENTS])
{
	enum { LAST_OP = 1 };
	uint64_t a = product_type_bytes(g->type_a), b = product_type_bytes(g->type_b),
		 c = product_type_bytes(g->type_c);
	uint64_t m = (uint64_t)g->m, n = (uint64_t)g->n, k = (uint64_t)g->k;
	bool none = !m || !n;

	if (g->m < 0 || g->n < 0 || g->k < 0)
		return BLAS_INVALID_VALUE;
	if (!a || !b || !c || !product_has_compute(g->compute) || (uint32_t)g->trans_a > LAST_OP ||
	    (uint32_t)g->trans_b > LAST_OP)
		return BLAS_NOT_SUPPORTED;
	k = none ? 0 : k;
	out[0] = product_extent(g->a, g->trans_a ? k : m, g->trans_a ? m : k, g->lda, a);
	out[1] = product_extent(g->b, g->trans_b ? n : k, g->trans_b ? k : n, g->ldb, b);
	out[2] = product_extent(g->c, m, n, g->ldc, c);
	out[3] = (struct extent){ g->alpha, on_device ? sizeof(float) : 0 };
	out[4] = (struct extent){ g->beta, on_device ? sizeof(float) : 0 };
	return BLAS_SUCCESS;
}

static inline struct extent layout_extent(const struct remote_layout *l, uint64_t at)
{
	return product_extent(at, l->rows, l->cols, l->ld, product_type_bytes(l->type));
}

/* Bits, whole bytes of them. */
static inline struct extent mask_extent(const struct remote_product *p)
{
	struct extent e = product_extent(p->mask, p->d.rows, p->d.cols, p->mask_ld, 1);

	return e.bytes == UINT64_MAX ? e : (struct extent){ e.at, e.bytes / 8 + !!(e.bytes % 8) };
}

/* Is all of it what is forwarded? */
static inline int product_check(const struct remote_product *p)
{
	enum { R_32F = 0, LAST_OP = 1 };
	const struct remote_layout *all[] = { &p->a, &p->b, &p->c, &p->d };

	for (size_t i = 0; i < 4; i++)
		if (!product_type_bytes(all[i]->type))
			return BLAS_NOT_SUPPORTED;
	return p->scale == R_32F && product_has_compute(p->compute) &&
			       product_has_epilogue(p->epilogue) &&
			       (uint32_t)p->trans_a <= LAST_OP && (uint32_t)p->trans_b <= LAST_OP
		       ? BLAS_SUCCESS
		       : BLAS_NOT_SUPPORTED;
}

/* The bias has a number for each row of D, of D's type, as the library takes it by default. */
static inline int matmul_extents(const struct remote_matmul *m, struct extent out[MATMUL_EXTENTS])
{
	const struct remote_product *p = &m->product;
	uint64_t bias = product_type_bytes(p->d.type);
	bool biased = p->epilogue != EPILOGUE_DEFAULT && p->epilogue != EPILOGUE_RELU;
	bool masked = biased && p->epilogue != EPILOGUE_RELU_BIAS;
	int status = product_check(p);

	if (status)
		return status;
	out[0] = layout_extent(&p->a, m->a);
	out[1] = layout_extent(&p->b, m->b);
	out[2] = m->c || m->beta != 0 ? layout_extent(&p->c, m->c) : (struct extent){ 0, 0 };
	out[3] = layout_extent(&p->d, m->d);
	out[4] = biased ? product_extent(p->bias, p->d.rows, 1, INT64_MAX, bias)
			: (struct extent){ 0, 0 };
	out[5] = masked ? mask_extent(p) : (struct extent){ 0, 0 };
	out[6] = (struct extent){ m->workspace, m->workspace_bytes };
	return BLAS_SUCCESS;
}

#endif
