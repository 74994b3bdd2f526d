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

/* Neither a GPU nor a machine without a device is the CPU device. */
Test(small_trial_findings, what_is_timed_on_the_cpu_device)
{
	static const struct {
		const char *device;
		int is_gpu, is_cpu;
	} rows[] = {
		{ "CPU", 0, 1 },	 { "a device", 0, 1 },	    { "zz", 0, 1 },
		{ "NVIDIA H200", 1, 0 }, { TRIAL_NO_DEVICE, 0, 0 },
	};
	struct trial t = { .platform = NULL };

	cr_expect(not(trial_is_cpu(&t)));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		t.platform =
			json_pack("{s:s, s:b}", "device", rows[i].device, "is_gpu", rows[i].is_gpu);
		cr_expect(eq(int, trial_is_cpu(&t), rows[i].is_cpu), "%s", rows[i].device);
		json_decref(t.platform);
	}
}

/* A program alone has no verdict; a side that is wrong needs none. */
Test(small_trial_findings, what_is_decided)
{
	static const struct {
		int sides, rounds, wrong, decided;
	} rows[] = {
		{ 1, 6, 0, 0 }, { 2, 6, 0, 1 }, { 2, 2, 0, 0 }, { 2, 2, 1, 1 }, { 3, 2, 1, 0 }
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct trial_findings f;
		struct trial t;

		begin(&t, rows[i].sides);
		for (int side = 0; side < rows[i].sides; side++)
			put_pairs(&t, side, rows[i].rounds, side ? 1.03 : 1);
		if (rows[i].wrong)
			t.side[1].run[0].late = true;
		trial_findings_init(&f, &t, NAN);
		cr_expect(eq(int, trial_is_decided(&f), rows[i].decided), "row %zu", i);
		cr_expect(epsilon_eq(dbl, trial_round_s(&t), rows[i].sides, 1e-12));
		trial_findings_release(&f);
		trial_release(&t);
	}
}

static void swap(struct trial_range *a, struct trial_range *b)
{
	struct trial_range was = *a;

	*a = *b;
	*b = was;
}

/* Of each side, by the names that side 0 has, in whatever order and however many a run has. */
Test(small_trial_findings, ranges_are_found_by_name)
{
	struct trial_findings f;
	struct trial t;
	const int first = TRIAL_QUANTITIES;

	begin(&t, 2);
	t.side[0].untimed.ranges = 3;
	for (int i = 0; i < 3; i++)
		snprintf(t.side[0].untimed.range[i].name, SPAN_NAME, "%c", "abc"[i]);
	put_pairs(&t, 1, 6, 1);
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < 6; i++) {
			struct trial_run *r = &t.side[side].run[i];

			r->ranges = 2;
			r->range[0] = (struct trial_range){ "a", 1, side ? 8 : 4 };
			r->range[1] = (struct trial_range){ "b", 1, side ? 3 : 2 };
			r->range[2] = (struct trial_range){ "c", 1, 5 };
			if (side)
				swap(&r->range[0], &r->range[1]);
		}
	trial_findings_init(&f, &t, NAN);
	cr_expect(eq(int, f.beside, first + 3));
	cr_expect(eq(str, trial_beside_label(&f, first - 1).s, "energy"));
	cr_expect(eq(str, trial_beside_label(&f, first + 1).s, "range b"));
	cr_expect(epsilon_eq(dbl, f.side[0].beside[first].own.value, 4, 1e-12));
	cr_expect(epsilon_eq(dbl, f.side[1].beside[first].over.value, 2, 1e-12));
	cr_expect(epsilon_eq(dbl, f.side[1].beside[first + 1].over.value, 1.5, 1e-12));
	cr_expect(not(isfinite(f.side[0].beside[first + 2].own.value)));
	trial_findings_release(&f);
	trial_release(&t);
}

Test(small_trial_findings, why_a_side_is_wrong)
{
	static const struct {
		int status, late;
		const char *said, *want;
	} rows[] = {
		{ 3 << 8, 0, "", "it ended with status 3, and by itself ended with status 0" },
		{ 9, 0, "", "it ended by signal 9 (Killed), and by itself ended with status 0" },
		{ 9, 1, "slow", "it did not end in time, and by itself ended with status 0: slow" },
		{ 0, 0, "", "its output is another" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct trial_findings f;
		struct trial t;

		begin(&t, 2);
		put_pairs(&t, 1, 6, 1);
		for (int k = 1; k < 3; k++) { /* only the first one is told */
			struct trial_run *r = &t.side[1].run[k];

			r->status = rows[i].status + (rows[i].status && k > 1);
			r->late = rows[i].late;
			snprintf(r->said, sizeof(r->said), "%s", rows[i].said);
			snprintf(r->output, sizeof(r->output), "%s", i == 3 ? "1" : "");
		}
		trial_findings_init(&f, &t, NAN);
		cr_expect(eq(str, f.side[1].wrong, (char *)(uintptr_t)rows[i].want));
		cr_expect(eq(int, f.side[1].wrong_runs, 2));
		cr_expect(eq(int, f.side[1].runs, 7));
		cr_expect(eq(str, (char *)(uintptr_t)trial_verdict(&f, 1), "wrong"));
		trial_findings_release(&f);
		trial_release(&t);
	}
}
