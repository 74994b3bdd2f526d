/*
 * test_share_across.c - harness/share/across.h: two records that are made up. One is of clients of
 * one workload, A, the other of A beside B.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/share/across.h"
#include "harness/share/promises.h"

#include "harness/base/json.h"
#include "tests/chart_files.h"
#include "tests/made_share.h"
#include "tests/golden.h"

#include <errno.h>

TestSuite(small_share_across, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 60);

enum { WINDOWS = 6, A = 0, B = 1, ONE_KIND = 0, TWO_KINDS = 1, RECORDS };

static struct across across;

/* Steps a second, of A and B: alone; in processes, beside the same and each other; in streams. */
static const double alone[] = { 1000, 500 }, same[] = { 500, 500 }, beside[] = { 400, 250 },
		    in_streams[] = { 800, 125 };

static const double *rates(int record, const struct share_set *set)
{
	if (set->n == 1)
		return &alone[set->first];
	if (record == ONE_KIND)
		return same;
	return set->arm == ARM_PROCESSES ? beside : in_streams;
}

static void measure_with(unsigned *vary)
{
	static char launch[] = "launch", longer[] = "us=5";
	static char *words[][2] = { { launch, NULL }, { launch, longer } };

	across = (struct across){
		.records = RECORDS, .workloads = 2, .paired = 2, .pair = { A, B }
	};
	for (int r = 0; r < RECORDS; r++) {
		struct share *s = &across.record[r];

		made_share_begin_of(s, 2, words, r + 1, 2, WINDOWS / 2);
		for (int m = 0; m < s->sets; m++) {
			for (int k = 0; k < WINDOWS; k++) {
				const double *rate = rates(r, &s->set[m].set);
				double varied[2];

				for (int i = 0; vary && i < s->set[m].set.n; i++)
					varied[i] = made_share_vary(rate[i], vary);
				made_share_window(s, &s->set[m].set, k, vary ? varied : rate);
			}
			made_share_check(s, &s->set[m].set, true);
		}
		share_findings_init(&across.found[r], s);
	}
	for (int i = 0; i < 2; i++)
		across.workload[i] = share_workload_text(&across.record[TWO_KINDS].plan.mix[i]);
}

static void measure(void)
{
	measure_with(NULL);
}

static double slowdown(enum share_arm arm, int of, int beside_whom)
{
	struct across_client c = { .slowdown.value = NAN };

	return across_beside(&across, arm, of, beside_whom, &c) ? c.slowdown.value : NAN;
}

static void says(const char *what)
{
	static char text[32768];
	FILE *out = fmemopen(text, sizeof(text), "w");

	across_print(&across, out);
	fclose(out);
	golden_said(text);
	cr_expect(tells(text, what), "'%s' in\n%s", what, text);
}

Test(small_share_across, who_is_beside_whom)
{
	measure();
	cr_expect(epsilon_eq(dbl, slowdown(ARM_PROCESSES, A, A), 2, 1e-9), "A beside A");
	cr_expect(epsilon_eq(dbl, slowdown(ARM_PROCESSES, A, B), 2.5, 1e-9), "A beside B");
	cr_expect(epsilon_eq(dbl, slowdown(ARM_PROCESSES, B, A), 2, 1e-9), "B beside A");
	cr_expect(isnan(slowdown(ARM_PROCESSES, B, B)), "not measured");
	cr_expect(epsilon_eq(dbl, slowdown(ARM_STREAMS, A, B), 1.25, 1e-9), "A beside B");
	cr_expect(epsilon_eq(dbl, slowdown(ARM_STREAMS, B, A), 4, 1e-9), "B beside A");
	cr_expect(isnan(slowdown(ARM_MPS, A, B)), "not measured");
	cr_expect(across_has(&across, ARM_PROCESSES), "a pair");
	cr_expect(across_has(&across, ARM_STREAMS), "a pair");
	cr_expect(not(across_has(&across, ARM_MPS)), "none");
	/* a client under a layer is another client */
	across.record[TWO_KINDS].plan.layer_of[0] = "shim";
	cr_expect(isnan(slowdown(ARM_PROCESSES, A, B)), "under a layer");
	cr_expect(not(across_has(&across, ARM_PROCESSES)), "none of two workloads");
	across_release(&across);
}

