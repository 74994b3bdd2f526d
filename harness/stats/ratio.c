/* ratio.c - two groups of processes: ratios of medians, and how surely they are not 1. */
#include "harness/stats/bootstrap.h"

#include <errno.h>
#include <math.h>

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
