/*
 * test_session_data.c - harness/record/session_data.c: what is known of a session's points, of
 * pairs that take turns and of views, against numbers worked out by hand.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/folder.h"
#include "tests/four_points.h"

static char folder[] = TEST_FOLDER_PATH, path[64];

static void make_folder(void)
{
	test_folder_make(folder);
	snprintf(path, sizeof(path), "%s/s.jsonl", folder);
}

static void remove_folder(void)
{
	test_folder_remove(folder);
}

TestSuite(small_session_data, .init = make_folder, .fini = remove_folder, .timeout = 300);

enum { PROCESSES = 2, ROUNDS = 3, SYNC_KINDS = SYNC_COUNT };

static struct journal j;

/* Two sides, three rounds, two processes each. */
static void begin(bool pairs)
{
	struct plan p = four_points(fakes, true);

	p.design.processes = PROCESSES;
	p.design.rounds = ROUNDS;
	p.design.pairs = pairs;
	cr_assert(zero(int, journal_create(&j, &p, path, "env", "rift sweep")), "create");
}

static void begin_process(int replicate, const char *sync, double canary_ns)
{
	json_t *header =
		json_pack("{s:{}, s:{}, s:{}, s:{}, s:{s:s}, s:{s:f}}", "calib", "host", "gpu",
			  "env", "cuda_flags", "sync", sync, "warmup", "canary_ns", canary_ns);

	cr_assert(zero(int, journal_begin(&j, replicate)), "begin");
	cr_assert(zero(int, journal_header(&j, replicate, header)), "header");
}

static void visit(int replicate, int point, int round, int64_t ns)
{
	json_t *o = json_pack("{s:i, s:i, s:[I], s:[I], s:[], s:[i], s:[i, i]}", "point", point,
			      "round", round, "t_enq_ns", (json_int_t)ns / 10, "t_total_ns",
			      (json_int_t)ns, "t_dev_ns", "marks", 0, "canary_ns", 200000, 200000);

	cr_assert(zero(int, journal_visit(&j, replicate, point, round, o)), "visit");
}

/* The first and the last point, of the first and the last pair; b takes twice as long. */
Test(small_session_data, every_pair_is_as_its_turns_are)
{
	static const int64_t slow[ROUNDS] = { 4, 1, 9 };

	begin(true);
	for (int process = 0; process < PROCESSES; process++) {
		begin_process(process, "spin", 100);
		begin_process(PROCESSES + process, "spin", 100);
		for (int point = 0; point < POINTS; point += POINTS - 1)
			for (int r = 0; r < ROUNDS; r++) {
				visit(process, point, r, 100 * slow[r]);
				visit(PROCESSES + process, point, r, 200 * slow[r]);
			}
		for (int point = 0; point < POINTS; point += POINTS - 1) {
			const double *a = &j.total_ns[process * POINTS + point];
			const double *b = a + PROCESSES * POINTS;

			cr_assert(epsilon_eq(dbl, *a, 400, 1e-6), "%g", *a);
			cr_assert(epsilon_eq(dbl, *b, 800, 1e-6), "%g", *b);
		}
		cr_assert(epsilon_eq(dbl, j.enq_ns[process * POINTS], 40, 1e-6), "enqueued");
		cr_assert(zero(int, journal_trailer(&j, process, json_object())), "a");
		cr_assert(zero(int, journal_trailer(&j, PROCESSES + process, json_object())), "b");
	}
	cr_assert(eq(dbl, journal_first_turns_ns(&j, 0, 0, 1), 400), "the first");
	cr_assert(eq(dbl, journal_first_turns_ns(&j, 0, 0, 2), 250), "of 400 and 100");
	cr_assert(eq(dbl, journal_first_turns_ns(&j, 0, 0, 3), 400), "of all");
	cr_assert(eq(dbl, journal_first_turns_ns(&j, 3, 3, 2), 500), "of 800 and 200");
	journal_release(&j);
}

