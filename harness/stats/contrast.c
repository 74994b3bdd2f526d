/* contrast.c - B over A: exact tests, and the intervals that follow from them. */
#include "harness/stats/contrast.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/stats/stats.h"

/* ---- how many ratios lie above B / A ------------------------------------------------------ */

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);

	CHECK(p, "memory of %zu ratios", n);
	return p;
}

/* Of n pairs, each above with chance 1/2: the chance of each number. */
static void binomial(double *chance, int n)
{
	for (int k = 0; k <= n; k++)
		chance[k] = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2));
}

/*
 * Mann and Whitney's recursion: the largest of all values is one of B with chance i / (i + j), and
 * is then above all j of A; or it is one of A, which adds nothing. of[j] is the distribution for i
 * of B and j of A, of i * j + 1 numbers.
 */
static void mann_whitney(double *chance, int nb, int na)
{
	size_t size = (size_t)nb * (size_t)na + 1;
	double *of = zeroed((size_t)(na + 1) * size, sizeof(*of)),
	       *last = zeroed(size, sizeof(*of));

	for (int j = 0; j <= na; j++)
		of[(size_t)j * size] = 1;
	for (int i = 1; i <= nb; i++)
		for (int j = 1; j <= na; j++) {
			double *now = &of[(size_t)j * size], b = (double)i / (i + j);
			const double *fewer = now - size;

			for (int u = 0; u <= i * j; u++)
				last[u] = b * (u >= j ? now[u - j] : 0) +
					  (1 - b) * (u <= i * (j - 1) ? fewer[u] : 0);
			for (int u = 0; u <= i * j; u++)
				now[u] = last[u];
		}
	for (size_t u = 0; u < size; u++)
		chance[u] = of[(size_t)na * size + u];
	free(of);
	free(last);
}

/* The normal distribution with U's mean and variance, of the half numbers around each. */
static void nearly_normal(double *chance, int nb, int na)
{
	double n = (double)nb * na, sd = sqrt(n * (nb + na + 1) / 12);

	for (int u = 0; u <= nb * na; u++)
		chance[u] = (erf((u + 0.5 - n / 2) / sd / sqrt(2)) -
			     erf((u - 0.5 - n / 2) / sd / sqrt(2))) /
			    2;
}

/* at_least[k]: the sum of all from k on; it begins with the smallest chances. */
static void sum_up(double *at_least, int ratios)
{
	at_least[ratios + 1] = 0;
	for (int k = ratios; k >= 0; k--)
		at_least[k] = fmin(1, at_least[k] + at_least[k + 1]);
}

/* The chance that fewer than `rank` lie above is the same as that all but so many do. */
static int rank_of(const struct contrast *c)
{
	int rank = 0;

	while (rank < (c->ratios + 1) / 2 && c->at_least[c->ratios - rank] <= c->tail)
		rank++;
	return rank;
}

void contrast_init(struct contrast *c, int nb, int na, bool paired, int looks)
{
	CHECK(nb > 0 && na > 0 && nb <= CONTRAST_N_MAX && na <= CONTRAST_N_MAX && looks > 0 &&
		      (!paired || nb == na),
	      "%d and %d processes, %d looks", nb, na, looks);
	*c = (struct contrast){ .nb = nb,
				.na = na,
				.paired = paired,
				.tail = JUDGE_LEVEL / looks,
				.apart = 1,
				.ratios = paired ? nb : nb * na };
	c->at_least = zeroed((size_t)c->ratios + 2, sizeof(*c->at_least));
	if (paired)
		binomial(c->at_least, nb);
	else if (c->ratios <= CONTRAST_EXACT_MAX)
		mann_whitney(c->at_least, nb, na);
	else
		nearly_normal(c->at_least, nb, na);
	sum_up(c->at_least, c->ratios);
	c->rank = rank_of(c);
	c->level = c->rank ? 1 - 2 * c->at_least[c->ratios - c->rank + 1] : NAN;
}

void contrast_release(struct contrast *c)
{
	free(c->at_least);
	c->at_least = NULL;
}

/* 1.645: the 95 % quantile of the normal distribution. */
double contrast_apart(double session_sd)
{
	return exp(1.645 * sqrt(2) * session_sd);
}

double contrast_least_p(const struct contrast *c)
{
	return c->at_least[c->ratios];
}

/* The least p is 1 / 2^n of pairs, and of groups 1 / C(2 n, n): all orders are alike. */
int contrast_processes_needed(double p, bool paired)
{
	double orders = 1;
	int n = 0;

	while (1 / orders > p) {
		n++;
		orders *= paired ? 2 : (2.0 * n) * (2.0 * n - 1) / n / n;
	}
	return n;
}

/* ---- values ------------------------------------------------------------------------------- */

static bool all_positive(const double *value, int n)
{
	for (int i = 0; i < n; i++)
		if (!(value[i] > 0 && isfinite(value[i])))
			return false;
	return true;
}

static bool is_usable(const struct contrast *c, const struct point_pair *p)
{
	return all_positive(p->b, c->nb) && all_positive(p->a, c->na);
}

