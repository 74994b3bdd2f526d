/*
 * stubs.c - a CUDA runtime that does nothing: each function of layers/shim/names.h writes down the
 * registers and the stack that it was called with, and returns what it was told to. Built without
 * sanitizers, as it stands in place of NVIDIA's.
 */
#include "tests/layers/stubs.h"

#define HIDDEN __attribute__((visibility("hidden"), used))
#define SHOWN __attribute__((visibility("default")))

HIDDEN struct stub_seen stub_seen;
HIDDEN struct stub_answer stub_answer;

SHOWN struct stub_seen *stubs_seen(void)
{
	return &stub_seen;
}

SHOWN struct stub_answer *stubs_answer(void)
{
	return &stub_answer;
}

enum number {
#define SHIM_NAME(function, versions) NUMBER_##function,
#include "layers/shim/names.h"
#undef SHIM_NAME
};

#ifdef __x86_64__

/* As the offsets of struct stub_seen are; r11 is nobody's. */
__asm__("	.text\n"
	"stub_common:\n"
	"	movq %rdi, stub_seen(%rip)\n"
	"	movq %rsi, stub_seen+8(%rip)\n"
	"	movq %rdx, stub_seen+16(%rip)\n"
	"	movq %rcx, stub_seen+24(%rip)\n"
	"	movq %r8, stub_seen+32(%rip)\n"
	"	movq %r9, stub_seen+40(%rip)\n"
	"	movq %rax, stub_seen+48(%rip)\n"
	"	movq %r10, stub_seen+56(%rip)\n"
	"	movups %xmm0, stub_seen+64(%rip)\n"
	"	movups %xmm1, stub_seen+80(%rip)\n"
	"	movups %xmm2, stub_seen+96(%rip)\n"
	"	movups %xmm3, stub_seen+112(%rip)\n"
	"	movups %xmm4, stub_seen+128(%rip)\n"
	"	movups %xmm5, stub_seen+144(%rip)\n"
	"	movups %xmm6, stub_seen+160(%rip)\n"
	"	movups %xmm7, stub_seen+176(%rip)\n"
	"	movq 8(%rsp), %r11\n	movq %r11, stub_seen+192(%rip)\n"
	"	movq 16(%rsp), %r11\n	movq %r11, stub_seen+200(%rip)\n"
	"	movq 24(%rsp), %r11\n	movq %r11, stub_seen+208(%rip)\n"
	"	movq 32(%rsp), %r11\n	movq %r11, stub_seen+216(%rip)\n"
	"	movq %rsp, stub_seen+232(%rip)\n"
	"	movq stub_answer(%rip), %rax\n"
	"	movq stub_answer+8(%rip), %rdx\n"
	"	movups stub_answer+16(%rip), %xmm0\n"
	"	ret\n");

#define SHIM_NAME(function, versions)                                                              \
	SHOWN __attribute__((naked)) void function(void);                                          \
	void function(void)                                                                        \
	{                                                                                          \
		__asm__ volatile("movq %0, stub_seen+224(%%rip)\n\t"                               \
				 "jmp stub_common"                                                 \
				 :                                                                 \
				 : "i"(NUMBER_##function));                                        \
	}
#include "layers/shim/names.h"
#undef SHIM_NAME

#endif
