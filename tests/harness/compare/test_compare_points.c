/*
 * test_compare_points.c - harness/compare/compare.h: what single points, failed ones, and halves of
 * made-up sessions say.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/session/results.h"
#include "tests/compared.h"

TestSuite(small_compare_points, .timeout = 300);

/* ---- points ------------------------------------------------------------------------------- */

/* What a sweep says of its two sides, rift compare says as well. */
Test(small_compare_points, points_are_those_of_the_sweep)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct judged_point *point;
	struct compared *c;
	struct results r;

	s.size = "0,5";
	s.mode = "stream";
	s.noise = 0.05;
	c = compared_sides(&s, &o, NULL);
	results_init(&r, &c->session[0], s.processes);
	point = sides_judge(&r, NULL);
	for (int i = 0; i < c->c.pairs.n; i++) {
		struct interval want = point[i].ratio, got = c->c.point[i].ratio;

		cr_assert(eq(dbl, got.value, want.value), "%d", i);
		cr_assert(eq(dbl, got.lo, want.lo), "%d", i);
		cr_assert(eq(dbl, got.hi, want.hi), "%d", i);
		cr_assert(eq(int, c->c.point[i].judged.verdict, point[i].judged.verdict), "%d", i);
		cr_assert(eq(dbl, c->c.point[i].judged.p_slower, point[i].judged.p_slower), "%d",
			  i);
		want = results_interval(&r, 1, i);
		cr_assert(eq(dbl, c->c.point[i].step_ns[PAIR_B].lo, want.lo), "%d", i);
	}
	free(point);
	results_release(&r);
	compared_free(c);
}

/* One point takes twice as long. */
static double one_slow_point(const struct batch *b, int side)
{
	return side && b->mode == MODE_FUSED && b->depth == 16 && b->kernel_ns == 50000 ? 2 : 1;
}

Test(small_compare_points, a_single_point_informs_and_counts_where_it_is_asked_to)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c;
	int found = 0;

	s.factor = one_slow_point;
	s.size = "0,50"; /* 12 points: of more, one from 5 processes is none */
	s.depth = "1,16";
	o.margin = 0.1;
	c = compared_sides(&s, &o, NULL);
	cr_assert(eq(int, c->c.count[VERDICT_SLOWER], 1), "%d", c->c.count[VERDICT_SLOWER]);
	for (int i = 0; i < c->c.pairs.n; i++)
		if (c->c.point[i].judged.verdict == VERDICT_SLOWER) {
			cr_assert(epsilon_eq(dbl, c->c.point[i].ratio.value, 2, 0.02), "ratio");
			found++;
		}
	cr_assert(eq(int, found, 1), "which");
	cr_assert(ne(int, compare_exit_code(&c->c), RIFT_CHECK_FAILED), "it informs");
	compared_free(c);
	o.strict = true;
	c = compared_sides(&s, &o, NULL);
	cr_assert(eq(int, compare_exit_code(&c->c), RIFT_CHECK_FAILED), "it counts");
	compared_free(c);
}

/* Said in full: how many points leave it open. */
Test(small_compare_points, points_that_are_open_are_counted)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c;
	char finding[1024], want[64];
	int open = 0;

	s.noise = 0.3;
	s.depth = "1"; /* no model of it, whose parameters would take the space */
	o.strict = true;
	c = compared_sides(&s, &o, NULL);
	cr_assert(eq(int, (int)c->c.outcome, OUTCOME_INCONCLUSIVE), "noise");
	for (int i = 0; i < c->c.pairs.n; i++)
		open += !c->c.point[i].judged.not_slower;
	snprintf(want, sizeof(want), " %d of %d points", open, c->c.pairs.n);
	compare_finding(&c->c, finding, sizeof(finding));
	cr_assert(ne(ptr, strstr(finding, want), NULL), "'%s' in: %s", want, finding);
	compared_free(c);
}

static void fail_one(struct journal *j)
{
	j->status[3 * j->plan.n_points + 7] = POINT_CHECK_FAILED; /* process 3 of side a */
}

