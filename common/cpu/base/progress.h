/*
 * progress.h - locks, and counters that threads wait for (CPU device, internal).
 *
 * Everything that one thread waits for from another is a counter that only grows: operations
 * queued on a stream, operations done, records of an event, launches offered to the workers.
 * Who waits polls first and sleeps later, since waking a sleeping thread takes longer than most
 * kernels. Polling gives the core away about every microsecond: other threads of the device may
 * need it.
 */
#ifndef RIFT_CPU_PROGRESS_H
#define RIFT_CPU_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct lock {
	atomic_int held;
};

void lock_acquire_slow(struct lock *lock);

static inline void lock_acquire(struct lock *lock)
{
	if (atomic_exchange_explicit(&lock->held, 1, memory_order_acquire))
		lock_acquire_slow(lock);
}

static inline void lock_release(struct lock *lock)
{
	atomic_store_explicit(&lock->held, 0, memory_order_release);
}

struct progress {
	atomic_uint_least64_t reached;
	atomic_uint_least64_t wake_at; /* lowest value a sleeper waits for; see progress_init */
	atomic_uint wakes;	       /* futex word; changes at every wake-up */
};

void progress_init(struct progress *p);

/* Raises the counter to value, if it is lower, and wakes who waits for that. */
void progress_raise(struct progress *p, uint64_t value);

/* Returns once the counter is at least value; polls for spin_ns, then sleeps. */
void progress_wait(struct progress *p, uint64_t value, int64_t spin_ns);

static inline bool progress_passed(struct progress *p, uint64_t value)
{
	return atomic_load_explicit(&p->reached, memory_order_acquire) >= value;
}

int64_t clock_ns(void); /* monotonic */

#endif
