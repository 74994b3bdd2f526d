/*
 * pool.c - helpers that run blocks of a launch together with the stream's own thread.
 *
 * One launch at a time has the helpers; launches of other streams meanwhile run on their own
 * thread alone. A launch that is over before a helper could wake up is not shared at all: how
 * long a kernel's blocks take is remembered from its last launch.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/cpu/base/base.h"

#include <pthread.h>

enum {
	SHARE_FROM_NS = 10000, /* a shorter launch runs alone; waking a thread takes about 5 us */
	CHUNKS_PER_WORKER = 8, /* blocks are handed out in pieces that even out their times */
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

/* Returns how many threads ran blocks. */
static unsigned execute_shared(struct launch *l)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	unsigned n = 1;

	pthread_once(&once, start_helpers);
	l->chunk = l->n_blocks / (CHUNKS_PER_WORKER * (n_helpers + 1));
	if (!l->chunk)
		l->chunk = 1;
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
		n_threads = execute_shared(l);
	guess = (clock_ns() - start) * n_threads / (int64_t)l->n_blocks + 1;
	__atomic_store_n(block_ns, guess, __ATOMIC_RELAXED);
}
