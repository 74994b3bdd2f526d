/*
 * block.h - how one operating-system thread runs the CUDA threads of a block (CPU device,
 * internal to the floor of kernels).
 *
 * Nothing is known about a kernel beforehand. A block starts sequential: one coroutine calls the
 * kernel for thread 0, 1, 2, ... in a plain loop, and a kernel that never waits is nothing but
 * that loop. When thread t waits for the first time, the coroutine that ran it *becomes* thread
 * t, and another coroutine goes on with t + 1. A coroutine whose thread ends takes the next one,
 * also of later blocks.
 *
 * Sets of threads are bit masks, 64 threads a word; a thread's bit is 1 << (t & 63).
 */
#ifndef RIFT_CPU_BLOCK_H
#define RIFT_CPU_BLOCK_H

#include <string.h>

#include "common/cpu/kernel/context.h"
#include "common/cpu/kernel/kernel.h"

#ifdef CPUDEV_TSAN
enum { ONE_FIBER_A_THREAD = 1 }; /* no sequential mode: the checker must tell threads apart */
#else
enum { ONE_FIBER_A_THREAD = 0 };
#endif

enum {
	GUARD_BYTES = 4096, /* that nobody may touch: below a stack, behind a block of memory */
	MASK_WORDS = MAX_THREADS / 64,
	MAX_WARPS = MAX_THREADS / WARP_THREADS,
	SYNCWARP_TAGS = 64, /* meetings of a warp that may overlap, for the thread sanitizer */
};

/* What the lanes of a warp bring to a warp operation, and what they get. */
struct warp {
	uint32_t waiting;		/* lanes that arrived and are not served yet */
	uint64_t meeting[WARP_THREADS]; /* operation << 32 | mask that the lane named */
	uint64_t value[WARP_THREADS];
	uint64_t result[WARP_THREADS];
	uint8_t source[WARP_THREADS];
#ifdef CPUDEV_TSAN
	uint8_t tag[WARP_THREADS];
	unsigned n_meetings;
	char tags[SYNCWARP_TAGS];
#endif
};

struct executor {
	struct launch *launch;
	unsigned n_threads, n_words;
	uint64_t block, block_end; /* being run; end of the chunk that was taken */

	unsigned thread;    /* that runs now; in sequential mode threadIdx counts instead */
	unsigned coroutine; /* that runs now; 0 is the operating-system thread's own stack */
	unsigned n_alive, n_at_barrier;
	uint64_t alive[MASK_WORDS];	 /* have not returned from the kernel */
	uint64_t ready[MASK_WORDS];	 /* alive and not waiting, the running one included */
	uint64_t fresh[MASK_WORDS];	 /* ready and not started */
	uint64_t at_barrier[MASK_WORDS]; /* wait at __syncthreads */
	struct warp warp[MAX_WARPS];

	unsigned votes, yes_votes; /* of a reducing barrier, until it opens */
	unsigned outcome[4];	   /* of the last one, by enum cpudev_reduction */

	uint64_t random; /* state of ORDER_RANDOM */
	enum thread_order order;

	uint3 index[MAX_THREADS]; /* threadIdx of each thread, for blocks of index_of */
	dim3 index_of;
	uint16_t coroutine_of[MAX_THREADS];

	uint16_t parked[MAX_THREADS]; /* coroutines without a thread */
	unsigned n_parked, n_coroutines;
	bool leaving;		   /* coroutines must return from the kernel's loop */
	bool inside[MAX_THREADS];  /* coroutine is in the kernel's loop */
	bool started[MAX_THREADS]; /* coroutine has run before */
	struct context context[MAX_THREADS];
	char *stacks;

	void *dynamic;
	size_t dynamic_bytes;
	void **shared;
	unsigned n_shared;

	/* Orders for the thread sanitizer: block to block, and two for barriers in turn: who is
	   late to leave one must not take over what an early arriver at the next gave. */
	unsigned parity, n_barriers;
	char block_tag[2], barrier_tag[2];

