/* spin.h - time by the processor's time stamp counter, and spending it. */
#ifndef RIFT_LAYER_EMULATE_SPIN_H
#define RIFT_LAYER_EMULATE_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#include "layers/emulate/costs.h"

/* The costs in force. Those of the file, or of a page without costs where there is no file. */
extern struct emulate_shared *shared;

static inline uint64_t ticks_now(void)
{
	return __builtin_ia32_rdtsc();
}

static inline int64_t ticks_of(double ns)
{
	return (int64_t)(ns * shared->ticks_per_ns);
}

/* Waits until the counter is there. Sleeps only where more than a millisecond is left. */
void wait_until(uint64_t ticks);

/* What a thread still owes, or has paid too much, in ticks. */
struct account {
	int64_t carry; /* what one call took too long, the next takes less */
	int64_t own;   /* the layer's way in and out of this call, until it has been allowed for */
	bool spent;    /* something since the last note ... */
	int64_t late;  /* ... which ended so much later than asked for */
};

/*
 * Makes what began at `start` take so much longer than without the layer. The layer's own work
 * since then is part of it, and so is its way in and out.
 */
void spend(double ns, uint64_t start, struct account *a);

/*
 * Notes how late the last one was: while the next one spins, or when the process ends. To note it
 * at once would be a cost of its own. That of a process that is killed, or ends by _exit(), is
 * lost.
 */
void note_last(struct account *a);

/* Notes that something came so many ticks later than asked for. */
void note_lateness(struct lateness *l, int64_t ticks);

/*
 * Measures the layer's way into a call and out of it: own_ticks. call: one that is charged `ns` and
 * does nothing else.
 */
void calibrate_own_ticks(void (*call)(void), double ns);
extern int64_t own_ticks;

#endif
