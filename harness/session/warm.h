/* warm.h - warming up until the device's clock stands still. */
#ifndef RIFT_SWEEP_WARM_H
#define RIFT_SWEEP_WARM_H

#include "harness/session/canary.h"
#include "harness/plan/plan.h"
#include "harness/session/visit.h"

enum { WARM_CANARIES = 10 };

struct warm {
	double seconds;
	const char *ended_by; /* "steady", "time" */
	double canary_ns;     /* median of the last WARM_CANARIES */
	double spread;	      /* their median deviation from it, as a share of it */
};

/*
 * Are these canaries, the oldest first, steady: does their straight line rise or fall by less than
 * 0.1 % a run, and do they lie within 1 %?
 */
bool warm_is_steady(const double ns[WARM_CANARIES]);

/*
 * Runs the canary and the longest block (NULL: none) in turn until the canaries are steady, within
 * the design's times. Returns 0, what a hook returned, or -EINTR.
 */
int warm_up(struct warm *out, const struct canary *c, struct prepared *longest,
	    const struct design *d);

#endif