/* In logarithms: a product of hundreds of times may leave the range of a double. */
static void geometric_means(double *out, int n, const struct point_pair *point, int points,
			    bool of_b)
{
	for (int i = 0; i < n; i++) {
		double sum = 0;

		for (int k = 0; k < points; k++)
			sum += log((of_b ? point[k].b : point[k].a)[i]);
		out[i] = exp(sum / points);
	}
}

void contrast_means(const struct contrast *c, const struct point_pair *point, int points, double *b,
		    double *a)
{
	geometric_means(b, c->nb, point, points, true);
	geometric_means(a, c->na, point, points, false);
}

/* ---- intervals ---------------------------------------------------------------------------- */

/* The processes of ratio k. */
static int b_of(const struct contrast *c, int k)
{
	return c->paired ? k : k / c->na;
}

static int a_of(const struct contrast *c, int k)
{
	return c->paired ? k : k % c->na;
}

/* In ascending order, for the caller to free. */
static double *sorted_ratios(const struct contrast *c, const struct point_pair *p)
{
	double *ratio = zeroed((size_t)c->ratios, sizeof(*ratio));

	for (int k = 0; k < c->ratios; k++)
		ratio[k] = p->b[b_of(c, k)] / p->a[a_of(c, k)];
	sort_doubles(ratio, c->ratios);
	return ratio;
}

/* Of values in ascending order, as many as there are ratios. */
static void from_sorted(struct interval *out, const struct contrast *c, const double *sorted)
{
	out->value = (sorted[(c->ratios - 1) / 2] + sorted[c->ratios / 2]) / 2;
	out->known = c->rank > 0;
	if (out->known) {
		out->lo = sorted[c->rank - 1];
		out->hi = sorted[c->ratios - c->rank];
	}
}

int contrast_median(struct interval *out, const struct contrast *c, const double *value)
{
	double *sorted = c->paired ? sorted_copy(value, c->nb) : NULL;

	*out = interval_unknown(c->nb);
	if (!sorted)
		return -EINVAL;
	from_sorted(out, c, sorted);
	free(sorted);
	return 0;
}

int contrast_ratio(struct interval *out, const struct contrast *c, const struct point_pair *p)
{
	double *ratio;

	*out = interval_unknown(c->nb < c->na ? c->nb : c->na);
	if (!is_usable(c, p))
		return -EINVAL;
	ratio = sorted_ratios(c, p);
	from_sorted(out, c, ratio);
	out->lo /= c->apart;
	out->hi *= c->apart;
	free(ratio);
	return 0;
}

int contrast_difference(struct interval *out, const struct contrast *c, const struct point_pair *p)
{
	int err = contrast_ratio(out, c, p);
	double *a = err ? NULL : sorted_copy(p->a, c->na), of_a;

	if (err)
		return err;
	of_a = quantile_of_sorted(a, c->na, 0.5);
	out->value = of_a * (out->value - 1);
	out->lo = of_a * (out->lo - 1);
	out->hi = of_a * (out->hi - 1);
	free(a);
	return 0;
}

/* ---- verdicts ----------------------------------------------------------------------------- */

/* How many of the ratios of B to A and the margin, or to A less the margin, are so. */
struct counts {
	int slower, not_slower, faster, not_faster;
};

static void count_one(struct counts *n, const struct contrast *c, double b, double a, double margin)
{
	n->slower += b > (a + margin) * c->apart;
	n->not_slower += b * c->apart <= a + margin;
	n->faster += b * c->apart < a - margin;
	n->not_faster += b >= (a - margin) * c->apart;
}

static struct counts count_all(const struct contrast *c, const struct point_pair *p, double margin,
			       double floor)
{
	struct counts n = { 0 };

	for (int k = 0; k < c->ratios; k++) {
		double a = p->a[a_of(c, k)];

		count_one(&n, c, p->b[b_of(c, k)], a, fmax(margin * a, floor));
	}
	return n;
}

struct judged contrast_judge(const struct contrast *c, const struct point_pair *p, double margin,
			     double floor)
{
	struct judged j = judged_unknown();
	struct counts n;
	bool not_faster;

	if (!is_usable(c, p))
		return j;
	n = count_all(c, p, margin, floor);
	j.known = c->rank > 0;
	j.p_slower = c->at_least[n.slower];
	j.p_faster = c->at_least[n.faster];
	j.not_slower = c->at_least[n.not_slower] <= c->tail;
	not_faster = c->at_least[n.not_faster] <= c->tail;
	j.alone = j.p_slower <= c->tail	       ? VERDICT_SLOWER
		  : j.p_faster <= c->tail      ? VERDICT_FASTER
		  : j.not_slower && not_faster ? VERDICT_SAME
					       : VERDICT_INCONCLUSIVE;
	j.verdict = j.alone;
	return j;
}

void contrast_points(struct judged_point *out, const struct point_pair *pair, int n,
		     const struct contrast *c, double margin)
{
	struct judged **all = zeroed((size_t)n + 1, sizeof(*all));

	for (int i = 0; i < n; i++) {
		out[i] = (struct judged_point){ interval_unknown(0), judged_unknown() };
		if (pair[i].a && !contrast_ratio(&out[i].ratio, c, &pair[i]))
			out[i].judged = contrast_judge(c, &pair[i], margin, 0);
		all[i] = &out[i].judged;
	}
	judge(all, n, p_adjust_fdr, c->tail);
	free(all);
}
