/*
 * test_sweep_supervisor.c - processes whose workers end too early, hang, refuse or leave something
 * to others: what becomes of their points. Side a is complete; the workers of side b are scripts.
 */
#include "tests/test.h"
#include "harness/base/command.h"
#include "harness/measure/measure.h"
#include "harness/measure/plan_record.h"
#include "tests/cli.h"
#include "tests/fake_worker.h"

#include <time.h>

TestSuite(small_sweep_supervisor, .init = fake_worker_make, .fini = fake_worker_remove,
	  .timeout = 300);

static struct session s;
static const char *said;

/* Pauses are told from other waiting by their length, and take no time. */
enum { PAUSE_US = 123457 };
static int pauses;

/* In front of the C library's. */
int usleep(useconds_t us)
{
	const struct timespec t = { us / 1000000, us % 1000000 * 1000L };

	if (us != PAUSE_US)
		return nanosleep(&t, NULL);
	pauses++;
	return 0;
}

static void pause_between(struct design *d)
{
	d->pause_min_ns = d->pause_max_ns = 1000LL * PAUSE_US;
}

static void complete_side_a(void)
{
	struct journal *j = &s.journal;

	for (int replicate = 0; replicate < j->plan.design.processes; replicate++) {
		json_t *header = json_pack("{s:{}, s:{}, s:{}, s:{}, s:{}, s:{}}", "calib", "host",
					   "gpu", "env", "cuda_flags", "warmup");

		cr_assert(zero(int, journal_begin(j, replicate)), "begin");
		cr_assert(zero(int, journal_header(j, replicate, header)), "header");
		for (int i = 0; i < j->plan.n_points; i++)
			cr_assert(zero(int, journal_failure(j, replicate, i, "error", json_object(),
							    true)),
				  "point");
		cr_assert(zero(int, journal_trailer(j, replicate, json_object())), "trailer");
	}
}

/* The session's end, with what workers do as fake_worker_does() has said; without a pause. */
static int run_as(int processes, bool pairs)
{
	int err;

	need_device();
	fake_worker_session(&s, processes, pairs);
	pause_between(&s.journal.plan.design);
	s.show.quiet = false;
	complete_side_a();
	divert_stderr();
	err = session_run(&s);
	said = diverted_stderr();
	return err;
}

static int run(int processes)
{
	return run_as(processes, false);
}

/* Each point's letter in a process of side b; "." for one that is not done. */
static const char *points(int process)
{
	static char text[9];
	const struct journal *j = &s.journal;
	int n = j->plan.n_points;

	for (int i = 0; i < n; i++)
		text[i] = ".OCFSN"[j->status[(j->plan.design.processes + process) * n + i]];
	text[n] = '\0';
	return text;
}

/* The points that a worker was to leave out: "1,3,". */
static const char *skipped(int worker)
{
	static char text[40];
	json_t *job = fake_worker_job(worker), *v;
	size_t i;

	*text = '\0';
	json_array_foreach(json_object_get(job, "skip"), i, v)
		sprintf(text + strlen(text), "%d,", (int)json_integer_value(v));
	json_decref(job);
	return text;
}

#define ARE(got, want) cr_assert(eq(str, (char *)(got), (char *)(want)), "%s", said)

Test(small_sweep_supervisor, all_in_order)
{
	fake_worker_does(-1, "header; setup 0; begin 0; visit 0 1; setup 1; visit 2 3; bye");
	cr_assert(zero(int, run(2)), "%s", said);
	ARE(points(0), "OOOO");
	ARE(points(1), "OOOO");
	cr_assert(eq(int, fake_workers(), 2), "%d", fake_workers());
	cr_assert(eq(int, s.show.processes, 4), "%d", s.show.processes);
	cr_assert(eq(int, s.show.process, 3), "%d", s.show.process);
	cr_assert(eq(int, s.show.points, 16), "%d", s.show.points);
	cr_assert(eq(int, s.show.points_done, 16), "%d", s.show.points_done);
	cr_assert(ne(ptr, strstr(said, "process 3 of 4, side b: 16 of 16 points"), NULL), "%s",
		  said);
	/* side b's are the second and the third: A B B A */
	cr_expect(eq(int, pauses, 1), "between processes that run: %d", pauses);
	journal_release(&s.journal);
}

