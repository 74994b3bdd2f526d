/* timing.h - what measuring single calls takes: the clock, and what is said about a series. */
#ifndef RIFT_TIMING_H
#define RIFT_TIMING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CLOCK_MONOTONIC_RAW: not slewed by NTP. A reading costs some 20 to 30 ns. */
int64_t timing_now_ns(void);

/* CLOCK_MONOTONIC, which recorders read, and other processes may: the two drift apart. */
int64_t timing_monotonic_ns(void);

/* The functions below sort the n >= 1 times. */

/* The mean of the two middle ones where n is even. */
double timing_median(int64_t *ns, int64_t n);

/* The smallest one that a share p, 0 to 1, of them does not exceed. */
double timing_quantile(int64_t *ns, int64_t n, double p);

#ifdef __cplusplus
}
#endif
#endif