Test(small_share_across, whose_steps_are_the_shortest)
{
	measure();
	cr_expect(eq(int, across_shortest(&across), A), "A");
	cr_expect(epsilon_eq(dbl, across_alone(&across, A)[SHARE_P50], 1.010e9 / 1000, 1e-6), "A");
	cr_expect(epsilon_eq(dbl, across_alone(&across, B)[SHARE_P50], 1.010e9 / 500, 1e-6), "B");
	across.pair[0] = B;
	across.paired = 1;
	cr_expect(eq(int, across_shortest(&across), B), "of those that are paired");
	across.paired = 0;
	cr_expect(eq(int, across_shortest(&across), -1), "none is");
	across_release(&across);
}

Test(small_share_across, which_records_are_curves)
{
	measure();
	cr_expect(across_grows(&across, ONE_KIND), "one workload");
	cr_expect(not(across_grows(&across, TWO_KINDS)), "two");
	across.record[ONE_KIND].plan.fault = FAULT_KILL;
	cr_expect(not(across_grows(&across, ONE_KIND)), "harm was done");
	across.record[ONE_KIND].plan.fault = FAULT_NONE;
	across.record[ONE_KIND].plan.layer_of[1] = "shim";
	cr_expect(not(across_grows(&across, ONE_KIND)), "a layer of its own");
	across_release(&across);
}

Test(small_share_across, tables)
{
	measure();
	says("2 records: ");
	says("\nlaunch *processes *1 *1.00 *1.00-1.00 *+0.0 % *- *0.50 *0.25 *\n");
	says("\nlaunch *processes *2 *2.00 *2.00-2.00 *+0.0 % *- *0.50 *0.25 *fair\n");
	says("\nlaunch *streams *2 *2.00 *2.00-2.00 *+0.0 % *- *0.50 *0.25 *fair *1.00 x "
	     "processes: "
	     "same\n");
	says("\nprocesses, two clients*\nthis one, beside: *launch *launch us=5\n"
	     "launch *2.00 2.00-2.00 *2.50 2.50-2.50\nlaunch us=5 *2.00 2.00-2.00 *-\n");
	says("\nstreams, two clients*\nlaunch *2.00 2.00-2.00 *1.25 1.25-1.25\n"
	     "launch us=5 *4.00 4.00-4.00 *-\n");
	says("\nprocesses: a step of launch\n*(alone) *1.01 ms *1.02 ms *1.02 ms\n"
	     "launch *2.02 ms *2.04 ms *2.04 ms\nlaunch us=5 *2.52 ms *2.55 ms *2.55 ms\n");
	across_release(&across);
}

/* 25 characters and a blank, whatever the workload is called. */
Test(small_share_across, long_names_are_cut_to_their_column)
{
	static char launch[] = "launch", held[] = "hold_device=123456789012";
	static char *words[][2] = { { launch, held } };
	struct share *s = &across.record[ONE_KIND];

	across = (struct across){ .records = 1, .workloads = 1 };
	made_share_begin_of(s, 2, words, 1, 2, WINDOWS / 2);
	for (int m = 0; m < s->sets; m++) {
		for (int k = 0; k < WINDOWS; k++)
			made_share_window(s, &s->set[m].set, k, same);
		made_share_check(s, &s->set[m].set, true);
	}
	share_findings_init(&across.found[ONE_KIND], s);
	across.workload[0] = share_workload_text(&s->plan.mix[0]);
	says("\nlaunch hold_device=123456 processes ");
	across_release(&across);
}

/* Lost before wrong before slower; of these the slowest. */
static void harm(const char *first_lost, bool passed, double during, const char *want)
{
	struct share_measured *m = &across.record[ONE_KIND].set[1];

	json_decref(m->fault);
	m->fault =
		json_pack("{s:s, s:[{s:s}, {s:s, s:b, s:f, s:f, s:f}, {s:s, s:b, s:f, s:f, s:f}]}",
			  "newcomer", "comes", "clients", "lost", "killed", "lost", first_lost,
			  "passed", passed, "before", 100.0, "during", during, "after", 100.0,
			  "lost", "", "passed", 1, "before", 100.0, "during", 50.0, "after", 100.0);
	cr_assert(ne(ptr, m->fault, NULL), "JSON");
	says(want);
}

