/*
 * test_sweep_workers.c - what each line of a worker does to its lane and to the session's files,
 * and what a worker is told. The workers are scripts.
 */
#include "tests/test.h"
#include "harness/session/supervisor.h"
#include "harness/session/worker.h"
#include "tests/fake_worker.h"

TestSuite(small_sweep_workers, .init = fake_worker_make, .fini = fake_worker_remove,
	  .timeout = 300);

static struct session s;
static struct lane *lane = &s.lane[0];

/* What comes of a worker of side b that says these lines, to a lane that is at point 2. */
static int after(const char *lines)
{
	struct lane *ended;
	char what[1024];
	int err;

	snprintf(what, sizeof(what), "cat <<'E'\n%s\nE", lines);
	fake_worker_does(-1, what);
	s.lanes = 1;
	*lane = (struct lane){ .session = &s,
			       .replicate = s.journal.plan.design.processes,
			       .child = child_none(),
			       .alone_ns = lane->alone_ns };
	cr_assert(zero(int, session_start_worker(lane)), "%s", lines);
	cr_assert(eq(int, lane->point, -1), "none yet");
	cr_assert(eq(int, lane->config, -1), "none yet");
	lane->point = 2;
	lane->config = 1;
	divert_stderr();
	err = session_attend(&s, &ended);
	diverted_stderr();
	cr_assert(err || ended == lane, "%s", lines);
	cr_assert(not(lane->running), "%s", lines);
	child_release(&lane->child);
	return err;
}

static void begin_test(void)
{
	fake_worker_session(&s, 2, false);
	s.watch = watch_open("");
	cr_assert(zero(int, journal_begin(&s.journal, 2)), "begin");
}

static void end_test(void)
{
	watch_close(s.watch);
	json_decref(lane->bye);
	journal_release(&s.journal);
}

static bool is_true(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	cr_assert(v && json_is_boolean(v), "%s", key);
	return json_is_true(v);
}

static enum point_status status(int point)
{
	return (enum point_status)s.journal.status[2 * POINTS + point];
}

Test(small_sweep_workers, where_it_is)
{
	static const struct {
		const char *line;
		int point, config;
	} rows[] = {
		{ "{\"record\":\"begin\",\"point\":0,\"round\":0}", 0, -1 },
		{ "{\"record\":\"begin\",\"point\":3,\"round\":0}", 3, -1 },
		{ "{\"record\":\"begin\",\"point\":4,\"round\":0}", -1, -1 },
		{ "{\"record\":\"begin\",\"point\":-1,\"round\":0}", -1, -1 },
		{ "{\"record\":\"setup\",\"config\":0}", -1, 0 },
		{ "{\"record\":\"setup\",\"config\":1}", -1, 1 },
		{ "{\"record\":\"phase\",\"phase\":\"calibrating\"}", -1, -1 },
		{ "{\"record\":\"phase\",\"phase\":\"warming up\"}", -1, -1 },
		{ "{\"record\":\"alone\",\"point\":0,\"round\":0,\"t_total_ns\":5}", -1, 1 },
		{ "{\"record\":\"header\",\"calib\":{},\"host\":{},\"gpu\":{},\"env\":{},"
		  "\"cuda_flags\":{},\"warmup\":{}}",
		  -1, -1 },
		/* what is no number of a configuration changes nothing */
		{ "{\"record\":\"setup\",\"config\":2}", 2, 1 },
		{ "{\"record\":\"setup\",\"config\":-1}", 2, 1 },
		{ "{\"record\":\"digests\",\"digests\":{}}", 2, 1 },
	};

	begin_test();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cr_assert(zero(int, after(rows[i].line)), "%s", rows[i].line);
		cr_assert(eq(int, lane->point, rows[i].point), "%s", rows[i].line);
		cr_assert(eq(int, lane->config, rows[i].config), "%s", rows[i].line);
	}
	cr_assert(eq(int, s.journal.attempts[2], 1), "headers");
	cr_assert(eq(ptr, lane->bye, NULL), "it did not say so");
	end_test();
}

Test(small_sweep_workers, visits_are_written)
{
	begin_test();
	cr_assert(zero(int, after("{\"record\":\"visit\",\"point\":3,\"round\":0,\"t_enq_ns\":[1],"
				  "\"t_total_ns\":[1000000],\"t_dev_ns\":[],\"marks\":[0],"
				  "\"canary_ns\":[200000,200000]}\n"
				  "{\"record\":\"bye\",\"left\":false}")),
		  "visit");
	cr_assert(eq(int, status(3), POINT_OK), "its round is done");
	cr_assert(eq(int, status(0), POINT_PENDING), "not asked");
	cr_assert(eq(int, lane->point, -1), "left");
	cr_assert(eq(int, s.show.points_done, 1), "%d", s.show.points_done);
	cr_assert(not(is_true(lane->bye, "left")), "its last line");
	end_test();
}