Test(small_compare_points, a_failed_result_is_no_success)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c;

	s.noise = 0.0005;
	o.margin = 0.1;
	c = compared_sides(&s, &o, fail_one);
	cr_assert(eq(int, c->c.outcome, OUTCOME_SAME), "%d", c->c.outcome);
	cr_assert(eq(int, compare_exit_code(&c->c), RIFT_FAILED_POINTS), "code");
	cr_assert(eq(int, c->c.workload[0].left_out, 1), "left out of the mean");
	cr_assert(eq(int, c->c.point[7].step_ns[0].n, 4), "of 5");
	cr_assert(eq(int, c->c.point[7].judged.verdict, VERDICT_INCONCLUSIVE), "open");
	cr_assert(eq(int, c->side[0].failed + 10 * c->side[1].failed, 1), "whose");
	cr_assert(eq(int, c->c.left_out, 1), "of the points");
	cr_assert(eq(int, c->c.count[VERDICT_SAME], c->c.pairs.n - 1), "of the points");
	compared_free(c);
}

static void fail_a_process(struct journal *j)
{
	for (int i = 0; i < j->plan.n_points; i++)
		j->status[3 * j->plan.n_points + i] = POINT_CHECK_FAILED;
}

Test(small_compare_points, no_good_result_at_all)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c = compared_sides(&s, &o, fail_a_process);
	char finding[1024];

	compare_finding(&c->c, finding, sizeof(finding));
	cr_assert(ne(ptr, strstr(finding, "launch has no point with a good result"), NULL), "%s",
		  finding);
	cr_assert(eq(ptr, strstr(finding, "nan"), NULL), "%s", finding);
	cr_assert(eq(int, c->c.left_out, c->c.pairs.n), "all");
	cr_assert(eq(int, compare_exit_code(&c->c), RIFT_FAILED_POINTS), "code");
	compared_free(c);
}

/* ---- halves ------------------------------------------------------------------------------- */

Test(small_compare_points, halves_share_no_process_and_stand_in_turn)
{
	static const int first[] = { 0, 3, 4 }, second[] = { 1, 2, 5, 6 };
	struct fake_session s = two_sides();
	struct compared_side half[2] = { 0 };
	struct journal j;

	s.sides = 1;
	s.processes = 7;
	fake_session_journal(&s, &j);
	for (int i = 0; i < 7; i++)
		j.total_ns[i * j.plan.n_points] = 1000 + i;
	side_init(&half[0], &j, "x", 0, HALF_FIRST);
	side_init(&half[1], &j, "x", 0, HALF_SECOND);
	cr_assert(eq(int, half[0].n, 3), "first");
	cr_assert(eq(int, half[1].n, 4), "second");
	for (int i = 0; i < 3; i++)
		cr_assert(eq(dbl, half[0].view.total_ns[i * j.plan.n_points], 1000 + first[i]),
			  "%d", i);
	for (int i = 0; i < 4; i++)
		cr_assert(eq(dbl, half[1].view.total_ns[i * j.plan.n_points], 1000 + second[i]),
			  "%d", i);
	side_release(&half[0]);
	side_release(&half[1]);
	journal_release(&j);
}

/* ---- as a table --------------------------------------------------------------------------- */

/* The depths of the points of a table, in its order. */
static int depths_printed(const struct comparison *c, int depth[], int most)
{
	char *text = NULL, *at;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int n = 0;

	compare_print(c, true, out);
	fclose(out);
	at = strstr(text, "\npoints, time per step");
	cr_assert(ne(ptr, at, NULL), "%s", text);
	while (n < most && (at = strstr(at, " depth "))) {
		at += strlen(" depth ");
		depth[n++] = atoi(at);
	}
	free(text);
	return n;
}

static void say_point(struct compared *c, int i, int verdict, double ratio)
{
	struct compared_point *p = &c->c.point[i];

	c->c.count[p->judged.verdict]--;
	c->c.count[verdict]++;
	p->judged.verdict = verdict;
	p->ratio.value = ratio;
}

