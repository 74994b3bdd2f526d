/*
 * test_cli_predict_trace.c - `rift predict TRACE` of the real binary: a program's price on a
 * platform that costs a known amount more, and what is refused.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "harness/base/json.h"
#include "tests/cli.h"
#include "tests/fake_session.h"
#include "tests/folder.h"
#include "tests/made_trace.h"
#include "harness/trial/trial.h"

static char dir[] = "/tmp/rift predict XXXXXX", native[64], guest[64];
static struct made made;

enum { N = 20, K = 20000, STEP = MADE_C + MADE_L + K + MADE_WAKE, BEYOND = 5000 };

/* N times a launch and a wait. */
static void put_turns(void)
{
	for (long i = 0; i < N; i++) {
		long start = i * STEP + MADE_C + MADE_L;

		made_kernel(&made, 2, i * STEP, start, start + K);
		made_call(&made, "sync_device", i * STEP + MADE_C, (i + 1) * STEP, "");
	}
}

/* These, and so many runs without the recorder that took wall_ns each. */
static void make_trace(const char *calibration, int runs, long wall_ns)
{
	made_begin(&made, "", calibration);
	put_turns();
	made_end(&made, N * STEP, runs, wall_ns);
}

/* Few points, so that a file is small and a fit short. */
static struct fake_session made_up(void)
{
	struct fake_session s = fake_session();

	s.device[0] = "CPU device"; /* as the trace's */
	s.quick = true;
	s.processes = 5;
	s.blocks = 5;
	s.noise = 0.001;
	s.size = "0,2,10,50";
	s.depth = "1,16,256,4096"; /* several graphs, and more than the queue takes */
	return s;
}

static void make_session(const char *path, double beyond_ns)
{
	struct fake_session s = made_up();

	s.model[0].v[MODEL_C] += beyond_ns;
	s.model[0].v[MODEL_P] += beyond_ns;
	s.model[0].v[MODEL_Z] += beyond_ns;
	fake_session_write(&s, path);
}

static void make_folder(void)
{
	test_folder_make(dir);
	snprintf(native, sizeof(native), "%s/native.jsonl", dir);
	snprintf(guest, sizeof(guest), "%s/guest.jsonl", dir);
	make_session(native, 0);
	make_session(guest, BEYOND);
}

static void remove_folder(void)
{
	if (*made.path)
		made_remove(&made);
	test_folder_remove(dir);
}

TestSuite(small_cli_predict_trace, .init = make_folder, .fini = remove_folder, .timeout = 300);

static double member(const json_t *o, const char *object, const char *name)
{
	return json_get_number(json_object_get(o, object), name);
}

/* Each of the N turns has one launch on the way. */
Test(small_cli_predict_trace, what_b_adds_is_paid_by_each_turn)
{
	const double wall = N * STEP;
	const json_t *o;

	make_trace(MADE_CALIBRATION, 5, N * STEP);
	o = rift_json("predict '%s' --on '%s' --from '%s' --json", made.path, guest, native);
	cr_expect(eq(str, (char *)json_get_text(o, "self_check"), "passed"), "check");
	cr_expect(eq(dbl, member(o, "a", "value_ns"), wall), "on A");
	cr_expect(epsilon_eq(dbl, member(o, "b", "value_ns"), wall + N * BEYOND, 0.03 * N * BEYOND),
		  "on B: %g", member(o, "b", "value_ns"));
	cr_expect(le(dbl, member(o, "b", "lo_ns"), member(o, "b", "value_ns")), "lower");
	cr_expect(le(dbl, member(o, "b", "value_ns"), member(o, "b", "hi_ns")), "upper");
	cr_expect(eq(sz, json_array_size(json_object_get(o, "remedies")), 4), "all remedies");
}

#define KEPT "data/traces/h200-predict/"
#define FIRST "data/traces/h200-predict-first/"

static void mark(const char *kind, long t, int name)
{
	made_row(&made, "{\"record\":\"mark\",\"thread\":0,\"kind\":\"%s\",\"t\":%ld,\"name\":%d}",
		 kind, t, name);
}

