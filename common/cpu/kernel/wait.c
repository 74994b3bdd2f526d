/*
 * warp.c - shuffles, votes, matches and __syncwarp (see block.h).
 *
 * A lane leaves the operation, its mask and its value, and waits. The last living lane of the
 * mask computes everybody's result and makes the others ready. So no lane can read a value too
 * early or too late, and lanes that meet in different operations are noticed.
 */
#include "common/cpu/kernel/block.h"

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

/* Serves the meeting if every living lane of its mask has arrived. */
static bool try_meeting(struct executor *e, unsigned warp, uint64_t meeting)
{
	struct warp *w = &e->warp[warp];
	uint32_t lanes = (uint32_t)meeting & warp_bits(e->alive, warp);

	if ((w->waiting & lanes) != lanes)
		return false;
	/* Against the first lane's view, so that the report names two that differ. */
	check_meeting(e, warp, lanes, w->meeting[__builtin_ctz(lanes)]);
	serve(w, (enum cpudev_warp_op)(meeting >> 32), lanes);
	w->waiting &= ~lanes;
	e->ready[warp / 2] |= (uint64_t)lanes << (warp % 2 * 32);
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
