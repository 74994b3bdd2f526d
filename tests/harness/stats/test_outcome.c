/* test_outcome.c - harness/stats/outcome.h: what verdicts of several workloads come to, by hand. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/stats/outcome.h"

TestSuite(small_outcome, .timeout = 300);

enum { MOST = 12 };

static const struct judged same = { true, VERDICT_SAME, 1, 1, VERDICT_SAME, true };
static const struct judged open = {
	true, VERDICT_INCONCLUSIVE, 0.3, 1, VERDICT_INCONCLUSIVE, false
};
static const struct judged less = {
	true, VERDICT_INCONCLUSIVE, 1, 0.3, VERDICT_INCONCLUSIVE, true
};

static struct judged slower(double p)
{
	return (struct judged){ true, VERDICT_SLOWER, p, 1, VERDICT_SLOWER, false };
}

static struct judged faster(double p)
{
	return (struct judged){ true, VERDICT_FASTER, 1, p, VERDICT_FASTER, true };
}

/* n workloads, the first as given, the others the same; and a mean. */
static enum outcome outcome(struct judged first, int n, struct judged mean)
{
	struct judged each[MOST], *all[MOST];

	for (int i = 0; i < n; i++) {
		each[i] = i ? same : first;
		all[i] = &each[i];
	}
	outcome_judge(all, n, &mean, 0.05);
	return outcome_of(all, n, &mean);
}

/* 5 pairs give 1 / 32, 6 give 1 / 64. */
Test(small_outcome, one_workload_has_the_whole_level)
{
	cr_assert(eq(int, outcome(slower(1.0 / 32), 1, slower(1.0 / 32)), OUTCOME_SLOWER), "5");
	cr_assert(eq(int, outcome(slower(0.051), 1, slower(0.051)), OUTCOME_INCONCLUSIVE), "0.051");
	cr_assert(eq(dbl, outcome_level(1, 0.05), 0.05), "one");
	cr_assert(eq(dbl, outcome_level(2, 0.05), 0.025), "two");
}

Test(small_outcome, of_several_the_mean_has_half)
{
	cr_assert(eq(int, outcome(open, 12, slower(1.0 / 64)), OUTCOME_SLOWER), "6 pairs");
	cr_assert(eq(int, outcome(open, 12, slower(1.0 / 32)), OUTCOME_INCONCLUSIVE), "5 pairs");
}

/* 12 / 512 < 0.025 < 12 / 256, and 3 / 64 > 0.025. */
Test(small_outcome, each_of_several_is_corrected_by_holm)
{
	cr_assert(eq(int, outcome(slower(1.0 / 512), 12, same), OUTCOME_SLOWER), "9 pairs");
	cr_assert(eq(int, outcome(slower(1.0 / 256), 12, same), OUTCOME_INCONCLUSIVE), "8 pairs");
	cr_assert(eq(int, outcome(slower(1.0 / 64), 3, same), OUTCOME_INCONCLUSIVE), "6 pairs");
}

Test(small_outcome, faster_only_where_nothing_may_be_slower)
{
	cr_assert(eq(int, outcome(faster(1.0 / 512), 12, same), OUTCOME_FASTER), "faster");
	cr_assert(eq(int, outcome(less, 12, faster(1.0 / 64)), OUTCOME_FASTER), "on average");
	cr_assert(eq(int, outcome(open, 12, faster(1.0 / 64)), OUTCOME_INCONCLUSIVE), "one may be");
}

Test(small_outcome, same_takes_every_interval_and_no_correction)
{
	cr_assert(eq(int, outcome(same, 12, same), OUTCOME_SAME), "all");
	cr_assert(eq(int, outcome(less, 12, same), OUTCOME_NOT_SLOWER), "one may be faster");
	cr_assert(eq(int, outcome(open, 12, same), OUTCOME_INCONCLUSIVE), "one may be slower");
	cr_assert(eq(int, outcome(judged_unknown(), 12, same), OUTCOME_INCONCLUSIVE), "unknown");
	cr_assert(eq(int, outcome(same, 3, judged_unknown()), OUTCOME_SAME), "no mean");
}

Test(small_outcome, outcomes_have_the_names_of_verdicts)
{
	cr_assert(eq(str, (char *)outcome_name(OUTCOME_SLOWER), "slower"), "slower");
	cr_assert(eq(str, (char *)outcome_name(OUTCOME_NOT_SLOWER), "same or faster"), "less");
	cr_assert(eq(str, (char *)outcome_name(OUTCOME_WRONG), "wrong results"), "wrong");
}
