/* test_cpu_blas.c - what the CPU device's cuBLAS refuses, with the status that cuBLAS gives. */
#include "tests/plain.h"
#include "common/blas.h"

#include <cuda_runtime_api.h>

TestSuite(small_cpu_blas, .timeout = 300);

static const float one = 1, none = 0;
static float *memory;

static const struct blas *load(void)
{
	const struct blas *b;

	cr_assert(!blas_load(&b), "see stderr");
	cr_assert(!cudaMalloc((void **)&memory, 4096), "memory");
	return b;
}

static cublasStatus_t gemm(const struct blas *b, cublasHandle_t h, int lda, int ldb, int ldc,
			   cudaDataType type, cublasComputeType_t compute)
{
	return b->cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_T, 4, 5, 6, &one, memory, type, lda,
			       memory, CUDA_R_32F, ldb, &none, memory + 512, CUDA_R_32F, ldc,
			       compute, CUBLAS_GEMM_DEFAULT);
}

Test(small_cpu_blas, gemm_refuses_what_cublas_refuses)
{
	const struct blas *b = load();
	const cublasComputeType_t fp32 = CUBLAS_COMPUTE_32F, tf32 = CUBLAS_COMPUTE_32F_FAST_TF32;
	cublasHandle_t h;

	cr_assert(!b->cublasCreate(&h), "handle");
	cr_expect(gemm(b, h, 4, 5, 4, CUDA_R_32F, fp32) == CUBLAS_STATUS_SUCCESS, "right");
	cr_expect(gemm(b, NULL, 4, 5, 4, CUDA_R_32F, fp32) == CUBLAS_STATUS_NOT_INITIALIZED,
		  "no handle");
	cr_expect(gemm(b, h, 3, 5, 4, CUDA_R_32F, fp32) == CUBLAS_STATUS_INVALID_VALUE, "lda");
	cr_expect(gemm(b, h, 4, 4, 4, CUDA_R_32F, fp32) == CUBLAS_STATUS_INVALID_VALUE, "ldb");
	cr_expect(gemm(b, h, 4, 5, 3, CUDA_R_32F, fp32) == CUBLAS_STATUS_INVALID_VALUE, "ldc");
	cr_expect(gemm(b, h, 4, 5, 4, CUDA_R_16BF, fp32) == CUBLAS_STATUS_NOT_SUPPORTED,
		  "bf16 by fp32");
	cr_expect(gemm(b, h, 4, 5, 4, CUDA_R_32F, tf32) == CUBLAS_STATUS_NOT_SUPPORTED, "tf32");
	cr_expect(b->cublasSetWorkspace(h, NULL, 4) == CUBLAS_STATUS_INVALID_VALUE, "workspace");
	cudaDeviceSynchronize();
	cr_expect(!b->cublasDestroy(h), "handle");
}

/* 4 x 5 of inner length 6; what the heuristic says of it with this epilogue. */
static cublasStatus_t ask(const struct blas *b, uint32_t epilogue, void *bias, int64_t mask_ld,
			  uint64_t inner)
{
	cublasLtMatmulHeuristicResult_t found;
	cublasLtMatmulPreference_t want;
	cublasLtMatrixLayout_t l[3];
	cublasLtMatmulDesc_t desc;
	cublasLtHandle_t h;
	cublasStatus_t status;
	int n;

	cr_assert(!b->cublasLtCreate(&h) && !b->cublasLtMatmulPreferenceCreate(&want) &&
			  !b->cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) &&
			  !b->cublasLtMatrixLayoutCreate(&l[0], CUDA_R_32F, 4, 6, 4) &&
			  !b->cublasLtMatrixLayoutCreate(&l[1], CUDA_R_32F, inner, 5,
							 (int64_t)inner) &&
			  !b->cublasLtMatrixLayoutCreate(&l[2], CUDA_R_32F, 4, 5, 4),
		  "descriptors");
	b->cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 4);
	b->cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, 8);
	b->cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &bias,
					  8);
	b->cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &mask_ld, 8);
	cr_expect(b->cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &mask_ld,
						    8) == CUBLAS_STATUS_INVALID_VALUE,
		  "the size of an attribute");
	status = b->cublasLtMatmulAlgoGetHeuristic(h, desc, l[0], l[1], l[2], l[2], want, 1, &found,
						   &n);
	for (int i = 0; i < 3; i++)
		b->cublasLtMatrixLayoutDestroy(l[i]);
	b->cublasLtMatmulDescDestroy(desc);
	b->cublasLtMatmulPreferenceDestroy(want);
	b->cublasLtDestroy(h);
	cr_expect(status || n == 1, "found %d", n);
	return status;
}

Test(small_cpu_blas, the_heuristic_refuses_what_cublas_refuses)
{
	const struct blas *b = load();

	cr_expect(ask(b, CUBLASLT_EPILOGUE_DEFAULT, NULL, 0, 6) == CUBLAS_STATUS_SUCCESS, "plain");
	cr_expect(ask(b, CUBLASLT_EPILOGUE_DEFAULT, NULL, 0, 7) == CUBLAS_STATUS_INVALID_VALUE,
		  "lengths");
	cr_expect(ask(b, CUBLASLT_EPILOGUE_RELU, NULL, 0, 6) == CUBLAS_STATUS_SUCCESS, "ReLU");
	cr_expect(ask(b, CUBLASLT_EPILOGUE_RELU_BIAS, memory, 0, 6) == CUBLAS_STATUS_SUCCESS,
		  "bias");
	cr_expect(ask(b, CUBLASLT_EPILOGUE_RELU_BIAS, NULL, 0, 6) == CUBLAS_STATUS_INVALID_VALUE,
		  "no bias");
	cr_expect(ask(b, CUBLASLT_EPILOGUE_RELU_AUX_BIAS, memory, 128, 6) == CUBLAS_STATUS_SUCCESS,
		  "mask");
	cr_expect(ask(b, CUBLASLT_EPILOGUE_DRELU_BGRAD, memory, 64, 6) ==
			  CUBLAS_STATUS_INVALID_VALUE,
		  "the mask's columns");
	cr_expect(ask(b, 32 /* GELU */, memory, 0, 6) == CUBLAS_STATUS_NOT_SUPPORTED, "GELU");
}
