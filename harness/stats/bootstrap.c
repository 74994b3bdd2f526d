/* bootstrap.c - 95 % intervals over processes. */
#include "harness/stats/bootstrap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/philox.h"
#include "harness/stats/sorted.h"

static const double tail = 0.025; /* outside the interval, on each side */

/* ---- who is taken ------------------------------------------------------------------------- */

int resamples_init(struct resamples *r, int n, uint64_t seed, uint32_t group)
{
	uint16_t *times;

	*r = (struct resamples){ .n = n, .seed = seed };
	if (n < 1 || n > BOOTSTRAP_N_MAX)
		return -EINVAL;
	r->times = calloc((size_t)BOOTSTRAP_DRAWS * (size_t)n, sizeof(*r->times));
	CHECK(r->times, "draws from %d processes", n);
	times = r->times;
	for (uint32_t d = 0; d < BOOTSTRAP_DRAWS; d++, times += n) {
		struct philox random = { { 0 } };

		for (uint32_t i = 0; i < (uint32_t)n; i++) {
			if (i % 4 == 0)
				random = philox4x32(i / 4, d, group, 0, seed);
			times[((uint64_t)random.word[i % 4] * (uint64_t)n) >> 32]++;
		}
	}
	return 0;
}

void resamples_release(struct resamples *r)
{
	free(r->times);
	r->times = NULL;
}

/* ---- medians of draws ----------------------------------------------------------------------- */

struct ranked {
	double value;
	int process;
};

static int by_value(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;

	return (x > y) - (x < y);
}

/* Ascending, each value as often as it was taken: the middle ones have ranks (n-1)/2 and n/2. */
static double median_of_draw(const struct ranked *at, const uint16_t *times, int n)
{
	int seen = times[at->process];
	double low;

	while (seen <= (n - 1) / 2)
		seen += times[(++at)->process];
	low = at->value;
	while (seen <= n / 2)
		seen += times[(++at)->process];
	return (low + at->value) / 2;
}

int resamples_medians(const struct resamples *r, const double *value, double *of_draws,
		      double *of_all)
{
	size_t n = (size_t)r->n;
	struct ranked *ranked;

	if (!r->times || !all_finite(value, r->n))
		return -EINVAL;
	ranked = malloc(n * sizeof(*ranked));
	CHECK(ranked, "room for %d processes", r->n);
	for (int i = 0; i < r->n; i++)
		ranked[i] = (struct ranked){ value[i], i };
	qsort(ranked, n, sizeof(*ranked), by_value);
	for (size_t d = 0; d < BOOTSTRAP_DRAWS; d++)
		of_draws[d] = median_of_draw(ranked, &r->times[d * n], r->n);
	*of_all = (ranked[(n - 1) / 2].value + ranked[n / 2].value) / 2;
	free(ranked);
	return 0;
}

/* ---- intervals ------------------------------------------------------------------------------ */

/* The mid-distribution quantile p of the draws. */
static double quantile_of_draws(const double *sorted, double p)
{
	double before = sorted[0], at_before = -1;

	for (int first = 0, end = 0; first < BOOTSTRAP_DRAWS; first = end) {
		double at, here = sorted[first];

		while (end < BOOTSTRAP_DRAWS && sorted[end] <= here)
			end++;
		at = (first + end) / 2.0 / BOOTSTRAP_DRAWS;
		if (at >= p)
			return at_before < 0 ? here
					     : before + (here - before) * (p - at_before) /
								(at - at_before);
		before = here;
		at_before = at;
	}
	return before;
}

int interval_of_draws(struct interval *out, double value, int n, const double *draws)
{
	double *sorted = sorted_copy(draws, BOOTSTRAP_DRAWS);

	*out = interval_unknown(n);
	if (sorted && isfinite(value)) {
		out->value = value;
		out->known = n >= BOOTSTRAP_N_MIN;
	}
	if (out->known) {
		out->lo = quantile_of_draws(sorted, tail);
		out->hi = quantile_of_draws(sorted, 1 - tail);
	}
	free(sorted);
	return isfinite(out->value) ? 0 : -EINVAL;
}

struct interval interval_unknown(int n)
{
	return (struct interval){ NAN, NAN, NAN, n, false };
}

double interval_half_width(const struct interval *i)
{
	return i->known ? (i->hi - i->lo) / 2 / fabs(i->value) : NAN;
}

int bootstrap_median(struct interval *out, const struct resamples *r, const double *value,
		     double *draws)
{
	double median;

	*out = interval_unknown(r->n);
	if (resamples_medians(r, value, draws, &median))
		return -EINVAL;
	return interval_of_draws(out, median, r->n, draws);
}
