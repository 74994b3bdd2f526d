/* sorted.c - doubles in order. */
#include "harness/stats/sorted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"

bool all_finite(const double *value, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		if (!isfinite(value[i]))
			return false;
	}
	return n > 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void sort_doubles(double *value, int64_t n)
{
	qsort(value, (size_t)n, sizeof(*value), by_value);
}

double median_of(double *value, int n)
{
	if (n < 1)
		return NAN;
	sort_doubles(value, n);
	return (value[(n - 1) / 2] + value[n / 2]) / 2;
}

double *sorted_copy(const double *value, int64_t n)
{
	double *copy;

	if (!all_finite(value, n))
		return NULL;
	copy = malloc((size_t)n * sizeof(*copy));
	CHECK(copy, "room for %lld values", (long long)n);
	memcpy(copy, value, (size_t)n * sizeof(*copy));
	sort_doubles(copy, n);
	return copy;
}
