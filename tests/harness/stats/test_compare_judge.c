/*
 * test_compare_judge.c - harness/stats/decide.h and compare/compare.h: verdicts of many
 * differences, worked by hand, and what separate sessions add to their intervals.
 */
/* sanitizers: one thread */
#include "harness/compare/compare.h"
#include "harness/stats/decide.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(small_compare_judge, .timeout = 300);

enum { MANY = 98 };

static struct resamples five[2], ten[2];

static struct groups groups_of(struct resamples r[2], int n)
{
	for (uint32_t k = 0; k < 2; k++)
		cr_assert(zero(int, resamples_init(&r[k], n, 1, k)), "%d", n);
	return (struct groups){ .b = &r[0], .a = &r[1] };
}

static void release(struct resamples r[2])
{
	resamples_release(&r[0]);
	resamples_release(&r[1]);
}

static double draws[BOOTSTRAP_DRAWS];

/* All draws alike: the interval is a point. */
static struct judged sure_of(double ratio, const struct groups *g)
{
	struct interval i;

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] = ratio;
	cr_assert(zero(int, interval_of_draws(&i, ratio, g->a->n, draws)), "draws");
	return judged_ratio(&i, g, draws, 0.02);
}

static struct judged all[MANY];
static struct judged *each[MANY];

/* The first k of m have this ratio, the others 1. Returns how many got the verdict. */
static int judged_so(int k, int m, double ratio, const struct groups *g, adjust *correct,
		     enum ratio_verdict verdict)
{
	int found = 0;

	for (int i = 0; i < m; i++) {
		all[i] = sure_of(i < k ? ratio : 1, g);
		each[i] = &all[i];
	}
	judge(each, m, correct);
	for (int i = 0; i < m; i++)
		found += all[i].verdict == verdict;
	return found;
}

/* From 5 a side, p is 1 / C(10, 5) = 1 / 252 at least, and 12 / 252 < 0.05 < 13 / 252. */
Test(small_compare_judge, five_processes_decide_among_twelve)
{
	struct groups g = groups_of(five, 5);

	cr_assert(eq(int, judged_so(1, 12, 2, &g, p_adjust_holm, VERDICT_SLOWER), 1), "12");
	cr_assert(eq(int, judged_so(1, 13, 2, &g, p_adjust_holm, VERDICT_SLOWER), 0), "13");
	cr_assert(eq(int, all[0].verdict, VERDICT_INCONCLUSIVE), "of 13");
	cr_assert(eq(int, all[0].alone, VERDICT_SLOWER), "its interval is what it was");
	cr_assert(eq(int, all[1].verdict, VERDICT_SAME), "the same needs no correction");
	cr_assert(eq(int, judged_so(1, 12, 0.5, &g, p_adjust_holm, VERDICT_FASTER), 1), "faster");
	cr_assert(eq(int, judged_so(13, 13, 0.5, &g, p_adjust_holm, VERDICT_FASTER), 0), "13");
	release(five);
}

Test(small_compare_judge, the_processes_that_it_takes)
{
	static const int want[][2] = { { 0, 5 },  { 1, 5 },  { 12, 5 },	 { 13, 6 },
				       { 46, 6 }, { 47, 7 }, { 171, 7 }, { 172, 8 } };

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		cr_assert(eq(int, judge_processes_needed(want[i][0], false), want[i][1]),
			  "%d tests", want[i][0]);
	/* of pairs 2^n orders: 5 for a single one, 8 for the 12 that 5 a side tell */
	cr_assert(eq(int, judge_processes_needed(1, true), 5), "one");
	cr_assert(eq(int, judge_processes_needed(2, true), 6), "two");
	cr_assert(eq(int, judge_processes_needed(12, true), 8), "a dozen");
}

/* 98 / 252 / 8 < 0.05 < 98 / 252 / 7 */
Test(small_compare_judge, points_are_found_where_there_are_enough_of_them)
{
	struct groups g = groups_of(five, 5);

	cr_assert(eq(int, judged_so(8, MANY, 2, &g, p_adjust_fdr, VERDICT_SLOWER), 8), "8");
	cr_assert(eq(int, judged_so(7, MANY, 2, &g, p_adjust_fdr, VERDICT_SLOWER), 0), "7");
	release(five);
	g = groups_of(ten, 10);
	cr_assert(eq(int, judged_so(1, MANY, 2, &g, p_adjust_fdr, VERDICT_SLOWER), 1), "of 10");
	release(ten);
}

Test(small_compare_judge, what_is_not_known_is_not_counted)
{
	struct groups g = groups_of(five, 5);
	struct interval unknown = interval_unknown(4);

	for (int i = 0; i < 20; i++) {
		all[i] = i ? judged_ratio(&unknown, &g, NULL, 0.02) : sure_of(1.5, &g);
		each[i] = &all[i];
	}
	judge(each, 20, p_adjust_holm);
	cr_assert(eq(int, all[0].verdict, VERDICT_SLOWER), "alone");
	cr_assert(eq(int, all[1].verdict, VERDICT_INCONCLUSIVE), "unknown");
	judge(each, 0, p_adjust_holm);
	release(five);
}