/* What became of the last neighbour: steps a second meanwhile, of 100 before. */
static void is_wrong_and_slower(double during)
{
	json_t *last =
		json_array_get(json_object_get(across.record[ONE_KIND].set[1].fault, "clients"), 2);

	json_object_set_new(last, "passed", json_false());
	json_object_set_new(last, "during", json_real(during));
}

Test(small_share_across, harm_that_hurts_most)
{
	measure();
	across.record[ONE_KIND].plan.fault = FAULT_KILL;
	harm("", true, 25, "\nkill *2  slower meanwhile (4.00 x) *a new client: comes\n");
	harm("", true, 80, "  slower meanwhile (2.00 x) ");
	harm("", false, 80, "  wrong results ");
	harm("ended", true, 80, "  lost ");
	is_wrong_and_slower(1);
	says("  lost ");
	across_release(&across);
}

Test(small_share_across, sets_that_are_missing)
{
	struct share *s = &across.record[ONE_KIND];

	measure();
	snprintf(s->set[1].not_run, sizeof(s->set[1].not_run), "for a reason");
	says("\nlaunch *2  not run: for a reason\n");
	snprintf(s->set[0].not_run, sizeof(s->set[0].not_run), "for another");
	says("\nlaunch *1  not run: for another\n");
	across_release(&across);
}

Test(small_share_across, for_machines)
{
	json_t *o;
	const json_t *pairs, *pair;

	measure();
	o = across_json(&across);
	golden_said_json(o);
	pairs = json_object_get(o, "pairs");
	cr_assert(eq(sz, json_array_size(pairs), 6), "three of each arm");
	pair = json_array_get(pairs, 1);
	cr_expect(eq(str, (char *)json_get_text(pair, "arm"), "processes"), "arm");
	cr_expect(eq(str, (char *)json_get_text(pair, "workload"), "launch"), "A");
	cr_expect(eq(str, (char *)json_get_text(pair, "beside"), "launch us=5"), "B");
	cr_expect(epsilon_eq(dbl, json_get_number(json_object_get(pair, "slowdown"), "value"), 2.5,
			     1e-9),
		  "slowdown");
	cr_expect(epsilon_eq(dbl, json_get_number(pair, "p50_ns"), 1.010e9 / 400, 1e-3), "p50");
	cr_expect(epsilon_eq(dbl, json_get_number(pair, "p95_ns"), 1.019e9 / 400, 1e-3), "p95");
	cr_expect(epsilon_eq(dbl, json_get_number(pair, "p99_ns"), 1.021e9 / 400, 1e-3), "p99");
	cr_expect(eq(sz, json_array_size(json_object_get(o, "records")), 2), "records");
	cr_expect(eq(dbl, json_get_number(o, "exit_code"), 0), "all is well");
	json_decref(o);
	across_release(&across);
}

/* Clients whose steps vary; and how they wait, where all wait alike and where they do not. */
Test(small_share_across, in_full)
{
	static struct picture picture[ACROSS_CHARTS];
	unsigned state = 1;
	json_t *o;
	int n;

	measure_with(&state);
	for (int alike = 1; alike >= 0; alike--) {
		across.record[ONE_KIND].plan.sync = "block";
		across.record[TWO_KINDS].plan.sync = alike ? "block" : "spin";
		for (int i = 0; i < 2; i++)
			across.workload[i] = share_client_text(&across.record[TWO_KINDS].plan, i);
		says("");
		o = across_json(&across);
		json_object_del(o, "version");
		golden_said_json(o);
		json_decref(o);
		cr_assert(zero(int, across_charts_write(picture, &n, &across, chart_folder)));
		chart_folder_said("");
		across_charts_release(picture);
	}
	across.record[ONE_KIND].plan.sync = across.record[TWO_KINDS].plan.sync = NULL;
	across_release(&across);
}

/* A failed check is the worst of all, wherever it is. */
Test(small_share_across, the_worst_exit_code)
{
	measure();
	cr_expect(zero(int, across_exit_code(&across)), "all is well");
	json_array_set_new(json_object_get(across.record[TWO_KINDS].set[0].checked, "passed"), 0,
			   json_false());
	cr_expect(eq(int, across_exit_code(&across), 1), "a check failed");
	across.record[ONE_KIND].set[0].lost = true;
	cr_expect(eq(int, across_exit_code(&across), 1), "whatever is before it");
	json_array_set_new(json_object_get(across.record[TWO_KINDS].set[0].checked, "passed"), 0,
			   json_true());
	cr_expect(eq(int, across_exit_code(&across), 2), "a client was lost");
	across.record[ONE_KIND].set[0].lost = false;
	across.record[TWO_KINDS].set[0].lost = true;
	cr_expect(eq(int, across_exit_code(&across), 2), "in either record");
	across_release(&across);
}