/* A B B A: of the first pair the second process is left, of the second pair the first. */
Test(small_sweep_supervisor, halves_of_pairs_are_counted_where_they_stand)
{
	fake_worker_does(-1, "header; visit 0 1 2 3; bye");
	cr_assert(zero(int, run_as(2, true)), "%s", said);
	cr_assert(eq(int, fake_workers(), 2), "%d", fake_workers());
	cr_expect(ne(ptr, strstr(said, "process 2 of 4, side b: 12 of 16 points"), NULL), "%s",
		  said);
	cr_expect(ne(ptr, strstr(said, "process 3 of 4, side b: 16 of 16 points"), NULL), "%s",
		  said);
	journal_release(&s.journal);
}

Test(small_sweep_supervisor, a_point_that_ends_two_workers_is_left_out)
{
	fake_worker_does(0, "header; begin 1; exit 7");
	fake_worker_does(1, "header; visit 3; begin 1; exit 7");
	fake_worker_does(2, "header; visit 0 2; bye");
	fake_worker_does(3, "header; visit 0 2 3; bye");
	cr_assert(zero(int, run(2)), "%s", said);
	ARE(skipped(0), "");
	ARE(skipped(1), "");
	ARE(skipped(2), "1,3,");
	ARE(points(0), "OFOO");
	/* in the next process nobody tries it */
	ARE(skipped(3), "1,");
	ARE(points(1), "OSOO");
	cr_assert(eq(int, fake_workers(), 4), "%d", fake_workers());
	cr_assert(eq(int, s.journal.failures[2 * POINTS + 1], 2), "two");
	cr_assert(eq(int, s.show.points_done, 16), "%d", s.show.points_done);
	journal_release(&s.journal);
}

Test(small_sweep_supervisor, a_set_up_that_ends_two_workers_costs_its_points)
{
	fake_worker_does(0, "header; setup 0; visit 0; setup 1; exit 7");
	fake_worker_does(1, "header; visit 1; setup 1; exit 7");
	fake_worker_does(2, "bye");
	cr_assert(zero(int, run(1)), "%s", said);
	ARE(skipped(1), "0,");
	ARE(points(0), "OOFF");
	cr_assert(ne(ptr, strstr(said, "side b: setting up fake cells=2"), NULL), "%s", said);
	cr_assert(eq(int, s.show.points_done, 8), "%d", s.show.points_done);
	journal_release(&s.journal);
}

Test(small_sweep_supervisor, of_two_policies_the_other_ones_points_stay)
{
	static const enum wait_policy both[] = { SYNC_YIELD, SYNC_POLL };

	need_device();
	fake_worker_session(&s, 1, false);
	journal_release(&s.journal);
	shell(NULL, "rm '%s'.*", worker_session);
	{
		struct plan p = four_points(fakes, true);

		p.design.processes = p.design.rounds = 1;
		pause_between(&p.design);
		plan_take_policies(&p, both, 2);
		cr_assert(zero(int, journal_create(&s.journal, &p, worker_session, worker_script,
						   "rift sweep")),
			  "create");
	}
	complete_side_a();
	fake_worker_does(0, "header; setup 1; exit 7");
	fake_worker_does(1, "header; setup 1; exit 7");
	fake_worker_does(2, "header; visit 0 1 4 5; bye");
	fake_worker_does(3, "header; visit 6 7; bye");
	divert_stderr();
	cr_assert(zero(int, session_run(&s)), "run");
	said = diverted_stderr();
	/* of the first the points of the second configuration, of the second none */
	ARE(points(0), "OOFFOOOO");
	ARE(skipped(2), "2,3,4,5,6,7,");
	ARE(skipped(3), "0,1,2,3,4,5,");
	cr_expect(eq(int, pauses, 1), "before the other policy: %d", pauses);
	journal_release(&s.journal);
}

Test(small_sweep_supervisor, starts_are_tried_three_times)
{
	fake_worker_does(-1, "exit 7");
	cr_assert(eq(int, run(1), -EIO), "%s", said);
	cr_assert(eq(int, fake_workers(), 3), "%d", fake_workers());
	ARE(points(0), "....");
	journal_release(&s.journal);
}

Test(small_sweep_supervisor, the_third_start_is_as_good_as_the_first)
{
	fake_worker_does(0, "exit 7");
	fake_worker_does(1, "header; exit 7");
	fake_worker_does(-1, "header; visit 0 1 2 3; bye");
	cr_assert(zero(int, run(1)), "%s", said);
	cr_assert(eq(int, fake_workers(), 3), "%d", fake_workers());
	ARE(points(0), "OOOO");
	journal_release(&s.journal);
}

