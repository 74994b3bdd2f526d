/*
 * test_truth.c - how often verdicts are wrong and intervals too narrow, by bench/truth.h: sessions
 * whose truth is known, with random numbers that are the same in each run. docs/validation.md has
 * the tables.
 */
/* sanitizers: one thread */
/* compiled with -O2: it computes much */
#include "tests/test.h"
#include "bench/truth.h"

TestSuite(large_truth, .timeout = 300);

enum { SESSIONS = 1000 }; /* of 5 % the standard error is 0.7, of 95 % too */

static struct found found(struct world w, double longer)
{
	w.longer = longer;
	return simulate(&w, SESSIONS);
}

static double margin_of(const struct world *w)
{
	return 1 + truth_margin(w);
}

/* B is slower by just the margin: each "slower" is wrong, and the interval holds what is true. */
static void expect_honest(struct world w)
{
	struct found f = found(w, margin_of(&w));

	cr_assert(le(dbl, f.slower, 6.5), "%s, n = %d, %d workloads: %g %% are called slower",
		  scatter_names[w.scatter], w.n, w.workloads, f.slower);
	cr_assert(le(dbl, f.level - 2.5, f.covered), "%s, n = %d: %g %% of %g",
		  scatter_names[w.scatter], w.n, f.covered, f.level);
}

Test(large_truth, a_wrong_slower_is_rare)
{
	static const int n[] = { 5, 6, 8, 9, 12, 20 };

	for (size_t i = 0; i < sizeof(n) / sizeof(*n); i++)
		for (int s = NORMAL; s <= DRIFT; s++)
			expect_honest((struct world){ .scatter = (enum scatter)s,
						      .design = PAIRED,
						      .n = n[i],
						      .workloads = 1,
						      .planted = 1 });
}

Test(large_truth, also_among_many_workloads_and_between_sessions)
{
	static const int workloads[] = { 1, 3, 12 };

	for (int i = 0; i < 3; i++)
		for (int design = PAIRED; design <= TWO_SESSIONS; design++)
			for (int s = NORMAL; s <= KINDS_OF_B; s++)
				expect_honest(
					(struct world){ .scatter = (enum scatter)s,
							.design = (enum design_of_world)design,
							.n = 9,
							.workloads = workloads[i],
							.planted = workloads[i] });
}

/* What is exact still decides: 5 % in all of twelve workloads, or in one of three. */
Test(large_truth, what_is_slower_is_found)
{
	struct world all = { .design = PAIRED, .n = 6, .workloads = 12, .planted = 12 };
	struct world one = { .design = PAIRED, .n = 12, .workloads = 3, .planted = 1 };

	cr_assert(le(dbl, 90, found(all, 1.05).slower), "%g", found(all, 1.05).slower);
	cr_assert(le(dbl, 65, found(one, 1.05).slower), "%g", found(one, 1.05).slower);
	cr_assert(le(dbl, 99, found(one, 1.1).slower), "%g", found(one, 1.1).slower);
	all.n = 5; /* 5 pairs decide one workload and never several */
	cr_assert(zero(dbl, found(all, 1.5).slower), "%g", found(all, 1.5).slower);
	all.workloads = all.planted = 1;
	cr_assert(eq(dbl, found(all, 1.5).slower, 100), "%g", found(all, 1.5).slower);
}

Test(large_truth, equal_sides_are_never_called_slower_for_their_scatter)
{
	for (int s = NORMAL; s <= CORRELATED; s++) {
		struct world w = { .scatter = (enum scatter)s,
				   .design = PAIRED,
				   .n = 12,
				   .workloads = 3,
				   .planted = 3,
				   .correlation = 0.5 };

		cr_assert(le(dbl, found(w, 1).slower, 1), "%s", scatter_names[s]);
	}
}
