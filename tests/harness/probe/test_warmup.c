/*
 * test_warmup.c - harness/probe: what a curve says, by hand; files that are damaged; and curves of
 * the CPU device, whose clock can be told to come back slowly.
 */
#include "tests/plain.h"
#include "harness/probe/warmup.h"
#include "common/datafile.h"
#include "harness/base/json.h"
#include "harness/record/recorded.h"
#include "harness/base/command.h"
#include "tests/cli.h"
#include "tests/on_cpu.h"
#include "tests/golden.h"

TestSuite(small_warmup, .timeout = 300);
TestSuite(large_warmup, .timeout = 300);

/* ---- one curve ----------------------------------------------------------------------------- */

enum { N = 40 };

/* Blocks of so many us, one behind the other. */
static struct curve_facts facts_of(const double *us, int n, int raw)
{
	double begin[N], total[N], at = 0;
	struct curve c = { n, raw, begin, total, 10, NULL };
	struct curve_facts f;

	for (int i = 0; i < n; i++) {
		begin[i] = at;
		total[i] = 1e3 * us[i];
		at += total[i];
	}
	curve_facts(&f, &c);
	return f;
}

Test(small_warmup, first_and_steady_are_of_a_step)
{
	double us[N];
	struct curve_facts f;

	for (int i = 0; i < N; i++)
		us[i] = i < 4 ? 90 - 20 * i : 20;
	f = facts_of(us, N, N);
	cr_assert(f.first_ns == 9000, "%g", f.first_ns);
	cr_assert(f.steady_ns == 2000, "%g", f.steady_ns);
	cr_assert(f.settled_block == 4 && f.settled_ns == 240000, "%g %g", f.settled_block,
		  f.settled_ns);
	cr_assert(f.warmup_blocks == 6 && f.after_warmup == 1, "%g %g", f.warmup_blocks,
		  f.after_warmup);
}

/* Two blocks agree in the middle of a slow fall: what follows is timed too early. */
Test(small_warmup, a_warmup_that_ends_too_early_shows)
{
	double us[N];
	struct curve_facts f;

	for (int i = 0; i < N; i++)
		us[i] = i < 30 ? 400 - 10 * i : 100;
	f = facts_of(us, N, N);
	cr_assert(f.warmup_blocks == 2, "%g", f.warmup_blocks);
	cr_assert(f.settled_block == 30, "%g", f.settled_block);
	/* blocks 2 to 39: 28 that fall from 380 us, and ten of 100 */
	cr_assert(fabs(f.after_warmup - 1.95) < 1e-9, "%g", f.after_warmup);
}

Test(small_warmup, a_single_slow_block_is_not_where_it_settles)
{
	double us[N];

	for (int i = 0; i < N; i++)
		us[i] = i == 0 || i == 2 ? 90 : 20;
	cr_assert(facts_of(us, N, N).settled_block == 1, "%g", facts_of(us, N, N).settled_block);
	us[0] = 20;
	us[1] = us[2] = 28; /* a fast block before two that are not yet */
	cr_assert(facts_of(us, N, N).settled_block == 3, "%g", facts_of(us, N, N).settled_block);
}

/* All blocks take a second and more: the second one ends the warm-up by time. */
Test(small_warmup, a_second_ends_a_warmup)
{
	double us[N];
	struct curve_facts f;

	for (int i = 0; i < N; i++)
		us[i] = 6e5 * pow(0.9, i);
	f = facts_of(us, 8, 8);
	cr_assert(f.warmup_blocks == 2, "%g", f.warmup_blocks);
	f = facts_of(us, 1, 1);
	cr_assert(f.warmup_blocks == 1 && isnan(f.after_warmup) && f.steady_ns == f.first_ns,
		  "one block: %g %g", f.warmup_blocks, f.after_warmup);
}

