/*
 * test_finding.c - harness/compare/compare.h: what the first line says, of made-up sessions.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/compared.h"
#include "tests/golden.h"

TestSuite(small_finding, .timeout = 300);

enum { PROCESSES = 5, POINT = 7 };

static const char *finding_of(const struct compared *c)
{
	static char text[1024];

	compare_finding(&c->c, text, sizeof(text));
	golden_said(text);
	return text;
}

/* Quiet, and the same on both sides. */
static struct compared *spoiled(void (*spoil)(struct journal *), bool strict)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();

	s.processes = PROCESSES;
	s.noise = 0.0005;
	o.margin = 0.1;
	o.strict = strict;
	return compared_sides(&s, &o, spoil);
}

static void set_status(struct journal *j, int side, int process, enum point_status status)
{
	j->status[(side * PROCESSES + process) * j->plan.n_points + POINT] = (unsigned char)status;
}

/* ---- wrong results ------------------------------------------------------------------------ */

static void b_is_wrong(struct journal *j)
{
	set_status(j, 1, 3, POINT_CHECK_FAILED);
}

Test(small_finding, wrong_results_come_before_all_times)
{
	struct compared *c = spoiled(b_is_wrong, false);
	char want[160];

	snprintf(want, sizeof(want),
		 "B computes wrong results: 1 of %d fail their check (launch). By time, B is the "
		 "same ",
		 PROCESSES * c->c.pairs.n);
	cr_assert(zero(int, strncmp(finding_of(c), want, strlen(want))), "%s", finding_of(c));
	cr_assert(eq(int, c->c.outcome, OUTCOME_WRONG), "%d", c->c.outcome);
	cr_assert(eq(int, c->c.by_time, OUTCOME_SAME), "%d", c->c.by_time);
	cr_assert(eq(int, compare_exit_code(&c->c), RIFT_CHECK_FAILED), "code");
	compared_free(c);
}

static void a_is_wrong(struct journal *j)
{
	set_status(j, 0, 3, POINT_CHECK_FAILED);
}

Test(small_finding, a_base_that_is_wrong_is_told_and_good_points_decide)
{
	struct compared *c = spoiled(a_is_wrong, false);

	cr_assert(tells(finding_of(c), "A *: 1 of *launch"), "%s", finding_of(c));
	cr_assert(eq(int, c->c.outcome, OUTCOME_SAME), "%d", c->c.outcome);
	cr_assert(eq(int, compare_exit_code(&c->c), RIFT_FAILED_POINTS), "code");
	compared_free(c);
}

/* ---- missing results ---------------------------------------------------------------------- */

static void b_lacks_a_call(struct journal *j)
{
	for (int i = 0; i < PROCESSES; i++)
		set_status(j, 1, i, POINT_NOT_SUPPORTED);
	j->refused[1] = json_pack("{s:{s:s}}", "7", "call", "cudaMallocAsync");
}

Test(small_finding, calls_that_b_lacks_are_named_and_the_rest_decides)
{
	struct compared *c = spoiled(b_lacks_a_call, false);

	cr_assert(tells(finding_of(c), "B lacks cudaMallocAsync *5 of *"), "%s", finding_of(c));
	cr_assert(eq(int, c->c.outcome, OUTCOME_SAME), "%d", c->c.outcome);
	cr_assert(eq(int, compare_exit_code(&c->c), RIFT_OK), "by time");
	compared_free(c);
	c = spoiled(b_lacks_a_call, true);
	cr_assert(eq(int, compare_exit_code(&c->c), RIFT_CHECK_FAILED), "strict");
	compared_free(c);
}

/* The second name is a part of the first. */
static void b_lacks_two_calls(struct journal *j)
{
	for (int i = 0; i < PROCESSES; i++) {
		set_status(j, 1, i, POINT_NOT_SUPPORTED);
		j->status[(PROCESSES + i) * j->plan.n_points + POINT - 1] = POINT_NOT_SUPPORTED;
	}
	j->refused[1] = json_pack("{s:{s:s}, s:{s:s}}", "6", "call", "cudaMallocAsync", "7", "call",
				  "cudaMalloc");
}

