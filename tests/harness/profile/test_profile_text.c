/*
 * test_profile_text.c - what is said of an analysed trace, and of its price on another platform:
 * profiles and prices here are filled in by hand, each figure another one.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/profile/profile.h"
#include "harness/profile/program_price.h"

#include <signal.h>

#include "harness/base/json.h"
#include "tests/made_fit.h"
#include "tests/golden.h"

TestSuite(small_profile_text, .timeout = 60);

static struct profile profile;
static struct range range[12];
static struct made on_b, on_a;
static struct price_sources sources;
static struct program_price price;
static struct remedy remedy[REMEDIES];
static struct program_report report;

/* 40 ms, of which kernels 20, copies 10 (4 of them pageable), gaps 2, sync 5, host 2, outside 1. */
static void fill(void)
{
	static char *strings[] = { "step" };
	static char program[] = "./app x", path[] = "a.trace";

	profile = (struct profile){
		.trace = { .path = path,
			   .program = program,
			   .device_times = true,
			   .finished = true,
			   .calls = 70,
			   .ops = 40,
			   .threads = 1,
			   .streams = 2,
			   .string = strings,
			   .strings = 1,
			   .exit_status = TRACE_NONE,
			   .dropped = 3,
			   .header = json_pack("{s:s}", "recorder", "cpu-device") },
		.steps = { .graph_factor = 1 },
		.shares = { .total_ns = 40e6,
			    .kernels = 30,
			    .launches = 31,
			    .syncs = 1,
			    .copies = 1,
			    .kernel_median_ns = 5000,
			    .kernels_per_sync = 30,
			    .overlapped_ns = 6e6,
			    .pageable_ns = 4e6,
			    .copied_ns = 10e6 },
		.retimed = true,
		.predicted = { 40e6, 38e6, 42e6, 9, true },
		.measured = { 39e6, 37e6, 41e6, 7, true },
		.recorded_ns = 50e6,
		.has_kind = true,
		.kind = KIND_GPU,
		.rules = KIND_DEFAULTS,
		.cost_ns = { 4e6, 2e6, 1e6, 0.4e6 },
	};
	profile.shares.ns[SHARE_KERNELS] = 20e6;
	profile.shares.ns[SHARE_COPIES] = 10e6;
	profile.shares.ns[SHARE_GAPS] = 2e6;
	profile.shares.ns[SHARE_SYNC] = 5e6;
	profile.shares.ns[SHARE_HOST] = 2e6;
	profile.shares.ns[SHARE_OUTSIDE] = 1e6;
}

static const char *said(void)
{
	static char text[16384];
	FILE *out = fmemopen(text, sizeof(text), "w");

	profile_print(&profile, out);
	fclose(out);
	golden_said(text);
	return text;
}

static void says(const char *what)
{
	cr_expect(tells(said(), what), "'%s' in\n%s", what, said());
}

static void is_silent(const char *of)
{
	cr_expect(not(tells(said(), of)), "'%s' in\n%s", of, said());
}

static void end(void)
{
	json_decref(profile.trace.header);
}

/* Does the text begin to say each doubt that there is, and no other? Rows are wrapped. */
static void are_doubts(const char *text, unsigned doubts)
{
	for (int i = 0; i < DOUBTS; i++) {
		char begins[40];

		snprintf(begins, sizeof(begins), "%s", doubt_texts[i]);
		cr_expect(eq(int, tells(text, begins), (doubts >> i) & 1), "%s", begins);
	}
}

/* ---- a profile ------------------------------------------------------------------------------ */

Test(small_profile_text, what_was_recorded)
{
	fill();
	says("program *./app x\n");
	says("recorded *by cpu-device: 70 calls, 40 operations, 1 thread, 2 streams\n");
	says("30 kernels, median 5.00 us; 31 launches, 1 wait, 1 copy\n");
	says("overlap *15.0 % of the time*\n");
	is_silent("inferred");
	is_silent("exited");
	profile.trace.threads = 2;
	profile.trace.streams = 1;
	profile.trace.finished = false;
	profile.shares.launches = 1;
	profile.shares.syncs = 2;
	profile.shares.copies = 3;
	profile.shares.overlapped_ns = 0;
	profile.steps.inferred = 1;
	profile.trace.exit_status = 3 << 8;
	says("2 threads, 1 stream; no end\n");
	says("1 launch, 2 waits, 3 copies\n");
	says("threads *1 wait of one thread for another");
	says("it exited with 3\n");
	is_silent("overlap");
	profile.trace.exit_status = SIGSEGV;
	says("it ended by signal 11 (");
	profile.trace.device_times = false;
	says("1 launch, 2 waits, 3 copies; kernels*not known");
	end();
}

