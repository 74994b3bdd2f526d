/*
 * refused_blas.c - every function of NVIDIA's cuBLAS and cuBLASLt that no other file here defines:
 * it is refused by its name (refused.c).
 */
#include "layers/remote/preload/client.h"

enum { NOT_SUPPORTED = 15 }; /* cublasStatus_t */

#define BLAS_CALL(function)                                                                        \
	SHOWN __attribute__((weak)) int function(void);                                            \
	int function(void)                                                                         \
	{                                                                                          \
		client_say_refused(#function);                                                     \
		return NOT_SUPPORTED;                                                              \
	}
#include "layers/blas_calls.h"
