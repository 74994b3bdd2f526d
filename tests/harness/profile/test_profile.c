/*
 * test_profile.c - harness/profile: when a re-timed trace is trusted, and what is said of traces
 * that lack something.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "common/philox.h"
#include "harness/profile/profile.h"
#include "harness/profile/recording.h"
#include "harness/stats/stats.h"

#include "tests/made_trace.h"
#include "tests/golden.h"

TestSuite(small_profile, .timeout = 60);

static const struct kind_rules rules = KIND_DEFAULTS;
static struct made made;
static struct profile profile;

enum { N = 10, K = 95000, STEP = MADE_C + MADE_L + K + MADE_WAKE };

static void put_steps(void)
{
	for (long i = 0; i < N; i++) {
		long start = i * STEP + MADE_C + MADE_L;

		made_kernel(&made, 2, i * STEP, start, start + K);
		made_call(&made, "sync_device", i * STEP + MADE_C, (i + 1) * STEP, "");
	}
}

static void analyse(void)
{
	cr_assert(zero(int, profile_make(&profile, made.path, &rules, false)), "%s", made.path);
	made_remove(&made);
}

/* Ten steps of a kernel and a wait, 1.04 ms, and runs without the recorder. */
static void analyse_steps(const char *more, const char *calibration, int runs, long wall_ns)
{
	made_begin(&made, more, calibration);
	put_steps();
	made_end(&made, N * STEP, runs, wall_ns);
	analyse();
}

static void is_trusted(enum trust trust, unsigned doubts)
{
	cr_expect(eq(int, (int)profile.trust, (int)trust), "%s", trust_names[profile.trust]);
	cr_expect(eq(uint, profile.doubts, doubts), "doubts");
	cr_expect(eq(int, profile.has_kind, trust != TRUST_REFUSED), "kind");
	profile_release(&profile);
}

/* Recordings that differ by more make the interval wider. */
Test(small_profile, recordings_widen_the_interval)
{
	made_begin(&made, "", MADE_CALIBRATION);
	put_steps();
	made.runs = ",\"retimed_wall_ns\":[900000,1040000,1300000]";
	made_end(&made, N * STEP, 5, N * STEP);
	analyse();
	cr_expect(eq(dbl, profile.predicted.value, N * STEP), "re-timed");
	cr_expect(eq(dbl, profile.predicted.lo, 900000), "lo");
	cr_expect(eq(dbl, profile.predicted.hi, 1300000), "hi");
	is_trusted(TRUST_LOW, DOUBT_WIDE);
}

Test(small_profile, agrees_with_runs_without_the_recorder)
{
	analyse_steps("", MADE_CALIBRATION, 5, N * STEP);
	cr_expect(eq(dbl, profile.predicted.value, N * STEP), "re-timed");
	cr_expect(eq(dbl, profile.predicted.lo, N * STEP), "prices without spread");
	cr_expect(eq(dbl, profile.measured.value, N * STEP), "measured");
	is_trusted(TRUST_FULL, 0);
}

/* 5 % around what was measured is just reached, and just missed. */
Test(small_profile, refused_beyond_five_per_cent)
{
	analyse_steps("", MADE_CALIBRATION, 5, (long)(N * STEP / 1.049));
	is_trusted(TRUST_FULL, 0);
	analyse_steps("", MADE_CALIBRATION, 5, (long)(N * STEP / 1.051));
	is_trusted(TRUST_REFUSED, 0);
	analyse_steps("", MADE_CALIBRATION, 5, (long)(N * STEP / 0.949));
	is_trusted(TRUST_REFUSED, 0);
}

/* What is printed of it, as of that recorder. */
static const char *printed(bool is_cpu, int host_runs)
{
	static char text[8192];
	FILE *out = fmemopen(text, sizeof(text), "w");

	cr_assert(ne(ptr, (void *)out, NULL));
	profile.trace.is_cpu = is_cpu;
	profile.trace.host_runs = host_runs;
	profile_print(&profile, out);
	fclose(out);
	golden_said(text);
	return text;
}

/* CUPTI's recordings alone: nothing slows the CPU device's. */
Test(small_profile, a_refused_one_tells_of_host_runs)
{
	analyse_steps("", MADE_CALIBRATION, 5, N * STEP / 2);
	cr_expect(tells(printed(false, 0), "--host-runs 2"));
	cr_expect(not(tells(printed(true, 0), "--host-runs")));
	cr_expect(not(tells(printed(false, 2), "--host-runs")));
	profile.trace.host_runs = 0;
	profile_release(&profile);
	analyse_steps("", MADE_CALIBRATION, 5, N * STEP);
	cr_expect(not(tells(printed(false, 0), "--host-runs")));
	profile_release(&profile);
}

