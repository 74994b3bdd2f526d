/*
 * order.c - which thread of a block runs next. A correct kernel gives the same answers in any
 * order; a missing barrier often does not.
 */
#include "common/cpu/kernel/block.h"

/* The seed and the block alone give the order, whichever worker runs it. */
void order_seed(struct executor *e)
{
	e->random = (config()->seed + e->block + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

/* The first ready thread in [from, end of its set), or n_threads. */
static unsigned first_ready(const struct executor *e, unsigned from)
{
	for (unsigned w = from >> 6; w < e->n_words; w++) {
		uint64_t word = e->ready[w];

		if (w == from >> 6)
			word &= ~UINT64_C(0) << (from & 63);
		if (word)
			return w * 64 + (unsigned)__builtin_ctzll(word);
	}
	return e->n_threads;
}

static unsigned last_ready(const struct executor *e)
{
	for (unsigned w = e->n_words; w-- > 0;)
		if (e->ready[w])
			return w * 64 + 63 - (unsigned)__builtin_clzll(e->ready[w]);
	return e->n_threads;
}

/* xorshift64: Marsaglia, Journal of Statistical Software 8(14), 2003. */
static uint64_t next_random(struct executor *e)
{
	e->random ^= e->random << 13;
	e->random ^= e->random >> 7;
	e->random ^= e->random << 17;
	return e->random;
}

unsigned next_ready_slow(struct executor *e)
{
	unsigned t, from = e->thread + 1;

	if (e->order == ORDER_DOWN) {
		t = last_ready(e);
	} else {
		if (e->order == ORDER_RANDOM)
			from = (unsigned)(next_random(e) % e->n_threads);
		t = first_ready(e, from);
		if (t == e->n_threads)
			t = first_ready(e, 0);
	}
	if (t == e->n_threads)
		report_deadlock(e);
	return t;
}
