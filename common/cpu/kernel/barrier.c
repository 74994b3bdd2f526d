/*
 * barrier.c - __syncthreads, plain and reducing (see block.h).
 *
 * The last thread to arrive opens the barrier and goes on without a switch; the others become
 * ready with one OR for 64 of them. What a reduction gave stays until the next barrier opens,
 * which cannot happen before everybody has left this one and read it.
 */
#include "common/cpu/kernel/block.h"

void barrier_open(struct executor *e)
{
	for (unsigned w = 0; w < e->n_words; w++) {
		e->ready[w] |= e->at_barrier[w];
		e->at_barrier[w] = 0;
	}
	e->outcome[CPUDEV_COUNT] = e->yes_votes;
	e->outcome[CPUDEV_AND] = e->yes_votes == e->votes;
	e->outcome[CPUDEV_OR] = e->yes_votes != 0;
	e->n_at_barrier = e->votes = e->yes_votes = 0;
	e->n_barriers++;
}

/* A thread that has returned from the kernel counts as arrived, without a vote. */
unsigned cpudev_barrier(enum cpudev_reduction reduction, int predicate)
{
	struct executor *e = executor;

	if (__builtin_expect(cpudev_tls.sequential, 0))
		leave_sequential(e);
	/* Taken now: the count may have moved on when this thread wakes up. */
	char *tag = &e->barrier_tag[e->n_barriers & 1];

	TS_RELEASE(tag);
	if (reduction) {
		e->votes++;
		e->yes_votes += predicate != 0;
	}
	if (++e->n_at_barrier == e->n_alive) {
		barrier_open(e);
	} else {
		e->at_barrier[e->thread >> 6] |= thread_bit(e->thread);
		wait_here(e);
	}
	TS_ACQUIRE(tag);
	return e->outcome[reduction];
}
