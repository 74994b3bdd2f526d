/*
 * library.c - products by cuBLAS, in fp32.
 *
 * Our matrices lie row by row and cuBLAS counts columns first: what it sees are the transposes, so
 * it computes C' = B' A' from B and A as they lie.
 */
#include <errno.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/matmul/matmul.h"

int matmul_library_init(struct matmul_library *l)
{
	int err = blas_load(&l->blas);

	err = err ? err : device_new(&l->workspace, MATMUL_WORKSPACE, "impl=cublas");
	if (err)
		return err;
	l->stream = cudaStreamLegacy; /* none that steps come in */
	return blas_create(l->blas, &l->handle);
}

void matmul_library_release(struct matmul_library *l)
{
	if (l->handle)
		BLAS(l->blas, l->blas->cublasDestroy(l->handle));
	device_free(l->workspace);
	*l = (struct matmul_library){ 0 };
}

/* A new stream takes the workspace away; without ours the library would allocate in a capture. */
static void use_stream(struct matmul_library *l, cudaStream_t stream)
{
	if (l->stream == stream)
		return;
	BLAS(l->blas, l->blas->cublasSetStream(l->handle, stream));
	BLAS(l->blas, l->blas->cublasSetWorkspace(l->handle, l->workspace, MATMUL_WORKSPACE));
	l->stream = stream;
}

void matmul_library_multiply(struct matmul_library *l, struct matmul_shape s, const float *a,
			     const float *b, float *c, cudaStream_t stream)
{
	static const float one = 1, none = 0;
	int m = (int)s.m, n = (int)s.n, k = (int)s.k;

	use_stream(l, stream);
	BLAS(l->blas, l->blas->cublasGemmEx(l->handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b,
					    CUDA_R_32F, n, a, CUDA_R_32F, k, &none, c, CUDA_R_32F,
					    n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}
