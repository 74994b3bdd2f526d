/* test_decide.c - harness/stats/decide.h: enough processes, verdicts, corrections; by hand. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/stats/decide.h"

#include <gsl/gsl_cdf.h>

TestSuite(small_decide, .timeout = 300);

static struct interval interval(double lo, double hi)
{
	return (struct interval){ .value = 1, .lo = lo, .hi = hi, .n = 10, .known = true };
}

/* ---- enough processes? ---------------------------------------------------------------------- */

Test(small_decide, without_points_there_is_no_interim)
{
	struct interval in = interval(1, 1);
	struct interim found;

	cr_assert(eq(int, analyse_interim(&found, 10, &in, 0, HALF_WIDTH_MAX, NULL), -EINVAL),
		  "no points");
	cr_assert(zero(int, analyse_interim(&found, 10, &in, 1, HALF_WIDTH_MAX, NULL)), "one");
}

enum { POINTS = 20 };

/* An interim analysis with this many wide points, the first ones. */
static struct interim interim_with(int wide, int next, double limit)
{
	struct interval point[POINTS];
	bool is_wide[POINTS];
	struct interim found;

	for (int i = 0; i < POINTS; i++)
		point[i] = i < wide ? interval(0.97, 1.03) : interval(0.99, 1.01);
	cr_assert(zero(int, analyse_interim(&found, next, point, POINTS, limit, is_wide)), "look");
	for (int i = 0; i < POINTS; i++)
		cr_assert(eq(int, is_wide[i], i < found.wide), "point %d", i);
	return found;
}

Test(small_decide, stops_when_95_percent_are_narrow)
{
	struct interim found = interim_with(1, 10, HALF_WIDTH_MAX);

	cr_assert(found.stop && found.next == 0 && found.wide == 1, "19 of 20");
	found = interim_with(2, 10, HALF_WIDTH_MAX);
	cr_assert(found.next == 10 && found.wide == 2 && !found.stop, "18 of 20");
	found = interim_with(2, 30, HALF_WIDTH_MAX);
	cr_assert(found.next == 30 && !found.stop, "after 20");
	found = interim_with(POINTS, 10, HALF_WIDTH_MAX_QUICK);
	cr_assert(found.stop && found.wide == 0, "quick");
}

Test(small_decide, stops_after_the_last_one_whatever_is_wide)
{
	struct interim found = interim_with(POINTS, 0, HALF_WIDTH_MAX);

	cr_assert(found.stop && found.next == 0 && found.wide == POINTS, "all wide");
}

Test(small_decide, an_interval_not_known_is_wide)
{
	struct interval in = interval_unknown(4);
	struct interim found;

	in.value = 1;
	cr_assert(zero(int, analyse_interim(&found, 10, &in, 1, HALF_WIDTH_MAX, NULL)), "look");
	cr_assert(found.wide == 1 && found.next == 10, "4 of 5 processes");
}

Test(small_decide, the_limit_itself_is_narrow)
{
	struct interval in = interval(0.75, 1.25);
	struct interim found;

	cr_assert(zero(int, analyse_interim(&found, 10, &in, 1, 0.25, NULL)), "look");
	cr_assert(found.stop && found.wide == 0, "half width 0.25");
	cr_assert(zero(int, analyse_interim(&found, 10, &in, 1, 0.2499, NULL)), "look");
	cr_assert(eq(int, found.wide, 1), "over the limit");
}

/* ---- do two systems differ? ----------------------------------------------------------------- */

struct verdict_case {
	double lo, hi;
	enum ratio_verdict want;
};

Test(small_decide, verdicts_at_the_margin)
{
	static const struct verdict_case cases[] = {
		{ 1.03, 1.05, VERDICT_SLOWER },	     { 1.25, 1.5, VERDICT_INCONCLUSIVE },
		{ 0.9, 0.97, VERDICT_FASTER },	     { 0.99, 1.01, VERDICT_SAME },
		{ 0.75, 1.25, VERDICT_SAME },	     { 0.99, 1.3, VERDICT_INCONCLUSIVE },
		{ 0.7, 1.01, VERDICT_INCONCLUSIVE }, { 0.5, 0.75, VERDICT_INCONCLUSIVE },
		{ 0.5, 0.7, VERDICT_FASTER },	     { 1.3, 1.5, VERDICT_SLOWER },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		/* 0.25 is exact in a double, 0.02 is not. */
		bool exact = cases[i].hi > 1.1 || cases[i].lo < 0.8;
		struct interval in = interval(cases[i].lo, cases[i].hi);

		cr_assert(eq(int, verdict_of(&in, exact ? 0.25 : MARGIN_DEFAULT), cases[i].want),
			  "%g to %g", in.lo, in.hi);
	}
}

/* ---- many conclusions ----------------------------------------------------------------------- */