Test(small_sweep_workers, points_that_fail_are_written)
{
	begin_test();
	cr_assert(zero(int, after("{\"record\":\"failed\",\"point\":0,\"code\":5}\n"
				  "{\"record\":\"refused\",\"point\":3,\"error\":{\"code\":38}}")),
		  "lines");
	cr_assert(eq(int, status(0), POINT_FAILED), "0");
	cr_assert(eq(int, status(1), POINT_PENDING), "1");
	cr_assert(eq(int, status(3), POINT_NOT_SUPPORTED), "3");
	cr_assert(eq(int, s.show.points_done, 2), "%d", s.show.points_done);
	cr_assert(eq(int, lane->point, -1), "left");
	end_test();
}

Test(small_sweep_workers, points_that_are_not_in_the_plan_end_it)
{
	static const char *const lines[] = {
		"{\"record\":\"visit\",\"point\":4,\"round\":0}",
		"{\"record\":\"visit\",\"point\":-1,\"round\":0}",
		"{\"record\":\"visit\",\"point\":0,\"round\":1}",
		"{\"record\":\"visit\",\"point\":0,\"round\":-1}",
		"{\"record\":\"failed\",\"point\":4,\"code\":5}",
		"{\"record\":\"failed\",\"point\":-1,\"code\":5}",
		"{\"record\":\"refused\",\"point\":4,\"error\":{}}",
		"{\"record\":\"refused\",\"point\":-1,\"error\":{}}",
	};

	begin_test();
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		cr_assert(eq(int, after(lines[i]), -EPROTO), "%s", lines[i]);
	for (int i = 0; i < POINTS; i++)
		cr_assert(eq(int, status(i), POINT_PENDING), "%d", i);
	end_test();
}

Test(small_sweep_workers, rounds_alone_are_kept)
{
	double ns[1 + POINTS * ALONE_ROUNDS + 1];
	char lines[512];

	begin_test();
	lane->alone_ns = ns + 1;
	for (int i = 0; i < 2 + POINTS * ALONE_ROUNDS; i++)
		ns[i] = NAN;
	snprintf(lines, sizeof(lines),
		 "{\"record\":\"alone\",\"point\":0,\"round\":0,\"t_total_ns\":10}\n"
		 "{\"record\":\"alone\",\"point\":3,\"round\":%d,\"t_total_ns\":20}\n"
		 "{\"record\":\"alone\",\"point\":4,\"round\":0,\"t_total_ns\":30}\n"
		 "{\"record\":\"alone\",\"point\":-1,\"round\":0,\"t_total_ns\":30}\n"
		 "{\"record\":\"alone\",\"point\":1,\"round\":-1,\"t_total_ns\":30}\n"
		 "{\"record\":\"alone\",\"point\":1,\"round\":%d,\"t_total_ns\":30}\n"
		 "{\"record\":\"alone\",\"point\":0,\"round\":-1,\"t_total_ns\":30}",
		 ALONE_ROUNDS - 1, ALONE_ROUNDS);
	cr_assert(zero(int, after(lines)), "lines");
	cr_assert(eq(dbl, ns[1], 10), "the first");
	cr_assert(eq(dbl, ns[POINTS * ALONE_ROUNDS], 20), "the last");
	for (int i = 0; i < 2 + POINTS * ALONE_ROUNDS; i++)
		if (i != 1 && i != POINTS * ALONE_ROUNDS)
			cr_assert(isnan(ns[i]), "%d", i);
	lane->alone_ns = NULL;
	cr_assert(zero(int, after(lines)), "of no interest");
	end_test();
}

Test(small_sweep_workers, what_it_will_do_in_its_turn)
{
	begin_test();
	cr_assert(zero(int, after("{\"record\":\"turn\",\"turn\":[2,-1,7],\"config\":1}")), "turn");
	cr_assert(eq(int, lane->turn[0], 2), "0");
	cr_assert(eq(int, lane->turn[1], -1), "1");
	cr_assert(eq(int, lane->turn[2], 7), "2");
	cr_assert(eq(int, lane->turn_config, 1), "configuration");
	cr_assert(eq(int, lane->point, 2), "said before");
	end_test();
}

/* A worker's line: the digest of a file, of 64 such digits. Static memory. */
static const char *said_digest(const char *key, char digit)
{
	static char line[160];
	char hex[65];

	memset(hex, digit, 64);
	hex[64] = '\0';
	snprintf(line, sizeof(line), "{\"record\":\"digests\",\"digests\":{\"%s\":\"%s\"}}", key,
		 hex);
	return line;
}

