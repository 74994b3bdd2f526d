/* decide.c - what is concluded from intervals: by themselves, and among many. */
#include "harness/stats/decide.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/check.h"

/* ---- one interval ----------------------------------------------------------------------- */

static const int interims[] = { 5, 10, 20, 30 };
enum { LOOKS = sizeof(interims) / sizeof(*interims), NARROW_PERCENT = 95 };

int next_interim(int processes)
{
	for (int i = 0; i < LOOKS; i++) {
		if (interims[i] > processes)
			return interims[i];
	}
	return 0;
}

static bool interim_is_due(int processes)
{
	for (int i = 0; i < LOOKS; i++) {
		if (interims[i] == processes)
			return true;
	}
	return false;
}

int analyse_interim(struct interim *out, int processes, const struct interval *point, int points,
		    double half_width_max, bool *wide)
{
	*out = (struct interim){ .points = points, .next = next_interim(processes) };
	if (!interim_is_due(processes) || points < 1)
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

struct same_system same_system_of(const struct interval *ratio, int points, double margin)
{
	struct same_system s = { .points = points, .share = NAN };

	for (int i = 0; i < points; i++) {
		enum ratio_verdict v = verdict_of(&ratio[i], margin);

		s.known += ratio[i].known;
		s.slower += v == VERDICT_SLOWER;
		s.faster += v == VERDICT_FASTER;
	}
	if (s.known)
		s.share = (double)(s.slower + s.faster) / s.known;
	return s;
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

struct judged judged_ratio(const struct interval *ratio, const struct groups *g,
			   const double *draws, double margin)
{
	struct judged j = judged_unknown();

	if (ratio->known) {
		j.known = true;
		j.alone = verdict_of(ratio, margin);
		j.not_slower = ratio->hi <= 1 + margin;
		j.p_slower = bootstrap_p_above(g, draws, 1 + margin);
		j.p_faster = bootstrap_p_below(g, draws, 1 - margin);
	}
	return j;
}

/* Only the ends of the intervals are asked for. */
struct judged judged_difference(const double *over, const double *under, const struct groups *g)
{
	int n = g->a->n < g->b->n ? g->a->n : g->b->n;
	struct judged j = judged_unknown();
	struct interval above, below;

	if (interval_of_draws(&above, 0, n, over) || interval_of_draws(&below, 0, n, under) ||
	    !above.known)
		return j;
	j.known = true;
	j.alone = above.lo > 0			   ? VERDICT_SLOWER
		  : below.hi < 0		   ? VERDICT_FASTER
		  : above.hi <= 0 && below.lo >= 0 ? VERDICT_SAME
						   : VERDICT_INCONCLUSIVE;
	j.not_slower = above.hi <= 0;
	j.p_slower = bootstrap_p_above(g, over, 0);
	j.p_faster = bootstrap_p_below(g, under, 0);
	return j;
}

/* What is left of the interval's own verdict. */
static enum ratio_verdict corrected(const struct judged *j)
{
	bool lost = (j->alone == VERDICT_SLOWER && !(j->p_slower <= JUDGE_LEVEL)) ||
		    (j->alone == VERDICT_FASTER && !(j->p_faster <= JUDGE_LEVEL));

	return lost ? VERDICT_INCONCLUSIVE : j->alone;
}

void judge(struct judged *const *all, int n, adjust *correct)
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
			all[i]->verdict = corrected(all[i]);
		}
	free(slower);
	free(faster);
}

/* ---- points ------------------------------------------------------------------------------- */

void judge_widen(struct interval *ratio, double *draws, const double *factor)
{
	for (int d = 0; factor && d < BOOTSTRAP_DRAWS; d++)
		draws[d] *= factor[d];
	if (factor)
		CHECK(!interval_of_draws(ratio, ratio->value, ratio->n, draws), "finite draws");
}

void judge_points(struct judged_point *out, const struct point_pair *pair, int n,
		  const struct groups *g, const double *factor, double margin)
{
	struct judged **all = calloc((size_t)n + 1, sizeof(*all));
	double *draws = calloc(BOOTSTRAP_DRAWS, sizeof(*draws));

	CHECK(all && draws, "memory of %d points", n);
	for (int i = 0; i < n; i++) {
		out[i].ratio = interval_unknown(0);
		if (pair[i].a && !bootstrap_ratio(&out[i].ratio, g, &pair[i], draws))
			judge_widen(&out[i].ratio, draws, factor);
		out[i].judged = judged_ratio(&out[i].ratio, g, draws, margin);
		all[i] = &out[i].judged;
	}
	judge(all, n, p_adjust_fdr);
	free(all);
	free(draws);
}

/* The least p is 1 / C(2 n, n), of pairs 1 / 2^n: harness/stats/bootstrap.h. */
int judge_processes_needed(int n, bool paired)
{
	double orders = 1;
	int processes = 0;

	while (processes < BOOTSTRAP_N_MIN || n / orders > JUDGE_LEVEL) {
		processes++;
		orders *=
			paired ? 2
			       : (2.0 * processes) * (2.0 * processes - 1) / processes / processes;
	}
	return processes;
}