Test(small_profile_text, what_kind_it_is)
{
	fill();
	says("bottleneck *GPU-bound\n");
	is_silent("between its first call and its last");
	profile.shares.ns[SHARE_OUTSIDE] = 2e6; /* a twentieth of all is told */
	says("of the 38.0 ms between its first call and its last\n");
	profile.kind = KIND_MIXED;
	says("bottleneck *mixed: kernels and copies\n");
	profile.has_kind = false;
	profile.trust = TRUST_REFUSED;
	says("bottleneck *unknown: the self-check refused*\n");
	profile.trust = TRUST_LOW;
	says("bottleneck *unknown: *not in the trace\n");
	is_silent("may be");
	end();
}

/* A bar of 30 is all of it. */
/* The first line: the kind, and where the whole time goes. The largest of the example are kernels.
 */
Test(small_profile_text, the_first_line_says_where_the_whole_time_goes)
{
	fill();
	profile.kind = KIND_TRANSFER;
	says("transfer-bound: of 40.0 ms, 50.0 % are kernels, 25.0 % copies, 12.5 % waits\n");
	says("advice            pinned memory");
	says("                  saves 10.0 ms at most, 25.0 % of the whole\n");
	end();
	fill();
	profile.kind = KIND_MIXED;
	says("Mixed: of 40.0 ms, 50.0 % are kernels");
	says("                  saves 20.0 ms at most, 50.0 % of the whole\n");
	end();
	fill();
	profile.has_kind = false;
	is_silent("% are kernels");
	end();
}

/* 5 % of the whole are enough to be told what could be saved, and a little less is not. */
Test(small_profile_text, advice_is_for_what_could_save_something)
{
	fill();
	profile.kind = KIND_GAP;
	profile.shares.ns[SHARE_GAPS] = 2.01e6;
	says("gap-bound: of 40.0 ms");
	says("saves 2.01 ms at most, 5.0 % of the whole\n");
	end();
	fill();
	profile.kind = KIND_GAP;
	profile.shares.ns[SHARE_GAPS] = 1.99e6;
	profile.shares.ns[SHARE_OUTSIDE] = 30e6;
	profile.shares.ns[SHARE_KERNELS] = 0.5e6;
	says("Hardly any of it is CUDA: of 40.0 ms, 75.0 % are before its first call and after its "
	     "last, 25.0 % copies, 12.5 % waits\n");
	says("advice            look before its first call and after its last; between them less");
	says("--range NAME profiles an NVTX range of it\n");
	is_silent("a layer touches");
	end();
}

Test(small_profile_text, shares_have_bars)
{
	fill();
	says("shares of 40.0 ms, re-timed without the recorder\n");
	says("\n  kernels *50.0 % *20.0 ms  ###############   ");
	says("\n  copies *25.0 % *10.0 ms  ########    ");
	says("\n  gaps *5.0 % *2.00 ms  ##    ");
	says("\n  outside *2.5 % *1.00 ms  #   ");
	says("\n  memory *0.0 % *0 ns   ");
	says("of the copies 40 % are of pageable memory\n");
	profile.shares.copied_ns = 0;
	is_silent("pageable");
	profile.retimed = false;
	says("shares of 40.0 ms, as recorded\n");
	end();
}

Test(small_profile_text, what_a_microsecond_costs)
{
	fill();
	for (int i = 0; i < PROFILE_COSTS; i++) {
		static const char *const per_cent[] = { "10.00", "5.00", "2.50", "1.00" };
		char want[128];

		snprintf(want, sizeof(want), "\n  %s *%s %%\n", profile_cost_texts[i], per_cent[i]);
		says(want);
	}
	profile.retimed = false;
	is_silent("1 us more for");
	end();
}

Test(small_profile_text, what_it_is_held_against)
{
	fill();
	says("with recorder *50.0 ms\n");
	says("re-timed *40.0 ms (38.0 ms to 42.0 ms)\n");
	says("without, n = 7 *39.0 ms (37.0 ms to 41.0 ms)\n");
	is_silent("recordings");
	is_silent("host times");
	is_silent("graphs take");
	is_silent("--host-runs");
	profile.trace.recordings = 2;
	profile.trace.host_runs = 1;
	profile.host_gaps = 65;
	profile.steps.graph_factor = 0.875;
	profile.measured.n = 0;
	profile.trust = TRUST_REFUSED;
	profile.doubts = DOUBT_WIDE | DOUBT_DROPPED;
	says("the median one of 2 recordings");
	says("host times *of 1 run with calls alone, for 65 of 70 calls\n");
	says("graphs take 0.875 of");
	is_silent("without, n");
	says("more than 5 % apart");
	is_silent("--host-runs");
	are_doubts(said(), profile.doubts);
	profile.trace.recordings = 1;
	profile.trace.host_runs = 0;
	is_silent("the median one of");
	says("--host-runs 2");
	profile.trace.is_cpu = true;
	is_silent("--host-runs");
	profile.predicted.known = false;
	says("re-timed *40.0 ms\n");
	end();
}