Test(small_sweep_workers, digests_are_for_those_to_come)
{
	json_t *said, *job, *told;

	begin_test();
	for (int i = 0; i < 2; i++) /* the first is said again */
		cr_assert(zero(int, after(said_digest("a", '1'))), "a");
	cr_assert(zero(int, after(said_digest("b", '2'))), "b");
	cr_assert(zero(int, after("")), "the last");
	said = child_digests_json();
	told = json_object_get(said, "digests");
	cr_assert(eq(sz, json_object_size(told), 2), "both");
	job = fake_worker_job(0);
	cr_assert(eq(ptr, json_object_get(job, "digests"), NULL), "none yet");
	json_decref(job);
	job = fake_worker_job(3);
	cr_assert(json_equal(json_object_get(job, "digests"), told), "told");
	json_decref(job);
	json_decref(said);
	end_test();
}

/* ---- what it is told ---------------------------------------------------------------------- */

/* The job of a worker that is started on this lane. New reference. */
static json_t *job_of(struct lane *l, int replicate, int number)
{
	*l = (struct lane){
		.session = &s, .replicate = replicate, .child = child_none(), .workers = l->workers
	};
	cr_assert(zero(int, session_start_worker(l)), "start");
	while (!child_ended(&l->child))
		usleep(1000);
	child_release(&l->child);
	free(l->alone_ns);
	return fake_worker_job(number);
}

static int alone_of(struct lane *l, int number)
{
	json_t *job = job_of(l, 2, number);
	int alone = (int)json_integer_value(json_object_get(job, "alone"));

	json_decref(job);
	return alone;
}

Test(small_sweep_workers, its_job)
{
	json_t *job;

	begin_test();
	fake_worker_does(-1, "");
	s.lanes = 1;
	cr_assert(zero(int, journal_failure(&s.journal, 2, 1, "error", json_object(), true)), "1");
	cr_assert(zero(int, after("{\"record\":\"visit\",\"point\":3,\"round\":0,\"t_enq_ns\":[1],"
				  "\"t_total_ns\":[1000000],\"t_dev_ns\":[],\"marks\":[0],"
				  "\"canary_ns\":[200000,200000]}")),
		  "visit");
	after("");
	job = fake_worker_job(1);
	cr_assert(eq(str, (char *)json_string_value(json_object_get(job, "job")), "measure"),
		  "job");
	cr_assert(eq(int, (int)json_integer_value(json_object_get(job, "side")), 1), "side");
	cr_assert(eq(int, (int)json_integer_value(json_object_get(job, "process")), 0), "process");
	cr_assert(is_true(job, "check_all"), "the first checks all");
	cr_assert(not(is_true(job, "takes_turns")), "one at a time");
	cr_assert(zero(int, (int)json_integer_value(json_object_get(job, "alone"))), "alone");
	cr_assert(eq(sz, json_array_size(json_object_get(job, "skip")), 2), "skip");
	cr_assert(eq(int, (int)json_integer_value(json_array_get(json_object_get(job, "skip"), 0)),
		     1),
		  "failed");
	cr_assert(eq(int, (int)json_integer_value(json_array_get(json_object_get(job, "skip"), 1)),
		     3),
		  "done");
	json_decref(job);
	end_test();
}

/* Before any configuration is at hand: what it did then. */
Test(small_sweep_workers, one_that_dies_before_it_probes_says_where)
{
	const char *said;
	int err;

	begin_test();
	fake_worker_does(-1, "echo '{\"record\":\"phase\",\"phase\":\"opening the device\"}'\n"
			     "kill -SEGV $$");
	divert_stderr();
	err = session_probe(&s, &s.journal.plan, 1, worker_script, 1e9);
	said = diverted_stderr();
	cr_assert(eq(int, err, -EIO), "%d", err);
	cr_assert(ne(ptr, strstr(said, "side b: the worker was killed by signal 11"), NULL), "%s",
		  said);
	cr_assert(ne(ptr, strstr(said, " opening the device"), NULL), "%s", said);
	end_test();
}

/* Three times as long at twice the size: 9 times at four times it. Set up twice as long, in
 * proportion. */
Test(small_sweep_workers, what_is_not_tried_on_side_a_follows_from_smaller_sizes)
{
	struct plan_request r = { .workload = fakes,
				  .size = "1,2,4",
				  .depth = "1",
				  .mode = "stream",
				  .design = design_of(true) };
	const struct side_timing *t;
	struct plan p;

	cr_assert(zero(int, plan_make(&p, &r)), "plan");
	cr_assert(eq(int, p.n_configs, 3), "configurations");
	fake_worker_does(-1, "probe() { echo '{\"record\":\"probe\",\"config\":'$1',\"code\":0,"
			     "\"setup_ns\":'$2',\"ends_ns\":5,\"step_ns\":'$3',\"gap_ns\":1}'; }\n"
			     "probe 0 10 1000; probe 1 20 3000; probe 2 null null; bye");
	s = (struct session){ .patience_ns = 30e9 };
	show_start(&s.show, true);
	cr_assert(zero(int, session_probe(&s, &p, 0, worker_script, 1e9)), "probe");
	t = &p.config[2].timing[0];
	cr_expect(epsilon_eq(dbl, t->step_ns, 9000, 1e-6), "%g ns", t->step_ns);
	cr_expect(epsilon_eq(dbl, t->setup_ns, 40, 1e-6), "%g ns", t->setup_ns);
	cr_expect(epsilon_eq(dbl, p.config[1].timing[0].step_ns, 3000, 1e-6), "as it was told");
	plan_release(&p);
}

