/* test_trial_findings.c - what is concluded from a program's runs, made here by value. */
/* sanitizers: one thread */
#include "tests/test.h"

#include "harness/base/json.h"
#include "harness/trial/trial.h"

TestSuite(small_trial_findings, .timeout = 60);

/* A trial of so many sides, and rounds of which side i takes base + i * more seconds. */
static void begin(struct trial *t, int sides)
{
	*t = (struct trial){ .file = LINE_FILE_NONE };
	t->plan = (struct trial_plan){ .sides = sides, .margin = 0.02 };
	t->plan.argv = calloc(2, sizeof(*t->plan.argv));
	t->plan.argv[0] = "app";
	for (int i = 1; i < sides; i++)
		t->plan.side[i].layer = "none";
	trial_init(t);
	for (int i = 0; i < sides; i++)
		t->side[i].untimed = (struct trial_run){ .there = true, .wall_s = 1 };
	t->looks = 1;
	t->look[0] = 100;
}

static void put(struct trial *t, int side, int round, double wall_s)
{
	struct trial_run *r = &t->side[side].run[round];

	*r = (struct trial_run){ .there = true, .wall_s = wall_s };
	for (int q = 0; q < TRIAL_QUANTITIES; q++)
		r->value[q] = NAN;
}

/* Runs scatter by 1 % and drift, as both of a pair do. */
static double base_s(int round)
{
	return 1 + 0.01 * (round % 3) + 0.05 * round;
}

static void put_pairs(struct trial *t, int side, int rounds, double ratio)
{
	for (int i = 0; i < rounds; i++) {
		put(t, 0, i, base_s(i));
		put(t, side, i, ratio * base_s(i));
	}
}

Test(small_trial_findings, a_ratio_beyond_the_margin_is_a_verdict_from_five_pairs_on)
{
	static const struct {
		double ratio;
		int rounds;
		enum outcome outcome;
		enum exit_code code;
	} rows[] = {
		{ 1.03, 6, OUTCOME_SLOWER, RIFT_CHECK_FAILED },
		{ 1.03, 5, OUTCOME_SLOWER, RIFT_CHECK_FAILED },
		{ 1.03, 4, OUTCOME_INCONCLUSIVE, RIFT_FAILED_POINTS },
		{ 0.97, 6, OUTCOME_FASTER, RIFT_OK },
		{ 1.01, 6, OUTCOME_SAME, RIFT_OK },
		{ 0.99, 6, OUTCOME_SAME, RIFT_OK },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct trial_findings f;
		struct trial t;

		begin(&t, 2);
		put_pairs(&t, 1, rows[i].rounds, rows[i].ratio);
		trial_findings_init(&f, &t, NAN);
		cr_expect(eq(int, f.rounds, rows[i].rounds));
		cr_expect(eq(int, (int)f.outcome, (int)rows[i].outcome), "%g, %d: %s",
			  rows[i].ratio, rows[i].rounds, outcome_name(f.outcome));
		cr_expect(eq(int, (int)trial_exit_code(&f), (int)rows[i].code));
		cr_expect(epsilon_eq(dbl, f.side[1].ratio.value, rows[i].ratio, 1e-12));
		trial_findings_release(&f);
		trial_release(&t);
	}
}

Test(small_trial_findings, another_margin_is_another_verdict)
{
	struct trial_findings f;
	struct trial t;

	begin(&t, 2);
	put_pairs(&t, 1, 8, 1.03);
	trial_findings_init(&f, &t, 0.05);
	cr_expect(eq(int, (int)f.outcome, OUTCOME_SAME));
	trial_findings_release(&f);
	trial_release(&t);
}

/* The difference is what the ratio adds to the median by itself. */
Test(small_trial_findings, the_difference_is_in_seconds)
{
	struct trial_findings f;
	struct trial t;

	begin(&t, 2);
	for (int i = 0; i < 9; i++) {
		put(&t, 0, i, 2);
		put(&t, 1, i, 2.5);
	}
	trial_findings_init(&f, &t, NAN);
	cr_expect(epsilon_eq(dbl, f.side[1].difference_s.value, 0.5, 1e-12));
	cr_expect(epsilon_eq(dbl, f.side[0].wall_s.value, 2, 1e-12));
	cr_expect(epsilon_eq(dbl, f.side[1].wall_s.value, 2.5, 1e-12));
	trial_findings_release(&f);
	trial_release(&t);
}

/* Holm: of three sides the most certain has a third of the 5 %, which takes six pairs, not five. */
Test(small_trial_findings, several_sides_are_corrected)
{
	for (int rounds = 5; rounds <= 6; rounds++) {
		struct trial_findings f;
		struct trial t;

		begin(&t, 4);
		for (int side = 1; side < 4; side++)
			put_pairs(&t, side, rounds, 1.03);
		trial_findings_init(&f, &t, NAN);
		cr_expect(eq(int, (int)f.outcome,
			     rounds == 6 ? OUTCOME_SLOWER : OUTCOME_INCONCLUSIVE));
		cr_expect(eq(int, f.needed, 6));
		trial_findings_release(&f);
		trial_release(&t);
	}
}

