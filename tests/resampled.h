/* resampled.h - draws and intervals, for tests of the bootstrap. */
#ifndef RIFT_TESTS_RESAMPLED_H
#define RIFT_TESTS_RESAMPLED_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

#include "harness/stats/bootstrap.h"

static double draws[BOOTSTRAP_DRAWS];

static inline struct resamples resamples(int n, uint64_t seed, uint32_t group)
{
	struct resamples r;

	cr_assert(zero(int, resamples_init(&r, n, seed, group)), "n = %d", n);
	return r;
}

static inline bool is_unknown(const struct interval *i)
{
	return !i->known && isnan(i->value) && isnan(i->lo) && isnan(i->hi) &&
	       isnan(interval_half_width(i));
}

#endif