/* Once something is known of the workload: a worker that would go on is stopped, in good time;
 * before that it may take longer. */
Test(small_sweep_workers, a_probe_ends_at_its_limit_where_it_knows_enough)
{
	static const char *const scripts[] = { "probe; exec sleep 50", "sleep 0.5; probe; bye" };
	struct plan_request r = { .workload = fakes,
				  .size = "1,2",
				  .depth = "1",
				  .mode = "stream",
				  .design = design_of(true) };

	for (int i = 0; i < 2; i++) {
		struct plan p;
		char script[256];

		cr_assert(zero(int, plan_make(&p, &r)), "plan");
		snprintf(script, sizeof(script),
			 "probe() { echo '{\"record\":\"probe\",\"config\":0,\"code\":0,"
			 "\"setup_ns\":10,\"ends_ns\":5,\"step_ns\":1000,\"gap_ns\":1}'; }\n%s",
			 scripts[i]);
		fake_worker_does(-1, script);
		s = (struct session){ .patience_ns = 30e9 };
		show_start(&s.show, true);
		cr_assert(zero(int, session_probe(&s, &p, 0, worker_script, 1e8)), "%d", i);
		cr_expect(eq(dbl, p.config[0].timing[0].step_ns, 1000), "%d: %g", i,
			  p.config[0].timing[0].step_ns);
		plan_release(&p);
	}
}

/* The one that starts first, with nothing done yet. */
Test(small_sweep_workers, who_has_rounds_alone)
{
	json_t *job;

	fake_worker_session(&s, 2, true);
	fake_worker_does(-1, "");
	cr_assert(zero(int, journal_begin(&s.journal, 2)), "begin");
	s.lanes = 2;
	s.lane[0] = s.lane[1] = (struct lane){ .workers = 0 };
	cr_assert(eq(int, alone_of(&s.lane[0], 0), ALONE_ROUNDS), "the first");
	cr_assert(zero(int, alone_of(&s.lane[1], 1)), "the second");
	s.lanes = 1;
	cr_assert(zero(int, alone_of(&s.lane[0], 2)), "no other");
	s.lanes = 2;
	s.lane[0].workers = 1;
	cr_assert(zero(int, alone_of(&s.lane[0], 3)), "another worker was before it");
	s.lane[0].workers = 0;
	s.journal.status[2 * POINTS + 3] = POINT_FAILED;
	cr_assert(zero(int, alone_of(&s.lane[0], 4)), "it goes on");
	s.journal.status[2 * POINTS + 3] = POINT_PENDING;
	job = job_of(&s.lane[0], 3, 5);
	cr_assert(is_true(job, "takes_turns"), "turns");
	cr_assert(not(is_true(job, "check_all")), "not the first");
	cr_assert(eq(int, (int)json_integer_value(json_object_get(job, "process")), 1), "process");
	json_decref(job);
	journal_release(&s.journal);
}

/* ---- who starts --------------------------------------------------------------------------- */

Test(small_sweep_workers, one_starts_while_the_other_waits)
{
	static const struct {
		struct {
			bool running, waits, alone, done;
		} lane[2];
		int want;
	} rows[] = {
		{ { { 0 }, { 0 } }, 0 },
		{ { { .running = true }, { 0 } }, -1 },
		{ { { .running = true, .waits = true }, { 0 } }, 1 },
		{ { { .running = true, .waits = true, .alone = true }, { 0 } }, -1 },
		{ { { .running = true, .waits = true }, { .done = true } }, -1 },
		{ { { .done = true }, { 0 } }, 1 },
		{ { { 0 }, { .running = true } }, -1 },
		{ { { 0 }, { .running = true, .waits = true } }, 0 },
		{ { { .done = true }, { .done = true } }, -1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct session two = { .lanes = 2 };

		for (int k = 0; k < 2; k++)
			two.lane[k] = (struct lane){ .running = rows[i].lane[k].running,
						     .waits = rows[i].lane[k].waits,
						     .alone = rows[i].lane[k].alone,
						     .done = rows[i].lane[k].done };
		cr_assert(eq(ptr, session_to_start(&two),
			     rows[i].want < 0 ? NULL : &two.lane[rows[i].want]),
			  "%zu", i);
	}
}