/* A range around the second half of the turns: no start of a process is in it. */
Test(small_cli_predict_trace, a_range_has_a_price_of_its_own)
{
	const double half = N / 2 * STEP;
	const char *text;
	const json_t *range;

	made_begin(&made, "", MADE_CALIBRATION);
	made_row(&made, "{\"record\":\"string\",\"id\":9,\"text\":\"epoch\"}");
	put_turns();
	mark("push", N / 2 * STEP, 9);
	mark("pop", N * STEP, 9);
	made_end(&made, N * STEP, 5, N * STEP);
	range = json_array_get(
		json_object_get(rift_json("predict '%s' --on '%s' --from '%s' --json", made.path,
					  guest, native),
				"ranges"),
		0);
	cr_expect(eq(str, (char *)json_get_text(range, "name"), "epoch"), "name");
	cr_expect(epsilon_eq(dbl, json_get_number(range, "a_ns"), half, 1), "on A");
	cr_expect(epsilon_eq(dbl, json_get_number(range, "b_ns"), half + N / 2 * BEYOND,
			     0.03 * N / 2 * BEYOND),
		  "on B: %g", json_get_number(range, "b_ns"));
	cr_assert(zero(int, run_rift(OUT, &text, "predict '%s' --on '%s' --from '%s'", made.path,
				     guest, native)));
	cr_expect(tells(text, "ranges*on A*on B*B / A*epoch * 1 "), "%s", text);
}

/* More ranges than are shown, one of which has no length. */
Test(small_cli_predict_trace, ranges_that_are_many_and_empty)
{
	const char *text;
	const json_t *o;

	made_begin(&made, "", MADE_CALIBRATION);
	for (int i = 0; i < 12; i++)
		made_row(&made, "{\"record\":\"string\",\"id\":%d,\"text\":\"part %d\"}", 20 + i,
			 i);
	put_turns();
	for (int i = 0; i < 12; i++) {
		mark("push", i * STEP, 20 + i);
		mark("pop", (i == 0 ? 0 : i + 1) * STEP, 20 + i);
	}
	made_end(&made, N * STEP, 5, N * STEP);
	o = rift_json("predict '%s' --on '%s' --json", made.path, guest);
	cr_expect(eq(sz, json_array_size(json_object_get(o, "ranges")), 12), "all");
	cr_assert(zero(int, run_rift(OUT, &text, "predict '%s' --on '%s'", made.path, guest)));
	cr_expect(tells(text, "part 1 *  2 more\n"), "%s", text);
	cr_expect(not(tells(text, "nan")), "%s", text);
}

Test(small_cli_predict_trace, a_range_of_no_length)
{
	const char *text;

	made_begin(&made, "", MADE_CALIBRATION);
	made_row(&made, "{\"record\":\"string\",\"id\":9,\"text\":\"empty\"}");
	put_turns();
	mark("push", STEP, 9);
	mark("pop", STEP, 9);
	made_end(&made, N * STEP, 5, N * STEP);
	cr_assert(zero(int, run_rift(OUT, &text, "predict '%s' --on '%s'", made.path, guest)));
	cr_expect(tells(text, "empty * 1 *0 ns *0 ns *-\n"), "%s", text);
	cr_expect(not(tells(text, "nan")), "%s", text);
}

/* No start is in the time of a part of a program, so no late one widens its interval. */
Test(small_cli_predict_trace, a_part_of_a_program_has_no_start)
{
	for (int is_part = 0; is_part < 2; is_part++) {
		const json_t *o;
		double b;

		if (is_part)
			made_remove(&made);
		made_begin(&made, is_part ? ",\"limits\":{\"delay_ns\":1}" : "", MADE_CALIBRATION);
		made.runs = ",\"empty\":{\"recorded\":[],\"unprofiled_wall_ns\":"
			    "[1000000,1000000,90000000]}";
		put_turns();
		made_end(&made, N * STEP, 5, N * STEP);
		o = rift_json("predict '%s' --on '%s' --from '%s' --json", made.path, guest,
			      native);
		b = member(o, "b", "value_ns");
		cr_expect(eq(int, member(o, "b", "hi_ns") > b + 80e6, !is_part), "%g to %g", b,
			  member(o, "b", "hi_ns"));
	}
}