Test(small_profile, few_runs_are_no_check)
{
	analyse_steps("", MADE_CALIBRATION, 4, 1);
	is_trusted(TRUST_LOW, DOUBT_RUNS);
	analyse_steps("", MADE_CALIBRATION, 0, 0);
	is_trusted(TRUST_LOW, DOUBT_RUNS);
}

/* c from nothing to 92,000 and Z to 100,000: the time to nearly twice as much. */
Test(small_profile, wide_prices)
{
	static const char wide[] =
		"{\"launch_call_ns\":[0,2000,92000],\"launch_and_wait_ns\":[5000,10000,100000],"
		"\"gap_ns\":[1000,1000,1000],\"recorder\":{\"kernel_ns\":1000}}";

	analyse_steps("", wide, 5, N * STEP);
	cr_expect(lt(dbl, profile.predicted.lo, N * STEP), "%g", profile.predicted.lo);
	cr_expect(lt(dbl, 1.3 * N * STEP, profile.predicted.hi), "%g", profile.predicted.hi);
	is_trusted(TRUST_LOW, DOUBT_WIDE);
}

#define EMPTY(wall, z)                                                                             \
	"{\"wall_ns\":" #wall ",\"own_ns\":1000000,\"launch_call_ns\":2000,"                       \
	"\"launch_and_wait_ns\":" #z ",\"gap_ns\":1000}"

/* The process began 5 ms before its first call. */
static void analyse_beside(const char *empties, int runs, long wall_ns)
{
	made_begin(&made, ",\"process_start_ns\":-5000000", MADE_CALIBRATION);
	made.runs = empties;
	put_steps();
	made_end(&made, N * STEP, runs, wall_ns);
	analyse();
}

/* Processes that do nothing take 3 ms with the recorder, 1 ms of it its own, and 0.5 without. */
Test(small_profile, what_the_recorder_adds_to_a_process_is_taken_off)
{
	analyse_beside(
		",\"empty\":{\"recorded\":[" EMPTY(3000000, 10000) "," EMPTY(
			3000000,
			10000) "," EMPTY(9000000,
					 10000) "],"
						"\"unprofiled_wall_ns\":[500000,500000,100000]}",
		5, 3500000 + N * STEP);
	cr_expect(eq(dbl, profile.predicted.value, 3500000 + N * STEP), "%g",
		  profile.predicted.value);
	cr_expect(eq(dbl, profile.shares.ns[SHARE_OUTSIDE], 3500000), "before the first call");
	is_trusted(TRUST_FULL, 0);
}

#define LATE_STARTS                                                                                \
	",\"empty\":{\"recorded\":[" EMPTY(1000000, 10000) "],\"unprofiled_wall_ns\":[1000000,"    \
							   "1000000,1000000,2000000,2000000]}"

/*
 * One process began when it did, and others would have begun up to 1 ms later. Runs of the program
 * say it by themselves where there are five, and so do five recordings.
 */
Test(small_profile, one_recording_may_have_begun_late)
{
	static const long early = 5000000 + N * STEP;

	analyse_beside(LATE_STARTS, 4, early);
	cr_expect(eq(dbl, profile.predicted.value, early), "%g", profile.predicted.value);
	cr_expect(eq(dbl, profile.predicted.lo, early), "%g", profile.predicted.lo);
	cr_expect(eq(dbl, profile.predicted.hi, early + 1000000), "%g", profile.predicted.hi);
	profile_release(&profile);
	analyse_beside(LATE_STARTS, 5, early);
	cr_expect(eq(dbl, profile.predicted.hi, early), "%g", profile.predicted.hi);
	profile_release(&profile);
	analyse_beside(LATE_STARTS ",\"retimed_wall_ns\":[6000000,6000000,6000000,6000000,6000000]",
		       4, early);
	cr_expect(eq(dbl, profile.predicted.hi, early), "%g", profile.predicted.hi);
	profile_release(&profile);
}

/* ---- programs whose processes differ ------------------------------------------------------ */

