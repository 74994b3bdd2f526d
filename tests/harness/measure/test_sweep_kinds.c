/*
 * test_sweep_kinds.c - several wait policies in one session (plan.h, journal.h): which points
 * and keys, in which order, and what is left when one kind is kept.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/cmd/sweep_text.h"
#include "harness/measure/estimate.h"
#include "harness/record/journal_impl.h"
#include "harness/measure/plan_record.h"
#include "tests/fake_workload.h"

TestSuite(small_sweep_kinds, .timeout = 300);

static const enum wait_policy both[] = { SYNC_YIELD, SYNC_POLL };

enum { ALONE = 4, ALL = 8 };

/* Two sizes and two depths, in stream mode: one kind. */
static struct plan plan_alone(void)
{
	struct plan_request r = { .workload = fakes,
				  .size = "1,2",
				  .depth = "1,4",
				  .mode = "stream",
				  .design = design_of(true) };
	struct plan p;

	r.design.sync = SYNC_POLL;
	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	cr_assert(eq(int, p.n_points, ALONE), "points");
	return p;
}

static struct plan plan_of_both(void)
{
	struct plan p = plan_alone();

	plan_take_policies(&p, both, 2);
	return p;
}

/* ---- plan ------------------------------------------------------------------------------- */

Test(small_sweep_kinds, every_point_once_for_each_kind)
{
	struct plan alone = plan_alone(), p = plan_of_both();
	char text[160];

	cr_assert(eq(int, p.n_points, ALL), "points");
	cr_assert(eq(int, plan_policies(&p), 2), "kinds");
	for (int i = 0; i < ALL; i++) {
		cr_assert(eq(int, p.point[i].sync, both[i / ALONE]), "kind of %d", i);
		cr_assert(eq(str, p.point[i].alone, alone.point[i % ALONE].key), "alone: %d", i);
		for (int k = 0; k < i; k++)
			cr_assert(ne(str, p.point[i].key, p.point[k].key), "%d %d", i, k);
	}
	plan_point_text(&p, 5, text, sizeof(text));
	cr_assert(eq(str, text, "fake cells=1 stream depth 4 sync poll"), "%s", text);
	cr_assert(plan_has_policy(&p, SYNC_YIELD) && !plan_has_policy(&p, SYNC_SPIN), "which");
	plan_release(&alone);
	plan_release(&p);
}

/* What kept sessions are read by must not change. */
Test(small_sweep_kinds, one_kind_is_as_ever)
{
	struct plan alone = plan_alone(), p = plan_alone();
	json_t *want = plan_json(&alone), *got, *design;

	plan_take_policies(&p, &both[1], 1);
	got = plan_json(&p);
	cr_assert(json_equal(got, want), "plan");
	design = json_object_get(got, "design");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(design, "sync")), "poll"),
		  "sync");
	cr_assert(eq(ptr, json_object_get(design, "sync_kinds"), NULL), "no several");
	cr_assert(eq(ptr,
		     json_object_get(json_array_get(json_object_get(got, "points"), 0), "sync"),
		     NULL),
		  "no kind of a point");
	json_decref(want);
	json_decref(got);
	plan_release(&alone);
	plan_release(&p);
}

Test(small_sweep_kinds, a_plan_of_several_is_read_back)
{
	struct plan p = plan_of_both(), again;
	json_t *o = plan_json(&p), *o2;

	cr_assert(zero(int, plan_parse(&again, o, fakes, "s.jsonl:1: ")), "parse");
	o2 = plan_json(&again);
	cr_assert(json_equal(o, o2), "the same");
	cr_assert(eq(int, again.design.sync, SYNC_YIELD), "the first");
	for (int i = 0; i < ALL; i++)
		cr_assert(eq(str, again.point[i].alone, p.point[i].alone), "%d", i);
	json_decref(o);
	json_decref(o2);
	plan_release(&p);
	plan_release(&again);
}

/* Changes something in the plan's record, which must then be refused. */
static void refused(const char *change)
{
	struct plan p = plan_of_both(), again;
	json_t *o = plan_json(&p), *with = json_loads(change, 0, NULL);
	json_t *design = json_object_get(o, "design");
	json_t *point = json_array_get(json_object_get(o, "points"), 5);
	const char *said;
	int err;

	cr_assert(ne(ptr, with, NULL), "%s", change);
	json_object_update(design, json_object_get(with, "design"));
	json_object_update(point, json_object_get(with, "point"));
	divert_stderr();
	err = plan_parse(&again, o, fakes, "s.jsonl:1: ");
	said = diverted_stderr();
	cr_assert(eq(int, err, -EINVAL), "%s", change);
	cr_assert(is_one_complaint(said), "%s: %s", change, said);
	json_decref(o);
	json_decref(with);
	plan_release(&p);
	plan_release(&again);
}

