/*
 * context.h - switching between coroutines: x86-64 assembly, or _setjmp anywhere else and with
 * -DCPUDEV_PORTABLE_SWITCH (CPU device, internal).
 *
 * A coroutine starts at `entry` on its own stack, is resumed where it last switched away, and
 * may be abandoned: context_start() makes it fresh again. Signal masks and floating-point modes
 * are shared by all. Shadow stacks (CET) are not supported.
 */
#ifndef RIFT_CPU_CONTEXT_H
#define RIFT_CPU_CONTEXT_H

#include <stdint.h>

#include "common/cpu/base/sanitize.h"

#if !defined(__x86_64__) && !defined(CPUDEV_PORTABLE_SWITCH)
#define CPUDEV_PORTABLE_SWITCH 1
#endif

/*
 * Checkers track the calls on each stack, and ucontext is slow to start: there coroutines return
 * from their kernel at the end of a launch. Otherwise they are abandoned, which is faster.
 */
#if defined(CPUDEV_ASAN) || defined(CPUDEV_TSAN) || defined(CPUDEV_PORTABLE_SWITCH)
#define CONTEXT_UNWIND 1
#else
#define CONTEXT_UNWIND 0
#endif

#ifdef CPUDEV_PORTABLE_SWITCH
#include <setjmp.h>
#include <ucontext.h>
#endif

struct context {
	void *stack; /* saved stack pointer */
#ifdef CPUDEV_PORTABLE_SWITCH
	ucontext_t start;
	jmp_buf resume;
	int started;
#endif
#ifdef CPUDEV_ASAN
	const void *bottom;
	size_t size;
	void *fake_stack;
#endif
#ifdef CPUDEV_TSAN
	void *fiber;
#endif
};

/* Makes a coroutine that starts at entry, which must not return, on the stack [low, top). */
static inline void context_start(struct context *c, void (*entry)(void), char *low, char *top)
{
	top = (char *)((uintptr_t)top & ~(uintptr_t)63);
#ifdef CPUDEV_PORTABLE_SWITCH
	getcontext(&c->start);
	c->start.uc_stack.ss_sp = low;
	c->start.uc_stack.ss_size = (size_t)(top - low);
	c->start.uc_link = NULL;
	makecontext(&c->start, entry, 0);
	c->started = 0;
#else
	void **stack = (void **)top;

	*--stack = NULL; /* where a return address would be: keeps the ABI's alignment */
	*--stack = (void *)entry;
	c->stack = stack;
#endif
#ifdef CPUDEV_ASAN
	c->bottom = low;
	c->size = (size_t)(top - low);
	c->fake_stack = NULL;
#endif
	(void)low;
}

/* The calling thread's own stack as a coroutine. */
static inline void context_adopt(struct context *c, void *bottom, size_t size)
{
#ifdef CPUDEV_PORTABLE_SWITCH
	c->started = 1;
#endif
#ifdef CPUDEV_ASAN
	c->bottom = bottom;
	c->size = size;
#endif
#ifdef CPUDEV_TSAN
	c->fiber = __tsan_get_current_fiber();
#endif
	(void)c;
	(void)bottom;
	(void)size;
}

/* First thing in a new coroutine. */
static inline void context_entered(void)
{
#ifdef CPUDEV_ASAN
	__sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
}

#ifdef CPUDEV_PORTABLE_SWITCH
static inline void context_jump(struct context *from, struct context *to)
{
	if (_setjmp(from->resume))
		return;
	if (to->started)
		_longjmp(to->resume, 1);
	to->started = 1;
	setcontext(&to->start);
}
#else
/*
 * In line, and with a jump instead of a return: no call is split between two stacks, so the
 * processor's return-address predictor stays right. 128 bytes are the red zone, in which the
 * surrounding function may keep variables. All other registers are declared lost.
 */
static inline __attribute__((always_inline)) void context_jump(struct context *from,
							       struct context *to)
{
	void **save = &from->stack;
	void *load = to->stack;

	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
			 "pushq %%rbp\n\t"
			 "pushq %%rbx\n\t"
			 "leaq 1f(%%rip), %%rax\n\t"
			 "pushq %%rax\n\t"
			 "movq %%rsp, (%0)\n\t"
			 "movq %1, %%rsp\n\t"
			 "popq %%rax\n\t"
			 "jmp *%%rax\n"
			 "1:\n\t"
			 "popq %%rbx\n\t"
			 "popq %%rbp\n\t"
			 "leaq 128(%%rsp), %%rsp\n\t"
			 : "+D"(save), "+S"(load)
			 :
			 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
			   "r15", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
			   "xmm14", "xmm15");
}
#endif

/* Suspends the running coroutine `from` and resumes or starts `to`. */
static inline __attribute__((always_inline)) void context_switch(struct context *from,
								 struct context *to)
{
#ifdef CPUDEV_ASAN
	__sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->size);
#endif
#ifdef CPUDEV_TSAN
	__tsan_switch_to_fiber(to->fiber, TSAN_NO_ORDER);
#endif
	context_jump(from, to);
#ifdef CPUDEV_ASAN
	__sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

#endif