/* The margin's ends: 1.02 itself is not beyond it. */
Test(small_compare_judge, both_the_interval_and_p_must_say_so)
{
	struct groups g = groups_of(five, 5);
	struct judged j = sure_of(1.02, &g), *one = &j;

	judge(&one, 1, p_adjust_holm);
	cr_assert(eq(int, j.verdict, VERDICT_SAME), "1.02");
	j = (struct judged){ true, VERDICT_SLOWER, 0.051, 1, VERDICT_INCONCLUSIVE, false };
	judge(&one, 1, p_adjust_holm);
	cr_assert(eq(int, j.verdict, VERDICT_INCONCLUSIVE), "p");
	j = (struct judged){ true, VERDICT_INCONCLUSIVE, 0.001, 1, VERDICT_INCONCLUSIVE, false };
	judge(&one, 1, p_adjust_holm);
	cr_assert(eq(int, j.verdict, VERDICT_INCONCLUSIVE), "interval");
	j = (struct judged){ true, VERDICT_SLOWER, 0.05, 1, VERDICT_INCONCLUSIVE, false };
	judge(&one, 1, p_adjust_holm);
	cr_assert(eq(int, j.verdict, VERDICT_SLOWER), "both");
	release(five);
}

/* Half of the draws here, half there: the interval is from one to the other. */
static struct judged between_of(double lo, double hi, const struct groups *g)
{
	struct interval i;

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		draws[d] = d % 2 ? lo : hi;
	cr_assert(zero(int, interval_of_draws(&i, (lo + hi) / 2, g->a->n, draws)), "draws");
	return judged_ratio(&i, g, draws, 0.02);
}

Test(small_compare_judge, not_slower_is_less_than_the_same)
{
	struct groups g = groups_of(five, 5);
	struct judged j = between_of(0.9, 1.01, &g);

	cr_assert(eq(int, j.alone, VERDICT_INCONCLUSIVE), "the same or faster");
	cr_assert(j.not_slower, "1.01");
	j = between_of(0.9, 1.03, &g);
	cr_assert(not(j.not_slower), "1.03");
	j = sure_of(0.5, &g);
	cr_assert(j.not_slower, "faster");
	j = judged_unknown();
	cr_assert(not(j.not_slower), "unknown");
	release(five);
}

/* B - A, all draws alike, against a margin on either side. */
static enum ratio_verdict verdict_of_difference(double difference, double margin,
						const struct groups *g)
{
	static double over[BOOTSTRAP_DRAWS], under[BOOTSTRAP_DRAWS];
	struct judged j, *one = &j;

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++) {
		over[d] = difference - margin;
		under[d] = difference + margin;
	}
	j = judged_difference(over, under, g);
	cr_assert(eq(int, j.not_slower, j.known &&difference <= margin), "%g", difference);
	judge(&one, 1, p_adjust_holm);
	return j.verdict;
}

Test(small_compare_judge, differences_have_margins_of_their_own)
{
	struct groups g = groups_of(five, 5);

	cr_assert(eq(int, verdict_of_difference(51, 50, &g), VERDICT_SLOWER), "51");
	cr_assert(eq(int, verdict_of_difference(50, 50, &g), VERDICT_SAME), "50");
	cr_assert(eq(int, verdict_of_difference(-50, 50, &g), VERDICT_SAME), "-50");
	cr_assert(eq(int, verdict_of_difference(-51, 50, &g), VERDICT_FASTER), "-51");
	release(five);
	g = groups_of(five, 4);
	cr_assert(eq(int, verdict_of_difference(51, 50, &g), VERDICT_INCONCLUSIVE), "n = 4");
	release(five);
}

/* ---- separate sessions -------------------------------------------------------------------- */

Test(small_compare_judge, sessions_differ_by_as_much_as_is_said)
{
	double *factor = session_factors(0.01, 7), *same = session_factors(0.01, 7), sum = 0,
	       squares = 0;

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++) {
		sum += log(factor[d]);
		squares += log(factor[d]) * log(factor[d]);
	}
	/* of two sessions: sd 0.01 * sqrt(2); its own error from 5000 draws is 1 % */
	cr_assert(epsilon_eq(dbl, sqrt(squares / BOOTSTRAP_DRAWS), 0.0141421, 0.0006), "sd");
	cr_assert(epsilon_eq(dbl, sum / BOOTSTRAP_DRAWS, 0, 0.0008), "mean");
	cr_assert(zero(int, memcmp(factor, same, BOOTSTRAP_DRAWS * sizeof(*factor))), "seed");
	cr_assert(eq(ptr, session_factors(0, 7), NULL), "one session");
	free(factor);
	free(same);
}
