/*
 * block.c - runs the blocks of a launch: on the calling thread, which thread of a block comes next
 * and on which coroutine (see block.h), and with helpers beside it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/cpu/kernel/block.h"

#include <pthread.h>

/* All threads have ended: lets coroutines that wait in the kernel's loop leave it. */
static void unwind_coroutines(struct executor *e)
{
	unsigned n = ONE_FIBER_A_THREAD ? e->n_threads : e->n_coroutines;

	for (unsigned c = 1; c < n; c++) {
		if (!e->inside[c])
			continue;
		e->coroutine = c;
		context_switch(&e->context[0], &e->context[c]);
	}
}

/* ---- which block is next --------------------------------------------------------------- */

/* Sparing one-dimensional grids, the usual ones, two 64-bit divisions. */
static void set_block_index(const struct executor *e)
{
	const dim3 *g = &e->launch->grid;

	if (g->y == 1 && g->z == 1) {
		blockIdx = (uint3){ (unsigned)e->block, 0, 0 };
		return;
	}
	uint64_t row = e->block / g->x;

	blockIdx.x = (unsigned)(e->block % g->x);
	blockIdx.y = (unsigned)(row % g->y);
	blockIdx.z = (unsigned)(row / g->y);
}

/*
 * Makes all threads of the next block fresh; false when the launch has no more blocks. Blocks
 * are handed out in rising order: one that waits for a lower number waits for a block that runs
 * or has run, never for one in the same queue behind it.
 */
static bool next_block(struct executor *e)
{
	struct launch *l = e->launch;

	if (++e->block >= e->block_end) {
		e->block =
			atomic_fetch_add_explicit(&l->next_block, l->chunk, memory_order_relaxed);
		if (e->block >= l->n_blocks)
			return false;
		e->block_end = e->block + l->chunk;
		if (e->block_end > l->n_blocks)
			e->block_end = l->n_blocks;
	}
	set_block_index(e);
	e->parity ^= 1;
	if (e->order == ORDER_UP && !ONE_FIBER_A_THREAD) {
		cpudev_tls.sequential = 1;
		return true;
	}
	if (e->order == ORDER_RANDOM)
		order_seed(e);
	cpudev_tls.sequential = 0;
	e->thread = e->n_threads - 1; /* so that "the next" is 0 */
	e->n_alive = e->n_threads;
	fill_set(e, e->alive, 0);
	memcpy(e->ready, e->alive, sizeof(e->ready));
	memcpy(e->fresh, e->alive, sizeof(e->fresh));
	return true;
}

/* ---- a thread ends --------------------------------------------------------------------- */

/* The launch is over; on every coroutine but 0 this does not return in this launch. */
static int finish(struct executor *e)
{
	unsigned self = e->coroutine;

	e->leaving = true;
	if (self) {
		e->coroutine = 0;
		context_switch(&e->context[self], &e->context[0]);
	}
	return 0;
}

/* Lets the running coroutine call the kernel for thread t, which is fresh. */
static int take_thread(struct executor *e, unsigned t)
{
	e->fresh[t >> 6] &= ~thread_bit(t);
	e->coroutine_of[t] = (uint16_t)e->coroutine;
	e->thread = t;
	threadIdx = e->index[t];
	return 1;
}

/* The running coroutine has no thread any more: goes on with t, here or elsewhere. */
static int run_next(struct executor *e, unsigned t)
{
	if (in_set(e->fresh, t) && !ONE_FIBER_A_THREAD)
		return take_thread(e, t);
	if (!ONE_FIBER_A_THREAD)
		e->parked[e->n_parked++] = (uint16_t)e->coroutine;
	switch_to(e, t);
	if (!e->leaving && blocks_ordered(e))
		TS_ACQUIRE(&e->block_tag[!e->parity]);
	return !e->leaving;
}

/* After the last thread of a block: the coroutine at hand begins the next one. */
static int start_next_block(struct executor *e)
{
	if (!next_block(e))
		return finish(e);
	if (!cpudev_tls.sequential)
		return run_next(e, next_ready(e));
	threadIdx = (uint3){ 0, 0, 0 };
	return 1;
}

/* The slow part of the plain loop: x has reached its end. */
static int next_sequential(struct executor *e)
{
	threadIdx.x = 0;
	if (++threadIdx.y < blockDim.y)
		return 1;
	threadIdx.y = 0;
	if (++threadIdx.z < blockDim.z)
		return 1;
	threadIdx.z = 0;
	return start_next_block(e);
}

int cpudev_next_thread(void)
{
	struct executor *e = executor;
	unsigned t = e->thread;

	if (cpudev_tls.sequential)
		return next_sequential(e);
	if (blocks_ordered(e))
		TS_RELEASE(&e->block_tag[e->parity]);
	e->ready[t >> 6] &= ~thread_bit(t);
	e->alive[t >> 6] &= ~thread_bit(t);
	if (--e->n_alive == 0)
		return start_next_block(e);
	/* Others may have waited for this thread alone. */
	if (e->n_at_barrier == e->n_alive)
		barrier_open(e);
	if (e->warp[t / WARP_THREADS].waiting)
		warp_lane_left(e, t / WARP_THREADS);
	return run_next(e, next_ready(e));
}

/* ---- blocks on the calling thread ------------------------------------------------------ */

