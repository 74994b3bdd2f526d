/* blas.h - functions of cuBLAS by number, and what all of them but blas.c's own jump through. */
#ifndef RIFT_LAYER_EMULATE_BLAS_H
#define RIFT_LAYER_EMULATE_BLAS_H

enum blas_call {
#define BLAS_CALL(function) BLAS_##function,
#include "layers/blas_calls.h"
#undef BLAS_CALL
	BLAS_CALLS
};

/*
 * Where the call goes next, when nothing waits before it and its cost was spent. caller: the code
 * that it returns to; what cuBLAS itself calls is a part of a call that was charged.
 */
__attribute__((visibility("hidden"))) void *emulate_blas_next(long call, const void *caller);

#endif