static void expect_p(const double *got, const double *want, int m, const char *what)
{
	for (int i = 0; i < m; i++)
		cr_assert(epsilon_eq(dbl, got[i], want[i], 1e-15), "%s, %d: %g, not %g", what, i,
			  got[i], want[i]);
}

Test(small_decide, holm_worked_by_hand)
{
	double p[] = { 0.01, 0.04, 0.03, 0.005 }, large[] = { 0.7, 0.6 };

	cr_assert(zero(int, p_adjust_holm(p, 4)), "four");
	expect_p(p, (double[]){ 0.03, 0.06, 0.06, 0.02 }, 4, "four");
	cr_assert(zero(int, p_adjust_holm(large, 2)), "never above 1");
	expect_p(large, (double[]){ 1, 1 }, 2, "never above 1");
}

Test(small_decide, fdr_worked_by_hand)
{
	double p[] = { 0.01, 0.04, 0.03, 0.005 }, one[] = { 0.3 }, near[] = { 0.03, 0.031 };

	cr_assert(zero(int, p_adjust_fdr(p, 4)), "four");
	expect_p(p, (double[]){ 0.02, 0.04, 0.04, 0.02 }, 4, "four");
	cr_assert(zero(int, p_adjust_fdr(one, 1)), "one");
	expect_p(one, (double[]){ 0.3 }, 1, "one");
	cr_assert(zero(int, p_adjust_fdr(near, 2)), "near");
	expect_p(near, (double[]){ 0.031, 0.031 }, 2,
		 "the smaller is not adjusted past the larger");
}

/* The fifteen of Benjamini and Hochberg's paper: at 5 % theirs rejects four, and Holm's three. */
Test(small_decide, the_example_of_the_paper)
{
	enum { M = 15 };
	static const double paper[M] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201,
					 0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
					 0.4262, 0.5719, 0.6528, 0.7590, 1.0000 };
	double fdr[M], holm[M];

	/* in another order, which must come back */
	for (int i = 0; i < M; i++)
		fdr[i] = holm[i] = paper[(i * 4) % M];
	cr_assert(zero(int, p_adjust_fdr(fdr, M)), "fdr");
	cr_assert(zero(int, p_adjust_holm(holm, M)), "holm");
	for (int i = 0; i < M; i++) {
		int rank = (i * 4) % M + 1;

		cr_assert(eq(int, fdr[i] <= 0.05, rank <= 4), "fdr, %d: %g", rank, fdr[i]);
		cr_assert(eq(int, holm[i] <= 0.05, rank <= 3), "holm, %d: %g", rank, holm[i]);
		cr_assert(le(dbl, paper[rank - 1], fdr[i]), "%d: never smaller", rank);
		cr_assert(le(dbl, fdr[i], holm[i]), "%d: Holm's is the stricter one", rank);
		cr_assert(le(dbl, holm[i], 1), "%d: a probability", rank);
	}
}

Test(small_decide, sure_and_impossible_are_p_values)
{
	double holm[] = { 1, 0, 0.9 }, fdr[] = { 1, 0, 0.9 };

	cr_assert(zero(int, p_adjust_holm(holm, 3)), "holm");
	expect_p(holm, (double[]){ 1, 0, 1 }, 3, "holm");
	cr_assert(zero(int, p_adjust_fdr(fdr, 3)), "fdr");
	expect_p(fdr, (double[]){ 1, 0, 1 }, 3, "fdr");
}

Test(small_decide, what_is_no_p_value_is_refused)
{
	static const double bad[] = { NAN, -0.1, 1.1 };

	for (int i = 0; i < 3; i++) {
		double p[] = { 0.01, bad[i], 0.02 };

		cr_assert(eq(int, p_adjust_holm(p, 3), -EINVAL), "holm, %g", bad[i]);
		cr_assert(eq(int, p_adjust_fdr(p, 3), -EINVAL), "fdr, %g", bad[i]);
		cr_assert(p[0] == 0.01 && p[2] == 0.02, "unchanged");
	}
	cr_assert(zero(int, p_adjust_holm(NULL, 0)), "none");
	cr_assert(zero(int, p_adjust_fdr(NULL, 0)), "none");
}

/* ---- many differences ----------------------------------------------------------------------- */