	char signal_stack[32 << 10]; /* a fault may be one of the kernel's stack */
	struct executor *next_free;
};

/* The calling thread's; NULL before its first launch. */
extern __thread struct executor *executor CPUDEV_TLS __attribute__((visibility("hidden")));

static inline uint64_t thread_bit(unsigned t)
{
	return UINT64_C(1) << (t & 63);
}

static inline bool in_set(const uint64_t *set, unsigned t)
{
	return set[t >> 6] & thread_bit(t);
}

/* The calling thread's executor, set up for a launch (executor.c). */
struct executor *executor_prepare(struct launch *launch);

/* Fills a set with threads first..n_threads-1; words beyond n_words are never looked at. */
void fill_set(const struct executor *e, uint64_t *set, unsigned first);

/* Turns from one thread after another to threads that wait for each other (executor.c). */
void leave_sequential(struct executor *e);

/* Before a block in random order (wait.c). */
void order_seed(struct executor *e);

/* The next ready thread after the running one, in the order asked for; reports a deadlock
   (wait.c). */
unsigned next_ready_slow(struct executor *e);

static inline unsigned next_ready(struct executor *e)
{
	unsigned t = e->thread + 1;

	if (__builtin_expect(t < e->n_threads && e->order == ORDER_UP && in_set(e->ready, t), 1))
		return t;
	return next_ready_slow(e);
}

/* A coroutine for a thread that starts; prepared to run (executor.c). */
unsigned unpark_coroutine(struct executor *e, unsigned thread);

/* Switches from the running coroutine to that of thread t. */
static inline void switch_to(struct executor *e, unsigned t)
{
	unsigned from = e->coroutine;

	if (in_set(e->fresh, t)) {
		e->fresh[t >> 6] &= ~thread_bit(t);
		e->coroutine_of[t] = (uint16_t)unpark_coroutine(e, t);
	}
	e->thread = t;
	threadIdx = e->index[t];
	e->coroutine = e->coroutine_of[t];
	if (e->coroutine != from)
		context_switch(&e->context[from], &e->context[e->coroutine]);
}

/*
 * For the thread sanitizer: does a block come after the one before it on the same executor? Blocks
 * run in any order, but these share an executor's shared memory. Threads that never wait have
 * nothing there from each other, and each order costs two vector clocks a thread.
 */
static inline bool blocks_ordered(const struct executor *e)
{
	return TS_PRESENT && __atomic_load_n(&e->launch->kernel->waits, __ATOMIC_RELAXED);
}

/* Suspends the running thread until something makes it ready again. */
static inline void wait_here(struct executor *e)
{
	if (TS_PRESENT)
		__atomic_store_n(&e->launch->kernel->waits, true, __ATOMIC_RELAXED);
	e->ready[e->thread >> 6] &= ~thread_bit(e->thread);
	switch_to(e, next_ready(e));
}

/* Opens the barrier: everybody there goes on (wait.c). */
void barrier_open(struct executor *e);

/* A lane has returned from the kernel: the others may no longer wait for it (wait.c). */
void warp_lane_left(struct executor *e, unsigned warp);

/* All stacks, bytes (executor.c); whether the page behind one of its shared blocks holds the
 * address. */
size_t executor_stack_bytes(void);
bool executor_owns_guard(const struct executor *e, const char *address);

/* Says who waits where, and aborts (fault.c). */
__attribute__((noreturn, cold)) void report_deadlock(struct executor *e);
__attribute__((noreturn, cold)) void report_mismatch(struct executor *e, unsigned a, unsigned b);
__attribute__((noreturn, cold)) void report_outside_mask(struct executor *e, unsigned thread,
							 uint32_t mask);

/* Static shared arrays (kernel.c): number of slots so far, and the size and alignment of one. */
unsigned shared_slot_count(void);
void shared_slot_get(unsigned slot, size_t *bytes, size_t *align);

/* While tests watch launches (kernel.c): what the calling thread has computed so far, ns; and what
   it spent in blocks. */
int64_t thread_ns(void);
void watch_time(int64_t ns);

#endif