/* No three blocks in a row are alike: it settles at the last one, and all are left out. */
Test(small_warmup, a_curve_that_never_settles)
{
	double us[N];
	struct curve_facts f;

	for (int i = 0; i < N; i++)
		us[i] = 100 * pow(1.2, i);
	f = facts_of(us, 8, 8);
	cr_assert(f.settled_block == 7, "%g", f.settled_block);
	cr_assert(f.warmup_blocks == 8 && isnan(f.after_warmup), "%g", f.warmup_blocks);
	f = facts_of(us, 8, 3); /* behind three blocks there are bins */
	cr_assert(f.warmup_blocks == 3, "%g", f.warmup_blocks);
	cr_assert(fabs(f.after_warmup - 1 / 1.2) < 1e-9, "%g", f.after_warmup);
}

/* Launch calls are known of single blocks alone: 40 of them, 10 in the last quarter. */
Test(small_warmup, the_first_calls_and_the_rest_of_the_first_block)
{
	double begin[N], total[N], call[N];
	struct curve c = { N, N, begin, total, 10, call };
	struct curve_facts f;

	for (int i = 0; i < N; i++) {
		begin[i] = 1e5 * i;
		call[i] = i == 0 ? 9e3 : i < 30 ? 5e3 : 4e3 + 10 * (i % 2);
		total[i] = call[i] + (i == 0 ? 2e3 : i < 30 ? 7e3 : 3e3 + 20 * (i % 2));
	}
	curve_facts(&f, &c);
	cr_assert(f.call_first_ns == 9e3 && f.rest_first_ns == 2e3, "%g %g", f.call_first_ns,
		  f.rest_first_ns);
	cr_assert(f.call_later_ns == 4005 && f.rest_later_ns == 3010, "%g %g", f.call_later_ns,
		  f.rest_later_ns);
	cr_assert(f.call_more_ns == 4995 && f.rest_more_ns == -1010, "%g %g", f.call_more_ns,
		  f.rest_more_ns);
	c.raw = N / 2; /* the others are bins, whose calls are not kept */
	curve_facts(&f, &c);
	cr_assert(f.call_later_ns == 5e3 && f.rest_later_ns == 7e3, "%g %g", f.call_later_ns,
		  f.rest_later_ns);
	c.enq_ns = NULL;
	curve_facts(&f, &c);
	cr_assert(isnan(f.call_first_ns) && isnan(f.call_more_ns) && isnan(f.rest_more_ns),
		  "calls that are not known");
}

/* Blocks of 1 us that begin every 100 us for 3 s; what they take falls where it says. */
Test(small_warmup, a_step_early_and_one_late)
{
	enum { LONG = 30000 };
	double *begin = calloc(LONG, sizeof(*begin)), *total = calloc(LONG, sizeof(*total));
	struct curve c = { LONG, 1, begin, total, 10, NULL };
	struct curve_facts f;

	cr_assert(begin && total, "memory");
	for (int i = 0; i < LONG; i++) {
		begin[i] = 1e5 * i;
		total[i] = i < 10 ? 9e3 : i < 100 ? 2e3 : i < 19990 ? 5e3 : 1e3;
	}
	curve_facts(&f, &c);
	cr_assert(f.early_ns == 200 && f.late_ns == 100 && f.late_over_early == 0.5, "%g %g %g",
		  f.early_ns, f.late_ns, f.late_over_early);
	c.n = 5; /* it ends before 1 ms is over */
	curve_facts(&f, &c);
	cr_assert(isnan(f.early_ns) && f.late_ns == 900 && isnan(f.late_over_early), "%g %g",
		  f.early_ns, f.late_ns);
	free(begin);
	free(total);
}

/* ---- files --------------------------------------------------------------------------------- */

static char path[] = "/tmp/test-warmup-XXXXXX";

static int read_file(const char *text, json_t **curves, const char **said)
{
	static int fd = -1;
	FILE *f;
	int err;

	if (fd < 0)
		fd = mkstemp(path);
	f = fopen(path, "w");
	cr_assert(f && fputs(text, f) >= 0 && !fclose(f), "%s", path);
	divert_stderr();
	err = warmup_read(path, curves);
	*said = diverted_stderr();
	unlink(path);
	return err;
}

#define HEAD                                                                                       \
	"{\"record\":\"warmup_curves\",\"schema\":\"1.0\",\"processes\":1,\"workload\":\"launch\"" \
	",\"curves\":["