Test(small_decide, both_the_interval_and_p_must_say_so)
{
	struct judged j = { true, VERDICT_SLOWER, 0.051, 1, VERDICT_INCONCLUSIVE, false },
		      *all = &j;

	judge(&all, 1, p_adjust_holm, 0.05);
	cr_assert(eq(int, j.verdict, VERDICT_INCONCLUSIVE), "p");
	j = (struct judged){ true, VERDICT_INCONCLUSIVE, 0.001, 1, VERDICT_INCONCLUSIVE, false };
	judge(&all, 1, p_adjust_holm, 0.05);
	cr_assert(eq(int, j.verdict, VERDICT_INCONCLUSIVE), "interval");
	j = (struct judged){ true, VERDICT_SLOWER, 0.05, 1, VERDICT_INCONCLUSIVE, false };
	judge(&all, 1, p_adjust_holm, 0.05);
	cr_assert(eq(int, j.verdict, VERDICT_SLOWER), "both");
	j = (struct judged){ true, VERDICT_FASTER, 1, 0.03, VERDICT_INCONCLUSIVE, false };
	judge(&all, 1, p_adjust_holm, 0.025);
	cr_assert(eq(int, j.verdict, VERDICT_INCONCLUSIVE), "another level");
}

Test(small_decide, what_is_not_known_is_not_counted)
{
	struct judged each[20], *all[20];

	for (int i = 0; i < 20; i++) {
		each[i] = i ? judged_unknown()
			    : (struct judged){ true, VERDICT_SLOWER, 0.04, 1, 0, false };
		all[i] = &each[i];
	}
	judge(all, 20, p_adjust_holm, 0.05);
	cr_assert(eq(int, each[0].verdict, VERDICT_SLOWER), "alone");
	cr_assert(eq(int, each[1].verdict, VERDICT_INCONCLUSIVE), "unknown");
	judge(all, 0, p_adjust_holm, 0.05);
}

/* ---- differences that are known by draws ---------------------------------------------------- */

Test(small_decide, students_t_has_heavy_tails)
{
	static const int freedom[] = { 1, 2, 3, 4, 5, 8, 9, 29, 100 };

	for (size_t i = 0; i < sizeof(freedom) / sizeof(*freedom); i++)
		for (double t = -6; t <= 30; t += 0.75)
			cr_assert(epsilon_eq(dbl, student_tail(t, freedom[i]),
					     gsl_cdf_tdist_Q(t, freedom[i]), 1e-12),
				  "t %g, %d", t, freedom[i]);
	for (double t = -1000; t <= 1000; t += 0.5) { /* where rounding goes beyond a chance */
		cr_assert(le(dbl, 0, student_tail(t, 499)), "t %g", t);
		cr_assert(le(dbl, student_tail(t, 499), 1), "t %g", t);
	}
	cr_assert(zero(dbl, student_tail(INFINITY, 4)), "no doubt");
	cr_assert(eq(dbl, student_tail(-INFINITY, 4), 1), "no doubt");
}

/* B - A by draws that lie evenly around it, against a margin on either side; 9 processes. */
static struct judged judged_by_draws(double difference, double spread, double margin, int n)
{
	static double over[BOOTSTRAP_DRAWS], under[BOOTSTRAP_DRAWS];

	for (int d = 0; d < BOOTSTRAP_DRAWS; d++) {
		double draw = difference + spread * (2.0 * d / (BOOTSTRAP_DRAWS - 1) - 1);

		over[d] = draw - margin;
		under[d] = draw + margin;
	}
	return judged_difference(
		&(struct draws_judged){ over, under, difference - margin, difference + margin, n });
}

Test(small_decide, differences_have_margins_of_their_own)
{
	cr_assert(eq(int, judged_by_draws(51, 0, 50, 5).alone, VERDICT_SLOWER), "51");
	cr_assert(eq(int, judged_by_draws(50, 0, 50, 5).alone, VERDICT_SAME), "50");
	cr_assert(eq(int, judged_by_draws(-50, 0, 50, 5).alone, VERDICT_SAME), "-50");
	cr_assert(eq(int, judged_by_draws(-51, 0, 50, 5).alone, VERDICT_FASTER), "-51");
	cr_assert(not(judged_by_draws(51, 0, 50, 4).known), "n = 4");
	cr_assert(judged_by_draws(40, 0, 50, 5).not_slower, "40");
	cr_assert(not(judged_by_draws(60, 0, 50, 5).not_slower), "60");
}

/* All draws are above: by their share p would be 0. The standard deviation of the draws is 10. */
Test(small_decide, what_no_draw_shows_is_still_possible)
{
	double spread = 10 * sqrt(3), t = 2.5;
	struct judged j = judged_by_draws(50 + 10 * t, spread, 50, 9);

	cr_assert(epsilon_eq(dbl, j.p_slower, gsl_cdf_tdist_Q(t, 8), 1e-4), "%g", j.p_slower);
	cr_assert(lt(dbl, 0.99, j.p_faster), "%g", j.p_faster);
	j = judged_by_draws(-50 - 10 * t, spread, 50, 9);
	cr_assert(epsilon_eq(dbl, j.p_faster, gsl_cdf_tdist_Q(t, 8), 1e-4), "%g", j.p_faster);
	j = judged_by_draws(50, spread, 50, 9);
	cr_assert(epsilon_eq(dbl, j.p_slower, 0.5, 1e-3), "half of the draws: %g", j.p_slower);
}
