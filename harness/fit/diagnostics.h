/*
 * diagnostics.h - effects that show that the model is wrong for a platform, or the measurement for
 * the model.
 *
 * An effect that the model lacks is added to it; it is a diagnostic where the loss of the stream
 * blocks falls to DIAGNOSTIC_LOSS of what it was or less, and some blocks take 2 % longer or
 * shorter for it:
 *
 *   window       blocks deeper than q launches cost more for each launch beyond: launches wait for
 *                something that holds q of them
 *   batching     every m-th launch costs a flush: launches are sent m at a time. At depths that are
 *                all powers of two this looks like a window; depths between tell them apart
 *   first calls  blocks of up to q launches are faster than the line: they take another way
 *
 * Others come from what was recorded or fitted:
 *
 *   off          the fit is over FIT_ERROR_MAX off some blocks of a mode
 *   depth        device-bound blocks of equal kernel time take longer the more launches it is cut
 * into, beyond what the gap explains clocks       the canary drifted within a process, or the
 * device is off the clock that it states corner       blocks with K + g near p are slower than the
 * closed form by over 5 %: launches vary
 */
#ifndef RIFT_FIT_DIAGNOSTICS_H
#define RIFT_FIT_DIAGNOSTICS_H

#include "harness/fit/fit.h"

#define DIAGNOSTIC_LOSS 0.5
#define DIAGNOSTIC_EFFECT 0.02

enum { DIAGNOSTICS_MAX = 8 };

struct diagnostic {
	const char *name; /* as above */
	char text[240];	  /* what was seen, with figures */
};

/* Returns how many. */
int diagnostics_find(const struct fit *f, struct diagnostic out[DIAGNOSTICS_MAX]);

#endif
