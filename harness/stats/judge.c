/* judge.c - verdicts of many differences. */
#include "harness/stats/judge.h"

#include <stdlib.h>

#include "common/check.h"

struct judged judged_unknown(void)
{
	return (struct judged){ false, VERDICT_OPEN, 1, 1, VERDICT_OPEN, false };
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
						   : VERDICT_OPEN;
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

	return lost ? VERDICT_OPEN : j->alone;
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