/* One recording is one process: its time may be that of any of the runs. */
Test(small_profile, one_recording_differs_as_runs_do)
{
	static const double wall_ns[] = { 0.9e6, 0.95e6, 1.04e6, 1.1e6, 1.2e6 };

	made_begin(&made, "", MADE_CALIBRATION);
	put_steps();
	made.wall_ns = wall_ns;
	made_end(&made, N * STEP, 5, 0);
	analyse();
	cr_expect(epsilon_eq(dbl, profile.predicted.lo, N * STEP - 0.14e6, 1), "lo");
	cr_expect(epsilon_eq(dbl, profile.predicted.hi, N * STEP + 0.16e6, 1), "hi");
	cr_expect(epsilon_eq(dbl, profile.ratio.value, 1, 1e-9), "ratio");
	is_trusted(TRUST_LOW, DOUBT_WIDE);
}

/* Times of processes, 1 in the middle, drawn with that standard deviation. */
static void draw_times(double sd, int group, int number, double *out, int n)
{
	for (int i = 0; i < n; i++)
		out[i] = exp(sd * standard_normal(philox4x32((uint32_t)i, (uint32_t)number,
							     (uint32_t)group, 0, 7)));
}

/* As recording.h has it: one recording and five runs, or more of both where these differ. */
static int recordings_for(const double *run)
{
	double sorted[5];

	memcpy(sorted, run, sizeof(sorted));
	sort_doubles(sorted, 5);
	return sorted[4] - sorted[0] > PROFILE_SELF_MARGIN * sorted[2] ? RECORDING_MORE : 1;
}

/* What becomes of the program the number-th time; re-timed it takes so many times as long. */
static enum trust outcome(double sd, double ratio, int number)
{
	double run[RECORDING_MORE_RUNS], recorded[RECORDING_MORE], sorted[RECORDING_MORE], kept;
	char list[256] = "";
	enum trust trust;
	int n, used = 0;

	draw_times(sd, 0, number, run, RECORDING_MORE_RUNS);
	draw_times(sd, 1, number, recorded, RECORDING_MORE);
	n = recordings_for(run);
	memcpy(sorted, recorded, sizeof(sorted));
	sort_doubles(sorted, n);
	kept = sorted[(n - 1) / 2]; /* which the trace is of: N * STEP */
	for (int i = 0; i < RECORDING_MORE_RUNS; i++)
		run[i] *= N * STEP / kept / ratio;
	for (int i = 0; i < n && n > 1; i++)
		used += snprintf(list + used, sizeof(list) - (size_t)used, "%s%.0f",
				 i ? "," : ",\"retimed_wall_ns\":[", N * STEP / kept * recorded[i]);
	if (n > 1)
		snprintf(list + used, sizeof(list) - (size_t)used, "]");
	made_begin(&made, "", MADE_CALIBRATION);
	put_steps();
	made.runs = list;
	made.wall_ns = run;
	made_end(&made, N * STEP, n > 1 ? RECORDING_MORE_RUNS : 5, 0);
	analyse();
	trust = profile.trust;
	profile_release(&profile);
	return trust;
}

/* Of so many repetitions, how many do not end as most do? */
enum { REPETITIONS = 100 };

static int otherwise(double sd, double ratio)
{
	int n[3] = { 0 };

	for (int k = 0; k < REPETITIONS; k++)
		n[outcome(sd, ratio, k)]++;
	return REPETITIONS - (n[0] > n[1] ? n[0] > n[2] ? n[0] : n[2] : n[1] > n[2] ? n[1] : n[2]);
}

/* Re-timed 4 % too long, and one 30 %: docs/reference/profile.md says how many end otherwise. */
Test(small_profile, repetitions_of_a_program_end_alike)
{
	static const double sd[] = { 0.005, 0.015, 0.035, 0.055, 0.2 };

	for (size_t i = 0; i < sizeof(sd) / sizeof(*sd); i++)
		cr_expect(le(int, otherwise(sd[i], 1.04), 7), "sd %g", sd[i]);
	cr_expect(le(int, otherwise(0.015, 1.3), 7), "30 %% too long");
}

/* Where the interval is about as wide as may be, some are trusted and some are not. */
Test(small_profile, programs_at_the_edge_of_a_rule_do_not)
{
	cr_expect(lt(int, 20, otherwise(0.08, 1)), "sd 0.08");
}