/* Until the other side has taken its turns there is no pair. */
Test(small_session_data, one_side_is_no_pair)
{
	begin(true);
	begin_process(0, "spin", 100);
	begin_process(PROCESSES, "spin", 100);
	for (int r = 0; r < ROUNDS; r++)
		visit(0, 1, r, 100 + 400 * r);
	cr_assert(epsilon_eq(dbl, j.total_ns[1], 500, 1e-6), "%g", j.total_ns[1]);
	cr_assert(isnan(j.total_ns[PROCESSES * POINTS + 1]), "%g",
		  j.total_ns[PROCESSES * POINTS + 1]);
	for (int r = 0; r < ROUNDS; r++)
		visit(PROCESSES, 1, r, 300 + 400 * r);
	/* 3, 1.4 and 1.22 times */
	cr_assert(epsilon_eq(dbl, j.total_ns[PROCESSES * POINTS + 1] / j.total_ns[1], 1.4, 1e-6),
		  "%g", j.total_ns[PROCESSES * POINTS + 1]);
	journal_release(&j);
}

/* Of one point of the process's the trailer says how long it took alone. */
Test(small_session_data, what_points_took_alone)
{
	json_t *bye = json_pack("{s:{s:i, s:{s:f}, s:f}}", "alone", "rounds", ROUNDS, "t_total_ns",
				"", 0.0, "company_over_alone", 1.25);
	json_t *ns = json_object_get(json_object_get(bye, "alone"), "t_total_ns");

	begin(true);
	json_object_clear(ns);
	json_object_set_new(ns, j.plan.point[1].key, json_real(250));
	for (int k = 0; k < 2; k++)
		begin_process(k * PROCESSES, "spin", 100);
	cr_assert(zero(int, journal_trailer(&j, PROCESSES, bye)), "trailer");
	for (int i = 0; i < 2 * PROCESSES; i++) {
		bool is = i == PROCESSES;

		cr_assert(is ? j.company[i] == 1.25 : isnan(j.company[i]), "%d: %g", i,
			  j.company[i]);
		for (int k = 0; k < POINTS; k++)
			cr_assert(is && k == 1 ? j.alone_ns[i * POINTS + k] == 250
					       : isnan(j.alone_ns[i * POINTS + k]),
				  "%d, point %d: %g", i, k, j.alone_ns[i * POINTS + k]);
	}
	journal_release(&j);
}

Test(small_session_data, canaries_and_headers)
{
	begin(false);
	begin_process(0, sync_names[0], 100);
	begin_process(1, sync_names[0], 300);
	begin_process(PROCESSES, sync_names[SYNC_KINDS - 1], 50);
	cr_assert(eq(dbl, j.canary_ns[0], 100), "0");
	cr_assert(eq(dbl, j.canary_ns[1], 300), "1");
	cr_assert(eq(dbl, j.canary_ns[2], 50), "2");
	cr_assert(isnan(j.canary_ns[3]), "3");
	cr_assert(eq(dbl, journal_canary_ns(&j, 0), 200), "side a");
	cr_assert(eq(dbl, journal_canary_ns(&j, 1), 50), "side b");
	cr_assert(eq(dbl, j.drift_ns[0][0], 300), "of its current process");
	cr_assert(eq(dbl, j.drift_ns[1][0], 50), "side b");
	cr_assert(eq(ptr, j.of_policy[0][0], j.header[0]), "the first");
	cr_assert(eq(ptr, j.of_policy[1][SYNC_KINDS - 1], j.header[1]), "the last kind");
	cr_assert(eq(int, j.attempts[0], 1), "attempts");
	cr_assert(eq(int, j.attempts[3], 0), "attempts");
	journal_release(&j);
}

/* NULL: the header has none, as in older records. */
static void start_process(int replicate, const char *startup)
{
	json_t *header = json_pack("{s:{}, s:{}, s:{}, s:{}, s:{}, s:{}}", "calib", "host", "gpu",
				   "env", "cuda_flags", "warmup");

	if (startup)
		json_object_set_new(header, "startup", json_loads(startup, 0, NULL));
	cr_assert(zero(int, journal_begin(&j, replicate)), "begin");
	cr_assert(zero(int, journal_header(&j, replicate, header)), "header");
}

