/* cublaslt.c - the CPU device's cuBLASLt: descriptors, the heuristic, products with epilogues. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu/blas/product.h"

struct cublasLtContext {
	char nothing;
};

struct cpudev_matmul_desc {
	cublasComputeType_t compute;
	cudaDataType_t scale;
	int32_t trans_a, trans_b;
	uint32_t epilogue;
	void *bias, *mask;
	int64_t mask_ld;
};

struct cpudev_layout {
	cudaDataType type;
	uint64_t rows, cols;
	int64_t ld;
};

struct cpudev_preference {
	uint64_t workspace_bytes;
};

size_t cublasLtGetVersion(void)
{
	return 0;
}

/* Something of that size, all zero. */
static cublasStatus_t make(void *out, size_t bytes)
{
	void *p = out ? calloc(1, bytes) : NULL;

	if (!out)
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy(out, &p, sizeof(p));
	return p ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

static cublasStatus_t drop(void *p)
{
	free(p);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
	return make(handle, sizeof(**handle));
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
	return handle ? drop(handle) : CUBLAS_STATUS_NOT_INITIALIZED;
}

/* ---- descriptors ------------------------------------------------------------------------ */

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute,
					cudaDataType_t scale)
{
	cublasStatus_t status = make(desc, sizeof(**desc));

	if (!status)
		**desc = (struct cpudev_matmul_desc){ .compute = compute,
						      .scale = scale,
						      .epilogue = CUBLASLT_EPILOGUE_DEFAULT };
	return status;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
	return drop(desc);
}

static cublasStatus_t put(void *field, size_t field_bytes, const void *value, size_t bytes)
{
	if (!value || bytes != field_bytes)
		return CUBLAS_STATUS_INVALID_VALUE;
	memcpy(field, value, bytes);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
					      cublasLtMatmulDescAttributes_t attribute,
					      const void *value, size_t bytes)
{
#define FIELD(f) put(&desc->f, sizeof(desc->f), value, bytes)
	switch (attribute) {
	case CUBLASLT_MATMUL_DESC_TRANSA:
		return FIELD(trans_a);
	case CUBLASLT_MATMUL_DESC_TRANSB:
		return FIELD(trans_b);
	case CUBLASLT_MATMUL_DESC_EPILOGUE:
		return FIELD(epilogue);
	case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
		return FIELD(bias);
	case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
		return FIELD(mask);
	case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
		return FIELD(mask_ld);
	}
#undef FIELD
	return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
					  uint64_t rows, uint64_t cols, int64_t ld)
{
	cublasStatus_t status = make(layout, sizeof(**layout));

	if (!status)
		**layout = (struct cpudev_layout){ type, rows, cols, ld };
	return status;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
	return drop(layout);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
	return make(preference, sizeof(**preference));
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
	return drop(preference);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
						    cublasLtMatmulPreferenceAttributes_t attribute,
						    const void *value, size_t bytes)
{
	if (attribute != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
		return CUBLAS_STATUS_INVALID_VALUE;
	return put(&preference->workspace_bytes, sizeof(preference->workspace_bytes), value, bytes);
}

/* ---- products --------------------------------------------------------------------------- */

static cublasStatus_t check_epilogue(const struct cpudev_matmul_desc *desc, uint64_t m)
{
	bool masked = desc->epilogue == CUBLASLT_EPILOGUE_RELU_AUX_BIAS ||
		      desc->epilogue == CUBLASLT_EPILOGUE_DRELU_BGRAD;

	if (desc->epilogue == CUBLASLT_EPILOGUE_DEFAULT || desc->epilogue == CUBLASLT_EPILOGUE_RELU)
		return CUBLAS_STATUS_SUCCESS;
	if (!masked && desc->epilogue != CUBLASLT_EPILOGUE_RELU_BIAS)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	if (!desc->bias ||
	    (masked && (!desc->mask || desc->mask_ld % 128 || desc->mask_ld < (int64_t)m)))
		return CUBLAS_STATUS_INVALID_VALUE;
	return CUBLAS_STATUS_SUCCESS;
}

/* The product that descriptors describe, without its operands; or why there is none. */
static cublasStatus_t describe(const struct cpudev_matmul_desc *desc, const struct cpudev_layout *a,
			       const struct cpudev_layout *b, const struct cpudev_layout *d,
			       struct product *p)
{
	uint64_t k = desc->trans_a ? a->rows : a->cols;
	cublasStatus_t status = check_epilogue(desc, d->rows);

	*p = (struct product){
		.trans_a = desc->trans_a == CUBLAS_OP_T,
		.trans_b = desc->trans_b == CUBLAS_OP_T,
		.m = (int)d->rows,
		.n = (int)d->cols,
		.k = (int)k,
		.lda = (int)a->ld,
		.ldb = (int)b->ld,
		.ldd = (int)d->ld,
		.epilogue = (int)desc->epilogue,
		.bias = desc->bias,
		.mask = desc->mask,
		.mask_ld = desc->mask_ld,
	};
	if (d->rows != (desc->trans_a ? a->cols : a->rows) ||
	    d->cols != (desc->trans_b ? b->rows : b->cols) ||
	    k != (desc->trans_b ? b->cols : b->rows) || product_check(p))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (a->type != CUDA_R_32F || b->type != CUDA_R_32F || d->type != CUDA_R_32F ||
	    desc->scale != CUDA_R_32F || desc->compute != CUBLAS_COMPUTE_32F)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return status;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
					      cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
					      cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
					      cublasLtMatmulPreference_t preference, int wanted,
					      cublasLtMatmulHeuristicResult_t found[], int *n_found)
{
	struct product ignored;
	cublasStatus_t status;

	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!desc || !a || !b || !c || !d || !preference || wanted < 1 || !found || !n_found)
		return CUBLAS_STATUS_INVALID_VALUE;
	status = describe(desc, a, b, d, &ignored);
	*n_found = !status;
	if (!status)
		found[0] = (cublasLtMatmulHeuristicResult_t){ .state = CUBLAS_STATUS_SUCCESS };
	return status;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
			      const void *a, cublasLtMatrixLayout_t layout_a, const void *b,
			      cublasLtMatrixLayout_t layout_b, const void *beta, const void *c,
			      cublasLtMatrixLayout_t layout_c, void *d,
			      cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t *algo,
			      void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
	struct product p;
	cublasStatus_t status;

	(void)algo;
	(void)workspace;
	(void)workspace_bytes;
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!desc || !alpha || !a || !layout_a || !b || !layout_b || !beta || !layout_c || !d ||
	    !layout_d)
		return CUBLAS_STATUS_INVALID_VALUE;
	status = describe(desc, layout_a, layout_b, layout_d, &p);
	if (status)
		return status;
	p.a = a;
	p.b = b;
	p.d = d;
	p.alpha = *(const float *)alpha;
	p.beta = *(const float *)beta;
	if (p.beta != 0 && c != d)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return product_submit(&p, stream);
}
