/* cublas.c - the CPU device's cuBLAS: handles, and products by cublasGemmEx. */
#include <stdlib.h>

#include "common/cpu/blas/product.h"

struct cublasContext {
	cudaStream_t stream;
	cublasPointerMode_t pointer_mode;
};

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
	if (!handle)
		return CUBLAS_STATUS_INVALID_VALUE;
	*handle = calloc(1, sizeof(**handle));
	return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
	free(handle);
	return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	handle->stream = stream;
	return CUBLAS_STATUS_SUCCESS;
}

/* Taken, and not needed. */
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	return bytes && !workspace ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE)
		return CUBLAS_STATUS_INVALID_VALUE;
	handle->pointer_mode = mode;
	return CUBLAS_STATUS_SUCCESS;
}

/* There is one way to compute. */
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	return mode == CUBLAS_DEFAULT_MATH || mode == CUBLAS_PEDANTIC_MATH
		       ? CUBLAS_STATUS_SUCCESS
		       : CUBLAS_STATUS_NOT_SUPPORTED;
}

const char *cublasGetStatusName(cublasStatus_t status)
{
#define NAME(s)                                                                                    \
	case s:                                                                                    \
		return #s
	switch (status) {
		NAME(CUBLAS_STATUS_SUCCESS);
		NAME(CUBLAS_STATUS_NOT_INITIALIZED);
		NAME(CUBLAS_STATUS_ALLOC_FAILED);
		NAME(CUBLAS_STATUS_INVALID_VALUE);
		NAME(CUBLAS_STATUS_ARCH_MISMATCH);
		NAME(CUBLAS_STATUS_MAPPING_ERROR);
		NAME(CUBLAS_STATUS_EXECUTION_FAILED);
		NAME(CUBLAS_STATUS_INTERNAL_ERROR);
		NAME(CUBLAS_STATUS_NOT_SUPPORTED);
		NAME(CUBLAS_STATUS_LICENSE_ERROR);
	}
#undef NAME
	return "unknown status";
}

cublasStatus_t product_check(const struct product *p)
{
	int rows_a = p->trans_a ? p->k : p->m, rows_b = p->trans_b ? p->n : p->k;

	if (p->m < 0 || p->n < 0 || p->k < 0 || p->lda < (rows_a > 1 ? rows_a : 1) ||
	    p->ldb < (rows_b > 1 ? rows_b : 1) || p->ldd < (p->m > 1 ? p->m : 1))
		return CUBLAS_STATUS_INVALID_VALUE;
	return CUBLAS_STATUS_SUCCESS;
}

static void set_scales(struct product *p, cublasPointerMode_t mode, const float *alpha,
		       const float *beta)
{
	if (mode == CUBLAS_POINTER_MODE_DEVICE) {
		p->alpha_at = alpha;
		p->beta_at = beta;
	} else {
		p->alpha = *alpha;
		p->beta = *beta;
	}
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t trans_a,
			    cublasOperation_t trans_b, int m, int n, int k, const void *alpha,
			    const void *a, cudaDataType type_a, int lda, const void *b,
			    cudaDataType type_b, int ldb, const void *beta, void *c,
			    cudaDataType type_c, int ldc, cublasComputeType_t compute,
			    cublasGemmAlgo_t algo)
{
	struct product p = {
		.trans_a = trans_a == CUBLAS_OP_T,
		.trans_b = trans_b == CUBLAS_OP_T,
		.m = m,
		.n = n,
		.k = k,
		.lda = lda,
		.ldb = ldb,
		.ldd = ldc,
		.a = a,
		.b = b,
		.half = type_a == CUDA_R_16BF,
		.d = c,
		.epilogue = CUBLASLT_EPILOGUE_DEFAULT,
	};
	cublasStatus_t status;

	(void)algo;
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	status = product_check(&p);
	if (status || !alpha || !beta)
		return CUBLAS_STATUS_INVALID_VALUE;
	if ((type_a != CUDA_R_32F && type_a != CUDA_R_16BF) || type_b != type_a ||
	    type_c != CUDA_R_32F || compute != CUBLAS_COMPUTE_32F)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	set_scales(&p, handle->pointer_mode, alpha, beta);
	return m && n ? product_submit(&p, handle->stream) : CUBLAS_STATUS_SUCCESS;
}
