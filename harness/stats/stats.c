/* stats.c - what is said about a series of measurements, and about the blocks of a process. */
#include "harness/stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/timing.h"
#include "harness/stats/sorted.h"

/* Medians with and without marked blocks may differ by this share of the latter. */
static const double marks_matter = 0.01;

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
	s.median = timing_median(sorted, n) / per; /* sorts */
	s.min = (double)sorted[0] / per;
	free(sorted);
	return s;
}

double quantile_of_sorted(const double *sorted, int64_t n, double p)
{
	double position = p * (double)(n - 1);
	int64_t below;

	if (n < 1 || !(p >= 0 && p <= 1))
		return NAN;
	below = (int64_t)position;
	if (below + 1 >= n)
		return sorted[n - 1];
	return sorted[below] + (position - (double)below) * (sorted[below + 1] - sorted[below]);
}

/* Turns the sorted values into their distances from the median. */
static double mad_of(double *sorted, int64_t n, double median)
{
	for (int64_t i = 0; i < n; i++)
		sorted[i] = fabs(sorted[i] - median);
	sort_doubles(sorted, n);
	return quantile_of_sorted(sorted, n, 0.5);
}

static const struct sample unknown_sample = { 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };

int sample_of(struct sample *out, const double *value, int64_t n)
{
	double *sorted = sorted_copy(value, n);

	*out = unknown_sample;
	if (!sorted)
		return -EINVAL;
	*out = (struct sample){
		.n = n,
		.min = sorted[0],
		.p10 = quantile_of_sorted(sorted, n, 0.10),
		.p25 = quantile_of_sorted(sorted, n, 0.25),
		.median = quantile_of_sorted(sorted, n, 0.50),
		.p75 = quantile_of_sorted(sorted, n, 0.75),
		.p90 = quantile_of_sorted(sorted, n, 0.90),
		.p99 = quantile_of_sorted(sorted, n, 0.99),
		.max = sorted[n - 1],
	};
	out->mad = mad_of(sorted, n, out->median);
	free(sorted);
	return 0;
}

/* *out: the blocks without a mark. Returns -EINVAL where there is none. */
static int sample_of_unmarked(struct sample *out, const double *block, const uint32_t *marks,
			      int64_t n)
{
	double *kept = malloc((size_t)n * sizeof(*kept));
	int64_t count = 0;
	int err;

	CHECK(kept, "room for %lld blocks", (long long)n);
	for (int64_t i = 0; i < n; i++) {
		if (!marks || !marks[i])
			kept[count++] = block[i];
	}
	err = sample_of(out, kept, count);
	free(kept);
	return err;
}

int process_value_of(struct process_value *out, const double *block, const uint32_t *marks,
		     int64_t n)
{
	struct sample unmarked;
	bool enough;

	*out = (struct process_value){ NAN, unknown_sample, unknown_sample, NAN, false };
	if (sample_of(&out->all, block, n))
		return -EINVAL;
	enough = !sample_of_unmarked(&unmarked, block, marks, n) && 2 * unmarked.n >= n;
	out->used = enough ? unmarked : out->all;
	out->value = out->used.median;
	out->marked_share = (double)(n - unmarked.n) / (double)n;
	out->noisy = !enough || !(fabs(out->all.median - unmarked.median) <=
				  marks_matter * fabs(unmarked.median));
	return 0;
}
