/*
 * test_compare_between.c - separate sessions of one system, each off by a common factor that their
 * processes do not show: how often B is called slower, simulated.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/philox.h"
#include "harness/compare/compare.h"
#include "tests/compared.h"

TestSuite(large_compare_between, .timeout = 300);

enum { TRIALS = 200 };

static double session_factor; /* of the session that is being made up */

static double off_by(const struct batch *b, int side)
{
	(void)b;
	(void)side;
	return session_factor;
}

static double normal(uint32_t i, uint32_t which)
{
	struct philox r = philox4x32(i, which, 0, 0, 42);

	return sqrt(-2 * log(philox_uniform(r.word[0]))) *
	       cos(2 * M_PI * philox_uniform(r.word[1]));
}

static void make_session(struct journal *j, struct compared_side *p, uint32_t trial, uint32_t which,
			 double sd)
{
	struct fake_session s = two_sides();

	s.sides = 1;
	s.processes = 10;
	s.size = "0,5,50";
	s.depth = "16"; /* one depth: there is no model, and so it is fast */
	s.mode = "stream";
	s.process_noise = 0.015;
	s.seed = 2 * trial + which + 1;
	s.factor = off_by;
	session_factor = exp(sd * normal(trial, which));
	fake_session_journal(&s, j);
	side_init(p, j, "x", 0, HALF_BOTH);
}

/* Verdicts on two sessions of 10 processes that scatter by 1.5 %, each off by sd. */
static void count_outcomes(double sd, double margin, double between,
			   int found[OUTCOME_INCONCLUSIVE + 1])
{
	struct compare_options o = { .margin = margin, .session_sd = between };

	memset(found, 0, (OUTCOME_INCONCLUSIVE + 1) * sizeof(*found));
	for (uint32_t i = 0; i < TRIALS; i++) {
		struct compared_side p[2] = { 0 };
		struct comparison compared;
		struct journal j[2];

		for (uint32_t k = 0; k < 2; k++)
			make_session(&j[k], &p[k], i, k, sd);
		cr_assert(zero(int, compare(&compared, &p[0], &p[1], &o)), "trial %d", (int)i);
		found[compared.outcome]++;
		compare_release(&compared);
		for (int k = 0; k < 2; k++) {
			side_release(&p[k]);
			journal_release(&j[k]);
		}
	}
}

Test(large_compare_between, the_terms_of_one_session_are_wrong_for_two)
{
	int found[OUTCOME_INCONCLUSIVE + 1];

	count_outcomes(0.02, MARGIN_DEFAULT, 0, found);
	cr_assert(le(int, TRIALS / 10, found[OUTCOME_SLOWER] + found[OUTCOME_FASTER]), "%d %d",
		  found[OUTCOME_SLOWER], found[OUTCOME_FASTER]);
}

/* None where the effect is as assumed, few where it is twice that. */
Test(large_compare_between, the_terms_of_two_sessions_call_few_equal_ones_slower)
{
	int found[OUTCOME_INCONCLUSIVE + 1];

	count_outcomes(0.01, BETWEEN_MARGIN_DEFAULT, BETWEEN_DEFAULT, found);
	cr_assert(zero(int, found[OUTCOME_SLOWER] + found[OUTCOME_FASTER]), "%d %d",
		  found[OUTCOME_SLOWER], found[OUTCOME_FASTER]);
	cr_assert(le(int, TRIALS / 2, found[OUTCOME_SAME]), "%d", found[OUTCOME_SAME]);
	count_outcomes(0.02, BETWEEN_MARGIN_DEFAULT, BETWEEN_DEFAULT, found);
	cr_assert(le(int, found[OUTCOME_SLOWER] + found[OUTCOME_FASTER], TRIALS / 50), "%d %d",
		  found[OUTCOME_SLOWER], found[OUTCOME_FASTER]);
	cr_assert(le(int, TRIALS / 4, found[OUTCOME_SAME]), "%d", found[OUTCOME_SAME]);
}
