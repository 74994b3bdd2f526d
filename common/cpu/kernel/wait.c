/*
 * wait.c - threads of a block that wait for each other: which one goes on, __syncthreads, warp
 * operations (see block.h).
 */
#include "common/cpu/kernel/block.h"

/* ---- who goes on ----------------------------------------------------------------------- */

/*
 * Which thread of a block runs next. A correct kernel gives the same answers in any order; a
 * missing barrier often does not.
 */

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

/* ---- __syncthreads, plain and reducing ------------------------------------------------- */

/*
 * The last thread to arrive opens the barrier and goes on without a switch; the others become
 * ready with one OR for 64 of them. What a reduction gave stays until the next barrier opens,
 * which cannot happen before everybody has left this one and read it.
 */

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

/* ---- shuffles, votes, matches and __syncwarp ------------------------------------------- */

/*
 * A lane leaves the operation, its mask and its value, and waits. The last living lane of the
 * mask computes everybody's result and makes the others ready. So no lane can read a value too
 * early or too late, and lanes that meet in different operations are noticed.
 */

/* The 32 bits of a warp in a set of threads. */
static uint32_t warp_bits(const uint64_t *set, unsigned warp)
{
	return (uint32_t)(set[warp / 2] >> (warp % 2 * 32));
}

static void shuffle(struct warp *w, uint32_t lanes)
{
	if (lanes == 0xffffffff) { /* no lane missing: saves 0.8 of 13 ns */
		for (unsigned lane = 0; lane < WARP_THREADS; lane++)
			w->result[lane] = w->value[w->source[lane]];
		return;
	}
	for (uint32_t rest = lanes; rest; rest &= rest - 1) {
		unsigned lane = (unsigned)__builtin_ctz(rest), source = w->source[lane];

		/* CUDA leaves the value of an absent lane open: its own serves. */
		w->result[lane] = w->value[lanes >> source & 1 ? source : lane];
	}
}

static void ballot(struct warp *w, uint32_t lanes)
{
	uint32_t yes = 0;

	for (uint32_t rest = lanes; rest; rest &= rest - 1)
		yes |= (w->value[__builtin_ctz(rest)] ? rest & -rest : 0);
	for (uint32_t rest = lanes; rest; rest &= rest - 1)
		w->result[__builtin_ctz(rest)] = yes;
}

/* All pairs: at most 1024 comparisons a warp, and hardly used. */
static void match(struct warp *w, uint32_t lanes)
{
	for (uint32_t rest = lanes; rest; rest &= rest - 1) {
		uint64_t value = w->value[__builtin_ctz(rest)];
		uint32_t equal = 0;

		for (uint32_t other = lanes; other; other &= other - 1)
			if (w->value[__builtin_ctz(other)] == value)
				equal |= other & -other;
		w->result[__builtin_ctz(rest)] = equal;
	}
}

static void serve(struct warp *w, enum cpudev_warp_op op, uint32_t lanes)
{
	switch (op) {
	case CPUDEV_SHUFFLE:
		shuffle(w, lanes);
		break;
	case CPUDEV_BALLOT:
		ballot(w, lanes);
		break;
	case CPUDEV_MATCH:
		match(w, lanes);
		break;
	case CPUDEV_SYNCWARP:
		break;
	}
}

/* All lanes must have named the same operation and mask. */
static void check_meeting(struct executor *e, unsigned warp, uint32_t lanes, uint64_t meeting)
{
	const struct warp *w = &e->warp[warp];
	uint64_t differs = 0;

	if (lanes == 0xffffffff)
		for (unsigned lane = 0; lane < WARP_THREADS; lane++)
			differs |= w->meeting[lane] ^ meeting;
	else
		for (uint32_t rest = lanes; rest; rest &= rest - 1)
			differs |= w->meeting[__builtin_ctz(rest)] ^ meeting;
	if (!differs)
		return;
	for (uint32_t rest = lanes; rest; rest &= rest - 1) {
		unsigned lane = (unsigned)__builtin_ctz(rest);

		if (w->meeting[lane] != meeting)
			report_mismatch(e, warp * WARP_THREADS + (unsigned)__builtin_ctz(lanes),
					warp * WARP_THREADS + lane);
	}
}

/* The living lanes of a meeting's mask; all of them have arrived. */
static __attribute__((noinline)) void serve_meeting(struct executor *e, unsigned warp,
						    uint64_t meeting, uint32_t lanes)
{
	struct warp *w = &e->warp[warp];

	/* Against the first lane's view, so that the report names two that differ. */
	check_meeting(e, warp, lanes, w->meeting[__builtin_ctz(lanes)]);
	serve(w, (enum cpudev_warp_op)(meeting >> 32), lanes);
	w->waiting &= ~lanes;
	e->ready[warp / 2] |= (uint64_t)lanes << (warp % 2 * 32);
}

/*
 * Serves the meeting if every living lane of its mask has arrived. In line: of 32 lanes 31 find
 * that one is missing, and a call for that took a fifth of an operation's time (a ballot 13.3 ns a
 * lane, 10.5 in line; two cores of an AMD EPYC, one run each, 2026-11-28).
 */
static inline __attribute__((always_inline)) bool try_meeting(struct executor *e, unsigned warp,
							      uint64_t meeting)
{
	uint32_t lanes = (uint32_t)meeting & warp_bits(e->alive, warp);

	if ((e->warp[warp].waiting & lanes) != lanes)
		return false;
	serve_meeting(e, warp, meeting, lanes);
	return true;
}

/* Masks of waiting lanes may differ, so each is tried once. */
void warp_lane_left(struct executor *e, unsigned warp)
{
	struct warp *w = &e->warp[warp];

	for (uint32_t rest = w->waiting; rest; rest &= rest - 1)
		if (w->waiting & rest & -rest)
			try_meeting(e, warp, w->meeting[__builtin_ctz(rest)]);
}

#ifdef CPUDEV_TSAN
/* A tag for each meeting of __syncwarp: it orders memory, other warp operations do not. */
static void release_syncwarp(struct warp *w, unsigned lane, uint64_t meeting)
{
	uint32_t rest = w->waiting & (uint32_t)meeting;

	while (rest && w->meeting[__builtin_ctz(rest)] != meeting)
		rest &= rest - 1;
	w->tag[lane] = rest ? w->tag[__builtin_ctz(rest)] : w->n_meetings++ % SYNCWARP_TAGS;
	TS_RELEASE(&w->tags[w->tag[lane]]);
}
#endif

uint64_t cpudev_warp(enum cpudev_warp_op op, uint32_t mask, uint64_t value, unsigned source)
{
	struct executor *e = executor;

	if (__builtin_expect(cpudev_tls.sequential, 0))
		leave_sequential(e);
	unsigned warp = e->thread / WARP_THREADS, lane = e->thread % WARP_THREADS;
	struct warp *w = &e->warp[warp];
	uint64_t meeting = (uint64_t)op << 32 | mask;

	if (!(mask >> lane & 1))
		report_outside_mask(e, e->thread, mask);
	w->meeting[lane] = meeting;
	w->value[lane] = value;
	w->source[lane] = source & 31;
#ifdef CPUDEV_TSAN
	if (op == CPUDEV_SYNCWARP)
		release_syncwarp(w, lane, meeting);
#endif
	w->waiting |= 1u << lane;
	if (!try_meeting(e, warp, meeting))
		wait_here(e);
#ifdef CPUDEV_TSAN
	if (op == CPUDEV_SYNCWARP)
		TS_ACQUIRE(&w->tags[w->tag[lane]]);
#endif
	return w->result[lane];
}
