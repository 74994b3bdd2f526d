/* decide.c - what is concluded from intervals: by themselves, and among many. */
#include "harness/stats/decide.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/check.h"

/* ---- one interval ----------------------------------------------------------------------- */

enum { NARROW_PERCENT = 95 };

int analyse_interim(struct interim *out, int next, const struct interval *point, int points,
		    double half_width_max, bool *wide)
{
	*out = (struct interim){ .points = points, .next = next };
	if (points < 1)
		return -EINVAL;
	for (int i = 0; i < points; i++) {
		/* NaN, not known, is wide. */
		bool is_wide = !(interval_half_width(&point[i]) <= half_width_max);

		out->wide += is_wide;
		if (wide)
			wide[i] = is_wide;
	}
	if (100 * (int64_t)(points - out->wide) >= NARROW_PERCENT * (int64_t)points)
		out->next = 0;
	out->stop = !out->next;
	return 0;
}

const char *const verdict_names[] = { "same", "slower", "faster", "inconclusive" };

/* An interval that is not known is NaN, and so compares to nothing: open. */
enum ratio_verdict verdict_of(const struct interval *ratio, double margin)
{
	if (ratio->lo > 1 + margin)
		return VERDICT_SLOWER;
	if (ratio->hi < 1 - margin)
		return VERDICT_FASTER;
	if (ratio->lo >= 1 - margin && ratio->hi <= 1 + margin)
		return VERDICT_SAME;
	return VERDICT_INCONCLUSIVE;
}

/* ---- p-values of many tests, each as if it were the only one ---------------------------- */

struct test {
	double p;
	int place; /* in the caller's array */
};

static int by_p(const void *a, const void *b)
{
	double x = ((const struct test *)a)->p, y = ((const struct test *)b)->p;

	return (x > y) - (x < y);
}

/* The tests by ascending p, for the caller to free; NULL where a p is none. */
static struct test *sorted_tests(const double *p, int m)
{
	struct test *t;

	for (int i = 0; i < m; i++) {
		if (!(p[i] >= 0 && p[i] <= 1))
			return NULL;
	}
	t = malloc((size_t)(m > 0 ? m : 1) * sizeof(*t));
	CHECK(t, "room for %d tests", m);
	for (int i = 0; i < m; i++)
		t[i] = (struct test){ p[i], i };
	qsort(t, (size_t)(m > 0 ? m : 0), sizeof(*t), by_p);
	return t;
}

/* Stepping down from the smallest: times the number of tests left, never less than the last. */
int p_adjust_holm(double *p, int m)
{
	struct test *t = sorted_tests(p, m);
	double last = 0;

	if (!t)
		return -EINVAL;
	for (int i = 0; i < m; i++) {
		last = fmin(1, fmax(last, (m - i) * t[i].p));
		p[t[i].place] = last;
	}
	free(t);
	return 0;
}

/* Stepping up from the largest: times m / rank, never more than the last. */
int p_adjust_fdr(double *p, int m)
{
	struct test *t = sorted_tests(p, m);
	double last = 1;

	if (!t)
		return -EINVAL;
	for (int i = m - 1; i >= 0; i--) {
		last = fmin(last, t[i].p * m / (i + 1));
		p[t[i].place] = last;
	}
	free(t);
	return 0;
}

/* ---- many differences ------------------------------------------------------------------- */

struct judged judged_unknown(void)
{
	return (struct judged){ false, VERDICT_INCONCLUSIVE, 1, 1, VERDICT_INCONCLUSIVE, false };
}

/* Abramowitz and Stegun, Handbook of Mathematical Functions, 1964, 26.7.3 and 26.7.4. */
double student_tail(double t, int freedom)
{
	double angle = atan(fabs(t) / sqrt(freedom)), c = cos(angle), term = 1, sum = 0, within;

	for (int i = freedom % 2 ? 3 : 2; i <= freedom; i += 2) {
		sum += term;
		term *= c * c * (i - 1) / i;
	}
	within = freedom % 2 ? (angle + sin(angle) * c * sum) / acos(0) : sin(angle) * sum;
	within = fmin(within, 1); /* rounding may take it beyond */
	return t > 0 ? (1 - within) / 2 : (1 + within) / 2;
}

/* Those equal to 0 count half. */
static double share_below_zero(const double *draws)
{
	double below = 0;

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		below += draws[d] < 0 ? 1 : draws[d] > 0 ? 0 : 0.5;
	return below / BOOTSTRAP_DRAWS;
}

static double deviation(const double *draws)
{
	double sum = 0, squares = 0;

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		sum += draws[d] / BOOTSTRAP_DRAWS;
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		squares += (draws[d] - sum) * (draws[d] - sum);
	return sqrt(squares / (BOOTSTRAP_DRAWS - 1));
}

/* Draws that are all alike leave no doubt. */
static double t_of(double value, const double *draws)
{
	double sd = deviation(draws);

	return sd > 0 ? value / sd : value > 0 ? INFINITY : value < 0 ? -INFINITY : 0;
}

/* Only the ends of the intervals are asked for. */
struct judged judged_difference(const struct draws_judged *d)
{
	struct judged j = judged_unknown();
	struct interval above, below;

	if (interval_of_draws(&above, d->over_value, d->n, d->over) ||
	    interval_of_draws(&below, d->under_value, d->n, d->under) || !above.known)
		return j;
	j.known = true;
	j.alone = above.lo > 0			   ? VERDICT_SLOWER
		  : below.hi < 0		   ? VERDICT_FASTER
		  : above.hi <= 0 && below.lo >= 0 ? VERDICT_SAME
						   : VERDICT_INCONCLUSIVE;
	j.not_slower = above.hi <= 0;
	j.p_slower = fmax(share_below_zero(d->over),
			  student_tail(t_of(d->over_value, d->over), d->n - 1));
	j.p_faster = fmax(1 - share_below_zero(d->under),
			  student_tail(-t_of(d->under_value, d->under), d->n - 1));
	return j;
}

/* What is left of the interval's own verdict. */
static enum ratio_verdict corrected(const struct judged *j, double level)
{
	bool lost = (j->alone == VERDICT_SLOWER && !(j->p_slower <= level)) ||
		    (j->alone == VERDICT_FASTER && !(j->p_faster <= level));

	return lost ? VERDICT_INCONCLUSIVE : j->alone;
}

void judge(struct judged *const *all, int n, adjust *correct, double level)
{
	double *slower = calloc((size_t)n + 1, sizeof(*slower));
	double *faster = calloc((size_t)n + 1, sizeof(*faster));
	int m = 0;

	CHECK(slower && faster, "memory of %d p-values", n);
	for (int i = 0; i < n; i++)
		if (all[i]->known) {
			slower[m] = all[i]->p_slower;
			faster[m++] = all[i]->p_faster;
		}
	CHECK(!correct(slower, m) && !correct(faster, m), "p-values of %d differences", m);
	m = 0;
	for (int i = 0; i < n; i++)
		if (all[i]->known) {
			all[i]->p_slower = slower[m];
			all[i]->p_faster = faster[m++];
			all[i]->verdict = corrected(all[i], level);
		}
	free(slower);
	free(faster);
}