/* Ten at most are shown, however many there are; machines get all. */
Test(small_profile_text, ranges_of_a_program)
{
	json_t *o;

	fill();
	is_silent("ranges");
	for (int i = 0; i < 12; i++)
		range[i] = (struct range){ .name = 0,
					   .times = 20 + i,
					   .ns = 3000000,
					   .retimed_ns = i ? 2e6 : NAN,
					   .device_ns = i ? 8e6 : NAN,
					   .busy_ns = i ? 6e6 : NAN,
					   .launches = 40 + i,
					   .waits = 60 + i };
	profile.ranges = (struct ranges){ .list = range, .n = 12 };
	says("\n  step *20 *3.00 ms *- *- *- *40 *60\n");
	says("\n  step *29 *3.00 ms *2.00 ms *8.00 ms *75 % *49 *69\n  2 more\n");
	is_silent("\n  step *30 *3.00 ms");
	o = ranges_json(&profile.ranges, &profile.trace);
	cr_assert(eq(sz, json_array_size(o), 12), "all");
	cr_expect(eq(dbl, json_get_number(json_array_get(o, 11), "times"), 31), "times");
	cr_expect(eq(dbl, json_get_number(json_array_get(o, 11), "ns"), 3e6), "recorded");
	cr_expect(eq(dbl, json_get_number(json_array_get(o, 11), "retimed_ns"), 2e6), "re-timed");
	cr_expect(eq(dbl, json_get_number(json_array_get(o, 11), "device_ns"), 8e6), "device");
	cr_expect(eq(dbl, json_get_number(json_array_get(o, 11), "busy_ns"), 6e6), "busy");
	cr_expect(eq(int, json_is_null(json_object_get(json_array_get(o, 0), "device_ns")), 1),
		  "nothing");
	cr_expect(eq(dbl, json_get_number(json_array_get(o, 11), "launches"), 51), "launches");
	cr_expect(eq(dbl, json_get_number(json_array_get(o, 11), "waits"), 71), "waits");
	json_decref(o);
	profile.ranges.n = RANGES_SHOWN;
	is_silent(" more\n");
	end();
}

static double member(const json_t *o, const char *part, const char *name)
{
	return json_get_number(part ? json_object_get(o, part) : o, name);
}

Test(small_profile_text, a_profile_for_machines)
{
	json_t *o;
	const json_t *shares;

	fill();
	o = profile_json(&profile);
	golden_said_json(o);
	cr_expect(eq(dbl, member(o, "work", "calls"), 70), "calls");
	cr_expect(eq(dbl, member(o, "work", "operations"), 40), "operations");
	cr_expect(eq(dbl, member(o, "work", "kernels"), 30), "kernels");
	cr_expect(eq(dbl, member(o, "work", "launches"), 31), "launches");
	cr_expect(eq(dbl, member(o, "work", "dropped"), 3), "dropped");
	cr_expect(eq(dbl, member(o, "work", "kernel_median_ns"), 5000), "median");
	cr_expect(eq(dbl, member(o, "work", "pageable_ns"), 4e6), "pageable");
	cr_expect(eq(dbl, member(o, NULL, "total_ns"), 40e6), "total");
	cr_expect(eq(dbl, member(o, NULL, "recorded_ns"), 50e6), "recorded");
	cr_expect(eq(dbl, member(o, "predicted", "lo_ns"), 38e6), "lo");
	cr_expect(eq(dbl, member(o, "predicted", "hi_ns"), 42e6), "hi");
	cr_expect(eq(dbl, member(o, "without_recorder", "n"), 7), "n");
	shares = json_object_get(o, "shares");
	cr_expect(eq(dbl, member(shares, "kernels", "share"), 0.5), "kernels");
	cr_expect(eq(dbl, member(shares, "sync", "ns"), 5e6), "sync");
	cr_expect(eq(dbl, member(json_object_get(o, "one_us_more"), "launch", "share"), 0.1),
		  "1 us");
	cr_expect(eq(sz, json_array_size(json_object_get(o, "doubts")), 0), "doubts");
	cr_expect(eq(str, (char *)json_get_text(o, "verdict"), "GPU-bound"), "verdict");
	json_decref(o);
	profile.trace.recordings = 2;
	profile.trace.retimed_wall_ns[1] = 7e6;
	profile.trace.host_runs = 2;
	profile.host_gaps = 60;
	profile.doubts = DOUBT_RUNS;
	profile.predicted.known = profile.has_kind = false;
	o = profile_json(&profile);
	golden_said_json(o);
	cr_expect(eq(sz, json_array_size(json_object_get(o, "recordings_ns")), 2), "recordings");
	cr_expect(eq(dbl, json_number_value(json_array_get(json_object_get(o, "recordings_ns"), 1)),
		     7e6),
		  "recordings");
	cr_expect(eq(dbl, member(o, "host_runs", "runs"), 2), "host runs");
	cr_expect(eq(dbl, member(o, "host_runs", "gaps"), 60), "host runs");
	cr_expect(eq(sz, json_array_size(json_object_get(o, "doubts")), 1), "doubts");
	cr_expect(eq(int, json_is_null(json_object_get(o, "verdict")), 1), "verdict");
	cr_expect(
		eq(int, json_is_null(json_object_get(json_object_get(o, "predicted"), "lo_ns")), 1),
		"lo");
	json_decref(o);
	end();
}