/* Coroutine 0 starts: it takes the first thread itself, or waits until it gets one. */
static void run_from_here(struct executor *e)
{
	e->coroutine = 0;
	e->n_coroutines = 1;
	e->n_parked = 0;
	e->leaving = false;
	TS_RELEASE(&e->block_tag[!e->parity]);
	if (cpudev_tls.sequential) {
		threadIdx = (uint3){ 0, 0, 0 };
	} else if (!ONE_FIBER_A_THREAD) {
		take_thread(e, next_ready(e));
	} else {
		switch_to(e, next_ready(e));
	}
	if (!e->leaving)
		e->launch->kernel->run(e->launch->args);
	if (CONTEXT_UNWIND)
		unwind_coroutines(e);
	e->coroutine = 0;
	TS_ACQUIRE(&e->block_tag[0]);
	TS_ACQUIRE(&e->block_tag[1]);
}

/* Runs blocks of the launch on the calling thread until none is left. */
static void execute_blocks(struct launch *launch)
{
	struct executor *e = executor_prepare(launch);
	bool watched = atomic_load_explicit(&launches_watched, memory_order_relaxed);
	int64_t start = watched ? thread_ns() : 0;

	if (next_block(e))
		run_from_here(e);
	if (watched)
		watch_time(thread_ns() - start);
	e->launch = NULL; /* from here on faults are not the kernel's */
}

/* ---- helpers --------------------------------------------------------------------------- */

/*
 * They run blocks of a launch together with the stream's own thread. One launch at a time has the
 * helpers; launches of other streams meanwhile run on their own thread alone. A launch that is over
 * before a helper could wake up is not shared at all: how long a kernel's blocks take is remembered
 * from its last launch.
 */
enum {
	SHARE_FROM_NS = 10000, /* a shorter launch runs alone; waking a thread takes about 5 us */
	CHUNKS_PER_WORKER = 8, /* blocks are handed out in pieces that even out their times */
	CHUNK_NS = 100000,     /* ... and are no longer, as some blocks wait for earlier ones */
};

static struct lock pool_lock;
/* Guarded by pool_lock: */
static struct launch *offered;
static uint64_t n_joined, n_joined_before; /* in all; before the launch that is offered */
static struct progress offers;		   /* launches offered so far */
static struct progress left;		   /* helpers that have finished with a launch */
static unsigned n_helpers;
static atomic_uint_least64_t n_left;

static struct launch *join(void)
{
	struct launch *l;

	lock_acquire(&pool_lock);
	l = offered;
	if (l)
		n_joined++;
	lock_release(&pool_lock);
	return l;
}

static void *help(void *arg)
{
	uint64_t seen = 0;

	(void)arg;
	for (;;) {
		progress_wait(&offers, seen + 1, config()->spin_ns);
		seen = atomic_load(&offers.reached);
		struct launch *l = join();

		if (!l)
			continue;
		TS_ACQUIRE(&l->start_tag);
		execute_blocks(l);
		TS_RELEASE(&l->end_tag);
		progress_raise(&left, atomic_fetch_add(&n_left, 1) + 1);
	}
	return NULL;
}

static void start_helpers(void)
{
	progress_init(&offers);
	progress_init(&left);
	for (unsigned i = 1; i < config()->workers; i++) {
		pthread_t thread;

		if (thread_start(&thread, help, NULL))
			break; /* fewer helpers: slower, not wrong */
		pthread_setname_np(thread, "rift-worker");
		pthread_detach(thread);
		n_helpers++;
	}
}

/* Offers the launch to the helpers unless they are busy with another. */
static bool offer(struct launch *l)
{
	static uint64_t n_offers;
	bool taken = false;

	lock_acquire(&pool_lock);
	if (!offered) {
		offered = l;
		n_joined_before = n_joined;
		n_offers++;
		taken = true;
	}
	uint64_t n = n_offers;
	lock_release(&pool_lock);
	if (taken)
		progress_raise(&offers, n);
	return taken;
}

/* No more helpers may join; waits for those that did and returns their number. */
static unsigned close_offer(void)
{
	lock_acquire(&pool_lock);
	offered = NULL;
	uint64_t joined = n_joined, before = n_joined_before;
	lock_release(&pool_lock);
	progress_wait(&left, joined, config()->spin_ns);
	return (unsigned)(joined - before);
}

/* Blocks that a worker takes at a time; block_ns: what one takes, 0: not known yet. */
static uint64_t chunk_for(const struct launch *l, int64_t block_ns)
{
	uint64_t chunk = l->n_blocks / (CHUNKS_PER_WORKER * (n_helpers + 1));
	uint64_t most = block_ns ? (uint64_t)(CHUNK_NS / block_ns) : chunk;

	chunk = chunk < most ? chunk : most;
	return chunk ? chunk : 1;
}

/* Returns how many threads ran blocks. */
static unsigned execute_shared(struct launch *l, int64_t block_ns)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	unsigned n = 1;

	pthread_once(&once, start_helpers);
	l->chunk = chunk_for(l, block_ns);
	bool shared = n_helpers && offer(l);

	execute_blocks(l);
	if (shared) {
		n += close_offer();
		TS_ACQUIRE(&l->end_tag);
	}
	return n;
}

void execute_launch(struct launch *l)
{
	int64_t *block_ns = &l->kernel->block_ns;
	int64_t guess = __atomic_load_n(block_ns, __ATOMIC_RELAXED);

	TS_RELEASE(&l->start_tag);
	l->chunk = l->n_blocks;
	if (l->n_blocks == 1 || config()->workers == 1) {
		execute_blocks(l);
		return;
	}
	int64_t start = clock_ns(), n_threads = 1;

	if (guess && guess * (int64_t)l->n_blocks < SHARE_FROM_NS)
		execute_blocks(l);
	else
		n_threads = execute_shared(l, guess);
	guess = (clock_ns() - start) * n_threads / (int64_t)l->n_blocks + 1;
	__atomic_store_n(block_ns, guess, __ATOMIC_RELAXED);
}