/* Z is the median of five processes, the recorded one's of 10 us among them. */
Test(small_profile, calls_cost_what_they_do_in_other_processes)
{
	analyse_beside(
		",\"empty\":{\"recorded\":[" EMPTY(1000000, 11000) "," EMPTY(
			1000000, 11000) "," EMPTY(1000000,
						  11000) "," EMPTY(1000000,
								   12000) "],\"unprofiled_wall_"
									  "ns\":[1000000]}",
		5, 5000000 + N * (STEP + 1000));
	cr_expect(eq(dbl, profile.predicted.value, 5000000 + N * (STEP + 1000)), "%g",
		  profile.predicted.value);
	cr_expect(eq(dbl, profile.predicted.lo, 5000000 + N * STEP), "%g", profile.predicted.lo);
	cr_expect(eq(dbl, profile.predicted.hi, 5000000 + N * (STEP + 2000)), "%g",
		  profile.predicted.hi);
	is_trusted(TRUST_FULL, 0);
}

/* The same spread, but medians of 1000 launches and 50 waits. */
Test(small_profile, medians_of_many_calls)
{
	static const char spread[] =
		"{\"launch_call_ns\":[0,2000,20000],\"launch_and_wait_ns\":[5000,10000,28000],"
		"\"gap_ns\":[1000,1000,1000],\"n\":1000,\"recorder\":{\"kernel_ns\":1000}}";

	analyse_steps("", spread, 5, N * STEP);
	/* 1.96 * 1.253 / (1.645 * sqrt(50)) of what all waits are off, nearly: launches hardly
	 * count */
	cr_expect(epsilon_eq(dbl, N * STEP - profile.predicted.lo, 9865, 1), "%g",
		  profile.predicted.lo);
	cr_expect(epsilon_eq(dbl, profile.predicted.hi - N * STEP, 39177, 1), "%g",
		  profile.predicted.hi);
	is_trusted(TRUST_FULL, 0);
}

Test(small_profile, without_calibration_shares_are_of_the_raw_trace)
{
	analyse_steps("", NULL, 5, N * STEP);
	cr_expect(eq(int, profile.retimed, 0), "not re-timed");
	cr_expect(eq(dbl, profile.shares.ns[SHARE_KERNELS], N * K), "kernels");
	cr_expect(
		eq(dbl, profile.shares.ns[SHARE_SYNC], N * MADE_WAKE + (N - 1) * (MADE_C + MADE_L)),
		"waits");
	cr_expect(eq(int, isnan(profile.cost_ns[COST_LAUNCH]), 1), "no price to change");
	is_trusted(TRUST_LOW, DOUBT_CALIBRATION);
}

/* Only from 1,000,000 to its last call, whatever the process took. */
Test(small_profile, a_part_of_a_program)
{
	made_begin(&made, ",\"limits\":{\"delay_ns\":1000000}", MADE_CALIBRATION);
	made_kernel(&made, 2, 1000000, 1005500, 1105500);
	made_call(&made, "sync_stream", 1002000, 1109000, ",\"stream\":2");
	made_end(&made, 5000000, 5, 9000000);
	analyse();
	cr_expect(eq(dbl, profile.shares.total_ns, 109000), "of the part");
	is_trusted(TRUST_LOW, DOUBT_PARTIAL);
}

Test(small_profile, a_killed_program)
{
	made_begin(&made, "", MADE_CALIBRATION);
	put_steps();
	fclose(made.out);
	analyse();
	cr_expect(eq(dbl, profile.shares.total_ns, N * STEP), "as far as it goes");
	is_trusted(TRUST_LOW, DOUBT_UNFINISHED | DOUBT_RUNS);
}

static void may_be(enum program_kind kind, bool yes)
{
	cr_expect(eq(int, program_kind_may_be(&profile.shares, &rules, kind), yes), "%s",
		  program_kind_names[kind]);
}