Test(small_finding, each_call_that_b_lacks_is_named_once)
{
	struct compared *c = spoiled(b_lacks_two_calls, false);

	cr_assert(tells(finding_of(c), "B lacks cudaMallocAsync, cudaMalloc (10 of *"), "%s",
		  finding_of(c));
	compared_free(c);
}

static void b_captures_nothing(struct journal *j)
{
	for (int i = 0; i < PROCESSES; i++)
		set_status(j, 1, i, POINT_NOT_SUPPORTED);
	j->refused[1] = json_pack("{s:{s:s, s:s}}", "7", "call", "LAUNCH", "name",
				  "cudaErrorStreamCaptureUnsupported");
}

Test(small_finding, what_fails_in_a_capture_is_the_capture)
{
	struct compared *c = spoiled(b_captures_nothing, false);

	cr_assert(tells(finding_of(c), "B lacks stream capture (5 of *"), "%s", finding_of(c));
	compared_free(c);
}

static void b_failed(struct journal *j)
{
	set_status(j, 1, 0, POINT_FAILED);
}

Test(small_finding, a_missing_result_is_no_success)
{
	struct compared *c = spoiled(b_failed, false);

	cr_assert(tells(finding_of(c), "B * 1 of *launch"), "%s", finding_of(c));
	cr_assert(eq(int, compare_exit_code(&c->c), RIFT_FAILED_POINTS), "code");
	compared_free(c);
}

/* ---- sessions that say too little ---------------------------------------------------------- */

static void all_is_noisy(struct journal *j)
{
	for (int i = 0; i < 2 * PROCESSES * j->plan.n_points; i++) {
		j->noisy[i] = true;
		j->total_ns[i] *= 1 + 0.2 * (i / j->plan.n_points % PROCESSES);
	}
}

Test(small_finding, a_session_that_cannot_be_trusted_says_so_first)
{
	struct compared *c = spoiled(all_is_noisy, false);

	cr_assert(
		tells(finding_of(c), "Neither side can be trusted: of A *noisy, of B *noisy. By "),
		"%s", finding_of(c));
	compared_free(c);
}

/* 2 a side: 1 of 6 orders; 3: 1 of 20. All of B are slower. */
Test(small_finding, too_few_processes_are_told_how_many_are_enough)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c;

	s.processes = 2;
	s.model[1].v[MODEL_C] *= 4;
	s.model[1].v[MODEL_P] *= 4;
	c = compared_sides(&s, &o, NULL);
	cr_assert(eq(int, c->c.outcome, OUTCOME_INCONCLUSIVE), "%d", c->c.outcome);
	cr_assert(tells(finding_of(c), "n = 2 *: 3 *(--processes 3); in all 2 processes launch is "
				       "beyond 2 %, too few to prove it"),
		  "%s", finding_of(c));
	compared_free(c);
}

/* ---- in time ------------------------------------------------------------------------------ */

static void nothing(struct journal *j)
{
	(void)j;
}

static struct compared_parameter *launch_call(struct compared *c)
{
	for (int i = 0; i < c->c.parameters.n; i++)
		if (c->c.parameters.row[i].row == &model_param_rows[MODEL_C])
			return &c->c.parameters.row[i];
	return NULL;
}