/* What differs first, slower or faster, by how much; then the rest the same way, unknown last. */
Test(small_compare_points, points_that_differ_come_first_the_largest_before)
{
	static const int want[] = { 32, 4, 1, 16, 64, 2, 128, 8 };
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c;
	int depth[16];

	s.size = "10";
	s.depth = "1,2,4,8,16,32,64,128";
	s.mode = "stream";
	c = compared_sides(&s, &o, NULL);
	cr_assert(eq(int, c->c.pairs.n, 8), "%d points", c->c.pairs.n);
	say_point(c, 0, VERDICT_SLOWER, 1.1);
	say_point(c, 1, VERDICT_SAME, 1);
	say_point(c, 2, VERDICT_FASTER, 0.8);
	say_point(c, 3, VERDICT_INCONCLUSIVE, NAN);
	say_point(c, 4, VERDICT_SLOWER, 1.1); /* alike: in the order of the plan */
	say_point(c, 5, VERDICT_SLOWER, 1.5);
	say_point(c, 6, VERDICT_INCONCLUSIVE, 3);
	say_point(c, 7, VERDICT_SAME, 1);
	cr_assert(eq(int, depths_printed(&c->c, depth, 16), 8), "all");
	for (int i = 0; i < 8; i++)
		cr_assert(eq(int, depth[i], want[i]), "%d: %d", i, depth[i]);
	compared_free(c);
}

/* ---- what is said of all ------------------------------------------------------------------- */

static const char *printed(const struct comparison *c)
{
	static char text[65536];
	FILE *out = fmemopen(text, sizeof(text), "w");

	compare_print(c, false, out);
	fclose(out);
	return text;
}

/* One process on its own, on either side, is no group. */
Test(small_compare_points, processes_of_two_groups_are_said)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c = compared_sides(&s, &o, NULL);
	struct modality *m = &c->c.workload[0].kinds[PAIR_B];

	cr_expect(zero(ptr, strstr(printed(&c->c), "two groups")), "%s", printed(&c->c));
	*m = (struct modality){ true, { { 1000, 0.6 }, { 1300, 0.4 } } };
	cr_expect(tells(printed(&c->c),
			"two groups *launch on B: 2 of 5 processes take 1.3 times as long *"),
		  "%s", printed(&c->c));
	for (int slow = 1; slow <= 4; slow++) {
		m->mode[1].share = slow / 5.0;
		cr_expect(eq(int, !!strstr(printed(&c->c), "two groups"), slow == 2 || slow == 3),
			  "%d of 5: %s", slow, printed(&c->c));
	}
	*m = (struct modality){ false, { { 1000, 0.6 }, { 1300, 0.4 } } };
	cr_expect(zero(ptr, strstr(printed(&c->c), "two groups")), "%s", printed(&c->c));
	compared_free(c);
}

/* Interim analyses share the level, sessions may be apart: 1.645 * sqrt(2) * 1 %. */
Test(small_compare_points, terms_are_said)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c = compared_sides(&s, &o, NULL);

	cr_expect(tells(printed(&c->c), "terms *margin 2 %; exact 90.5 % intervals over processes; "
					"the workload decides\n"),
		  "%s", printed(&c->c));
	cr_expect(zero(ptr, strstr(printed(&c->c), "interim")), "%s", printed(&c->c));
	cr_expect(zero(ptr, strstr(printed(&c->c), "apart by themselves")), "%s", printed(&c->c));
	c->c.contrast.tail = JUDGE_LEVEL / 3;
	c->c.contrast.rank = 0;
	c->c.options.session_sd = 0.01;
	c->c.contrast.apart = contrast_apart(0.01);
	cr_expect(tells(printed(&c->c), "too few processes for intervals"), "%s", printed(&c->c));
	cr_expect(tells(printed(&c->c), "3 interim analyses, which share 5 %"), "%s",
		  printed(&c->c));
	cr_expect(tells(printed(&c->c), "may be 2.35 % apart by themselves (sd 1 % each"), "%s",
		  printed(&c->c));
	compared_free(c);
}