Test(small_profile, calls_alone)
{
	static const char calls[] = "\"device_times\":\"none\"";
	char line[1024];
	size_t n;
	FILE *f;

	made_begin(&made, "", MADE_CALIBRATION);
	made_call(&made, "launch", 10000, 12000, "");
	made_call(&made, "sync_device", 12000, 52000, "");
	made_end(&made, 60000, 0, 0);
	f = fopen(made.path, "r+");
	n = fread(line, 1, sizeof(line), f);
	rewind(f);
	cr_assert(lt(sz, strlen(calls), n), "a header");
	/* the same number of bytes */
	fprintf(f, "%.*s%s    %s", (int)(strstr(line, "\"device_times\"") - line), line, calls,
		strstr(line, "\"recorded\"") + strlen("\"recorded\""));
	fclose(f);
	analyse();
	cr_expect(eq(dbl, profile.shares.ns[SHARE_OUTSIDE], 18000), "outside");
	cr_expect(eq(dbl, profile.shares.ns[SHARE_API], 2000), "launch");
	cr_expect(eq(dbl, profile.shares.ns[SHARE_SYNC], 40000), "wait");
	cr_expect(eq(int, profile.has_kind, 0), "unknown");
	cr_expect(eq(int, share_is_known(&profile.shares, SHARE_GAPS), 0), "the device's");
	cr_expect(eq(int, share_is_known(&profile.shares, SHARE_API), 1), "the host's");
	/* 3 % of launch calls are too few; a wait may be for anything. */
	may_be(KIND_GPU, true);
	may_be(KIND_GAP, true);
	may_be(KIND_API, false);
	may_be(KIND_SYNC, true);
	may_be(KIND_TRANSFER, false);
	may_be(KIND_MEMORY, false);
	may_be(KIND_CPU, false); /* what is outside does not count */
	profile_release(&profile);
}

Test(small_profile, nothing_to_analyse)
{
	made_begin(&made, "", MADE_CALIBRATION);
	made_end(&made, 1000, 5, 1000);
	divert_stderr();
	cr_expect(lt(int, profile_make(&profile, made.path, &rules, false), 0), "no calls");
	cr_expect(eq(int, is_one_complaint(diverted_stderr()), 1), "one line");
	profile_release(&profile);
	made_remove(&made);
}

/* ---- ranges ------------------------------------------------------------------------------- */

static void mark(int thread, const char *kind, long t, int name)
{
	made_row(&made, "{\"record\":\"mark\",\"thread\":%d,\"kind\":\"%s\",\"t\":%ld,\"name\":%d}",
		 thread, kind, t, name);
}

static void is_range(int64_t i, const char *name, int64_t times, int64_t ns, int64_t launches,
		     int64_t waits)
{
	const struct range *r = &profile.ranges.list[i];

	cr_expect(eq(str, (char *)trace_name(&profile.trace, r->name), (char *)name), "%d", (int)i);
	cr_expect(eq(i64, r->times, times), "%s: times", name);
	cr_expect(eq(i64, r->ns, ns), "%s: ns", name);
	cr_expect(eq(i64, r->launches, launches), "%s: launches", name);
	cr_expect(eq(i64, r->waits, waits), "%s: waits", name);
}

/* Two threads, a range in itself, marks out of order, one that never ends. */
Test(small_profile, ranges_have_their_calls)
{
	made_begin(&made, "", MADE_CALIBRATION);
	made_row(&made, "{\"record\":\"string\",\"id\":2,\"text\":\"step\"}");
	made_row(&made, "{\"record\":\"string\",\"id\":3,\"text\":\"inner\"}");
	mark(1, "pop", 500, 2); /* of no range */
	mark(1, "push", 150000, 2);
	mark(1, "pop", 250000, 2);
	mark(0, "push", 1000, 2);
	mark(0, "push", 5000, 3);
	mark(0, "push", 6000, 2);
	mark(0, "pop", 7000, 2);
	mark(0, "pop", 40000, 3);
	mark(0, "pop", 101000, 2);
	mark(0, "push", 290000, 3);
	made_kernel(&made, 2, 2000, 8000, 18000);
	made_kernel(&made, 2, 6500, 19000, 20000);
	made_call(&made, "sync_stream", 20000, 30000, ",\"stream\":2");
	made_call(&made, "sync_stream", 120000, 121000, ",\"stream\":2"); /* in none */
	made_call(&made, "sync_device", 200000, 210000, ",\"thread\":1");
	made_end(&made, 300000, 0, 0);
	analyse();
	cr_assert(eq(i64, profile.ranges.n, 2));
	is_range(0, "step", 2, 200000, 2, 2);
	is_range(1, "inner", 2, 45000, 1, 1);
	profile_release(&profile);
}