Test(small_sweep_kinds, what_is_no_plan_of_several_is_refused)
{
	refused("{\"design\":{\"sync_kinds\":[]}}");
	refused("{\"design\":{\"sync_kinds\":[\"yield\"]}}");
	refused("{\"design\":{\"sync_kinds\":[\"yield\",\"yield\"]}}");
	refused("{\"design\":{\"sync_kinds\":[\"yield\",\"sleep\"]}}");
	refused("{\"design\":{\"sync_kinds\":\"yield\"}}");
	refused("{\"design\":{\"sync_kinds\":[\"yield\",\"spin\"]}}"); /* points are of poll */
	refused("{\"point\":{\"sync\":\"spin\"}}");
	refused("{\"point\":{\"sync\":null}}");
	refused("{\"point\":{\"key_alone\":null}}");
	refused("{\"point\":{\"key_alone\":\"short\"}}");
}

/* A process has a start for each kind; visits are those of all points. */
Test(small_sweep_kinds, each_kind_has_to_start)
{
	struct plan one = plan_alone(), two = plan_of_both();
	double start_ns, points_ns = 0;

	one.start_ns[0] = two.start_ns[0] = 1e9;
	for (int i = 0; i < ALL; i++) {
		one.point[i % ALONE].block_ns[0] = two.point[i].block_ns[0] = 1e6;
		points_ns += i < ALONE ? 1e6 : 0;
	}
	start_ns = predict_start_ns(&one, 0);
	cr_assert(epsilon_eq(dbl, predict_start_ns(&two, 0), 2 * start_ns, 1), "starts");
	cr_assert(epsilon_eq(dbl, predict_turn_ns(&two, 0, 1), 2 * predict_turn_ns(&one, 0, 1), 1),
		  "all of it");
	cr_assert(lt(dbl, points_ns, start_ns), "a start has each block once");
	plan_release(&one);
	plan_release(&two);
}

/* ---- session ---------------------------------------------------------------------------- */

/* Every point took (its number + 1) us a step, and 0.1 % more in each process. */
static struct journal session_of_both(int sides)
{
	struct journal j = { .plan = plan_of_both(), .sides = sides };

	j.part.fd = j.visits.fd = -1;
	journal_allocate(&j);
	for (int replicate = 0; replicate < j.replicates; replicate++) {
		j.complete[replicate] = true;
		for (int i = 0; i < ALL; i++) {
			double ns = 1000 * (i + 1) * (1 + 1e-3 * replicate);

			j.status[replicate * ALL + i] = POINT_OK;
			j.total_ns[replicate * ALL + i] = ns * (double)j.plan.point[i].depth;
			j.enq_ns[replicate * ALL + i] = 100 * (i + 1);
			j.noisy[replicate * ALL + i] = i == 6;
			j.failures[replicate * ALL + i] = i;
			j.launches[i] = i;
		}
	}
	return j;
}

/* Forth and back: over two processes the places of each kind add up alike. */
Test(small_sweep_kinds, kinds_take_turns_so_that_drift_hits_all_alike)
{
	static const enum wait_policy three[] = { SYNC_SPIN, SYNC_BLOCKING, SYNC_EVENT };
	struct journal j = { .plan = plan_alone(), .sides = 2 };
	int place[2][SYNC_COUNT] = { { 0 } }, at = 0;

	plan_take_policies(&j.plan, three, 3);
	j.plan.design.processes = 4;
	j.replicates = 8;
	for (int i = 0; i < j.replicates; i++)
		for (int k = 0; k < 3; k++) {
			int replicate = journal_replicate(&j, i);

			place[replicate / 4][journal_policy(&j, replicate, k)] += at++;
		}
	for (int side = 0; side < 2; side++)
		for (int k = 0; k < 3; k++)
			cr_assert(eq(int, place[side][three[k]], 4 * 23 / 2), "%d %d", side, k);
	plan_release(&j.plan);
}

static char text[8192];

