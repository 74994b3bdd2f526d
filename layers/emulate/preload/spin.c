/* spin.c - see spin.h. */
#include "layers/emulate/preload/spin.h"

#include <stddef.h>
#include <time.h>

/* nanosleep comes back tens of microseconds late: shorter waits spin. */
#define SLEEP_FROM_NS 1e6
#define SLEEP_LESS_NS 3e5

/* What one call took too long is taken from the next up to this. More is another's fault, such as
 * an interrupt's, and no cost. */
#define CARRY_MAX_NS 100

int64_t own_ticks;
static bool calibrating;

static void sleep_ns(double ns)
{
	const struct timespec t = { .tv_sec = (time_t)(ns / 1e9),
				    .tv_nsec = (long)(ns - 1e9 * (double)(time_t)(ns / 1e9)) };

	nanosleep(&t, NULL);
}

/* Without pause: in a virtual machine a loop of these may be taken for a wait, and the processor
 * given to others (pause-loop exiting). */
static uint64_t spin_until(uint64_t ticks)
{
	uint64_t now;

	do
		now = ticks_now();
	while ((int64_t)(ticks - now) > 0);
	return now;
}

void wait_until(uint64_t ticks)
{
	double left_ns = (double)(int64_t)(ticks - ticks_now()) / shared->ticks_per_ns;

	if (left_ns > SLEEP_FROM_NS)
		sleep_ns(left_ns - SLEEP_LESS_NS);
	spin_until(ticks);
}

void note_lateness(struct lateness *l, int64_t ticks)
{
	int64_t ns = (int64_t)((double)ticks / shared->ticks_per_ns + (ticks < 0 ? -0.5 : 0.5));
	int64_t bin = ns - LATENESS_LOW;
	int64_t max = __atomic_load_n(&l->max_ns, __ATOMIC_RELAXED);

	__atomic_fetch_add(bin < LATENESS_BINS - 1 ? &l->sum_ns : &l->far_sum_ns, ns,
			   __ATOMIC_RELAXED);
	bin = bin < 0 ? 0 : bin >= LATENESS_BINS ? LATENESS_BINS - 1 : bin;
	__atomic_fetch_add(&l->bins[bin], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&l->n, 1, __ATOMIC_RELAXED);
	while (ns > max && !__atomic_compare_exchange_n(&l->max_ns, &max, ns, true,
							__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static int64_t within(int64_t x, int64_t limit)
{
	return x > limit ? limit : x < -limit ? -limit : x;
}

void note_last(struct account *a)
{
	if (__atomic_exchange_n(&a->spent, false, __ATOMIC_ACQ_REL))
		note_lateness(&shared->spins, __atomic_load_n(&a->late, __ATOMIC_RELAXED));
}

void spend(double ns, uint64_t start, struct account *a)
{
	int64_t want = ticks_of(ns), over;

	if (want <= 0)
		return;
	note_last(a);
	over = a->own - want;
	if (ns > SLEEP_FROM_NS)
		wait_until(start + (uint64_t)(want - ticks_of(SLEEP_LESS_NS)));
	over += (int64_t)(spin_until(start + (uint64_t)(want - a->own - a->carry)) - start);
	a->own = 0;
	a->carry = within(a->carry + over, ticks_of(CARRY_MAX_NS));
	__atomic_store_n(&a->late, over, __ATOMIC_RELAXED);
	__atomic_store_n(&a->spent, !calibrating, __ATOMIC_RELEASE);
}

void calibrate_own_ticks(void (*call)(void), double ns)
{
	enum { BATCHES = 9, CALLS = 200 };
	int64_t least = INT64_MAX;

	calibrating = true;
	for (int b = 0; b < BATCHES; b++) {
		uint64_t start = ticks_now();
		int64_t over;

		for (int i = 0; i < CALLS; i++)
			call();
		over = (int64_t)(ticks_now() - start) / CALLS - ticks_of(ns);
		least = over < least ? over : least;
	}
	own_ticks = least;
	calibrating = false;
}