#define CURVE(depth, beginning, total, bins)                                                       \
	"{\"process\":0,\"depth\":" depth ",\"beginning\":\"" beginning "\","                      \
	"\"begin_ns\":[0,9],\"enq_ns\":[1,1],\"total_ns\":[" total "],\"bins\":" bins "}"
#define BINS "{\"first\":[2],\"n\":[4],\"begin_ns\":[18],\"median_ns\":[6]}"
#define NO_BINS "{\"first\":[],\"n\":[],\"begin_ns\":[],\"median_ns\":[]}"

Test(small_warmup, blocks_and_bins_are_one_curve)
{
	struct curve c;
	const char *said;
	json_t *curves;

	cr_assert(!read_file(HEAD CURVE("2", "rested", "9,7", BINS) "]}", &curves, &said), "%s",
		  said);
	curve_init(&c, json_array_get(json_object_get(curves, "curves"), 0));
	cr_assert(c.n == 3 && c.raw == 2 && c.depth == 2, "%d %d", c.n, c.raw);
	cr_assert(c.enq_ns[0] == 1 && c.enq_ns[1] == 1, "launch calls");
	cr_assert(c.begin_ns[2] == 18 && c.total_ns[2] == 6 && c.total_ns[1] == 7, "bins");
	curve_release(&c);
	json_decref(curves);
}

