/* bootstrap.c - 95 % intervals over processes, of one group or the ratio of two. */
#include "harness/stats/bootstrap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/philox.h"
#include "harness/stats/stats.h"

/* ---- 95 % intervals over processes ------------------------------------------------------ */

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

/* ---- two groups of processes: ratios of medians, and how surely they are not 1 ---------- */

static int smaller_n(const struct groups *g)
{
	return g->b->n < g->a->n ? g->b->n : g->a->n;
}

static bool all_positive(const double *value, int n)
{
	for (int i = 0; i < n; i++) {
		if (!(value[i] > 0))
			return false;
	}
	return true;
}

/* The median of the pairs' ratios, in each draw and of all pairs. */
static int ratios_of_pairs(const struct groups *g, const struct point_pair *p, double *draws,
			   double *value)
{
	double ratio[BOOTSTRAP_N_MAX];

	if (g->b->n > BOOTSTRAP_N_MAX)
		return -EINVAL;
	for (int i = 0; i < g->b->n; i++)
		ratio[i] = p->b[i] / p->a[i];
	return resamples_medians(g->b, ratio, draws, value);
}

/* The ratio of medians, in each draw and of all processes. */
static int ratios(const struct groups *g, const struct point_pair *p, double *draws, double *value)
{
	double of_a[BOOTSTRAP_DRAWS], a, b;

	if (g->paired && g->a->n != g->b->n)
		return -EINVAL;
	if (!all_positive(p->b, g->b->n) || !all_positive(p->a, g->a->n))
		return -EINVAL;
	if (g->paired)
		return ratios_of_pairs(g, p, draws, value);
	if (resamples_medians(g->b, p->b, draws, &b) || resamples_medians(g->a, p->a, of_a, &a))
		return -EINVAL;
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] /= of_a[d];
	*value = b / a;
	return 0;
}

int bootstrap_ratio(struct interval *out, const struct groups *g, const struct point_pair *point,
		    double *draws)
{
	double value;

	*out = interval_unknown(smaller_n(g));
	if (ratios(g, point, draws, &value))
		return -EINVAL;
	return interval_of_draws(out, value, smaller_n(g), draws);
}

int bootstrap_difference(struct interval *out, const struct groups *g,
			 const struct point_pair *point, const double *factor, double *draws)
{
	double of_a[BOOTSTRAP_DRAWS], a, ratio;

	*out = interval_unknown(smaller_n(g));
	if (ratios(g, point, draws, &ratio) || resamples_medians(g->a, point->a, of_a, &a))
		return -EINVAL;
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] = of_a[d] * (draws[d] * (factor ? factor[d] : 1) - 1);
	return interval_of_draws(out, a * (ratio - 1), smaller_n(g), draws);
}

/* In logarithms: a product of hundreds of ratios may leave the range of a double. */
int bootstrap_geomean(struct interval *out, const struct groups *g, const struct point_pair *point,
		      int points, double *draws)
{
	double of_point[BOOTSTRAP_DRAWS], ratio, log_value = 0;

	*out = interval_unknown(smaller_n(g));
	if (points < 1)
		return -EINVAL;
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] = 0;
	for (int k = 0; k < points; k++) {
		if (ratios(g, &point[k], of_point, &ratio))
			return -EINVAL;
		log_value += log(ratio);
		for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
			draws[d] += log(of_point[d]);
	}
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] = exp(draws[d] / points);
	return interval_of_draws(out, exp(log_value / points), smaller_n(g), draws);
}

/* ---- p-values ------------------------------------------------------------------------------- */

/* 1 / C(nb + na, na), of pairs 1 / 2^n; further down than the draws resolve it no longer matters.
 */
static double least_p(const struct groups *g)
{
	double orders = 1;

	for (int i = 1; i <= g->a->n && orders < BOOTSTRAP_DRAWS; i++)
		orders *= g->paired ? 2 : (double)(g->b->n + i) / i;
	return fmax(1 / orders, 1.0 / (BOOTSTRAP_DRAWS + 1));
}

/* Those equal to bound count half. */
static double share_below(const double *draws, double bound)
{
	double below = 0;

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		below += draws[d] < bound ? 1 : draws[d] > bound ? 0 : 0.5;
	return below / BOOTSTRAP_DRAWS;
}

double bootstrap_p_above(const struct groups *g, const double *draws, double bound)
{
	return fmax(share_below(draws, bound), least_p(g));
}

double bootstrap_p_below(const struct groups *g, const double *draws, double bound)
{
	return fmax(1 - share_below(draws, bound), least_p(g));
}