/* A session whose kernels were swept one at a time says nothing of what is between two. */
Test(small_cli_predict_trace, gaps_that_no_session_holds)
{
	const char *text;
	const json_t *o;

	make_trace(MADE_CALIBRATION, 5, N * STEP);
	o = rift_json("predict '%s' --on '%s' --json", made.path, guest);
	cr_expect(eq(int, json_is_true(json_object_get(o, "gap_priced")), 1), "held");
	cr_expect(eq(str, (char *)json_get_text(o, "sync"), "spin"), "sync");
	cr_expect(eq(ptr, json_object_get(o, "ranges"), NULL), "none");
	o = rift_json("predict '%s' --on " FIRST "emulate-call-5.jsonl.gz:b --json", made.path);
	cr_expect(eq(int, json_is_false(json_object_get(o, "gap_priced")), 1), "not held");
	cr_assert(zero(int,
		       run_rift(OUT, &text, "predict '%s' --on " FIRST "emulate-call-5.jsonl.gz:b",
				made.path)));
	cr_expect(tells(text, "does not have g"), "%s", text);
}

/*
 * 200,000 launches, recorded on an H200, and layers that add 20 and 5 us to each: exact truth. In
 * the second session single kernels once passed for a gap of 9.7 us between all of them.
 */
Test(small_cli_predict_trace, what_a_layer_adds_to_a_real_program)
{
	static const struct {
		const char *session;
		double added_us;
	} layer[] = { { KEPT "emulate-call-20", 20 }, { FIRST "emulate-call-5", 5 } };

	for (int i = 0; i < 2; i++) {
		const json_t *o = rift_json("predict " KEPT "programs-launches-10.trace.gz "
					    "--from %s.jsonl.gz:a --on %s.jsonl.gz:b --json",
					    layer[i].session, layer[i].session);
		double added_ns = member(o, "b", "value_ns") - member(o, "a", "value_ns");

		cr_expect(epsilon_eq(dbl, added_ns / (200000 * 1e3 * layer[i].added_us), 1, 0.12),
			  "%s: %g ns", layer[i].session, added_ns);
	}
}

/* A GPU's prices say little of a program that was recorded on the CPU device. */
Test(small_cli_predict_trace, prices_of_another_device_deserve_low_confidence)
{
	const json_t *o;
	const char *text;

	make_trace(MADE_CALIBRATION, 5, N * STEP);
	cr_assert(
		zero(int, run_rift(OUT, &text, "predict '%s' --on data/sessions/h200-launch.jsonl",
				   made.path)),
		"%s", text);
	cr_expect(tells(text, "confidence * low*the costs are of NVIDIA H200"), "%s", text);
	o = rift_json("predict '%s' --on data/sessions/h200-launch.jsonl --json", made.path);
	cr_expect(eq(str, (char *)json_get_text(o, "other_device"), "NVIDIA H200"));
	o = rift_json("predict '%s' --on '%s' --json", made.path, guest);
	cr_expect(eq(ptr, json_object_get(o, "other_device"), NULL));
}

/* Then the runs are of the others, too, and say nothing of it. */
Test(small_cli_predict_trace, one_of_several_processes_takes_what_is_re_timed)
{
	const long runs_ns = N * STEP * 26 / 25;

	for (int several = 0; several < 2; several++) {
		const json_t *o;

		if (several)
			made_remove(&made);
		made_begin(&made, "", MADE_CALIBRATION);
		made.runs = several ? ",\"processes\":2" : NULL;
		put_turns();
		made_end(&made, N * STEP, 5, runs_ns);
		o = rift_json("predict '%s' --on '%s' --json", made.path, guest);
		cr_expect(epsilon_eq(dbl, member(o, "a", "value_ns"),
				     several ? (double)N * STEP : (double)runs_ns, 1));
	}
}

