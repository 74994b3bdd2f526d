/* timing.c - what measuring single calls takes. */
#include "common/timing.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t timing_now_ns(void)
{
	return now_ns(CLOCK_MONOTONIC_RAW);
}

int64_t timing_monotonic_ns(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

double timing_median(int64_t *ns, int64_t n)
{
	qsort(ns, (size_t)n, sizeof(*ns), by_value);
	return ((double)ns[(n - 1) / 2] + (double)ns[n / 2]) / 2;
}

double timing_quantile(int64_t *ns, int64_t n, double p)
{
	int64_t rank = (int64_t)ceil(p * (double)n);

	qsort(ns, (size_t)n, sizeof(*ns), by_value);
	return (double)ns[rank < 1 ? 0 : rank > n ? n - 1 : rank - 1];
}
