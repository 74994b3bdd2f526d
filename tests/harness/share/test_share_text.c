/*
 * test_share_text.c - what is printed, drawn and given to machines of windows that are made up: two
 * clients, of which one does a half of what it does alone, in processes, and two fifths, in
 * streams; the other a quarter, and as much.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/share/share.h"

#include "harness/base/json.h"
#include "harness/share/share_chart.h"
#include "harness/share/share_words.h"
#include "harness/share/window.h"
#include "tests/chart_files.h"
#include "tests/made_share.h"
#include "tests/golden.h"

TestSuite(small_share_text, .init = chart_folder_make, .fini = chart_folder_remove, .timeout = 60);

enum { WINDOWS = 6 };

static struct share share;

/* Clients alone do 1000 steps a second. */
static void measure(int mixes)
{
	static const double alone[] = { 1000 }, processes[] = { 500, 250 },
			    streams[] = { 400, 400 };

	made_share_begin(&share, 2, mixes, 2, WINDOWS / 2);
	for (int m = 0; m < share.sets; m++) {
		const struct share_set *set = &share.set[m].set;

		for (int k = 0; k < WINDOWS; k++)
			made_share_window(&share, set, k,
					  set->n == 1		      ? alone
					  : set->arm == ARM_PROCESSES ? processes
								      : streams);
		made_share_check(&share, set, set->n == 1 || set->arm != ARM_STREAMS);
	}
}

static const char *printed(void (*print)(const struct share *s, FILE *out))
{
	static char text[32768];
	FILE *out = fmemopen(text, sizeof(text), "w");

	print(&share, out);
	fclose(out);
	golden_said(text);
	return text;
}

static void shows(void (*print)(const struct share *s, FILE *out), const char *what)
{
	const char *text = printed(print);

	cr_expect(tells(text, what), "'%s' in\n%s", what, text);
}

/* ---- tables --------------------------------------------------------------------------------- */

Test(small_share_text, costs_of_each_set)
{
	measure(1);
	/* what streams compute is wrong, so that they are no best way */
	shows(share_print,
	      "Of 2 clients the one that is slowed most takes 4.00 times as long as alone "
	      "under processes (90.7 % interval 4.00 to 4.00, n = 6 windows)\nlaunch: *depth 1, 6 "
	      "windows of 1 s *, 1 start\n");
	shows(share_print, "\nmethod *n *slowdown *90.7 % *over 1/n *STP");
	shows(share_print, "\nprocesses *1 *1.00 *1.00-1.00 *+0.0 % *1.00 *1.00 *\n");
	shows(share_print, "\nprocesses *2 *2.67 *2.67-2.67 *+33.3 % *0.75 *3.00 *\n");
	shows(share_print, "\nstreams *1 *1.00 *1.00 x processes: same\n");
	shows(share_print, "\nstreams *2 *2.50 *2.50-2.50 *+25.0 % *0.80 *2.50 *0.94 x processes: "
			   "faster*check failed\n");
	cr_expect(not(tells(printed(share_print), "check failed*check failed")), "streams' alone");
	share_release(&share);
}

/* One client runs faster than alone; the other is as slow in both ways, within a scatter. */
static void measure_alike(void)
{
	static const double alone[] = { 1000 };

	made_share_begin(&share, 2, 1, 2, WINDOWS / 2);
	for (int m = 0; m < share.sets; m++) {
		const struct share_set *set = &share.set[m].set;

		for (int k = 0; k < WINDOWS; k++) {
			const double beside[] = { 1250, 250 + k % 3 + (set->arm == ARM_STREAMS) };

			made_share_window(&share, set, k, set->n == 1 ? alone : beside);
		}
		made_share_check(&share, set, true);
	}
}

Test(small_share_text, the_best_way_has_an_interval_and_names_its_ties)
{
	measure_alike();
	shows(share_answer_print,
	      "takes 3.97 times as long as alone under streams (90.7 % interval 3.95 to 3.98, n = "
	      "6 windows), the best way of sharing measured (not shown to differ from it: "
	      "processes), and 3.98 times as long as alone under processes (90.7 % interval *, n = "
	      "6 windows), the worst\n");
	shows(share_answer_print, "launch ran faster under processes than alone (0.80 times as "
				  "long, 90.7 % interval 0.80 to 0.80, n = 6 windows): its time "
				  "alone may be off\n");
	share_release(&share);
	measure(1);
	cr_expect(not(tells(printed(share_answer_print), "faster")), "no client was");
	cr_expect(not(tells(printed(share_answer_print), "not shown to differ")));
	share_release(&share);
}

