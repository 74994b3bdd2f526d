/*
 * fault.c - what is said when a kernel or a copy touches memory that is not there, and when a
 * kernel divides by zero or aborts: one line with kernel, block and thread, before the signal
 * takes its course. Faults of the host are left alone. Sanitizers handle signals themselves: see
 * death.c.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/cpu/kernel/block.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#ifndef CPUDEV_SANITIZED
enum { NULL_BYTES = 64 << 10 }; /* fields and elements of what a null pointer points to */

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT };
enum { SIGNALS = sizeof(signals) / sizeof(*signals) };
static struct sigaction before[SIGNALS]; /* who handled them */

/* e is NULL for a copy. */
static const char *describe(const struct executor *e, const char *address)
{
	/* A block ends less than 256 bytes before its guard page. */
	struct allocation a = allocation_find(address - (uintptr_t)address % GUARD_BYTES - 256);

	if ((uintptr_t)address < NULL_BYTES)
		return "null pointer";
	if (pages_buried(address))
		return "freed device memory";
	if (e && address >= e->stacks && address < e->stacks + executor_stack_bytes())
		return "beyond the thread's stack (too many local variables)";
	if (a.type == cudaMemoryTypeDevice)
		return "beyond the end of device memory";
	return e && executor_owns_guard(e, address) ? "beyond the end of shared memory"
						    : "not device memory";
}

enum { WHAT_BYTES = 128 };

/* The kernel gives no address for one that no pointer can have. */
static void what_happened(const struct executor *e, const siginfo_t *info, char what[WHAT_BYTES])
{
	if (info->si_signo == SIGFPE)
		snprintf(what, WHAT_BYTES, "integer division by zero, or its result too large");
	else if (info->si_signo == SIGABRT)
		snprintf(what, WHAT_BYTES, "assertion failed, __trap() or abort()");
	else if (info->si_code == SI_KERNEL)
		snprintf(what, WHAT_BYTES,
			 "access to an address that no pointer can have: not device memory");
	else
		snprintf(what, WHAT_BYTES, "access to address %p: %s", info->si_addr,
			 describe(e, info->si_addr));
}

static void say_of_copy(const struct transfer *t, const char *what)
{
	char line[512];
	int n = snprintf(line, sizeof(line), "rift: CPU device: a copy of %zu bytes: %s\n",
			 t->bytes * t->rows, what);

	(void)!write(STDERR_FILENO, line, (size_t)n);
}

static void say(const struct executor *e, const siginfo_t *info)
{
	char what[WHAT_BYTES];

	what_happened(e, info, what);
	if (e)
		report_thread(e, what);
	else
		say_of_copy(running_copy, what);
}

static const struct sigaction *handler_before(int signal)
{
	int i = 0;

	while (signals[i] != signal)
		i++;
	return &before[i];
}

/* As if this handler had never been there. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
	const struct sigaction *old = handler_before(signal);

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
	const struct executor *e = executor && executor->launch ? executor : NULL;
	/* Only faults of the thread itself: a signal from elsewhere says nothing about it. */
	bool own =
		signal == SIGABRT ? e && info->si_code == SI_TKILL && !told_why : info->si_code > 0;

	if (own && (e || running_copy))
		say(e, info);
	pass_on(signal, info, context);
}

/* ---- beginning and end ------------------------------------------------------------------ */

static void install(void)
{
	struct sigaction mine = { .sa_flags = SA_SIGINFO | SA_ONSTACK };

	mine.sa_sigaction = on_fault;
	sigemptyset(&mine.sa_mask);
	for (int i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &mine, &before[i]);
}

void faults_explain(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
}

void faults_watch(struct executor *e)
{
	stack_t stack = { .ss_sp = e->signal_stack, .ss_size = sizeof(e->signal_stack) };

	sigaltstack(&stack, NULL);
}

void faults_unwatch(void)
{
	stack_t none = { .ss_flags = SS_DISABLE };

	sigaltstack(&none, NULL);
}
#endif
