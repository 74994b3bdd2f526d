/* stats.c - series of measurements: in order, summed up, one mode or two. */
#include "harness/stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/timing.h"

/* ---- doubles in order ------------------------------------------------------------------- */

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

/* ---- what is said about a series of measurements, and about the blocks of a process ----- */

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

static bool any_marked(const uint32_t *marks, int64_t n)
{
	for (int64_t i = 0; marks && i < n; i++)
		if (marks[i])
			return true;
	return false;
}

/* *out: the blocks without a mark. Returns -EINVAL where there is none. */
static int sample_of_unmarked(struct sample *out, const double *block, const uint32_t *marks,
			      int64_t n)
{
	double *kept = malloc((size_t)n * sizeof(*kept));
	int64_t count = 0;
	int err;

	CHECK(kept, "room for %lld samples", (long long)n);
	for (int64_t i = 0; i < n; i++) {
		if (!marks[i])
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
	unmarked = out->all;
	enough = !any_marked(marks, n) ||
		 (!sample_of_unmarked(&unmarked, block, marks, n) && 2 * unmarked.n >= n);
	out->used = enough ? unmarked : out->all;
	out->value = out->used.median;
	out->marked_share = (double)(n - unmarked.n) / (double)n;
	out->noisy =
		!(fabs(out->all.median - unmarked.median) <= NOISE_SHARE * fabs(unmarked.median));
	return 0;
}

/* ---- one mode or two -------------------------------------------------------------------- */

static const double gaps_wide = 5, share_wide = 0.03; /* of the median gap, of the median */
static const double share_of_mode = 0.03;

static double median_gap(const double *sorted, int64_t n)
{
	double *gap = malloc((size_t)(n - 1) * sizeof(*gap)), median;

	CHECK(gap, "room for %lld gaps", (long long)n - 1);
	for (int64_t i = 0; i + 1 < n; i++)
		gap[i] = sorted[i + 1] - sorted[i];
	sort_doubles(gap, n - 1);
	median = quantile_of_sorted(gap, n - 1, 0.5);
	free(gap);
	return median;
}

/* How many values are below the largest gap that parts two modes; 0: none does. */
static int64_t find_split(const double *sorted, int64_t n)
{
	double widest = fmax(gaps_wide * median_gap(sorted, n),
			     share_wide * fabs(quantile_of_sorted(sorted, n, 0.5)));
	int64_t least = (int64_t)ceil(share_of_mode * (double)n), split = 0;

	for (int64_t i = least; i <= n - least; i++) {
		if (sorted[i] - sorted[i - 1] > widest) {
			widest = sorted[i] - sorted[i - 1];
			split = i;
		}
	}
	return split;
}

double standard_normal(struct philox random)
{
	const double turn = 2 * acos(-1);

	return sqrt(-2 * log(philox_uniform(random.word[0]))) *
	       cos(turn * philox_uniform(random.word[1]));
}

int modality_of(struct modality *out, const double *value, int64_t n)
{
	double *sorted = sorted_copy(value, n);
	int64_t split;

	*out = (struct modality){ false, { { NAN, 1 }, { NAN, 0 } } };
	if (!sorted)
		return -EINVAL;
	split = n < 2 ? 0 : find_split(sorted, n);
	out->bimodal = split > 0;
	if (!split)
		split = n;
	out->mode[0].median = quantile_of_sorted(sorted, split, 0.5);
	out->mode[0].share = (double)split / (double)n;
	out->mode[1].median = quantile_of_sorted(sorted + split, n - split, 0.5);
	out->mode[1].share = (double)(n - split) / (double)n;
	free(sorted);
	return 0;
}
