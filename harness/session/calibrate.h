/*
 * calibrate.h - what every clock and every wait costs here, before anything is timed with them.
 *
 * A value that cannot be had is NAN and null in the record. Times in ns.
 */
#ifndef RIFT_SWEEP_CALIBRATE_H
#define RIFT_SWEEP_CALIBRATE_H

#include <jansson.h>

#include "harness/session/canary.h"

enum { QUEUE_TRIED = 4096 };

struct calibration {
	double clock_cost_ns, clock_tick_ns; /* CLOCK_MONOTONIC_RAW */
	double tsc_cost_ns, tsc_mhz;	     /* where it is invariant */
	double event_tick_ns;		     /* smallest step between two elapsed times */
	double event_pair_cost_ns;	     /* host time of two cudaEventRecord() */
	double globaltimer_tick_ns;	     /* of the device's ns clock */
	double queue_depth; /* launches that fit; NAN: more than QUEUE_TRIED, or launches too slow
			       to tell */
	double canary_ns;   /* median, by events */
	double spin_cycles_per_us;
	double clock_offset_ns, clock_offset_err_ns; /* device clock less host clock */
};

/*
 * Takes about 0.2 s, and behind a layer whose calls take long at most 3 s and some calls. Nothing
 * else may be in the stream.
 */
void calibrate(struct calibration *out, const struct canary *c);

json_t *calibration_json(const struct calibration *c);

#endif