/* ---- records that are read ------------------------------------------------------------------ */

enum { NAME = 64 };

/* A record of that device, of so many workloads of their own, of which nothing could run. */
static void write_record(const char *name, const char *device, int mixes, bool has_promise)
{
	static int us = 1;
	char path[128], text[SHARE_MIX_MAX][16];
	static char launch[] = "launch";
	char *words[SHARE_MIX_MAX][2];
	struct share s;

	for (int i = 0; i < mixes; i++) {
		snprintf(text[i], sizeof(text[i]), "us=%d", us++);
		words[i][0] = launch, words[i][1] = text[i];
	}
	made_share_begin_of(&s, 2, words, mixes, 2, 3);
	if (has_promise) {
		s.plan.arm[ARM_PROCESSES] = s.plan.arm[ARM_STREAMS] = false;
		s.plan.arm[ARM_LIMITED] = true;
		s.plan.allow = (struct share_allow){ .compute = 0.3 };
		s.plan.starts = 3;
	}
	for (int m = 0; m < s.sets; m++) /* share_create() makes them of the plan as it is now */
		free(s.set[m].window);
	free(s.set);
	snprintf(path, sizeof(path), "%s/%s", chart_folder, name);
	cr_assert(zero(int, share_create(&s, path)), "%s", path);
	cr_assert(zero(int, share_add(&s, json_pack("{s:s, s:s, s:b}", "record", "platform",
						    "device", device, "is_gpu", 1))));
	for (int m = 0; m < s.sets; m++) {
		json_t *o = share_line("not_run", &s.set[m].set);

		json_object_update_new(o, json_pack("{s:s, s:b}", "why", "a reason", "lost", 0));
		cr_assert(zero(int, share_add(&s, o)));
	}
	cr_assert(zero(int, share_end(&s)));
	share_release(&s);
}

/* What is said of these records, one word each, and what it comes to. */
static void are_read(bool as_promises, const char *names, int repeats, int err, const char *want)
{
	static struct promises promises;
	char copy[NAME], *rest = copy, *word, *paths[100];
	const char *said;
	int n = 0, got;

	snprintf(copy, sizeof(copy), "%s", names);
	while ((word = strsep(&rest, " ")))
		for (int i = 0; i < repeats; i++) {
			paths[n] = malloc(128);
			snprintf(paths[n++], 128, "%s/%s", chart_folder, word);
		}
	divert_stderr();
	got = as_promises ? promises_read(&promises, paths, n) : across_read(&across, paths, n);
	said = diverted_stderr();
	cr_expect(eq(int, got, err), "%s: %s", names, said);
	cr_expect(err ? is_one_complaint(said) && tells(said, want) : !*said, "%s: %s", names,
		  said);
	if (!err)
		cr_expect(eq(int, as_promises ? promises.records : across.records, n));
	if (as_promises)
		promises_release(&promises);
	else
		across_release(&across);
	for (int i = 0; i < n; i++)
		free(paths[i]);
}

Test(small_share_across, which_records_are_read_together)
{
	write_record("a", "one GPU", 1, false);
	write_record("b", "one GPU", 1, false);
	write_record("other", "another GPU", 1, false);
	write_record("limit", "one GPU", 1, true);
	write_record("limits", "one GPU", 1, true);
	write_record("elsewhere", "another GPU", 1, true);
	are_read(false, "a b", 1, 0, "");
	are_read(false, "a b other", 1, -EINVAL,
		 "other: is of another device, another GPU, than the first record, which is of one "
		 "GPU");
	are_read(false, "a b b", 1, -EINVAL, "b and *b are the same record");
	are_read(false, "a limit", 1, -EINVAL, "limit: is of --allow, as the first record is not");
	are_read(false, "a", 64, -EINVAL, "the same record");
	are_read(false, "a", 65, -E2BIG, "--from: more than 64 records");
	are_read(true, "limit limits", 1, 0, "");
	are_read(true, "limit elsewhere", 1, -EINVAL,
		 "elsewhere: is of another device, another GPU, than the first record, which is of "
		 "one GPU");
	are_read(true, "limits limit limit", 1, -EINVAL, "limit and *limit are the same record");
	are_read(true, "limit a", 1, -EINVAL, "a: is not of --allow, as *limit is");
	are_read(true, "limit", 64, -EINVAL, "the same record");
	are_read(true, "limit", 65, -E2BIG, "--from: more than 64 records");
}