/* ---- a price -------------------------------------------------------------------------------- */

/* 1.25 times as long on B: kernels as long, synchronizes 15 ms in place of 5. */
static void fill_price(void)
{
	struct fake_session s = few_processes(0);

	fill();
	made_fit(&on_b, &s);
	made_fit(&on_a, &s);
	sources = (struct price_sources){ .b = &on_b.fit, .a = &on_a.fit };
	price = (struct program_price){
		.profile = &profile,
		.sources = &sources,
		.a_ns = { 40e6, 38e6, 42e6, 7, true },
		.b_ns = { 50e6, 47e6, 53e6, 5, true },
		.shares_b = profile.shares,
		.cost_ns = { 5e6, 2.5e6, 1.25e6, 0.5e6 },
		.copies_ratio = 2.5,
		.copies_share = 0.3,
	};
	price.shares_b.total_ns = 50e6;
	price.shares_b.ns[SHARE_SYNC] = 15e6;
	remedy[0] =
		(struct remedy){ .kind = REMEDY_GRAPHS, .calls = 12, .a_ns = 36e6, .b_ns = 40e6 };
	remedy[1] = (struct remedy){
		.kind = REMEDY_BATCH, .n = 4, .calls = 3, .a_ns = 44e6, .b_ns = NAN
	};
	remedy[2] = (struct remedy){
		.kind = REMEDY_SYNC, .sync = SYNC_BLOCKING, .calls = 9, .a_ns = 40e6, .b_ns = 55e6
	};
	report = (struct program_report){ &price, remedy, 3, 52e6, "b.trace" };
}

static void end_price(void)
{
	made_release(&on_a);
	made_release(&on_b);
	end();
}

static const char *reported(void)
{
	static char text[16384];
	FILE *out = fmemopen(text, sizeof(text), "w");

	program_report_print(&report, out);
	fclose(out);
	golden_said(text);
	return text;
}

static void reports(const char *what)
{
	cr_expect(tells(reported(), what), "'%s' in\n%s", what, reported());
}

static void does_not_report(const char *what)
{
	cr_expect(not(tells(reported(), what)), "'%s' in\n%s", what, reported());
}

Test(small_profile_text, times_on_both)
{
	fill_price();
	reports("measured on A *40.0 ms (38.0 ms to 42.0 ms)\n");
	reports("predicted on B *50.0 ms (47.0 ms to 53.0 ms)\n");
	reports("B / A *1.250\n");
	reports("measured on B *52.0 ms, predicted -3.8 %: b.trace\n");
	reports("the trace's own, and what B adds to A, side a of");
	reports("confidence *passed its self-check");
	report.measured_ns = NAN;
	does_not_report("measured on B");
	profile.measured.n = 0;
	reports("re-timed on A *40.0 ms");
	sources.a = NULL;
	reports("B's launches as they are");
	does_not_report("does not have g");
	on_b.fit.param[MODEL_G].identified = false;
	reports("does not have g\n");
	end_price();
}

