/*
 * fault.c - what is said about a kernel that cannot go on, before the program ends: one line with
 * kernel, block and thread. It may wait for what never comes, touch memory that is not there,
 * divide by zero or abort; copies may touch such memory too. Faults of the host are left alone.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/cpu/kernel/block.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* ---- threads that wait for what never comes -------------------------------------------- */

static const char *const op_names[] = {
	[CPUDEV_SHUFFLE] = "a shuffle",
	[CPUDEV_BALLOT] = "a vote",
	[CPUDEV_SYNCWARP] = "__syncwarp",
	[CPUDEV_MATCH] = "a match",
};

enum { WHERE_BYTES = 160 };

/* "thread (1,0,0) in a vote with mask 0x000000ff" */
static void describe_thread(const struct executor *e, unsigned t, char where[WHERE_BYTES])
{
	const struct warp *w = &e->warp[t / WARP_THREADS];
	uint64_t meeting = w->meeting[t % WARP_THREADS];
	int n = snprintf(where, WHERE_BYTES, "thread (%u,%u,%u)", e->index[t].x, e->index[t].y,
			 e->index[t].z);

	if (in_set(e->at_barrier, t))
		snprintf(where + n, WHERE_BYTES - (size_t)n, " at __syncthreads");
	else
		snprintf(where + n, WHERE_BYTES - (size_t)n, " in %s with mask 0x%08x",
			 op_names[meeting >> 32], (unsigned)meeting);
}

/* "kernel scan, block (3,0,0)" */
static const char *describe_block(const struct executor *e, char where[WHERE_BYTES])
{
	snprintf(where, WHERE_BYTES, "kernel %.90s, block (%u,%u,%u)", e->launch->kernel->name,
		 blockIdx.x, blockIdx.y, blockIdx.z);
	return where;
}

static bool in_warp_operation(const struct executor *e, unsigned t)
{
	return e->warp[t / WARP_THREADS].waiting >> (t % WARP_THREADS) & 1;
}

/* Downwards, so that what is left is the first thread of each kind. */
void report_deadlock(struct executor *e)
{
	char block[WHERE_BYTES], at_barrier[WHERE_BYTES] = "none", in_warp[WHERE_BYTES] = "none";
	unsigned n_in_warp = 0;

	for (unsigned t = e->n_threads; t-- > 0;) {
		if (in_set(e->at_barrier, t)) {
			describe_thread(e, t, at_barrier);
		} else if (in_warp_operation(e, t)) {
			describe_thread(e, t, in_warp);
			n_in_warp++;
		}
	}
	fatal("deadlock in %s: of %u threads alive %u wait at a barrier (first: %s) and %u in "
	      "warp operations (first: %s)",
	      describe_block(e, block), e->n_alive, e->n_at_barrier, at_barrier, n_in_warp,
	      in_warp);
}

void report_mismatch(struct executor *e, unsigned a, unsigned b)
{
	char block[WHERE_BYTES], one[WHERE_BYTES], other[WHERE_BYTES];

	describe_thread(e, a, one);
	describe_thread(e, b, other);
	fatal("lanes of a warp meet in different operations in %s: %s, %s",
	      describe_block(e, block), one, other);
}

void report_outside_mask(struct executor *e, unsigned thread, uint32_t mask)
{
	char block[WHERE_BYTES];

	fatal("%s, thread (%u,%u,%u): is lane %u, which its own mask 0x%08x does not name",
	      describe_block(e, block), e->index[thread].x, e->index[thread].y, e->index[thread].z,
	      thread % WARP_THREADS, mask);
}

/* ---- signals --------------------------------------------------------------------------- */

/* The running thread knows its indices itself. By one write: the streams may be in any state. */
static void report_thread(const struct executor *e, const char *what)
{
	char line[512];
	int n = snprintf(line, sizeof(line),
			 "rift: CPU device: kernel %.90s, block (%u,%u,%u), thread (%u,%u,%u): "
			 "%s\n",
			 e->launch->kernel->name, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
			 threadIdx.y, threadIdx.z, what);

	(void)!write(STDERR_FILENO, line, (size_t)n);
}

#ifndef CPUDEV_SANITIZED
/* The line comes before the signal takes its course. */

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

/* ---- beginning and end ----------------------------------------------------------------- */

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

#else
/*
 * Sanitizers handle signals themselves. Behind a report that ends the program comes one line with
 * the kernel, block and thread that was running.
 */
void __sanitizer_set_death_callback(void (*callback)(void));

static void say_where(void)
{
	if (executor && executor->launch)
		report_thread(executor, "ran when the sanitizer reported the above");
}

static void install(void)
{
	/* What finds undefined behaviour may be a library of its own, with its own callback. */
	void *ubsan = dlopen("libubsan.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void (*set)(void (*)(void)) = NULL;

	__sanitizer_set_death_callback(say_where);
	if (ubsan)
		*(void **)&set = dlsym(ubsan, "__sanitizer_set_death_callback");
	if (set)
		set(say_where);
}

void faults_explain(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
}
#endif
