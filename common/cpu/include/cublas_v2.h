/*
 * cublas_v2.h - the part of cuBLAS that rift uses, for the CPU device: fp32 products, in the
 * order of a stream, captured like any launch. Names, values and statuses are NVIDIA's, and so is
 * the manual. common/blas.h loads the library.
 */
#ifndef RIFT_CPU_CUBLAS_V2_H
#define RIFT_CPU_CUBLAS_V2_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#include "library_types.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum {
	CUBLAS_STATUS_SUCCESS = 0,
	CUBLAS_STATUS_NOT_INITIALIZED = 1,
	CUBLAS_STATUS_ALLOC_FAILED = 3,
	CUBLAS_STATUS_INVALID_VALUE = 7,
	CUBLAS_STATUS_ARCH_MISMATCH = 8,
	CUBLAS_STATUS_MAPPING_ERROR = 11,
	CUBLAS_STATUS_EXECUTION_FAILED = 13,
	CUBLAS_STATUS_INTERNAL_ERROR = 14,
	CUBLAS_STATUS_NOT_SUPPORTED = 15,
	CUBLAS_STATUS_LICENSE_ERROR = 16,
} cublasStatus_t;

typedef enum {
	CUBLAS_OP_N = 0,
	CUBLAS_OP_T = 1,
} cublasOperation_t;

typedef enum {
	CUBLAS_COMPUTE_32F = 68,
	CUBLAS_COMPUTE_32F_FAST_TF32 = 77, /* known, but refused */
} cublasComputeType_t;

typedef enum {
	CUBLAS_GEMM_DEFAULT = -1,
} cublasGemmAlgo_t;

typedef enum {
	CUBLAS_POINTER_MODE_HOST = 0,
	CUBLAS_POINTER_MODE_DEVICE = 1,
} cublasPointerMode_t;

typedef enum {
	CUBLAS_DEFAULT_MATH = 0,
	CUBLAS_PEDANTIC_MATH = 2,
	CUBLAS_TF32_TENSOR_OP_MATH = 3, /* known, but refused */
} cublasMath_t;

typedef struct cublasContext *cublasHandle_t;

#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasSetStream cublasSetStream_v2
#define cublasSetWorkspace cublasSetWorkspace_v2
#define cublasSetPointerMode cublasSetPointerMode_v2

cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
const char *cublasGetStatusName(cublasStatus_t status);

/* C = alpha op(A) op(B) + beta C; columns first; alpha and beta where the pointer mode says. */
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t trans_a,
			    cublasOperation_t trans_b, int m, int n, int k, const void *alpha,
			    const void *a, cudaDataType type_a, int lda, const void *b,
			    cudaDataType type_b, int ldb, const void *beta, void *c,
			    cudaDataType type_c, int ldc, cublasComputeType_t compute,
			    cublasGemmAlgo_t algo);

/* The CPU device's own: what computes the products, "OpenBLAS 0.3.21, one thread". */
const char *cpudev_blas_name(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