static const char *results_of(const struct journal *j)
{
	FILE *f = fmemopen(text, sizeof(text), "w");

	results_print(j, f);
	fclose(f);
	return text;
}

Test(small_sweep_kinds, a_table_for_each)
{
	struct journal j = session_of_both(1);
	const char *said = results_of(&j);
	const char *yield = strstr(said, "fake, stream mode, sync yield: time per step by cells");
	const char *poll = strstr(said, "fake, stream mode, sync poll: time per step by cells");

	cr_assert(yield && poll && yield < poll, "%s", said);
	cr_assert(ne(ptr, strstr(yield, "\n       1    1.00 us ±0.2%    2.00 us ±0.2%\n"), NULL),
		  "%s", said);
	cr_assert(ne(ptr, strstr(poll, "\n       1    5.01 us ±0.2%    6.01 us ±0.2%\n"), NULL),
		  "%s", said);
	journal_release(&j);
}

/* The first header of each kind, on its own side. */
Test(small_sweep_kinds, each_kind_has_a_header)
{
	struct journal j = session_of_both(2);

	for (int i = 0; i < 2 * SYNC_COUNT; i++) {
		json_t *header = json_pack("{s:i, s:{s:s}}", "number", i, "cuda_flags", "sync",
					   sync_names[i % SYNC_COUNT]);

		journal_apply_header(&j, j.plan.design.processes, header);
		json_decref(header);
	}
	for (int kind = 0; kind < SYNC_COUNT; kind++) {
		const json_t *number = json_object_get(j.of_policy[1][kind], "number");

		cr_assert(number && json_integer_value(number) == kind, "%s", sync_names[kind]);
		cr_assert(eq(ptr, j.of_policy[0][kind], NULL), "%s", sync_names[kind]);
	}
	cr_assert(eq(ptr, j.header[1], j.of_policy[1][0]), "the first of all");
	cr_assert(eq(int, j.attempts[j.plan.design.processes], 2 * SYNC_COUNT), "headers");
	journal_release(&j);
}

/* All that is known of the points of one kind, and of them alone. */
Test(small_sweep_kinds, one_kind_is_kept)
{
	struct journal j = session_of_both(2);
	struct plan alone = plan_alone();

	j.of_policy[1][SYNC_POLL] = json_pack("{s:s}", "which", "poll");
	j.header[1] = json_pack("{s:s}", "which", "the first");
	/* refused: the second point of either kind, by its number */
	j.refused[0] = json_pack("{s:s, s:s}", "1", "of yield", "5", "of poll");
	journal_keep_policy(&j, SYNC_POLL);
	cr_assert(eq(int, j.plan.n_points, ALONE), "points");
	cr_assert(eq(int, plan_policies(&j.plan), 1), "kinds");
	cr_assert(eq(int, j.plan.design.sync, SYNC_POLL), "which");
	for (int replicate = 0; replicate < j.replicates; replicate++)
		for (int i = 0; i < ALONE; i++) {
			int at = replicate * ALONE + i;
			double ns = 1000 * (i + ALONE + 1) * (1 + 1e-3 * replicate);

			cr_assert(eq(str, j.plan.point[i].key, alone.point[i].key), "%d", i);
			cr_assert(eq(int, j.status[at], POINT_OK), "%d %d", replicate, i);
			cr_assert(epsilon_eq(dbl, j.total_ns[at], ns * (double)alone.point[i].depth,
					     1e-6),
				  "%d %d", replicate, i);
			cr_assert(eq(dbl, j.enq_ns[at], 100 * (i + ALONE + 1)), "%d %d", replicate,
				  i);
			cr_assert(eq(int, j.noisy[at], i == 2), "%d %d", replicate, i);
			cr_assert(eq(int, j.failures[at], i + ALONE), "%d %d", replicate, i);
			cr_assert(eq(dbl, j.launches[i], i + ALONE), "%d", i);
		}
	cr_assert(eq(str, (char *)json_string_value(json_object_get(j.header[1], "which")), "poll"),
		  "header");
	cr_assert(eq(ptr, j.header[0], NULL), "none was there");
	cr_assert(eq(sz, json_object_size(j.refused[0]), 1), "refused");
	cr_assert(eq(str, (char *)json_string_value(json_object_get(j.refused[0], "1")), "of poll"),
		  "under its new number");
	cr_assert(eq(ptr, j.refused[1], NULL), "none was");
	plan_release(&alone);
	journal_release(&j);
}
