/*
 * calibrate.h - what every clock and every wait costs here, and until when clocks warm up, before
 * anything is timed with them.
 *
 * A value that cannot be had is NAN and null in the record. Times in ns.
 */
#ifndef RIFT_SESSION_CALIBRATE_H
#define RIFT_SESSION_CALIBRATE_H

#include <jansson.h>

#include "harness/measure/plan.h"
#include "harness/session/canary.h"
#include "harness/session/visit.h"

/* ---- clocks and waits ------------------------------------------------------------------- */

enum { QUEUE_TRIED = 4096 };

struct calibration {
	double clock_cost_ns, clock_tick_ns; /* CLOCK_MONOTONIC_RAW */
	double tsc_cost_ns, tsc_mhz;	     /* where it is invariant */
	double event_tick_ns;		     /* smallest step between two elapsed times */
	double event_pair_cost_ns;	     /* host time of two cudaEventRecord() */
	double globaltimer_tick_ns;	     /* of the device's ns clock */
	double queue_depth; /* launches that fit; NAN: more than QUEUE_TRIED, launches too slow to
			       tell, or no spin_cycles_per_us */
	double canary_ns;   /* median, by events */
	double spin_cycles_per_us;
	double clock_offset_ns, clock_offset_err_ns; /* device clock less host clock */
};

/* The smallest difference above 0 between two of these times, which it sorts; NAN: there is none.
 */
double calibration_tick(double *ns, int n);

/*
 * Cycles a us, where so many more of them took the median of these times, which it sorts; NAN: of a
 * clock that stands still or steps too far the median is no time above 0.
 */
double calibration_rate(double *more_ns, int n, int64_t cycles);

/*
 * Takes about 0.2 s, and behind a layer whose calls take long at most 3 s and some calls. Nothing
 * else may be in the stream.
 */
void calibrate(struct calibration *out, const struct canary *c);

json_t *calibration_json(const struct calibration *c);

/* ---- warming up until the device's clock is stable -------------------------------------- */

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