/* The runs of the program itself on B, in another trace. */
Test(small_cli_predict_trace, held_against_what_was_measured)
{
	char recorded[64];
	const json_t *o;

	make_trace(MADE_CALIBRATION, 5, N * STEP);
	snprintf(recorded, sizeof(recorded), "%s/a.trace", dir);
	shell(NULL, "cp '%s' '%s'", made.path, recorded);
	made_remove(&made);
	make_trace(MADE_CALIBRATION, 5, N * (STEP + BEYOND));
	o = rift_json("predict '%s' --on '%s' --from '%s' --measured '%s' --json", recorded, guest,
		      native, made.path);
	cr_expect(eq(dbl, json_get_number(o, "b_measured_ns"), (double)N * (STEP + BEYOND)), "B");
}

/* A record of rift time: so many sides, of which the last took 3 s. */
static void make_trial(const char *path, const char *argument, int sides)
{
	struct trial t = { .file = LINE_FILE_NONE };
	struct trial_run r = { .there = true };

	t.plan = (struct trial_plan){ .sides = sides, .margin = 0.02, .patience_s = 60 };
	t.plan.argv = calloc(3, sizeof(*t.plan.argv));
	t.plan.argv[0] = "/opt/app";
	t.plan.argv[1] = argument;
	for (int i = 1; i < sides; i++)
		t.plan.side[i].layer = "none";
	cr_assert(zero(int, trial_create(&t, path)));
	for (int i = 0; i < sides; i++)
		for (int round = -1; round < 5; round++) {
			r.wall_s = 1 + i * 2.0;
			cr_assert(zero(int, trial_add(&t, trial_run_json(i, round, &r))));
		}
	cr_assert(zero(int, line_file_end(&t.file)));
	trial_release(&t);
}

/* The median under the layer; there must be one, and the program the same. */
Test(small_cli_predict_trace, held_against_a_record_of_rift_time)
{
	char record[64];
	const json_t *o;

	make_trace(MADE_CALIBRATION, 5, N * STEP);
	snprintf(record, sizeof(record), "%s/a.jsonl", dir);
	make_trial(record, "x", 2);
	o = rift_json("predict '%s' --on '%s' --measured '%s' --json", made.path, guest, record);
	cr_expect(epsilon_eq(dbl, json_get_number(o, "b_measured_ns"), 3e9, 1));
	remove(record);
	make_trial(record, "x", 3);
	refused(3, "has 2 sides", "predict '%s' --on '%s' --measured '%s'", made.path, guest,
		record);
	remove(record);
	make_trial(record, "y", 2);
	refused(5, "is of /opt/app y", "predict '%s' --on '%s' --measured '%s'", made.path, guest,
		record);
}

Test(small_cli_predict_trace, remedies_that_were_asked_for)
{
	const json_t *list, *o;

	make_trace(MADE_CALIBRATION, 5, N * STEP);
	o = rift_json("predict '%s' --on '%s' --what-if batch=5 --what-if pool --json", made.path,
		      guest);
	list = json_object_get(o, "remedies");
	cr_assert(eq(sz, json_array_size(list), 2), "two");
	cr_expect(eq(str, (char *)json_get_text(json_array_get(list, 0), "remedy"), "batch"), "1");
	cr_expect(eq(dbl, json_get_number(json_array_get(list, 0), "calls"), N - N / 5), "calls");
	cr_expect(eq(str, (char *)json_get_text(json_array_get(list, 1), "remedy"), "pool"), "2");
}

