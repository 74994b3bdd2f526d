/*
 * blas_jumps.c - each function of cuBLAS: asks emulate_blas_next() and jumps there, with registers
 * and stack as they were. Those that blas.c has by themselves win over these.
 */
#include "layers/emulate/preload/blas.h"
#include "layers/interpose.h"

#ifdef __x86_64__

__asm__(INTERPOSE_JUMP("emulate_blas", "emulate_blas_next"));

#define BLAS_CALL(function)                                                                        \
	__attribute__((naked, weak, visibility("default"))) void function(void);                   \
	void function(void)                                                                        \
	{                                                                                          \
		__asm__ volatile("pushq %0\n\tjmp emulate_blas" : : "i"(BLAS_##function));         \
	}
#include "layers/blas_calls.h"
#undef BLAS_CALL

#endif