/* Processor time of short programs is 0 in some rounds: no ratio, but a median and its ends. */
Test(small_trial_findings, zeros_have_a_median_and_an_interval)
{
	static const double user[] = { 0, 0.01, 0, 0.02, 0.01, 0.03 };
	struct trial_findings f;
	struct trial t;

	begin(&t, 2);
	put_pairs(&t, 1, 6, 1);
	for (int i = 0; i < 6; i++)
		t.side[1].run[i].value[TRIAL_USER_S] = user[i];
	trial_findings_init(&f, &t, NAN);
	cr_expect(eq(int, f.side[1].beside[TRIAL_USER_S].own.n, 6));
	cr_expect(epsilon_eq(dbl, f.side[1].beside[TRIAL_USER_S].own.value, 0.01, 1e-12));
	cr_expect(zero(dbl, f.side[1].beside[TRIAL_USER_S].own.lo));
	cr_expect(epsilon_eq(dbl, f.side[1].beside[TRIAL_USER_S].own.hi, 0.03, 1e-12));
	cr_expect(not(isfinite(f.side[1].beside[TRIAL_USER_S].over.value)));
	trial_findings_release(&f);
	trial_release(&t);
}

/* Five looks: each has a fifth of the 5 %, which six pairs do not reach. */
Test(small_trial_findings, looks_share_the_level)
{
	struct trial_findings f;
	struct trial t;

	begin(&t, 2);
	t.looks = 5;
	put_pairs(&t, 1, 6, 1.03);
	trial_findings_init(&f, &t, NAN);
	cr_expect(eq(int, (int)f.outcome, OUTCOME_INCONCLUSIVE));
	cr_expect(eq(int, f.needed, 7));
	trial_findings_release(&f);
	put_pairs(&t, 1, 7, 1.03);
	trial_findings_init(&f, &t, NAN);
	cr_expect(eq(int, (int)f.outcome, OUTCOME_SLOWER));
	cr_expect(ne(int, trial_is_decided(&f), 0));
	trial_findings_release(&f);
	trial_release(&t);
}

/* A round counts where all sides have a run; a side that is wrong is no longer one. */
Test(small_trial_findings, only_whole_rounds_count)
{
	struct trial_findings f;
	struct trial t;

	begin(&t, 3);
	put_pairs(&t, 1, 8, 1.0);
	put_pairs(&t, 2, 7, 1.0);
	trial_findings_init(&f, &t, NAN);
	cr_expect(eq(int, f.rounds, 7));
	trial_findings_release(&f);
	t.side[2].run[3].status = 256;
	trial_findings_init(&f, &t, NAN);
	cr_expect(eq(int, f.rounds, 8));
	cr_expect(eq(int, (int)f.outcome, OUTCOME_WRONG));
	cr_expect(eq(int, (int)trial_exit_code(&f), RIFT_CHECK_FAILED));
	cr_expect(eq(int, f.side[2].wrong_runs, 1));
	cr_expect(eq(int, f.side[2].runs, 8));
	cr_expect(tells(f.side[2].wrong, "ended with status 1"), "%s", f.side[2].wrong);
	trial_findings_release(&f);
	trial_release(&t);
}

Test(small_trial_findings, another_output_is_wrong_unless_the_program_differs_by_itself)
{
	struct trial_findings f;
	struct trial t;

	begin(&t, 2);
	put_pairs(&t, 1, 6, 1.0);
	for (int i = 0; i < 6; i++)
		snprintf(t.side[1].run[i].output, HASH_TEXT, "%d", i);
	trial_findings_init(&f, &t, NAN);
	cr_expect(eq(int, (int)f.outcome, OUTCOME_WRONG));
	cr_expect(tells(f.side[1].wrong, "output"), "%s", f.side[1].wrong);
	trial_findings_release(&f);
	t.outputs_differ = true;
	trial_findings_init(&f, &t, NAN);
	cr_expect(eq(int, (int)f.outcome, OUTCOME_SAME));
	trial_findings_release(&f);
	trial_release(&t);
}

/* A program that crashes now and then by itself says nothing of layers. */
Test(small_trial_findings, a_program_that_is_not_always_the_same_decides_nothing)
{
	struct trial_findings f;
	struct trial t;

	begin(&t, 2);
	put_pairs(&t, 1, 6, 1.5);
	t.side[0].run[2].status = 11;
	trial_findings_init(&f, &t, NAN);
	cr_expect(eq(int, (int)f.outcome, OUTCOME_INCONCLUSIVE));
	cr_expect(tells(f.side[0].wrong, "signal 11"), "%s", f.side[0].wrong);
	trial_findings_release(&f);
	trial_release(&t);
}

Test(small_trial_findings, what_is_beside_the_wall_time_informs)
{
	struct trial_findings f;
	struct trial t;

	begin(&t, 2);
	put_pairs(&t, 1, 7, 1.0);
	for (int i = 0; i < 7; i++) {
		t.side[0].run[i].value[TRIAL_USER_S] = 0.5;
		t.side[1].run[i].value[TRIAL_USER_S] = 1.5;
		t.side[0].run[i].value[TRIAL_SYSTEM_S] = 0;
		t.side[1].run[i].value[TRIAL_SYSTEM_S] = 0.25;
	}
	trial_findings_init(&f, &t, NAN);
	cr_expect(eq(int, (int)f.outcome, OUTCOME_SAME));
	cr_expect(epsilon_eq(dbl, f.side[1].beside[TRIAL_USER_S].over.value, 3, 1e-12));
	cr_expect(zero(dbl, f.side[0].beside[TRIAL_SYSTEM_S].own.value));
	cr_expect(not(isfinite(f.side[1].beside[TRIAL_SYSTEM_S].over.value)));
	cr_expect(not(isfinite(f.side[1].beside[TRIAL_ENERGY_J].own.value)));
	trial_findings_release(&f);
	trial_release(&t);
}