/* The smaller end first, also of what costs less. */
Test(small_finding, what_a_launch_costs_more_or_less)
{
	struct compared *c = spoiled(nothing, false);
	struct compared_parameter *p = launch_call(c);

	cr_assert(ne(ptr, p, NULL));
	p->difference = (struct interval){ 5000, 4000, 7000, PROCESSES, true };
	cr_assert(
		ne(ptr,
		   strstr(finding_of(c), "; a launch costs 5.00 us more (95 % interval 4.00 us to "
					 "7.00 us, n = 5), by the model"),
		   NULL),
		"%s", finding_of(c));
	p->difference = (struct interval){ -5000, -7000, -4000, PROCESSES, true };
	cr_assert(ne(ptr,
		     strstr(finding_of(c),
			    "costs 5.00 us less (95 % interval 4.00 us to 7.00 us, n = 5)"),
		     NULL),
		  "%s", finding_of(c));
	p->difference = (struct interval){ 5000, -1, 7000, PROCESSES, true };
	cr_assert(zero(ptr, strstr(finding_of(c), "launch costs")), "%s", finding_of(c));
	compared_free(c);
}

/* Where the points do not tell what a launch costs, the deepest step in stream mode. */
Test(small_finding, else_a_step_of_the_deepest_point)
{
	struct compared *c = spoiled(nothing, false);
	const struct plan *plan = &c->c.side[PAIR_A]->view.plan;
	int64_t deepest = 0;
	char want[128];

	launch_call(c)->identified = false;
	for (int i = 0; i < c->c.pairs.n; i++) {
		struct compared_point *p = &c->c.point[i];
		const struct plan_point *at = &plan->point[p->pair->at[PAIR_A]];

		for (int k = 0; k < PROCESSES; k++) {
			p->pair->value[PAIR_A][k] = 2000;
			p->pair->value[PAIR_B][k] = 6000;
		}
		deepest = at->mode == MODE_STREAM && at->depth > deepest ? at->depth : deepest;
	}
	snprintf(want, sizeof(want),
		 "a step of *stream depth %ld takes 4.00 us more (90.5 %% interval 4.00 us to "
		 "4.00 us, n = 5)",
		 (long)deepest);
	cr_assert(tells(finding_of(c), want), "%s in %s", want, finding_of(c));
	compared_free(c);
}

/* The first point, of depth 1, is the only one in stream mode. */
Test(small_finding, a_step_of_depth_1)
{
	struct compared *c = spoiled(nothing, false);
	struct compared_point *first = &c->c.point[0];

	launch_call(c)->identified = false;
	for (int i = 1; i < c->c.pairs.n; i++)
		c->c.point[i].ratio.value = NAN;
	for (int k = 0; k < PROCESSES; k++) {
		first->pair->value[PAIR_A][k] = 2000;
		first->pair->value[PAIR_B][k] = 6000;
	}
	cr_assert(tells(finding_of(c), "a step of *stream depth 1 takes 4.00 us more"), "%s",
		  finding_of(c));
	compared_free(c);
}

/* ---- who made the figures --------------------------------------------------------------- */

static json_t *header_of(struct compared *c, int side)
{
	return (json_t *)(uintptr_t)side_header(c->c.side[side]);
}

Test(small_finding, imitated_layers_and_other_binaries_are_named)
{
	struct compared *c = spoiled(nothing, false);

	cr_expect(zero(ptr, strstr(finding_of(c), "imitated")), "%s", finding_of(c));
	cr_expect(zero(ptr, strstr(finding_of(c), "binaries")), "%s", finding_of(c));
	json_object_set_new(header_of(c, PAIR_B), "layers", json_pack("[{s:s}]", "label", "model"));
	cr_expect(tells(finding_of(c), "; B is imitated: "), "%s", finding_of(c));
	json_object_set_new(header_of(c, PAIR_A), "layers", json_pack("[{s:s}]", "label", "model"));
	cr_expect(tells(finding_of(c), "; both are imitated: "), "%s", finding_of(c));
	json_object_set_new(header_of(c, PAIR_B), "build",
			    json_pack("{s:s}", "binary_sha256", "other"));
	cr_expect(tells(finding_of(c), "; the binaries differ"), "%s", finding_of(c));
	compared_free(c);
}
