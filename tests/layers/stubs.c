/*
 * stubs.c - a CUDA runtime that does nothing: each function of layers/runtime_calls.h writes down
 * the registers and the stack that it was called with, and returns what it was told to. Built
 * without sanitizers, as it stands in place of NVIDIA's.
 */
#include "tests/layers/stubs.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

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

/* ---- functions ------------------------------------------------------------------------------ */

enum number {
#define RUNTIME_CALL(function, versions) NUMBER_##function,
#include "layers/runtime_calls.h"
#undef RUNTIME_CALL
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

#define RUNTIME_CALL(function, versions)                                                           \
	SHOWN __attribute__((naked)) void function(void);                                          \
	void function(void)                                                                        \
	{                                                                                          \
		__asm__ volatile("movq %0, stub_seen+224(%%rip)\n\t"                               \
				 "jmp stub_common"                                                 \
				 :                                                                 \
				 : "i"(NUMBER_##function));                                        \
	}
#include "layers/runtime_calls.h"
#undef RUNTIME_CALL

/* ---- a search that leaves no register as it was ------------------------------------------------
 */

#ifndef STUBS_LEAVE_SEARCH /* sanitizers search as they start */

static const struct {
	const char *name;
	void (*function)(void);
} functions[] = {
#define RUNTIME_CALL(function, versions) { #function, function },
#include "layers/runtime_calls.h"
#undef RUNTIME_CALL
};

static void *next_function(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!strcmp(functions[i].name, name))
			return *(void *const *)&functions[i].function;
	return NULL;
}

static void *(*real_dlsym(void))(void *, const char *)
{
	void *found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	void *(*real)(void *, const char *);

	if (!found)
		found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	memcpy(&real, &found, sizeof(real));
	return real;
}

/* In place of the C library's, which happens to use few vectors. The stubs are all next ones. */
SHOWN void *dlsym(void *restrict handle, const char *restrict name)
{
	void *found = handle == RTLD_NEXT ? next_function(name) : real_dlsym()(handle, name);

	__asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n\t"
			 "movaps %%xmm0, %%xmm1\n\t"
			 "movaps %%xmm0, %%xmm2\n\t"
			 "movaps %%xmm0, %%xmm3\n\t"
			 "movaps %%xmm0, %%xmm4\n\t"
			 "movaps %%xmm0, %%xmm5\n\t"
			 "movaps %%xmm0, %%xmm6\n\t"
			 "movaps %%xmm0, %%xmm7\n\t"
			 "movq $-1, %%rdi\n\t"
			 "movq $-1, %%rsi\n\t"
			 "movq $-1, %%rdx\n\t"
			 "movq $-1, %%rcx\n\t"
			 "movq $-1, %%r8\n\t"
			 "movq $-1, %%r9\n\t"
			 "movq $-1, %%r10\n\t"
			 "movq $-1, %%r11"
			 :
			 :
			 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "rdi",
			   "rsi", "rdx", "rcx", "r8", "r9", "r10", "r11");
	return found;
}

#endif
#endif