/* The recorder took 400 ns beside each call: what is in the range is that much shorter. */
Test(small_profile, ranges_without_the_recorder)
{
	static const char calibration[] =
		"{\"launch_call_ns\":[2000,2000,2000],\"launch_and_wait_ns\":[10000,10000,10000],"
		"\"gap_ns\":[1000,1000,1000],\"window\":null,"
		"\"recorder\":{\"call_ns\":400,\"pace_ns\":0,\"kernel_ns\":1000}}";

	made_begin(&made, "", calibration);
	made_row(&made, "{\"record\":\"string\",\"id\":2,\"text\":\"step\"}");
	made_row(&made, "{\"record\":\"string\",\"id\":3,\"text\":\"edge\"}");
	mark(0, "push", 3000,
	     2); /* in the middle of a gap of 2000, of which the recorder's is 400 */
	mark(0, "pop", 11000, 2); /* right behind the last call */
	/* before all calls until within the first, behind the last one, and where none are */
	mark(0, "push", 500, 3);
	mark(0, "pop", 1500, 3);
	mark(0, "push", 11500, 3);
	mark(0, "pop", 12000, 3);
	mark(1, "push", 0, 3);
	mark(1, "pop", 5000, 3);
	for (int i = 0; i < 4; i++)
		made_call(&made, "other", 1000 + 3000 * i, 2000 + 3000 * i, "");
	made_end(&made, 300000, 0, 0);
	analyse();
	cr_assert(eq(i64, profile.ranges.n, 2));
	is_range(0, "step", 1, 8000, 0, 0);
	cr_expect(eq(dbl, profile.ranges.list[0].retimed_ns, 8000 - 200 - 400 - 400), "re-timed");
	is_range(1, "edge", 3, 6500, 0, 0);
	cr_expect(eq(dbl, profile.ranges.list[1].retimed_ns, 6500), "the recorder is not in it");
	profile_release(&profile);
	made_begin(&made, "", NULL);
	made_row(&made, "{\"record\":\"string\",\"id\":2,\"text\":\"step\"}");
	mark(0, "push", 0, 2);
	made_call(&made, "other", 1000, 2000, "");
	made_end(&made, 3000, 0, 0);
	analyse();
	cr_expect(ne(int, isnan(profile.ranges.list[0].retimed_ns), 0), "not known");
	profile_release(&profile);
}

/* ---- what the device did of ranges ---------------------------------------------------------- */

static void is_device(int64_t i, double device_ns, double busy_ns)
{
	const struct range *r = &profile.ranges.list[i];

	cr_expect(eq(dbl, r->device_ns, device_ns), "%ld: %g", (long)i, r->device_ns);
	cr_expect(eq(dbl, r->busy_ns, busy_ns), "%ld: busy %g", (long)i, r->busy_ns);
}

enum { LAUNCHES = 1000, LAUNCH_STEP = 2500, QUEUED_K = 9000, QUEUED_G = 1000, FIRST_K = 5000000 };

/* A kernel of 5 ms, and a range that queues 1000 behind it: that takes the host 2.5 ms. */
static void put_queued(void)
{
	long host = MADE_C, device = MADE_C + MADE_L + FIRST_K + QUEUED_G;

	made_row(&made, "{\"record\":\"string\",\"id\":2,\"text\":\"step\"}");
	made_kernel(&made, 2, 0, MADE_C + MADE_L, MADE_C + MADE_L + FIRST_K);
	mark(0, "push", host, 2);
	for (int i = 0; i < LAUNCHES; i++, host += LAUNCH_STEP, device += QUEUED_K + QUEUED_G)
		made_kernel(&made, 2, host, device, device + QUEUED_K);
	mark(0, "pop", host, 2);
	made_call(&made, "sync_device", host, device - QUEUED_G + MADE_WAKE, "");
	made_end(&made, device + MADE_WAKE, 0, 0);
}

/*
 * The host was in the range for 2.5 ms, and the device began with it after that. Both are right:
 * the first is how long it took to queue, the second how long it took to do.
 */
static void is_behind_the_host(const char *calibration, double host_ns)
{
	const struct range_span *s;

	made_begin(&made, "", calibration);
	put_queued();
	analyse();
	cr_assert(eq(i64, profile.ranges.spans, 1));
	s = profile.ranges.span;
	is_range(0, "step", 1, LAUNCHES * LAUNCH_STEP, LAUNCHES, 0);
	cr_expect(eq(dbl, s->host.t1 - s->host.t0, host_ns), "%g", s->host.t1 - s->host.t0);
	cr_expect(lt(dbl, s->host.t1, s->device.t0), "%g, %g", s->host.t1, s->device.t0);
	is_device(0, LAUNCHES * (QUEUED_K + QUEUED_G) - QUEUED_G, LAUNCHES * QUEUED_K);
	profile_release(&profile);
}