Test(small_profile_text, why_confidence_is_low)
{
	fill_price();
	profile.trust = TRUST_LOW;
	profile.doubts = DOUBT_RUNS;
	reports("confidence *low\n");
	are_doubts(reported(), profile.doubts);
	does_not_report("order them differently");
	does_not_report("2.5 times");
	does_not_report("30 % of the time");
	price.reordered = price.dear_copies = price.slow_copies = true;
	price.a_device = "one";
	price.b_device = "other";
	reports("order them differently");
	reports("the trace is of one, the costs are of other");
	reports("copies of pageable memory take 2.5 times");
	reports("30 % of the time");
	price.copies_in_turn = true;
	reports("predicted as alternating copies*2.5 times");
	end_price();
}

Test(small_profile_text, shares_of_both)
{
	fill_price();
	reports("\n  kernels *50.0 % *40.0 % *0 ns ");
	reports("\n  sync *12.5 % *30.0 % *10.0 ms ");
	for (int i = 0; i < PROFILE_COSTS; i++) {
		static const char *const per_cent[] = { "10.00", "5.00", "2.50", "1.00" };
		char want[128];

		snprintf(want, sizeof(want), "\n  %s *%s %%\n", profile_cost_texts[i], per_cent[i]);
		reports(want);
	}
	end_price();
}

Test(small_profile_text, remedies_on_both)
{
	fill_price();
	reports("\n  graphs *-10.0 % *-20.0 % *12  ");
	reports("\n  batch=4 *+10.0 % *unknown *3  ");
	reports("\n  sync=blocking *+0.0 % *+10.0 % *9  ");
	report.remedies = 0;
	does_not_report("remedy");
	end_price();
}

Test(small_profile_text, ranges_on_both)
{
	struct range other[12];

	fill_price();
	does_not_report("ranges");
	for (int i = 0; i < 12; i++) {
		range[i] = (struct range){ .name = 0, .times = 20 + i, .retimed_ns = i ? 1e6 : 0 };
		other[i] = (struct range){ .name = 0, .times = 20 + i, .retimed_ns = 1.5e6 };
	}
	price.ranges_a = (struct ranges){ .list = range, .n = 12 };
	price.ranges_b = (struct ranges){ .list = other, .n = 12 };
	reports("\n  step *20 *0 ns *1.50 ms *-\n");
	reports("\n  step *21 *1.00 ms *1.50 ms *1.500\n");
	reports("\n  step *29 *1.00 ms *1.50 ms *1.500\n  2 more\n");
	does_not_report("\n  step *30 ");
	price.ranges_a.n = price.ranges_b.n = RANGES_SHOWN;
	does_not_report(" more\n");
	end_price();
}

Test(small_profile_text, a_price_for_machines)
{
	json_t *o;
	const json_t *r;

	fill_price();
	price.ranges_a = price.ranges_b = (struct ranges){ .list = range, .n = 2 };
	range[1] = (struct range){ .name = 0, .times = 5, .retimed_ns = 3e6 };
	o = program_report_json(&report);
	golden_said_json(o);
	cr_expect(eq(dbl, member(o, "a", "value_ns"), 40e6), "a");
	cr_expect(eq(dbl, member(o, "b", "hi_ns"), 53e6), "b");
	cr_expect(eq(dbl, member(o, NULL, "b_measured_ns"), 52e6), "measured");
	cr_expect(eq(dbl, member(o, NULL, "copies_ratio"), 2.5), "copies");
	cr_expect(eq(dbl, member(json_object_get(o, "shares"), "sync", "b_ns"), 15e6), "sync");
	cr_expect(eq(dbl, member(json_object_get(o, "shares"), "sync", "a_ns"), 5e6), "sync");
	cr_expect(eq(int, json_is_true(json_object_get(o, "beyond_a")), 1), "A's session");
	r = json_object_get(o, "remedies");
	cr_assert(eq(sz, json_array_size(r), 3), "remedies");
	cr_expect(eq(dbl, json_get_number(json_array_get(r, 1), "n"), 4), "n");
	cr_expect(eq(dbl, json_get_number(json_array_get(r, 0), "calls"), 12), "calls");
	cr_expect(eq(str, (char *)json_get_text(json_array_get(r, 2), "sync"), "blocking"), "sync");
	cr_expect(eq(int, json_is_null(json_object_get(json_array_get(r, 0), "sync")), 1), "none");
	r = json_object_get(o, "ranges");
	cr_assert(eq(sz, json_array_size(r), 2), "ranges");
	cr_expect(eq(dbl, json_get_number(json_array_get(r, 1), "times"), 5), "times");
	cr_expect(eq(dbl, json_get_number(json_array_get(r, 1), "b_ns"), 3e6), "b");
	cr_expect(eq(ptr, json_object_get(o, "other_device"), NULL), "the same device");
	json_decref(o);
	end_price();
}
