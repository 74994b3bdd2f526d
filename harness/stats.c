/* stats.c - what is said about a series of measurements. */
#include "harness/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

struct stats stats_of(const int64_t *value, int64_t n, double per)
{
	struct stats s = { NAN, NAN, n };
	size_t bytes = (size_t)n * sizeof(*value);
	int64_t *sorted;

	if (n < 1)
		return s;
	sorted = malloc(bytes);
	CHECK(sorted, "%zu bytes to sort", bytes);
	memcpy(sorted, value, bytes);
	qsort(sorted, (size_t)n, sizeof(*sorted), by_value);
	s.min = (double)sorted[0] / per;
	s.median = ((double)sorted[(n - 1) / 2] + (double)sorted[n / 2]) / 2 / per;
	free(sorted);
	return s;
}