Test(small_share_text, fairness_of_each_set)
{
	measure(1);
	shows(share_print, "\nprocesses *1 *1.00 *1.00 *- *4.00 KiB *0.50 *0.25 *500 us *250 us\n");
	shows(share_print,
	      "\nprocesses *2 *unfair *0.90 *2.00 *- *4.00 KiB *0.50 *0.25 *667 us *333 us\n");
	shows(share_print,
	      "\nstreams *2 *fair *1.00 *1.00 *- *4.00 KiB *0.50 *0.25 *625 us *312 us\n");
	cr_expect(not(tells(printed(share_print), "not resolved")),
		  "six windows are enough for two");
	share_release(&share);
}

Test(small_share_text, each_client_has_a_row)
{
	measure(1);
	shows(share_print, "\nprocesses *1 *1 *1.00 k *1.00 *1.01 ms *1.02 ms *1.02 ms\n");
	shows(share_print, "\nprocesses *2 *1 *500 *2.00 *0.75 *2.02 ms *2.04 ms *2.04 ms\n");
	shows(share_print, "\n  *2 *2 *250 *4.00 *1.50 *4.04 ms *4.08 ms *4.08 ms\n");
	shows(share_print, "\nstreams *2 *1 *400 *2.50 *1.00 *2.52 ms *2.55 ms *2.55 ms\n");
	cr_expect(not(tells(printed(share_print), "not *run")), "all were");
	share_release(&share);
}

/* Fewer windows than show it are said to be, with how many would. */
Test(small_share_text, too_few_windows)
{
	static const double apart[] = { 500, 400 }, alone[] = { 1000 };

	made_share_begin(&share, 2, 1, 1, 3);
	for (int m = 0; m < share.sets; m++) {
		for (int k = 0; k < 3; k++)
			made_share_window(&share, &share.set[m].set, k,
					  share.set[m].set.n == 1 ? alone : apart);
		made_share_check(&share, &share.set[m].set, true);
	}
	shows(share_print,
	      "not resolved: 3 windows *one of 2 clients *6 are enough*--repetitions\n");
	share_release(&share);
}

Test(small_share_text, sets_that_were_not_run)
{
	json_t *o;

	made_share_begin(&share, 2, 1, 2, WINDOWS / 2);
	shows(share_print, "\nprocesses *1 *not yet run\n");
	shows(share_print, "\nstreams *2 *not yet run\n");
	snprintf(share.set[0].not_run, sizeof(share.set[0].not_run), "for a reason");
	shows(share_print, "not run: for a reason\n");
	made_share_window(&share, &share.set[2].set, 0, (double[]){ 500 });
	o = share_json(&share);
	json_object_del(o, "version");
	golden_said_json(o);
	json_decref(o);
	share_release(&share);
}

/* Four clients of two workloads whose steps vary, in so many starts; one of them starves in
 * streams, where a check fails, too. */
static void measure_varied(int starts)
{
	static char launch[] = "launch", longer[] = "us=5";
	static char *words[][2] = { { launch, NULL }, { launch, longer } };
	static const double alone[] = { 1000, 300 }, beside[] = { 400, 90, 260, 100 };
	unsigned state = 1;

	made_share_begin_of(&share, 4, words, 2, 2, 5);
	share.plan.starts = starts;
	cr_assert(
		zero(int, share_add(&share, json_pack("{s:s, s:s, s:b}", "record", "platform",
						      "device", "no GPU", "is_gpu", starts > 1))));
	for (int m = 0; m < share.sets; m++) {
		const struct share_set *set = &share.set[m].set;

		for (int k = 0; k < share_plan_windows(&share.plan); k++) {
			double rate[4];

			for (int i = 0; i < set->n; i++)
				rate[i] = made_share_vary(
					set->n == 1 ? alone[set->first] : beside[i], &state);
			if (set->n > 1 && set->arm == ARM_STREAMS)
				rate[3] = 0;
			made_share_window(&share, set, k, rate);
			json_object_set_new(share.set[m].window[k], "processors",
					    json_real(made_share_vary(1, &state)));
			json_object_set_new(share.set[m].window[k], "busy",
					    json_real(made_share_vary(0.7, &state)));
		}
		made_share_check(&share, set, set->n == 1 || set->arm != ARM_STREAMS);
	}
}