Test(small_warmup, a_check_that_failed_or_is_missing)
{
	static const struct {
		const char *check;
		bool failed;
	} rows[] = {
		{ ",\"check\":{\"passed\":true,\"error\":0}", false },
		{ ",\"check\":{\"passed\":false,\"error\":2}", true },
		{ "", true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[1024];
		const char *said;
		json_t *curves;

		snprintf(text, sizeof(text), "%s%.*s%s}]}", HEAD,
			 (int)strlen(CURVE("2", "rested", "9,7", BINS)) - 1,
			 CURVE("2", "rested", "9,7", BINS), rows[i].check);
		cr_assert(!read_file(text, &curves, &said), "%zu: %s", i, said);
		cr_assert(warmup_check_failed(curves) == rows[i].failed, "%zu", i);
		json_decref(curves);
	}
}

Test(small_warmup, damaged_files_are_refused)
{
	static const struct {
		const char *text;
		int err;
	} rows[] = {
		{ "{\"record\":\"probe_grid\"}", -EINVAL },
		{ "{\"record\":\"warmup_curves\",\"schema\":\"2.0\"}", -EPROTONOSUPPORT },
		{ "{\"record\":\"warmup_curves\",", -EINVAL },
		{ HEAD "]}", -EINVAL },
		{ HEAD "7]}", -EINVAL },
		{ HEAD CURVE("2", "tired", "9,7", BINS) "]}", -EINVAL },
		{ HEAD CURVE("0", "rested", "9,7", BINS) "]}", -EINVAL },
		{ HEAD CURVE("2", "rested", "9", BINS) "]}", -EINVAL },
		{ HEAD CURVE("2", "rested", "9,\"7\"", BINS) "]}", -EINVAL },
		{ HEAD CURVE("2", "rested", "9,0", BINS) "]}", -EINVAL },
		{ HEAD CURVE("2", "rested", "9,1e300", BINS) "]}", -EINVAL },
		{ HEAD CURVE("1e300", "rested", "9,7", BINS) "]}", -EINVAL },
		{ HEAD CURVE("2", "rested", "9,7", "{}") "]}", -EINVAL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *said;
		json_t *curves;
		int err = read_file(rows[i].text, &curves, &said);

		cr_assert(err == rows[i].err && !curves && is_one_complaint(said), "%zu: %d: %s", i,
			  err, said);
	}
}

/* What was looked at beside the blocks, of a kept record: one canary of 1733 was interrupted. */
Test(small_warmup, clocks_beside_the_blocks)
{
	char kept[DATAFILE_PATH_BYTES];
	const char *text;

	cr_assert(!datafile_find("data/sessions/warmup-h200/short.json.gz", kept), "kept");
	cr_assert(!run_rift(OUT, &text, "show '%s'", kept), "show");
	cr_assert(tells(text, "first canary, MHz  *1979  *1980  *1980  *9\n"), "%s", text);
	cr_assert(tells(text, "all canaries, MHz  *368  *1980  *1980  *1733\n"), "%s", text);
	cr_assert(tells(text, "NVML, MHz  *1980  *1980  *1980  *1733\n"), "%s", text);
	cr_assert(tells(text, "power, W  *83.12  *120.5  *124.3  *1733\n"), "%s", text);
	cr_assert(tells(text, "host canary, us  *26.7  *28.7  *94.15"), "%s", text);
}

/* ---- tables -------------------------------------------------------------------------------- */

/* Eight samples of two steps: the first takes so long, three take 20 us within 10 ms, and four
 * after two seconds 18 us. */
static void add_curve(json_t *curves, int process, enum beginning beginning, int first_us)
{
	json_t *o = json_pack(
		"{s:i, s:i, s:s, s:[I,I,I,I,I,I,I,I], s:[i,i,i,i,i,i,i,i], s:[i,i,i,i,i,i,i,i]}",
		"process", process, "depth", 2, "beginning", beginning_names[beginning], "begin_ns",
		(json_int_t)0, (json_int_t)2000000, (json_int_t)4000000, (json_int_t)6000000,
		(json_int_t)2000000000, (json_int_t)2000100000, (json_int_t)2000200000,
		(json_int_t)2000300000, "enq_ns", 5000, 3000, 3000, 3000, 4000, 4000, 4000, 4000,
		"total_ns", 1000 * first_us, 20000, 20000, 20000, 18000, 18000, 18000, 18000);

	json_object_update_new(o, json_pack("{s:{s:[i,i], s:[i,i]}, s:{s:[i]}, s:{s:b}}", "samples",
					    "sm_clock_mhz", 1000, 1200, "host_canary_ns", 20000,
					    30000, "gpu", "power_mw", 80000, "check", "passed", 1));
	json_object_set_new(o, "start_ns",
			    json_real(beginning == BEGIN_RESTED	     ? 3e6
				      : beginning == BEGIN_FOLLOWING ? 5e6
								     : 9e9));
	if (beginning == BEGIN_FOLLOWING)
		json_object_set_new(o, "setup_ns", json_real(2e6));
	json_array_append_new(json_object_get(curves, "curves"), o);
}

static json_t *make_curves(void)
{
	return json_pack("{s:s, s:[s], s:{s:s}, s:s, s:i, s:s, s:s, s:f, s:f, s:[]}", "workload",
			 "launch", "params", "us=5", "device", "name", "made-up device",
			 "start_utc", "2026", "processes", 5, "mode", "stream", "sync", "spin",
			 "rest_s", 2.0, "seconds", 3.0, "curves");
}

/* The reference is taken. */
static const char *printed(json_t *curves)
{
	static char text[16384];
	FILE *out = fmemopen(text, sizeof(text), "w");

	warmup_print(curves, out);
	fclose(out);
	json_decref(curves);
	golden_said(text);
	return text;
}

Test(small_warmup, tables_of_a_file)
{
	static const char *const want[] = {
		"warm-up *launch us=5\n",
		"made-up device\n",
		"2026, 5 processes, mode stream, sync spin; 2 s of idling, curves of 3 s\n",
		"check *passed\n",
		/* first and steady step, ratio, sample and time from which on it is steady */
		"\n     2 rested *45.0 us *9.00 us *5 (5 to 5) *4 *2.00 s *3 *+0.0 % (+0.0 to "
		"+0.0)\n",
		"\n     2 resumed *27.0 us *9.00 us *3 (3 to 3) ",
		"\n     2 following *36.0 us *9.00 us *4 (4 to 4) ",
		/* of two steps: all, as after another process, as after a rest */
		"together\n     2 *72.0 us *54.0 us *36.0 us *-18.0 us\n\n",
		"\n     2 rested *5.00 us *4.00 us *1.00 us (1.00 us to 1.00 us) *85.0 us *14.0 us "
		"*71.0 us (71.0 us to 71.0 us)\n     2 resumed *5.00 us",
		"change\n     2 rested *10.0 us *9.00 us *-10.0 % (-10.0 to -10.0)\n",
		"first canary, MHz *1000 *1000 *1000 *15\n",
		"all canaries, MHz *1000 *1100 *1200 *30\n",
		"power, W *80 *80 *80 *15\n",
		"host canary, us *20 *25 *30 *30\n",
		": to the set-up 4.00 ms (3.00 ms to 5.00 ms), set-up 2.00 ms (2.00 ms to 2.00 "
		"ms), "
		"graphs not known\n",
		NULL,
	};
	json_t *curves = make_curves();
	const char *text;

	for (int i = 0; i < 5; i++) {
		add_curve(curves, i, BEGIN_RESTED, 90);
		add_curve(curves, i, BEGIN_RESUMED, 54);
		add_curve(curves, i, BEGIN_FOLLOWING, 72);
	}
	text = printed(curves);
	for (int i = 0; want[i]; i++)
		cr_expect(tells(text, want[i]), "'%s' in\n%s", want[i], text);
	cr_expect(!tells(text, "degrees"), "no temperature is known\n%s", text);
}

/* One process has no interval, and without a following one nothing tells what the process takes. */
Test(small_warmup, tables_of_one_process)
{
	json_t *curves = make_curves();
	const char *text;

	add_curve(curves, 0, BEGIN_RESTED, 90);
	add_curve(curves, 0, BEGIN_RESUMED, 54);
	text = printed(curves);
	cr_expect(tells(text, ": to the set-up 3.00 ms, set-up not known, graphs not known\n"),
		  "%s", text);
	cr_expect(tells(text, " together\n\n"), "%s", text);
}

/* ---- the command --------------------------------------------------------------------------- */

Test(small_warmup, what_cannot_be_asked_for)
{
	refused(3, "--warmup WORKLOAD", "probe --warmup");
	refused(3, "--rest needs --warmup", "probe --rest 1");
	refused(3, "--depth needs --warmup", "probe graph length=1 --depth 1");
	refused(3, "--quick * --warmup", "probe --warmup launch --quick");
	refused(3, "--native * --warmup", "probe --warmup launch --native n --output o");
	refused(3, "lanch* *'launch'", "probe --warmup lanch");
	refused(3, "--depth=100: *64", "probe --warmup graph op=first --depth 1,100");
	refused(3, "--depth: 1 *twice", "probe --warmup launch --depth 1,2,1");
	refused(3, "--depth: *9 *8", "probe --warmup launch --depth 1,2,3,4,5,6,7,8,9");
	refused(3, "--mode=graph", "probe --warmup graph --mode graph");
	refused(3, "action", "probe --warmup graph probe=yes");
	refused(3, "us=5,6", "probe --warmup launch us=5,6");
	refused(3, "--seconds=0", "probe --warmup launch --seconds 0");
}

/* The workload allows 64: neither 64 nor 1 is too many, and 65 is. */
Test(small_warmup, depths_that_the_workload_allows)
{
	static char word[] = "op=first";
	char *words[] = { word };
	struct warmup_request r = { .workload = workload_find("graph"),
				    .words = words,
				    .n_words = 1,
				    .depth = { 64, 1 },
				    .depths = 2 };

	cr_assert(r.workload && !warmup_check(&r), "64");
	refused(3, "--depth=65: *64", "probe --warmup graph op=first --depth 65");
}

/* One line names the call, and the exit code is that of a finding. */
Test(small_warmup, what_the_platform_lacks)
{
	need_device();
	if (!ON_CPU)
		cr_skip("holds for the CPU device only: it can be told to fail");
	setenv("RIFT_CPU_FAIL", "cudaGraphInstantiate=cudaErrorNotSupported", 1);
	refused(2, "launch: *cudaGraphInstantiate: cudaErrorNotSupported",
		"probe --warmup launch --mode graph --depth 2 --rest 0 --seconds 0.1 --quiet");
}

/* What a process does from its first block on, in order. */
static const char *does(bool following)
{
	const char *text;

	shell(&text,
	      "echo '{\"job\":\"warmup\",\"workload\":\"launch\",\"params\":[\"us=0\"],\"sync\":0,"
	      "\"mode\":0,\"depth\":1,\"rest_s\":0.02,\"seconds\":0.02,\"following\":%s,"
	      "\"header\":false}' | '%s' sweep-worker | grep -oE 'timing samples|idling|"
	      "\"(rested|following|resumed)\"|\"bye\"' | tr '\\n' ' '",
	      following ? "true" : "false", rift());
	return text;
}

/* One that has rested rests again before it goes on; one that follows another does not. */
Test(small_warmup, a_process_rests_between_its_curves)
{
	need_device();
	cr_assert(!strcmp(does(false),
			  "timing samples \"rested\" idling timing samples \"resumed\" "
			  "\"bye\" "),
		  "%s", does(false));
	cr_assert(!strcmp(does(true), "timing samples \"following\" \"bye\" "), "%s", does(true));
}

static const struct warmup_row *find(const struct warmup_row *row, int n, int64_t depth,
				     enum beginning b)
{
	for (int i = 0; i < n; i++)
		if (row[i].depth == depth && row[i].beginning == b)
			return &row[i];
	cr_assert(false, "no row of depth %ld", (long)depth);
	return NULL;
}

/*
 * Launches cost up to 20 ms more for 200 ms after a pause of 200 ms. Curves of all beginnings begin
 * after one, as a process takes its time to start; but `following` may begin sooner.
 */
Test(large_warmup, a_clock_that_comes_back_is_seen_and_kept)
{
	struct warmup_row row[WARMUP_DEPTHS_MAX * BEGINNINGS];
	const json_t *curve;
	const char *text;
	json_t *curves;
	size_t i;
	int n;

	need_device();
	if (!ON_CPU)
		cr_skip("holds for the CPU device only: its clock can be told to come back");
	setenv("RIFT_CPU_RAMP_NS", "20000000", 1);
	setenv("RIFT_CPU_RAMP_MS", "100", 1);
	close(mkstemp(path));
	unlink(path);
	cr_assert(
		!run_rift(OUT, &text,
			  "probe --warmup launch us=0 --depth 1,3 --rest 0.2 --seconds 0.5 --quiet "
			  "--output %s",
			  path),
		"warmup");
	cr_assert(tells(text, "passed*rested*resumed*following"), "%s", text);
	unsetenv("RIFT_CPU_RAMP_NS");
	unsetenv("RIFT_CPU_RAMP_MS");
	cr_assert(warmup_is(path) && !warmup_read(path, &curves), "read");
	cr_assert(json_array_size(json_object_get(curves, "curves")) == 6, "curves");
	json_array_foreach(json_object_get(curves, "curves"), i, curve)
	{
		const json_t *samples = json_object_get(curve, "samples");

		const json_t *begin = json_object_get(curve, "begin_ns");
		const json_t *total = json_object_get(curve, "total_ns");

		cr_assert(json_number_value(json_array_get(begin, 1)) >=
				  json_number_value(json_array_get(total, 0)),
			  "the second begins when the first has ended");
		cr_assert(json_get_number(curve, "setup_ns") > 0, "setup");
		cr_assert(json_array_size(json_object_get(samples, "host_canary_ns")) > 0,
			  "canary");
		cr_assert(json_object_get(json_object_get(curve, "gpu"), "error"), "no NVML here");
	}
	n = warmup_rows(row, curves);
	cr_assert(n == 6, "%d", n);
	for (int b = BEGIN_RESTED; b <= BEGIN_RESUMED; b++)
		for (int depth = 1; depth <= 3; depth += 2) {
			const struct warmup_row *r = find(row, n, depth, (enum beginning)b);

			cr_assert(r->ratio.value > 2 && r->settled_block.value > 0, "%d %d: %g, %g",
				  b, depth, r->ratio.value, r->settled_block.value);
		}
	json_decref(curves);
	cr_assert(!run_rift(OUT, &text, "show %s", path) && tells(text, "rested*resumed"), "%s",
		  text);
	cr_assert(!run_rift(OUT, &text, "show --check %s", path) && tells(text, "6 "), "%s", text);
	refused(3, "warmup", "fit %s", path);
	refused(3, "--over", "plot %s --over x", path);
	refused(3, "exist", "probe --warmup launch --output %s", path);
	unlink(path);
}
