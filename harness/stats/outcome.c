/* outcome.c - what the verdicts of several workloads come to: is B slower than A? */
#include "harness/stats/outcome.h"

const char *outcome_name(enum outcome outcome)
{
	static const char *const names[] = {
		[OUTCOME_SAME] = "same",
		[OUTCOME_SLOWER] = "slower",
		[OUTCOME_FASTER] = "faster",
		[OUTCOME_NOT_SLOWER] = "same or faster",
		[OUTCOME_INCONCLUSIVE] = "inconclusive",
		[OUTCOME_WRONG] = "wrong results",
	};

	return names[outcome];
}

double outcome_level(int n, double tail)
{
	return n > 1 ? tail / 2 : tail;
}

void outcome_judge(struct judged *const *workload, int n, struct judged *mean, double tail)
{
	judge(workload, n, p_adjust_holm, outcome_level(n, tail));
	judge(&mean, 1, p_adjust_holm, outcome_level(n, tail));
}

static enum outcome of_each(struct judged *const *all, int n)
{
	bool slower = false, faster = false, may_be = false, inconclusive = false;

	for (int i = 0; i < n; i++) {
		slower |= all[i]->verdict == VERDICT_SLOWER;
		faster |= all[i]->verdict == VERDICT_FASTER;
		may_be |= !all[i]->not_slower;
		inconclusive |= all[i]->verdict == VERDICT_INCONCLUSIVE;
	}
	return slower	      ? OUTCOME_SLOWER
	       : may_be	      ? OUTCOME_INCONCLUSIVE
	       : faster	      ? OUTCOME_FASTER
	       : inconclusive ? OUTCOME_NOT_SLOWER
			      : OUTCOME_SAME;
}

enum outcome outcome_of(struct judged *const *all, int n, const struct judged *mean)
{
	enum outcome each = of_each(all, n);

	if (mean && mean->verdict == VERDICT_SLOWER)
		return OUTCOME_SLOWER;
	return each == OUTCOME_NOT_SLOWER && mean && mean->verdict == VERDICT_FASTER
		       ? OUTCOME_FASTER
		       : each;
}
