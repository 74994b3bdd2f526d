/* test_sweep_interims.c - harness/session/stopping.h: when there are enough processes. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/session/stopping.h"
#include "tests/four_points.h"

TestSuite(small_sweep_looks, .timeout = 300);

Test(small_sweep_looks, looks_are_few)
{
	struct design full = design_of(false), quick = design_of(true);
	int due = 0;

	for (int i = 0; i <= 40; i++) {
		due += interims_due(&full, i);
		cr_assert(not(interims_due(&quick, i)), "a fixed number: %d", i);
	}
	cr_assert(eq(int, due, 4), "%d", due);
	for (int i = 0; i < 4; i++)
		cr_assert(interims_due(&full, (int[]){ 5, 10, 20, 30 }[i]), "%d", i);
	cr_assert(eq(int, design_looks(&full), 4), "%d", design_looks(&full));
	cr_assert(eq(int, design_looks(&quick), 1), "%d", design_looks(&quick));
}

/* Fewer than 12 could not decide: 5 % in three parts, 1 of 2^6. */
Test(small_sweep_looks, pairs_have_fewer_looks)
{
	struct design pairs = design_of(false);
	int due = 0;

	design_pairs(&pairs);
	for (int i = 0; i <= 40; i++)
		due += interims_due(&pairs, i);
	cr_assert(eq(int, due, 3), "%d", due);
	for (int i = 0; i < 3; i++)
		cr_assert(interims_due(&pairs, (int[]){ 12, 20, 30 }[i]), "%d", i);
	cr_assert(eq(int, design_looks(&pairs), 3), "%d", design_looks(&pairs));
}

Test(small_sweep_looks, narrow_intervals_are_enough)
{
	struct journal j = session_of(1, 5, false);
	json_t *said;
	struct interim l;

	for (int i = 0; i < POINTS; i++)
		scale_times(&j, 0, i, 1, 0.009);
	l = interims_take(&j, 5, &said);
	cr_assert(l.stop, "1.8 %% at most");
	cr_assert(zero(int, l.wide), "%d", l.wide);
	cr_assert(eq(int, json_is_true(json_object_get(said, "stop")), 1), "record");
	json_decref(said);
	journal_release(&j);
}

/* The keys that are wide, in one text. */
static void assert_wide(const json_t *said, const struct journal *j, int point)
{
	const json_t *keys = json_object_get(said, "wide_keys");

	cr_assert(eq(sz, json_array_size(keys), 1), "wide");
	cr_assert(eq(str, (char *)json_string_value(json_array_get(keys, 0)),
		     (char *)j->plan.point[point].key),
		  "which");
}

Test(small_sweep_looks, a_point_is_as_wide_as_on_its_wider_side)
{
	struct journal j = session_of(2, 5, false);
	json_t *said;
	struct interim l;

	scale_times(&j, 1, 2, 1, 0.03);
	l = interims_take(&j, 5, &said);
	cr_assert(not(l.stop), "one of four is wide");
	cr_assert(eq(int, l.next, 10), "%d", l.next);
	assert_wide(said, &j, 2);
	json_decref(said);
	l = interims_take(&j, 30, &said);
	cr_assert(l.stop, "the last look");
	json_decref(said);
	journal_release(&j);
}

Test(small_sweep_looks, either_side_may_be_the_wider_one)
{
	for (int side = 0; side < 2; side++) {
		struct journal j = session_of(2, 5, false);
		json_t *said;
		struct interim l;

		scale_times(&j, side, 1, 1, 0.03);
		scale_times(&j, !side, 1, 1, 0.001);
		scale_times(&j, 0, 2, 1, 0.001);
		scale_times(&j, 1, 2, 1, 0.001);
		l = interims_take(&j, 5, &said);
		cr_assert(eq(int, l.wide, 1), "side %d: %d", side, l.wide);
		cr_assert(eq(int, l.points, POINTS), "side %d", side);
		assert_wide(said, &j, 1);
		json_decref(said);
		journal_release(&j);
	}
}

Test(small_sweep_looks, a_point_that_failed_does_not_ask_for_more)
{
	struct journal j = session_of(1, 5, false);
	struct interim l;

	j.status[3 * POINTS + 1] = POINT_FAILED;
	l = interims_take(&j, 5, NULL);
	cr_assert(l.stop, "more processes bring no interval of it");
	cr_assert(eq(int, l.points, POINTS - 1), "%d", l.points);
	for (int i = 0; i < POINTS; i++)
		j.status[i] = POINT_FAILED;
	l = interims_take(&j, 5, NULL);
	cr_assert(l.stop, "nothing is left to narrow");
	journal_release(&j);
}