Test(small_share_text, clients_that_vary_in_full)
{
	for (int starts = 1; starts <= 5; starts += 4) {
		struct picture picture[SHARE_CHARTS];
		json_t *o;

		measure_varied(starts);
		share.plan.sync = starts > 1 ? "block" : NULL;
		share.plan.layer_of[1] = starts > 1 ? "shim" : NULL;
		printed(share_print);
		o = share_json(&share);
		json_object_del(o, "version");
		golden_said_json(o);
		json_decref(o);
		cr_assert(zero(int, share_charts_write(picture, &share, chart_folder)), "charts");
		chart_folder_said("");
		share_charts_release(picture);
		share.plan.sync = share.plan.layer_of[1] = NULL;
		share_release(&share);
	}
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* Four sets of 2 s to start and 6 windows of 1 s. */
Test(small_share_text, how_long_it_may_take)
{
	json_t *o;

	measure(1);
	shows(share_plan_print, "launch: 4 configurations, 0 *about 32.0 s\n");
	o = share_dry_json(&share);
	golden_said_json(o);
	cr_expect(eq(dbl, json_get_number(o, "predicted_s"), 4 * (2 + 6)), "%g",
		  json_get_number(o, "predicted_s"));
	cr_expect(eq(sz, json_array_size(json_object_get(o, "sets")), 4), "sets");
	json_decref(o);
	share.plan.starts = 3;
	shows(share_plan_print, "about 48.0 s\n");
	/* harm is done in the two sets of two: three windows, and a client that starts */
	share.plan.starts = 1;
	share.plan.fault = FAULT_KILL;
	shows(share_plan_print, "about 42.0 s\n");
	/* with a promise clients idle for a second before each window; 15 s for memory */
	share.plan.fault = FAULT_NONE;
	share.plan.allow = (struct share_allow){ .compute = 0.3, .memory = 1 };
	shows(share_plan_print, "about 71.0 s\n");
	share_release(&share);
}

/* ---- for machines --------------------------------------------------------------------------- */

static double found(const json_t *o, int set, const char *name)
{
	return json_get_number(json_array_get(json_object_get(o, "sets"), (size_t)set), name);
}

Test(small_share_text, one_object_for_machines)
{
	json_t *o;
	const json_t *set, *client;

	measure(1);
	o = share_json(&share);
	golden_said_json(o);
	set = json_array_get(json_object_get(o, "sets"), 1);
	cr_expect(eq(str, (char *)json_get_text(set, "arm"), "processes"), "arm");
	cr_expect(eq(dbl, json_get_number(set, "n"), 2), "n");
	cr_expect(epsilon_eq(dbl, found(o, 1, "overhead"), 1 / 0.75 - 1, 1e-9), "overhead");
	cr_expect(epsilon_eq(dbl, found(o, 1, "stp"), 0.75, 1e-9), "stp");
	cr_expect(epsilon_eq(dbl, found(o, 1, "mean_slowdown"), 3, 1e-9), "turnaround");
	cr_expect(epsilon_eq(dbl, found(o, 1, "jain"), 0.9, 1e-9), "jain");
	cr_expect(epsilon_eq(dbl, found(o, 1, "max_min"), 2, 1e-9), "max/min");
	cr_expect(eq(str, (char *)json_get_text(set, "fairness"), "unfair"), "fairness");
	cr_expect(eq(dbl, found(o, 1, "fairness_needs"), 6), "needs");
	cr_expect(eq(dbl, found(o, 1, "processors"), 0.5), "processors");
	cr_expect(eq(dbl, found(o, 1, "daemons"), 0.25), "daemons");
	cr_expect(epsilon_eq(dbl, found(o, 1, "cpu_step_ns"), 0.5e9 / 750, 1e-3), "CPU");
	cr_expect(epsilon_eq(dbl, found(o, 1, "daemons_step_ns"), 0.25e9 / 750, 1e-3), "daemons");
	cr_expect(eq(dbl, found(o, 1, "memory"), 4096), "memory");
	client = json_array_get(json_object_get(set, "clients"), 1);
	cr_expect(eq(dbl, json_get_number(client, "client"), 2), "number");
	cr_expect(epsilon_eq(dbl, json_get_number(client, "steps_per_s"), 250, 1e-9), "rate");
	cr_expect(epsilon_eq(dbl, json_get_number(client, "slowdown"), 4, 1e-9), "slowdown");
	cr_expect(epsilon_eq(dbl, json_get_number(client, "p50_ns"), 1.010e9 / 250, 1e-3), "p50");
	cr_expect(epsilon_eq(dbl, json_get_number(client, "p95_ns"), 1.019e9 / 250, 1e-3), "p95");
	cr_expect(epsilon_eq(dbl, json_get_number(client, "p99_ns"), 1.021e9 / 250, 1e-3), "p99");
	cr_expect(eq(int, json_is_true(json_object_get(set, "passed")), 1), "passed");
	set = json_array_get(json_object_get(o, "sets"), 3);
	cr_expect(eq(int, json_is_false(json_object_get(set, "passed")), 1), "a check failed");
	cr_expect(eq(str, (char *)json_get_text(set, "base"), "processes"), "base");
	cr_expect(epsilon_eq(dbl, json_get_number(json_object_get(set, "over_base"), "value"),
			     2.5 / (1 / 0.375), 1e-9),
		  "over the base");
	cr_expect(eq(dbl, json_get_number(o, "exit_code"), 1), "a check failed");
	json_decref(o);
	share_release(&share);
}

static json_t *harmed(const char *lost, double during)
{
	return json_pack("{s:s, s:b, s:f, s:f, s:f}", "lost", lost, "passed", 1, "before", 100.0,
			 "during", during, "after", 80.0);
}

/* One that ended, others that were slowed and not; with a new client, and where none was tried. */
Test(small_share_text, harm_to_each_neighbour)
{
	measure_varied(1);
	share.plan.fault = FAULT_CRASH;
	for (int m = 0; m < share.sets; m++)
		if (share.set[m].set.n == 4)
			share.set[m].fault = json_pack(
				"{s:o, s:[o, o, o, o]}", "newcomer",
				share.set[m].set.arm == ARM_STREAMS ? json_null()
								    : json_string("is refused"),
				"clients",
				harmed(share.set[m].set.arm == ARM_STREAMS ? "" : "died", 1),
				harmed("ended with 1", 0), harmed("", 40), harmed("", 100));
	printed(share_print);
	share_release(&share);
}

/* The first client is the one that does it, and the others are its neighbours. */
Test(small_share_text, who_did_it)
{
	measure(1);
	share.plan.fault = FAULT_KILL;
	share.set[1].fault =
		json_pack("{s:s, s:[{s:s}, {s:s, s:b, s:f, s:f, s:f}]}", "newcomer", "started",
			  "clients", "lost", "killed by signal 9", "lost", "was asked to end",
			  "passed", 1, "before", 100.0, "during", 50.0, "after", 100.0);
	shows(share_print, "\n *1  did it: killed by signal 9; a new client: started\n");
	share_release(&share);
}

/* ---- charts --------------------------------------------------------------------------------- */

static void are_points(const char *name, int row, const double *want, int n)
{
	const struct table *t = table_read(name);

	cr_assert(lt(int, row, t->rows), "%s: %d rows", name, t->rows);
	for (int k = 0; k < n; k++)
		cr_expect(epsilon_eq(dbl, t->v[row][k], want[k], 1e-4 * want[k] + 1e-9),
			  "%s: row %d, column %d: %g", name, row, k, t->v[row][k]);
}

/* A series for each arm; steps are the slowest client's in the largest set, in us. */
Test(small_share_text, charts)
{
	struct picture picture[SHARE_CHARTS];
	static const double slowdown[][5] = { { 1, 1, 1, 1, 1 },
					      { 1, 2, 1 / 0.375, 1 / 0.375, 1 / 0.375 },
					      { 2, 1, 1, 1, 1 },
					      { 2, 2, 2.5, 2.5, 2.5 } };

	measure(1);
	cr_assert(zero(int, share_charts_write(picture, &share, chart_folder)), "charts");
	cr_assert(eq(int, table_read("launch-share-points.csv")->rows, 4), "points");
	for (int i = 0; i < 4; i++)
		are_points("launch-share-points.csv", i, slowdown[i], 5);
	cr_assert(eq(int, table_read("launch-share-latency-points.csv")->rows, 2 * SHARE_QUANTILES),
		  "points");
	for (int i = 0; i < SHARE_QUANTILES; i++) {
		const double slower[] = { 1, (1e6 + 1e3 * i) / 250, share_quantile[i], 2 };
		const double level[] = { 2, (1e6 + 1e3 * i) / 400, share_quantile[i], 2 };

		are_points("launch-share-latency-points.csv", i, slower, 4);
		are_points("launch-share-latency-points.csv", SHARE_QUANTILES + i, level, 4);
	}
	cr_expect(eq(str, (char *)script_value("launch-share", "series"), "2"), "series");
	cr_expect(eq(str, (char *)script_value("launch-share", "name1"), "processes"), "name");
	cr_expect(eq(str, (char *)script_value("launch-share", "name2"), "streams"), "name");
	cr_expect(eq(str, (char *)script_value("launch-share", "most_clients"), "2"), "clients");
	cr_expect(epsilon_eq(dbl, strtod(script_value("launch-share", "most"), NULL), 1 / 0.375,
			     1e-9),
		  "the axis");
	script_says("launch-share", "title", "launch: with 2 clients a step takes ");
	script_says("launch-share-latency", "finding", "among 2 or fewer");
	share_charts_release(picture);
	share_release(&share);
}

Test(small_share_text, nothing_to_draw)
{
	struct picture picture[SHARE_CHARTS];

	made_share_begin(&share, 2, 1, 2, WINDOWS / 2);
	divert_stderr();
	cr_expect(lt(int, share_charts_write(picture, &share, chart_folder), 0), "no figures");
	cr_expect(is_one_complaint(diverted_stderr()), "a line");
	share_charts_release(picture);
	share_release(&share);
}

/* ---- words ---------------------------------------------------------------------------------- */

Test(small_share_text, three_digits)
{
	static const struct {
		double value;
		const char *want;
	} rows[] = {
		{ 0.756, "0.76" }, { 9.994, "9.99" }, { 9.996, "10.0" }, { 99.94, "99.9" },
		{ 99.96, "100" },  { NAN, "-" },      { INFINITY, "-" },
	};
	const struct interval known = { 1.5, 1.25, 12.5, 5, true },
			      unknown = { 1.5, 1, 2, 1, false };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_expect(eq(str, share_number(rows[i].value).s, (char *)rows[i].want), "%g",
			  rows[i].value);
	cr_expect(eq(str, share_range(&known).s, "1.25-12.5"), "known");
	cr_expect(eq(str, share_range(&unknown).s, ""), "unknown");
}

/* Steps of the windows before, while and after another client did harm. */
static void is_harm(const char *lost, bool passed, double during, const char *want)
{
	json_t *o = json_pack("{s:s, s:b, s:f, s:f, s:f}", "lost", lost, "passed", passed, "before",
			      110.0, "during", during, "after", 55.0);

	cr_expect(eq(str, (char *)share_harm(o), (char *)want), "%g", during);
	cr_expect(eq(dbl, share_times_as_long(o, "after"), 2), "after");
	json_decref(o);
}

Test(small_share_text, harm)
{
	is_harm("", true, 100, "unharmed"); /* 1.1 times as long is as long as may be */
	is_harm("", true, 99, "slower meanwhile");
	is_harm("", true, 0, "slower meanwhile");
	is_harm("", false, 110, "wrong results");
	is_harm("killed", false, 0, "lost");
}

/* ---- windows -------------------------------------------------------------------------------- */

/* At least four steps of all clients in turn, but ten seconds; and time for all to begin. */
Test(small_share_text, how_long_a_window_is)
{
	static const struct {
		double step_s, seconds, lead_s;
	} rows[] = {
		{ 0.001, 1, 0.03 }, { 0.02, 1, 0.04 }, { 0.25, 2, 0.5 }, { 2, 10, 4 }, { 4, 10, 5 },
	};
	const struct share_set two = { .arm = ARM_PROCESSES, .n = 2 };

	made_share_begin(&share, 2, 1, 2, WINDOWS / 2);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct window w = { 0 };

		share.sizes[0] = json_pack("{s:f}", "step_ns", 1e9 * rows[i].step_s);
		window_for(&w, &share, &two);
		cr_expect(epsilon_eq(dbl, w.seconds, rows[i].seconds, 1e-9), "%g: %g s",
			  rows[i].step_s, w.seconds);
		cr_expect(epsilon_eq(dbl, w.lead_s, rows[i].lead_s, 1e-9), "%g: %g s",
			  rows[i].step_s, w.lead_s);
		json_decref(share.sizes[0]);
	}
	share.sizes[0] = NULL;
	share_release(&share);
}
