/*
 * blas.h - matrix products: cuBLAS and cuBLASLt, loaded when a workload asks for them, so that
 * the others pay neither the time nor the address space (they are 600 MB).
 *
 *   const struct blas *b;
 *   int err = blas_load(&b);
 *   if (!err)
 *           BLAS(b, b->cublasLtMatmul(...));
 *
 * On the CPU device the library of that name is common/cpu/blas: the same calls, in fp32, by
 * OpenBLAS. A preloaded wrapper is called first, as with linked libraries.
 */
#ifndef RIFT_BLAS_H
#define RIFT_BLAS_H

/* A toolkit without cuBLAS's headers compiles against ours, whose values and types are the same. */
#if defined(__has_include) && !__has_include(<cublasLt.h>)
#include "common/cpu/include/cublasLt.h"
#else
#include <cublasLt.h>
#include <cublas_v2.h>
#endif

#include "common/check.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every function that rift calls, also for others (layers/remote). Some are macros for a name with
 * _v2. */
#define BLAS_CALLS(F)                                                                              \
	F(cublasCreate)                                                                            \
	F(cublasDestroy)                                                                           \
	F(cublasSetStream)                                                                         \
	F(cublasSetWorkspace)                                                                      \
	F(cublasSetPointerMode)                                                                    \
	F(cublasSetMathMode)                                                                       \
	F(cublasGemmEx)                                                                            \
	F(cublasGetStatusName)                                                                     \
	F(cublasLtCreate)                                                                          \
	F(cublasLtDestroy)                                                                         \
	F(cublasLtGetVersion)                                                                      \
	F(cublasLtMatmulDescCreate)                                                                \
	F(cublasLtMatmulDescDestroy)                                                               \
	F(cublasLtMatmulDescSetAttribute)                                                          \
	F(cublasLtMatrixLayoutCreate)                                                              \
	F(cublasLtMatrixLayoutDestroy)                                                             \
	F(cublasLtMatmulPreferenceCreate)                                                          \
	F(cublasLtMatmulPreferenceDestroy)                                                         \
	F(cublasLtMatmulPreferenceSetAttribute)                                                    \
	F(cublasLtMatmulAlgoGetHeuristic)                                                          \
	F(cublasLtMatmul)

enum { BLAS_NAME = 64 };

#define BLAS_POINTER(name) __typeof__(name) *name;
struct blas {
	BLAS_CALLS(BLAS_POINTER)
	char name[BLAS_NAME]; /* "cuBLAS 13.0.2"; "OpenBLAS 0.3.21, one thread" */
};
#undef BLAS_POINTER

/*
 * Loads the library once, for good. Returns 0, or -ENOENT after one line that says what is missing
 * and where it was looked for. One thread at a time.
 */
int blas_load(const struct blas **out);

/*
 * A handle of cuBLAS, or of cuBLASLt. Returns 0, or -ENOTSUP after one line: a layer has calls
 * executed elsewhere, and not the library's, or there is none there. Any other failure is fatal.
 */
int blas_create(const struct blas *b, cublasHandle_t *handle);
int blas_create_lt(const struct blas *b, cublasLtHandle_t *handle);

/* "cuBLAS 13.1.0" of 130100, as cublasLtGetVersion() has it. */
void blas_cublas_name(unsigned version, char out[BLAS_NAME]);

/* A call that must succeed; b gives the status its name. Evaluates the call once. */
#define BLAS(b, call)                                                                              \
	do {                                                                                       \
		cublasStatus_t status_ = (call);                                                   \
		if (status_ != CUBLAS_STATUS_SUCCESS)                                              \
			die_at(__FILE__, __LINE__, __func__, #call, "%s",                          \
			       (b)->cublasGetStatusName(status_));                                 \
	} while (0)

#ifdef __cplusplus
}
#endif
#endif