/* Launches of B were waited for in two ways, the second 1.5 times as long; A's in one. */
Test(small_cli_predict_trace, another_wait_policy)
{
	struct fake_session s = made_up();
	const char *text;
	const json_t *r;
	char both[64];
	double a;

	snprintf(both, sizeof(both), "%s/both.jsonl", dir);
	s.depth = NULL; /* the design's own */
	s.kinds = 2;
	s.kind[0] = SYNC_SPIN;
	s.kind[1] = SYNC_BLOCKING;
	s.policy_factor = 1.5;
	fake_session_write(&s, both);
	make_trace(MADE_CALIBRATION, 5, N * STEP);
	r = json_array_get(json_object_get(rift_json("predict '%s' --on '%s' --from '%s' --sync "
						     "spin --what-if sync=blocking --json",
						     made.path, both, both),
					   "remedies"),
			   0);
	cr_expect(eq(str, (char *)json_get_text(r, "sync"), "blocking"), "kind");
	cr_expect(eq(dbl, json_get_number(r, "calls"), N), "calls");
	a = json_get_number(r, "a_ns");
	cr_expect(epsilon_eq(dbl, a, N * (STEP + 800.0), N * 80.0), "Z - c - d, 1600, by half: %g",
		  a);
	cr_expect(epsilon_eq(dbl, json_get_number(r, "b_ns"), a, 1e-6 * a), "B is A");
	cr_assert(zero(int, run_rift(OUT, &text, "predict '%s' --on '%s' --sync blocking",
				     made.path, both)));
	cr_expect(tells(text, "session: --sync blocking"), "%s", text);
	refused(3, "native.jsonl was not swept with it",
		"predict '%s' --on '%s' --what-if sync=blocking", made.path, native);
	refused(3, "sync=KIND", "predict '%s' --on '%s' --what-if sync=block", made.path, guest);
	refused(3, "sync=KIND", "predict '%s' --on '%s' --what-if sync", made.path, guest);
}

Test(small_cli_predict_trace, a_table)
{
	static const char *const want[] = { "./app x", "--sync spin", "B / A",
					    "graphs",  "batch=4",     NULL };
	const char *text;

	make_trace(MADE_CALIBRATION, 5, N * STEP);
	cr_assert(zero(int, run_rift(OUT, &text, "predict '%s' --on '%s'", made.path, guest)));
	for (int i = 0; want[i]; i++)
		cr_expect(tells(text, want[i]), "%s in\n%s", want[i], text);
}

/* As trace events, with costs that are estimated: B adds to it what it adds to the trace itself. */
Test(small_cli_predict_trace, trace_events_have_prices)
{
	const json_t *o;
	double added;

	make_trace(MADE_CALIBRATION, 5, N * STEP);
	o = rift_json("predict '%s' --from '%s' --on '%s' --json", made.path, native, guest);
	added = member(o, "b", "value_ns") - member(o, "a", "value_ns");
	cr_assert(lt(dbl, 0, added), "%g", added);
	cr_assert(zero(int, run_rift(OUT, NULL, "profile '%s' --quiet --chrome '%s/e.json'",
				     made.path, dir)));
	o = rift_json("predict '%s/e.json' --from '%s' --on '%s' --json", dir, native, guest);
	cr_expect(lt(dbl,
		     fabs((member(o, "b", "value_ns") - member(o, "a", "value_ns")) / added - 1),
		     0.02),
		  "%g, not %g", member(o, "b", "value_ns") - member(o, "a", "value_ns"), added);
}

Test(small_cli_predict_trace, other_work)
{
	static const char *const want[] = {
		"*merge=4 *-*20 *N launches of a kernel become one larger one",
		"*20 launches: kernel times are added up",
		"*kernels=0.5 *-*20 *kernels last this many times as long",
		"*overlap *+0.0*0 *the host works before it waits",
	};
	const char *text;
	const json_t *list;

	make_trace(MADE_CALIBRATION, 5, N * STEP);
	cr_assert(zero(int, run_rift(OUT, &text,
				     "predict '%s' --on '%s' --what-if merge=4 "
				     "--what-if kernels=0.5 --what-if overlap",
				     made.path, guest)),
		  "%s", text);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		cr_expect(tells(text, want[i]), "%s in\n%s", want[i], text);
	list = json_object_get(rift_json("predict '%s' --on '%s' --what-if merge=4 --what-if "
					 "kernels=0.5 --json",
					 made.path, guest),
			       "remedies");
	cr_expect(zero(dbl, json_get_number(json_array_get(list, 0), "sloped")));
	cr_expect(eq(dbl, json_get_number(json_array_get(list, 1), "factor"), 0.5));
}