/* A second attempt starts beside what the first one left warm. */
Test(small_session_data, a_start_is_that_of_the_first_attempt)
{
	struct journal view;

	begin(false);
	start_process(0, "{\"process_ns\": 3e6, \"device_ns\": 2e8}");
	start_process(0, "{\"process_ns\": 1e6, \"device_ns\": 1e6}");
	start_process(1, NULL);
	start_process(PROCESSES, "{\"process_ns\": null, \"device_ns\": 2e8}");
	cr_assert(eq(dbl, j.startup_ns[0], 203e6), "%g", j.startup_ns[0]);
	for (int i = 1; i < 2 * PROCESSES; i++)
		cr_assert(isnan(j.startup_ns[i]), "%d: %g", i, j.startup_ns[i]);
	journal_view(&view, &j, 0, (int[]){ 1, 0 }, 2);
	cr_assert(isnan(view.startup_ns[0]), "of process 1");
	cr_assert(eq(dbl, view.startup_ns[1], 203e6), "of process 0");
	journal_view_release(&view);
	journal_release(&j);
}

/* Some processes of one side, in another order. */
Test(small_session_data, a_view_has_its_rows)
{
	struct journal view;

	begin(false);
	for (int replicate = 2; replicate < 4; replicate++) {
		begin_process(replicate, "spin", replicate == 2 ? 7 : 9);
		for (int r = 0; r < ROUNDS; r++)
			visit(replicate, 1, r, 1000 * (replicate - 1) + r);
	}
	journal_view(&view, &j, 1, (int[]){ 1, 0 }, 2);
	cr_assert(eq(int, view.sides, 1), "sides");
	cr_assert(eq(int, view.replicates, 2), "replicates");
	cr_assert(eq(int, view.plan.design.processes, 2), "processes");
	cr_assert(eq(dbl, view.total_ns[1], 2001), "%g", view.total_ns[1]);
	cr_assert(eq(dbl, view.total_ns[POINTS + 1], 1001), "%g", view.total_ns[POINTS + 1]);
	cr_assert(eq(dbl, view.canary_ns[0], 9), "canary");
	cr_assert(eq(dbl, view.canary_ns[1], 7), "canary");
	cr_assert(eq(int, view.status[1], POINT_OK), "status");
	cr_assert(eq(int, view.status[0], POINT_PENDING), "status");
	cr_assert(eq(ptr, view.header[0], j.header[1]), "header");
	cr_assert(eq(int, view.visit_replicate[0], -1), "nobody's");
	cr_assert(eq(int, view.part.fd, -1), "no file");
	journal_view_release(&view);
	journal_release(&j);
}

/* A point that ends a worker twice in one process, whatever comes between. */
Test(small_session_data, failures_are_counted)
{
	begin(false);
	begin_process(2, "spin", 7);
	for (int i = 0; i < 2; i++) {
		cr_assert(not(journal_is_deadly(&j, 3, POINTS - 1)), "%d", i);
		cr_assert(zero(int,
			       journal_failure(&j, 2, POINTS - 1, "error", json_object(), false)),
			  "%d", i);
		cr_assert(eq(int, j.failures[2 * POINTS + POINTS - 1], i + 1), "%d", i);
	}
	cr_assert(zero(int, journal_failure(&j, 2, POINTS - 1, "error", json_object(), true)),
		  "final");
	cr_assert(eq(int, j.status[2 * POINTS + POINTS - 1], POINT_FAILED), "failed");
	cr_assert(journal_is_deadly(&j, 3, POINTS - 1), "to its side");
	cr_assert(not(journal_is_deadly(&j, 0, POINTS - 1)), "not to the other one");
	cr_assert(not(journal_is_deadly(&j, 3, 0)), "nor another point");
	cr_assert(eq(int, journal_count(&j, POINT_FAILED), 1), "count");
	cr_assert(eq(int, journal_count(&j, POINT_PENDING), 2 * PROCESSES * POINTS - 1), "count");
	journal_release(&j);
}