/* Eight of each record, 32 in all. */
Test(small_share_across, more_workloads_than_there_is_room_for)
{
	for (int i = 0; i < 5; i++)
		write_record((const char *[]){ "1", "2", "3", "4", "5" }[i], "a GPU", i < 4 ? 8 : 1,
			     false);
	are_read(false, "1 2 3 4", 1, 0, "");
	are_read(false, "1 2 3 4 5", 1, -E2BIG, "--from: more than 32 workloads");
}

/* ---- charts --------------------------------------------------------------------------------- */

static void are_cells(const char *name, int n, const double (*want)[5])
{
	const struct table *t = table_read(name);

	cr_assert(eq(int, t->rows, n), "%s: %d rows", name, t->rows);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 5; k++)
			cr_expect(epsilon_eq(dbl, t->v[i][k], want[i][k], 1e-6),
				  "%s: row %d, column %d: %g", name, i, k, t->v[i][k]);
}

static void title_is(const char *name, const char *want)
{
	cr_expect(eq(str, (char *)script_value(name, "title"), (char *)want), "%s", name);
}

Test(small_share_across, charts)
{
	static const double growth[][5] = { { 1, 1, 1, 1, 1 }, { 1, 2, 2, 2, 2 } };
	static const double processes[][5] = { { A, A, 2, 2, 2 },
					       { B, A, 2.5, 2.5, 2.5 },
					       { A, B, 2, 2, 2 } };
	static const double streams[][5] = { { A, A, 2, 2, 2 },
					     { B, A, 1.25, 1.25, 1.25 },
					     { A, B, 4, 4, 4 } };
	static struct picture picture[ACROSS_CHARTS];
	const struct table *t;
	int n;

	measure();
	cr_assert(zero(int, across_charts_write(picture, &n, &across, chart_folder)), "charts");
	cr_assert(eq(int, n, 6), "%d: of each arm a curve, a matrix and steps", n);
	are_cells("share-growth-processes-points.csv", 2, growth);
	are_cells("share-growth-streams-points.csv", 2, growth);
	are_cells("share-matrix-processes-cells.csv", 3, processes);
	are_cells("share-matrix-streams-cells.csv", 3, streams);
	cr_expect(eq(str, (char *)script_value("share-growth-processes", "series"), "1"), "series");
	title_is("share-growth-processes",
		 "processes: with 2 clients, launch takes 2.0 times as long");
	title_is("share-matrix-streams",
		 "streams: beside launch, launch us=5 takes 4.0 times as long");
	title_is("share-beside-processes",
		 "launch, processes: a step takes 1.0 ms alone, 2.5 ms beside launch us=5");
	cr_expect(eq(str, (char *)script_value("share-growth-processes", "most_clients"), "2"),
		  "clients");
	cr_expect(eq(str, (char *)script_value("share-growth-processes", "most"), "2.0"), "most");
	cr_expect(eq(str, (char *)script_value("share-matrix-streams", "workloads"), "2"), "rows");
	cr_expect(eq(str, (char *)script_value("share-matrix-streams", "name1"), "launch"), "A");
	cr_expect(eq(str, (char *)script_value("share-matrix-streams", "name2"), "launch us=5"),
		  "B");
	t = table_read("share-beside-processes-points.csv");
	cr_assert(eq(int, t->rows, 3 * SHARE_QUANTILES), "alone, beside A, beside B: %d", t->rows);
	for (int i = 0; i < t->rows; i++) {
		static const double rate[] = { 1000, 500, 400 };
		int series = i / SHARE_QUANTILES, q = i % SHARE_QUANTILES;

		cr_expect(eq(dbl, t->v[i][0], series + 1), "%d", i);
		cr_expect(epsilon_eq(dbl, t->v[i][1], (1e6 + 1e3 * q) / rate[series], 1e-2), "%d",
			  i);
		cr_expect(epsilon_eq(dbl, t->v[i][2], share_quantile[q], 1e-6), "%d", i);
	}
	across_charts_release(picture);
	across_release(&across);
}
