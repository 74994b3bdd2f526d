/* stats.h - what is said about a series of measurements. */
#ifndef RIFT_STATS_H
#define RIFT_STATS_H

#include <stdint.h>

struct stats {
	double median, min;
	int64_t n;
};

/*
 * Median (mean of the two middle ones where n is even) and minimum of n values, each divided by
 * `per` (steps in a block, say). NaN for n < 1. Does not change the values.
 */
struct stats stats_of(const int64_t *value, int64_t n, double per);

#endif
