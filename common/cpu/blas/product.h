/* product.h - one matrix product of the CPU device's cuBLAS, as it travels into a stream. */
#ifndef RIFT_CPU_BLAS_PRODUCT_H
#define RIFT_CPU_BLAS_PRODUCT_H

#include <cublasLt.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* D = epilogue(alpha op(A) op(B) + beta D); D is m x n, columns first, k the inner length. */
struct product {
	int trans_a, trans_b; /* bool */
	int m, n, k;
	int lda, ldb, ldd;
	float alpha, beta;
	const float *alpha_at, *beta_at; /* on the device, read when it runs; NULL: those above */
	const void *a, *b;
	int half; /* bool: a and b are bfloat16, else float */
	float *d;
	int epilogue;	 /* cublasLtEpilogue_t */
	float *bias;	 /* m: added to each column; of DRELU_BGRAD the sums of D's rows, out */
	uint8_t *mask;	 /* a bit for each element of D */
	int64_t mask_ld; /* bits from one column to the next */
};

/* Launches it as a kernel of one thread: in the stream's order, and captured like any launch. */
cublasStatus_t product_submit(const struct product *p, cudaStream_t stream);

/* The sizes and leading dimensions that cuBLAS takes. */
cublasStatus_t product_check(const struct product *p);

/* D = alpha op(A) op(B) + beta D on the calling thread; a and b are floats. */
void product_compute(const struct product *p);

/* The same of bfloat16: as floats they lose nothing. */
void product_compute_half(const struct product *p);

#ifdef __cplusplus
}
#endif
#endif