Test(small_profile, the_device_begins_a_range_after_the_host_has_ended_it)
{
	is_behind_the_host(NULL, LAUNCHES * LAUNCH_STEP);
	is_behind_the_host(MADE_CALIBRATION, LAUNCHES * LAUNCH_STEP);
}

/* Two streams at once, a graph with a gap, one range within another, and one without work. */
Test(small_profile, a_range_is_busy_while_any_of_its_operations_runs)
{
	made_begin(&made, "", NULL);
	made_row(&made, "{\"record\":\"string\",\"id\":2,\"text\":\"step\"}");
	made_row(&made, "{\"record\":\"string\",\"id\":3,\"text\":\"inner\"}");
	made_row(&made, "{\"record\":\"string\",\"id\":4,\"text\":\"idle\"}");
	made_row(&made, "{\"record\":\"string\",\"id\":5,\"text\":\"graphs\"}");
	made_kernel(&made, 4, 0, 3000, 300000); /* in no range */
	mark(0, "push", 10000, 2);
	made_kernel(&made, 2, 11000, 50000, 70000);
	mark(0, "push", 14000, 3);
	made_kernel(&made, 3, 15000, 20000, 60000); /* before the one that came first */
	made_call(&made, "graph_launch", 18000, 19000, ",\"graph\":1");
	made_op(&made, "graph", 2, 80000, 100000, ",\"graph\":1,\"busy_ns\":15000");
	mark(0, "pop", 20000, 3);
	mark(0, "pop", 21000, 2);
	mark(0, "push", 22000, 4);
	mark(0, "pop", 23000, 4);
	mark(1, "push", 24000, 3);
	made_call(&made, "launch", 25000, 26000, ",\"thread\":1");
	made_op(&made, "kernel", 2, 110000, 120000, ",\"name\":1");
	mark(1, "pop", 27000, 3);
	mark(1, "push", 28000, 5); /* of graphs: without a gap, not known, no kernel */
	made_call(&made, "graph_launch", 29000, 30000, ",\"thread\":1,\"graph\":1");
	made_op(&made, "graph", 2, 130000, 140000, ",\"graph\":1,\"busy_ns\":10000");
	made_call(&made, "graph_launch", 31000, 32000, ",\"thread\":1,\"graph\":1");
	made_op(&made, "graph", 2, 150000, 153000, ",\"graph\":1");
	made_call(&made, "graph_launch", 32000, 32500, ",\"thread\":1,\"graph\":1");
	made_op(&made, "graph", 2, 160000, 161000, ",\"graph\":1,\"busy_ns\":0");
	mark(1, "pop", 33000, 5);
	made_end(&made, 400000, 0, 0);
	analyse();
	cr_assert(eq(i64, profile.ranges.n, 4));
	is_device(0, 80000, 50000 + 15000);
	is_device(1, 80000 + 10000, 40000 + 15000 + 10000);
	is_device(2, 31000, 10000 + 3000);
	cr_expect(ne(int, isnan(profile.ranges.list[3].device_ns), 0), "nothing was submitted");
	cr_assert(eq(i64, profile.ranges.spans, 5));
	cr_expect(eq(int, profile.ranges.span[1].depth, 0), "the outer one ends second");
	cr_expect(eq(int, profile.ranges.span[0].depth, 1), "the inner one ends first");
	profile_release(&profile);
}

/* ---- rules -------------------------------------------------------------------------------- */

Test(small_profile, rules_decide_the_kind)
{
	struct kind_rules own = rules;

	analyse_steps("", MADE_CALIBRATION, 5, N * STEP);
	cr_expect(eq(int, (int)profile.kind, KIND_MIXED), "91 % kernels, 8 % waits");
	profile_release(&profile);
	own.least[KIND_SYNC] = 0.08;
	made_begin(&made, "", MADE_CALIBRATION);
	put_steps();
	made_end(&made, N * STEP, 5, N * STEP);
	cr_assert(zero(int, profile_make(&profile, made.path, &own, false)), "%s", made.path);
	cr_expect(eq(int, (int)profile.kind, KIND_SYNC), "8 %% are enough");
	made_remove(&made);
	profile_release(&profile);
}

