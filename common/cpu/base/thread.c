/*
 * thread.c - threads of the device: how one starts, the locks and counters by which they wait for
 * each other, and what the thread sanitizer does not see of them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/cpu/base/base.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	PAUSES_PER_YIELD = 64, /* on average; they take about 1 us on the processors at hand */
	THREAD_STACK_BYTES = 2 << 20, /* a thread of each block runs on it */
};

int thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	err = pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
	if (!err)
		err = pthread_create(thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return err;
}

const void *this_thread(void)
{
	static __thread char its_address_differs;

	return &its_address_differs;
}

/* ---- locks ----------------------------------------------------------------------------- */

static inline void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

void lock_acquire_slow(struct lock *lock)
{
	for (unsigned tries = 1;; tries++) {
		if (!atomic_load_explicit(&lock->held, memory_order_relaxed) &&
		    !atomic_exchange_explicit(&lock->held, 1, memory_order_acquire))
			return;
		if (tries % PAUSES_PER_YIELD)
			cpu_pause();
		else
			sched_yield(); /* its holder may have lost the core */
	}
}

/* ---- counters -------------------------------------------------------------------------- */

void progress_init(struct progress *p)
{
	atomic_init(&p->reached, 0);
	atomic_init(&p->wake_at, UINT64_MAX);
	atomic_init(&p->wakes, 0);
}

static void wake_all(struct progress *p)
{
	/* First forget the sleepers, then change the word: who registers in between sees it. */
	atomic_exchange(&p->wake_at, UINT64_MAX);
	atomic_fetch_add(&p->wakes, 1);
	syscall(SYS_futex, &p->wakes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void progress_raise(struct progress *p, uint64_t value)
{
	uint64_t now = atomic_load_explicit(&p->reached, memory_order_relaxed);

	/* By the maximum, as two submitters may get here in the wrong order. */
	while (now < value && !atomic_compare_exchange_weak(&p->reached, &now, value))
		;
	if (atomic_load(&p->wake_at) <= value)
		wake_all(p);
}

/*
 * Half to one and a half times PAUSES_PER_YIELD. What arrives during a yield is seen late. Were
 * yields evenly spaced, a program that calls at even intervals would meet one each time, or never:
 * when 1.61 us were added to steps of 24 us, they took up to 1.83 us longer (docs/validation.md).
 */
static unsigned pauses_until_yield(void)
{
	static _Thread_local uint32_t random; /* Marsaglia 2003, xorshift */

	if (!random)
		random = (uint32_t)clock_ns() | 1;
	random ^= random << 13;
	random ^= random >> 17;
	random ^= random << 5;
	return PAUSES_PER_YIELD / 2 + random % PAUSES_PER_YIELD;
}

/* The clock is read once a yield: reading it takes longer than a poll. */
static bool poll(struct progress *p, uint64_t value, int64_t spin_ns)
{
	unsigned pauses = pauses_until_yield();
	int64_t start = 0;

	while (!progress_passed(p, value)) {
		if (pauses--) {
			cpu_pause();
			continue;
		}
		pauses = pauses_until_yield();
		int64_t now = clock_ns();

		if (!start)
			start = now;
		else if (now - start >= spin_ns)
			return false;
		sched_yield();
	}
	return true;
}

/* Lowers wake_at to value. */
static void register_sleeper(struct progress *p, uint64_t value)
{
	uint64_t lowest = atomic_load(&p->wake_at);

	while (value < lowest && !atomic_compare_exchange_weak(&p->wake_at, &lowest, value))
		;
}

void progress_wait(struct progress *p, uint64_t value, int64_t spin_ns)
{
	if (progress_passed(p, value) || (spin_ns > 0 && poll(p, value, spin_ns)))
		return;
	for (;;) {
		/* Read before registering: a wake-up after this line makes the futex call return.
		 */
		unsigned word = atomic_load(&p->wakes);

		register_sleeper(p, value);
		/* Either this sees the new value, or who raised it sees wake_at. */
		if (atomic_load(&p->reached) >= value)
			return;
		syscall(SYS_futex, &p->wakes, FUTEX_WAIT_PRIVATE, word, NULL, NULL, 0);
		if (progress_passed(p, value))
			return;
	}
}

/* ---- what the thread sanitizer sees ---------------------------------------------------- */

/*
 * The library's own memory is kept out of its sight. The library is not instrumented, but the
 * sanitizer sees every malloc, free and memcpy, and takes a queue entry that one thread fills and
 * another frees for a race: the locks between them order nothing (sanitize.h). With -DCPUDEV_TSAN
 * the linker sends those calls here (--wrap, in build.mk). The program's data are moved by memmove
 * and memset, which stay visible, and device memory comes from posix_memalign.
 */
#ifdef CPUDEV_TSAN
#define QUIET(type, name, parameters, arguments)                                                   \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		__tsan_ignore_thread_begin();                                                      \
		type result = __real_##name arguments;                                             \
                                                                                                   \
		__tsan_ignore_thread_end();                                                        \
		return result;                                                                     \
	}

QUIET(void *, malloc, (size_t bytes), (bytes))
QUIET(void *, calloc, (size_t n, size_t bytes), (n, bytes))
QUIET(void *, realloc, (void *p, size_t bytes), (p, bytes))
QUIET(void *, aligned_alloc, (size_t align, size_t bytes), (align, bytes))
QUIET(void *, memcpy, (void *to, const void *from, size_t bytes), (to, from, bytes))

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p)
{
	__tsan_ignore_thread_begin();
	__real_free(p);
	__tsan_ignore_thread_end();
}
#endif
