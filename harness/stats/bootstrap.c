/* bootstrap.c - 95 % intervals over processes. */
#include "harness/stats/bootstrap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/philox.h"
#include "harness/stats/stats.h"

/* ---- 95 % intervals over processes ------------------------------------------------------ */

static const double tail = 0.025; /* outside the interval, on each side */

/* ---- who is taken ------------------------------------------------------------------------- */

int resamples_init(struct resamples *r, int n, uint64_t seed, uint32_t group)
{
	size_t all = (size_t)BOOTSTRAP_DRAWS * (size_t)n;

	*r = (struct resamples){ .n = n, .seed = seed };
	if (n < 1 || n > BOOTSTRAP_N_MAX)
		return -EINVAL;
	r->times = calloc(all, sizeof(*r->times));
	r->of_process = calloc(all, sizeof(*r->of_process));
	CHECK(r->times && r->of_process, "draws from %d processes", n);
	for (uint32_t d = 0; d < BOOTSTRAP_DRAWS; d++) {
		struct philox random = { { 0 } };

		for (uint32_t i = 0; i < (uint32_t)n; i++) {
			size_t taken;

			if (i % 4 == 0)
				random = philox4x32(i / 4, d, group, 0, seed);
			taken = ((uint64_t)random.word[i % 4] * (uint64_t)n) >> 32;
			r->times[(size_t)d * (size_t)n + taken]++;
			r->of_process[taken * BOOTSTRAP_DRAWS + d]++;
		}
	}
	return 0;
}

void resamples_release(struct resamples *r)
{
	free(r->times);
	free(r->of_process);
	r->times = NULL;
	r->of_process = NULL;
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

/*
 * In ascending order, each value as often as it was taken, the middle ones have ranks (n-1)/2 and
 * n/2: low[d] and high[d] are whose they are in draw d. All draws go through the processes
 * together, as then the compiler makes vectors of them.
 */
static void find_middles(const struct resamples *r, const struct ranked *ranked, uint16_t *low,
			 uint16_t *high)
{
	const uint16_t low_rank = (uint16_t)((r->n - 1) / 2), high_rank = (uint16_t)(r->n / 2);
	uint16_t seen[BOOTSTRAP_DRAWS] = { 0 };

	for (int i = 0; i < r->n; i++) {
		const uint16_t *times = &r->of_process[(size_t)ranked[i].process * BOOTSTRAP_DRAWS];

		for (int d = 0; d < BOOTSTRAP_DRAWS; d++) {
			seen[d] = (uint16_t)(seen[d] + times[d]);
			low[d] = (uint16_t)(low[d] + (seen[d] <= low_rank));
			high[d] = (uint16_t)(high[d] + (seen[d] <= high_rank));
		}
	}
}

int resamples_medians(const struct resamples *r, const double *value, double *of_draws,
		      double *of_all)
{
	uint16_t low[BOOTSTRAP_DRAWS] = { 0 }, high[BOOTSTRAP_DRAWS] = { 0 };
	size_t n = (size_t)r->n;
	struct ranked *ranked;

	if (!r->times || !all_finite(value, r->n))
		return -EINVAL;
	ranked = malloc(n * sizeof(*ranked));
	CHECK(ranked, "room for %d processes", r->n);
	for (int i = 0; i < r->n; i++)
		ranked[i] = (struct ranked){ value[i], i };
	qsort(ranked, n, sizeof(*ranked), by_value);
	find_middles(r, ranked, low, high);
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		of_draws[d] = (ranked[low[d]].value + ranked[high[d]].value) / 2;
	*of_all = (ranked[(n - 1) / 2].value + ranked[n / 2].value) / 2;
	free(ranked);
	return 0;
}

/* ---- intervals ------------------------------------------------------------------------------ */

/*
 * Puts the value of rank k where it would stand in order, none larger before it, none smaller
 * behind it: Hoare's FIND (Communications of the ACM 4(7), 1961). Two quantiles of 5000 draws are
 * wanted; sorting them all takes several times as long.
 */
static double select_rank(double *value, int k)
{
	int left = 0, right = BOOTSTRAP_DRAWS - 1;

	while (left < right) {
		double pivot = value[left + (right - left) / 2], swapped;
		int i = left, j = right;

		while (i <= j) {
			while (value[i] < pivot)
				i++;
			while (pivot < value[j])
				j--;
			if (i <= j) {
				swapped = value[i];
				value[i++] = value[j];
				value[j--] = swapped;
			}
		}
		if (j < k)
			left = i;
		if (k < i)
			right = j;
	}
	return value[k];
}

/* The share of the draws at the middle of the run of those that equal a value. */
static double place_of(const double *draws, double value)
{
	int twice = 0;

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		twice += (draws[d] < value) + (draws[d] <= value);
	return twice / 2.0 / BOOTSTRAP_DRAWS;
}

/* The least of the draws above a value, or the largest below it; the value where there is none. */
static double next_draw(const double *draws, double value, bool above)
{
	double next = above ? INFINITY : -INFINITY;

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++) {
		if (above ? draws[d] > value && draws[d] < next
			  : draws[d] < value && draws[d] > next)
			next = draws[d];
	}
	return isinf(next) ? value : next;
}

static double on_line(double p, double at_low, double low, double at_high, double high)
{
	return low + (high - low) * (p - at_low) / (at_high - at_low);
}

/*
 * The mid-distribution quantile p of the draws, which get another order. The run that has rank
 * p * BOOTSTRAP_DRAWS is one of the two whose middles are on either side of p.
 */
static double quantile_of_draws(double *draws, double p)
{
	double here = select_rank(draws, (int)(p * BOOTSTRAP_DRAWS)), at = place_of(draws, here);
	double next = next_draw(draws, here, at < p), at_next = place_of(draws, next);

	if (next == here)
		return here;
	return at < p ? on_line(p, at, here, at_next, next) : on_line(p, at_next, next, at, here);
}

int interval_of_draws(struct interval *out, double value, int n, const double *draws)
{
	*out = interval_unknown(n);
	if (!isfinite(value) || !all_finite(draws, BOOTSTRAP_DRAWS))
		return -EINVAL;
	out->value = value;
	out->known = n >= BOOTSTRAP_N_MIN;
	if (out->known) {
		double copy[BOOTSTRAP_DRAWS];

		memcpy(copy, draws, sizeof(copy));
		out->lo = quantile_of_draws(copy, tail);
		out->hi = quantile_of_draws(copy, 1 - tail);
	}
	return 0;
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