/* What a worker says by its exit code will not change. */
Test(small_sweep_supervisor, without_a_device_it_is_tried_once)
{
	char what[16];

	snprintf(what, sizeof(what), "exit %d", RIFT_NO_DEVICE);
	fake_worker_does(-1, what);
	cr_assert(eq(int, run(1), -ENODEV), "%s", said);
	cr_assert(eq(int, fake_workers(), 1), "%d", fake_workers());
	journal_release(&s.journal);
}

Test(small_sweep_supervisor, what_no_point_does_without_is_tried_once)
{
	char what[16];

	snprintf(what, sizeof(what), "exit %d", RIFT_FAILED_POINTS);
	fake_worker_does(-1, what);
	cr_assert(eq(int, run(1), -ENOSYS), "%s", said);
	cr_assert(eq(int, fake_workers(), 1), "%d", fake_workers());
	journal_release(&s.journal);
}

Test(small_sweep_supervisor, what_is_refused_once_is_refused_always)
{
	fake_worker_does(0, "header; visit 0 1; echo '{\"record\":\"refused\",\"point\":2,"
			    "\"error\":{\"code\":38,\"name\":\"n\"}}'; visit 3; bye");
	fake_worker_does(1, "header; visit 0 1 3; bye");
	cr_assert(zero(int, run(2)), "%s", said);
	ARE(points(0), "OONO");
	ARE(points(1), "OONO");
	ARE(skipped(1), "2,");
	cr_assert(eq(int, s.show.points_done, 16), "%d", s.show.points_done);
	journal_release(&s.journal);
}

/* The trailer of side b's process. */
static json_t *trailer(void)
{
	const char *text;
	json_t *o;

	shell(&text, "grep '\"trailer\"' '%s' | tail -n 1", worker_session);
	o = json_loads(text, 0, NULL);
	cr_assert(ne(ptr, o, NULL), "%s", text);
	return o;
}

Test(small_sweep_supervisor, another_worker_does_what_one_leaves)
{
	json_t *o;

	fake_worker_does(0, "header; visit 0 1; bye ',\"left\":true,\"n\":1.5,\"list\":[1]'");
	fake_worker_does(1, "header; visit 2 3; bye ',\"left\":true,\"n\":2.25,\"list\":[2,3]'");
	cr_assert(zero(int, run(1)), "%s", said);
	ARE(points(0), "OOOO");
	ARE(skipped(1), "0,1,");
	cr_assert(eq(int, fake_workers(), 2), "nothing is left");
	o = trailer();
	cr_assert(eq(dbl, json_number_value(json_object_get(o, "n")), 3.75), "sum");
	cr_assert(eq(sz, json_array_size(json_object_get(o, "list")), 3), "lists");
	cr_assert(eq(int, (int)json_integer_value(json_object_get(o, "workers")), 2), "workers");
	cr_assert(eq(ptr, json_object_get(o, "left"), NULL), "no field of a record");
	cr_assert(eq(ptr, json_object_get(o, "turns"), NULL), "one at a time");
	cr_assert(eq(ptr, json_object_get(o, "alone"), NULL), "one at a time");
	json_decref(o);
	journal_release(&s.journal);
}

/* Its side has come further before: it is tried again, once. */
Test(small_sweep_supervisor, a_worker_that_hangs_at_its_start_is_tried_again)
{
	fake_worker_does(-1, "header; exec sleep 60");
	need_device();
	fake_worker_session(&s, 1, false);
	complete_side_a();
	s.patience_ns = 0.5e9;
	divert_stderr();
	cr_assert(eq(int, session_run(&s), -ENODEV), "it never comes further");
	said = diverted_stderr();
	cr_assert(eq(int, fake_workers(), 2), "%d: %s", fake_workers(), said);
	journal_release(&s.journal);
}

Test(small_sweep_supervisor, another_machine_ends_it)
{
	fake_worker_does(0, "header; visit 0 1 2 3; bye");
	fake_worker_does(1, "header | sed 's/\"host\":{}/\"host\":{\"kernel\":\"9\"}/'; sleep 60");
	cr_assert(eq(int, run(2), -ESTALE), "%s", said);
	ARE(points(0), "OOOO");
	ARE(points(1), "....");
	cr_assert(ne(ptr, strstr(s.change, "host.kernel"), NULL), "%s", s.change);
	journal_release(&s.journal);
}
