/* clock_probe.h - what reading the harness's clock costs, and how fine it is. */
#ifndef RIFT_MEASURE_CLOCK_PROBE_H
#define RIFT_MEASURE_CLOCK_PROBE_H

#include <stdint.h>

struct clock_probe {
	double cost_ns;	 /* of one reading: the fastest of several thousand in a row */
	int64_t tick_ns; /* smallest step seen, which is never below the cost of a reading */
};

/* Takes a few ms. */
struct clock_probe clock_probe(void);

/* The same for a clock of another kind. */
struct clock_probe clock_probe_of(int64_t (*now_ns)(void));

#endif