Test(small_cli_predict_trace, refused)
{
	char costs[64];

	snprintf(costs, sizeof(costs), "data/sessions/h200-costs.json");
	make_trace(MADE_CALIBRATION, 5, N * STEP);
	refused(3, "--from-costs", "predict '%s' --on '%s' --costs %s", made.path, guest, costs);
	refused(3, "graphs", "predict '%s' --on '%s' --what-if graph", made.path, guest);
	refused(3, "batch=1", "predict '%s' --on '%s' --what-if batch=1", made.path, guest);
	refused(3, "batch=", "predict '%s' --on '%s' --what-if batch=", made.path, guest);
	refused(3, "merge=1", "predict '%s' --on '%s' --what-if merge=1", made.path, guest);
	refused(3, "kernels=0", "predict '%s' --on '%s' --what-if kernels=0", made.path, guest);
	refused(3, "kernels=x", "predict '%s' --on '%s' --what-if kernels=x", made.path, guest);
	refused(3, "overlap=2", "predict '%s' --on '%s' --what-if overlap=2", made.path, guest);
	refused(3, "pool=2", "predict '%s' --on '%s' --what-if pool=2", made.path, guest);
	refused(3, "--side", "predict '%s' --on '%s' --side a", made.path, guest);
	refused(3, "--on", "predict '%s'", made.path);
	refused(3, "none.jsonl", "predict '%s' --on '%s/none.jsonl'", made.path, dir);
	refused(3, "--what-if", "predict '%s' --on '%s' --what-if pool", native, guest);
	refused(3, "none.json", "predict '%s' --on '%s' --costs '%s/none.json' --from-costs %s",
		made.path, guest, dir, costs);
	refused(3, "not a trace", "predict '%s' --on '%s' --measured '%s'", made.path, guest,
		native);
}

/* Each says what is so: none are given, those of B, those of another workload, and no need. */
Test(small_cli_predict_trace, costs_of_a_session_need_launches_of_a)
{
	static const char work[] = "data/sessions/h200-cells.jsonl.gz", launch[] =
										"data/sessions/"
										"h200-launch.jsonl";
	static const char costs[] = "--costs data/sessions/h200-costs.json --from-costs "
				    "data/sessions/h200-costs.json";

	refused(3, "A's launch costs too; give --from SESSION", "predict %s --on %s %s", work,
		launch, costs);
	refused(3, "are B's, from --on", "predict %s --on %s --from %s %s", work, launch, launch,
		costs);
	refused(3, "--from is of mlp,", "predict %s --on %s --from data/sessions/h200-mlp.jsonl %s",
		work, launch, costs);
	refused(3, "kernel durations", "predict '%s' --on '%s' %s", native, guest, costs);
}

Test(small_cli_predict_trace, a_program_without_calibration_has_no_price)
{
	make_trace(NULL, 5, N * STEP);
	refused(3, "calibration", "predict '%s' --on '%s'", made.path, guest);
}

/* Twice as long without the recorder as the simulation has it. */
Test(small_cli_predict_trace, nor_has_one_that_fails_its_self_check)
{
	make_trace(MADE_CALIBRATION, 5, 2 * N * STEP);
	refused(2, "self-check", "predict '%s' --on '%s'", made.path, guest);
	/* sessions, which take seconds, are not read before */
	refused(2, "self-check", "predict '%s' --on '%s/none' --sync spin", made.path, dir);
}

Test(small_cli_predict_trace, another_program_is_not_compared)
{
	const char *said;
	char other[64];

	make_trace(MADE_CALIBRATION, 5, N * STEP);
	snprintf(other, sizeof(other), "%s/other.trace", dir);
	shell(NULL, "sed 's/\"x\"/\"y\"/' '%s' >'%s'", made.path, other);
	refused(5, "./app y", "predict '%s' --on '%s' --measured '%s'", made.path, guest, other);
	shell(NULL, "sed -i -e 's/\"y\"/\"x\"/' -e 's#\"./app\"#\"/opt/app\"#' '%s'", other);
	cr_expect(zero(int, run_rift(OUT, &said, "predict '%s' --on '%s' --measured '%s'",
				     made.path, guest, other)),
		  "in another folder");
	shell(NULL, "sed -i 's/\"program\":[^]]*],/\"program\":[],/' '%s'", other);
	refused(5, "is anonymous", "predict '%s' --on '%s' --measured '%s'", other, guest, other);
	refused(5, "is anonymous", "predict '%s' --on '%s' --measured '%s'", made.path, guest,
		other);
}