/* ---- ranges ------------------------------------------------------------------------------------
 */

static void put_mark(int thread, const char *kind, long t, int name)
{
	char of[32] = "";

	if (name)
		snprintf(of, sizeof(of), ",\"name\":%d", name);
	made_row(&made, "{\"record\":\"mark\",\"thread\":%d,\"kind\":\"%s\",\"t\":%ld%s}", thread,
		 kind, t, of);
}

static void say_ranges(void)
{
	static char text[1 << 14];
	FILE *out = fmemopen(text, sizeof(text), "w");

	ranges_print(&profile.ranges, &profile.trace, out);
	fclose(out);
	golden_said(text);
}

/* 64 within each other are listed, and two that are deeper are not. */
Test(small_profile, ranges_within_ranges)
{
	enum { DEEP = 66 };

	made_begin(&made, "", MADE_CALIBRATION);
	for (int i = 0; i < DEEP; i++)
		made_row(&made, "{\"record\":\"string\",\"id\":%d,\"text\":\"range %d\"}", 10 + i,
			 i);
	for (int i = 0; i < DEEP; i++)
		put_mark(0, "push", 10 + i, 10 + i);
	made_kernel(&made, 2, 1000, 6500, 9500);
	made_call(&made, "sync_device", 3000, 13000, "");
	for (int i = 0; i < DEEP; i++)
		put_mark(0, "pop", 14000 + i, 0);
	made_end(&made, 20000, 0, 0);
	analyse();
	cr_expect(eq(i64, profile.ranges.n, DEEP - 2));
	say_ranges();
	profile_release(&profile);
}

/* Marks before all calls, between calls, within one and behind them, where the recorder takes its
 * time; a range within itself; a graph with gaps; a thread without calls; one that has no end. */
Test(small_profile, ranges_of_every_place)
{
	static const char slow[] =
		"{\"launch_call_ns\":[2000,2000,2000],\"launch_and_wait_ns\":[10000,10000,10000],"
		"\"gap_ns\":[1000,1000,1000],\"window\":null,"
		"\"recorder\":{\"call_ns\":300,\"pace_ns\":500,\"kernel_ns\":1000}}";
	json_t *o;

	made_begin(&made, "", slow);
	for (int i = 0; i < 7; i++)
		made_row(&made, "{\"record\":\"string\",\"id\":%d,\"text\":\"%s\"}", 10 + i,
			 (const char *[]){ "whole", "again", "within", "elsewhere", "open", "idle",
					   "at once" }[i]);
	put_mark(0, "push", 100, 10);
	put_mark(0, "push", 900, 11);
	made_kernel(&made, 2, 1000, 7000, 30000);
	put_mark(0, "push", 2000, 12); /* within a call */
	put_mark(0, "push", 5000, 11);
	made_kernel(&made, 3, 5200, 20000, 41000);
	put_mark(0, "pop", 7700, 0);
	put_mark(0, "pop", 7900, 0);
	made_call(&made, "copy", 8000, 52000, ",\"stream\":2,\"bytes\":4096,\"async\":false");
	made_op(&made, "copy", 2, 42000, 47000,
		",\"direction\":\"to_host\",\"bytes\":4096,\"async\":false");
	put_mark(0, "pop", 53000, 0);
	put_mark(0, "push", 54000, 12);
	made_call(&made, "graph_launch", 55000, 58000, ",\"stream\":2,\"graph\":1");
	made_op(&made, "graph", 2, 60000, 80000, ",\"graph\":1,\"busy_ns\":15000");
	made_call(&made, "sync_device", 58500, 84000, "");
	put_mark(0, "pop", 85000, 0);
	put_mark(0, "pop", 86000, 0);
	put_mark(0, "pop", 87000, 0); /* of none */
	put_mark(1, "push", 500, 15);
	put_mark(1, "pop", 3500, 0);
	put_mark(0, "push", 87100, 16);
	made_call(&made, "memset", 87200, 87400, ",\"stream\":2,\"bytes\":0");
	made_op(&made, "memset", 2, 87500, 87500, ",\"bytes\":0");
	put_mark(0, "pop", 87600, 0);
	put_mark(0, "push", 88000, 14);
	made_end(&made, 90000, 0, 0);
	analyse();
	say_ranges();
	o = ranges_json(&profile.ranges, &profile.trace);
	golden_said_json(o);
	json_decref(o);
	profile_release(&profile);
}
