/*
 * price_spread.h - how sure a program's price is. Used by program_price.c.
 *
 * The interval is that of a measurement to come: the median of as many runs on B as there were on
 * A. So what both medians of processes are off by counts: each part is drawn as it is known, and
 * its deviation is taken sqrt(2) times, once for what is known and once for what will be measured.
 *
 *   runs       the median of the runs without the recorder, resampled
 *   starts     runs that did nothing, each for itself; and the interval of what B adds to a start
 *   launches   the draws of both fits, by the slopes of the simulated time over their parameters
 *   calls      call costs at the ends of their intervals, all at once
 *   session    PRICE_SESSION_SD of what B adds, times sqrt(2): launches were measured in another
 *              session than the program
 *
 * tests/harness/profile/test_price_spread.c counts how often such intervals hold what is measured.
 */
#ifndef RIFT_PROFILE_PRICE_SPREAD_H
#define RIFT_PROFILE_PRICE_SPREAD_H

#include "harness/profile/program_price.h"

#define PRICE_SESSION_SD 0.01

/* Half of an interval, as a share of the price: beyond it no decision should rest on the price. */
#define PRICE_WIDE 0.15

/*
 * Sets a_ns, b_ns and spread_ns; the price has all else. Without 5 processes on either side there
 * is no interval.
 */
void price_spread_find(struct program_price *p);

/* The simulated time at these parameters of launches; a: NULL where A has none (program_price.c).
 */
double price_simulated(const struct program_price *p, const struct model *a, const struct model *b);

/* The part that makes most of the interval, "how the program's runs on A differ", and what would
 * narrow it, "record it with more --runs". */
enum price_spread price_spread_widest(const struct program_price *p);
extern const char *const price_spread_texts[PRICE_SPREADS];
extern const char *const price_spread_remedies[PRICE_SPREADS];

#endif
