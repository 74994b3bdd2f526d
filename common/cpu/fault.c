/*
 * fault.c - what is said when a kernel touches memory that is not there: one line with kernel,
 * block and thread, before the signal takes its course. Faults outside kernels are left alone.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "block.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { NULL_BYTES = 64 << 10 }; /* fields and elements of what a null pointer points to */

static struct sigaction before[2]; /* who handled SIGSEGV and SIGBUS */

static const char *describe(const struct executor *e, const char *address)
{
	/* A block ends less than 256 bytes before its guard page. */
	struct allocation a = allocation_find(address - (uintptr_t)address % GUARD_BYTES - 256);

	if ((uintptr_t)address < NULL_BYTES)
		return "null pointer";
	if (pages_buried(address))
		return "freed device memory";
	if (address >= e->stacks && address < e->stacks + executor_stack_bytes())
		return "beyond the thread's stack (too many local variables)";
	if (a.type == cudaMemoryTypeDevice)
		return "beyond the end of device memory";
	return executor_owns_guard(e, address) ? "beyond the end of shared memory"
					       : "not device memory";
}

/* The kernel gives no address for one that no pointer can have. */
static void say(const struct executor *e, const siginfo_t *info)
{
	char line[512], where[128] = "an address that no pointer can have: not device memory";

	if (info->si_code != SI_KERNEL)
		snprintf(where, sizeof(where), "address %p: %s", info->si_addr,
			 describe(e, info->si_addr));
	int n = snprintf(line, sizeof(line),
			 "rift: CPU device: kernel %.90s, block (%u,%u,%u), thread (%u,%u,%u): "
			 "access to %s\n",
			 e->launch->kernel->name, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
			 threadIdx.y, threadIdx.z, where);

	(void)!write(STDERR_FILENO, line, (size_t)n);
}

/* As if this handler had never been there. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
	const struct sigaction *old = &before[signal == SIGBUS];

	if (old->sa_flags & SA_SIGINFO) {
		old->sa_sigaction(signal, info, context);
	} else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
		old->sa_handler(signal);
	} else {
		/* A fault comes again when the instruction does; a signal somebody sent does not.
		 */
		sigaction(signal, old, NULL);
		if (info->si_code <= 0)
			raise(signal);
	}
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	/* Only faults of the thread itself: a signal from elsewhere says nothing about it. */
	if (executor && executor->launch && info->si_code > 0)
		say(executor, info);
	pass_on(signal, info, context);
}

static void install(void)
{
	struct sigaction mine = { .sa_flags = SA_SIGINFO | SA_ONSTACK };

	mine.sa_sigaction = on_fault;
	sigemptyset(&mine.sa_mask);
	sigaction(SIGSEGV, &mine, &before[0]);
	sigaction(SIGBUS, &mine, &before[1]);
}

void faults_watch(struct executor *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	stack_t stack = { .ss_sp = e->signal_stack, .ss_size = sizeof(e->signal_stack) };

#if defined(CPUDEV_ASAN) || defined(CPUDEV_TSAN)
	return; /* they have handlers of their own */
#endif
	sigaltstack(&stack, NULL);
	pthread_once(&once, install);
}

void faults_unwatch(void)
{
	stack_t none = { .ss_flags = SS_DISABLE };

#if defined(CPUDEV_ASAN) || defined(CPUDEV_TSAN)
	return;
#endif
	sigaltstack(&none, NULL);
}
