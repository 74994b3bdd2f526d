/*
 * test_cupti.c - the library that CUPTI serves: what it makes of records, in which order they may
 * come, what it refuses. CUPTI is a stub (cupti.c), the program injected.c; neither needs a GPU,
 * and neither says what a real CUPTI does.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <signal.h>

#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/traces.h"

TEST_FOLDER(folder);
static char path[4096];

static void prepare(void)
{
	make_folder();
	snprintf(path, sizeof(path), "%s/a.trace", folder);
}

TestSuite(small_cupti, .timeout = 120, .init = prepare, .fini = remove_folder);

static const char *library(void)
{
	static char name[4200];
	const char *slash = strrchr(rift(), '/');

	snprintf(name, sizeof(name), "%.*s/recorder/cupti.so", slash ? (int)(slash - rift()) : 1,
		 slash ? rift() : ".");
	return name;
}

static const char *begins = "first"; /* what the program does before its words */

static int run(const char *variables, const char *words, const char **out)
{
	char stub[4096], program[4096];

	snprintf(stub, sizeof(stub), "%s", beside_tests("recorder/cupti.so"));
	snprintf(program, sizeof(program), "%s", beside_tests("recorder/injected"));
	return shell(out,
		     "exec 2>&1; STUB_CUPTI='%s' RIFT_TRACE_CUPTI='%s' RIFT_TRACE='%s' %s '%s' "
		     "'%s' %s %s",
		     stub, stub, path, variables, program, library(), begins, words);
}

static json_t *record(const char *variables, const char *words)
{
	const char *out;
	json_t *rows;

	cr_assert(zero(int, run(variables, words, &out)), "%s", out);
	cr_assert(eq(str, (char *)out, ""));
	rows = traced_rows(path);
	trace_judge(rows);
	return rows;
}

static const char *text(const json_t *row, const char *key)
{
	const char *is = json_string_value(json_object_get(row, key));

	return is ? is : "";
}

/* ---- what is recorded ------------------------------------------------------------------- */

Test(small_cupti, each_kind_of_record_has_its_row)
{
	json_t *rows = record("", "every");
	const json_t *h = json_array_get(rows, 0), *row;

	cr_assert(eq(str, (char *)text(h, "recorder"), "cupti"));
	cr_assert(eq(i64, trace_int(json_object_get(h, "cuda"), "cupti"), 130001));
	row = trace_row(rows, "call", "class", "alloc");
	cr_assert(eq(i64, trace_int(row, "bytes"), 4096));
	cr_assert(eq(str, (char *)text(row, "memory"), "device"));
	cr_assert(eq(str, (char *)traced_name(rows, row), "cudaMalloc"));
	row = trace_row(rows, "op", "direction", "to_device");
	cr_assert(eq(i64, trace_int(row, "bytes"), 200));
	cr_assert(eq(str, (char *)text(row, "memory"), "pinned"));
	row = trace_row(rows, "op", "direction", "to_host");
	cr_assert(eq(str, (char *)text(row, "memory"), "pageable"));
	row = trace_row(rows, "op", "kind", "graph");
	cr_assert(eq(i64, trace_int(row, "graph"), 3));
	row = trace_row(rows, "call", "class", "sync_event");
	cr_assert(eq(i64, trace_int(row, "event"), 5));
	cr_assert(eq(i64, trace_int(row, "recording"), 1));
	cr_assert(zero(i64, trace_int(row, "stream")));
	row = trace_row(rows, "call", "class", "sync_stream");
	cr_assert(eq(i64, trace_int(row, "stream"), 13));
	trace_row(rows, "stream", "kind", "legacy");
	trace_row(rows, "stream", "kind", "non-blocking");
	/* The call of no class is not there. */
	cr_assert(eq(i64, trace_calls_of(rows, ""), 10));
	json_decref(rows);
}

Test(small_cupti, kernels_may_come_before_their_calls)
{
	json_t *rows = record("RIFT_TRACE_FOLD=0", "launches");
	const json_t *op = trace_row(rows, "op", "kind", "kernel");

	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 100));
	cr_assert(eq(i64, trace_ops_of(rows, "kernel"), 100));
	cr_assert(eq(i64, trace_int(op, "t1") - trace_int(op, "t0"), 5000));
	cr_assert(eq(i64, trace_int(op, "registers"), 32));
	cr_assert(eq(i64, trace_int(op, "shared"), 128));
	cr_assert(eq(str, (char *)traced_name(rows, op), "_Z5saxpyPf"));
	cr_assert(eq(i64, trace_int(trace_row(rows, "call", "class", "launch"), "stream"), 7));
	json_decref(rows);
}

/*
 * 3 us a launch for a second: all of it is handed on at once, in the end. It can be read: a
 * thread's row comes before its calls.
 */
Test(small_cupti, a_second_of_fast_launches_loses_no_row)
{
	const char *out;
	json_t *end;

	cr_assert(zero(int, run("RIFT_TRACE_FOLD=0", "many", &out)), "%s", out);
	cr_assert(zero(int, shell(&out, "'%s' show --check '%s' 2>&1", rift(), path)), "%s", out);
	shell(&out, "tail -n 1 '%s'", path);
	end = json_loads(out, 0, NULL);
	cr_assert(eq(i64, trace_int(end, "calls"), 300001));
	cr_assert(eq(i64, trace_int(end, "ops"), 300000));
	cr_assert(zero(i64, trace_int(end, "dropped")));
	json_decref(end);
}

static void is_part_of_it(const char *words)
{
	json_t *rows = record("RIFT_TRACE_FOLD=0", words);
	const json_t *call = trace_row(rows, "call", "class", "launch");

	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 3));
	cr_assert(eq(i64, trace_ops_of(rows, "kernel"), 3));
	cr_assert(eq(str, (char *)traced_name(rows, call), "cudaLaunchKernel"));
	cr_assert(eq(i64, trace_int(trace_row(rows, "op", "kind", "kernel"), "call"),
		     trace_int(call, "id")));
	json_decref(rows);
}

Test(small_cupti, a_launch_within_a_launch_is_part_of_it)
{
	is_part_of_it("nested");
}

Test(small_cupti, of_two_launches_that_start_together_the_shorter_is_part_of_the_longer)
{
	is_part_of_it("together");
}

Test(small_cupti, launches_fold)
{
	json_t *rows = record("", "launches");

	cr_assert(eq(i64, trace_int(trace_row(rows, "fold", NULL, NULL), "times"), 100));
	json_decref(rows);
}

static void is_valid(void)
{
	const char *out;

	cr_assert(zero(int, shell(&out, "'%s' show --check '%s' 2>&1", rift(), path)), "%s", out);
}

/* The longest fold's threads and calls; how often it came. */
static int64_t folded(const json_t *rows, int threads, size_t period)
{
	int is;
	const json_t *fold = trace_longest_fold(rows, &is);

	cr_assert(eq(int, is, threads));
	cr_assert(eq(sz, json_array_size(json_object_get(fold, "body")), period));
	return trace_int(fold, "times");
}

/* The first turns are rows or folds of each thread: eight of them are looked at. */
Test(small_cupti, threads_that_take_turns_are_one_sequence)
{
	json_t *rows = record("", "turns");

	cr_assert(le(i64, 90, folded(rows, 2, 9)));
	json_decref(rows);
	is_valid();
}

Test(small_cupti, threads_that_take_no_turns_are_folded_apart)
{
	json_t *rows = record("", "mixed");

	cr_assert(lt(i64, 0, folded(rows, 1, 1)));
	json_decref(rows);
}

/* Both that were under way at once have the times that they had; folds are around them. */
Test(small_cupti, a_call_out_of_turn_is_a_row)
{
	json_t *rows = record("", "out_of_turn");
	const json_t *row, *before = NULL;
	size_t i, beside = 0;

	json_array_foreach(rows, i, row)
	{
		if (strcmp(text(row, "record"), "call") != 0)
			continue;
		beside += before && trace_int(row, "thread") != trace_int(before, "thread") &&
			  trace_int(row, "t0") == trace_int(before, "t1") - 900000;
		before = row;
	}
	cr_assert(eq(sz, beside, 1));
	cr_assert(lt(i64, 10, folded(rows, 2, 9)));
	json_decref(rows);
	is_valid();
}

/* What looked like turns was chance: then each thread folds by itself again. */
Test(small_cupti, threads_that_are_no_sequence_part)
{
	json_t *rows = record("", "bursts");

	cr_assert(lt(sz, json_array_size(rows), 30000), "of 88,000 calls");
	cr_assert(lt(i64, 0, folded(rows, 1, 40)));
	json_decref(rows);
	is_valid();
}

/* Device times are mapped to the host's clock, to about a microsecond. */
Test(small_cupti, no_operation_starts_before_its_call)
{
	json_t *rows = record("RIFT_TRACE_FOLD=0", "early");
	const json_t *op = trace_row(rows, "op", NULL, NULL);

	cr_assert(
		eq(i64, trace_int(op, "t0"), trace_int(trace_row(rows, "call", NULL, NULL), "t0")));
	json_decref(rows);
}

Test(small_cupti, ranges_are_marks_and_limits)
{
	json_t *rows = record("", "ranges");

	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 2));
	cr_assert(eq(str, (char *)traced_name(rows, trace_row(rows, "mark", "kind", "push")),
		     "outer"));
	trace_row(rows, "mark", "kind", "pop");
	json_decref(rows);
	unlink(path);
	rows = record("RIFT_TRACE_RANGE=outer", "ranges");
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 1));
	cr_assert(eq(i64, trace_ops_of(rows, "kernel"), 1));
	json_decref(rows);
}

Test(small_cupti, a_range_holds_a_launch_that_begins_with_it)
{
	json_t *rows = record("RIFT_TRACE_RANGE=outer", "edge");

	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 1));
	cr_assert(eq(i64, trace_ops_of(rows, "kernel"), 1));
	json_decref(rows);
}

static void hears(const char *variables, const char *words, const char *says)
{
	const char *out;

	unlink(path);
	cr_assert(zero(int, run(variables, words, &out)), "%s", out);
	cr_assert(strstr(out, says) != NULL, "%s, %s: %s", variables, words, out);
	cr_assert(eq(int, strstr(out, "finalized") != NULL, strstr(out, "heard 1") == NULL),
		  "%s: %s", variables, out);
}

/* CUPTI hears of ranges only if it is told where NVTX has its functions. It then stays until the
 * end. */
Test(small_cupti, a_first_range_is_passed_on)
{
	hears("STUB_CUPTI_SAYS=1", "range", "heard 1, passed on 1\n");
	hears("STUB_CUPTI_SAYS=1", "every", "finalized\n");
	hears("STUB_CUPTI_SAYS=1 STUB_CUPTI_NO_RANGES=1", "range", "heard 0, passed on 0\n");
	/* That one crashes. */
	hears("STUB_CUPTI_SAYS=1 STUB_CUPTI_VERSION=130000", "range", "heard 0, passed on 0\n");
}

Test(small_cupti, without_a_recording_ranges_are_left_alone)
{
	static const char *const variables[] = { "RIFT_TRACE=",
						 "RIFT_TRACE_CUPTI=/nowhere/libcupti.so",
						 "RIFT_TRACE_CUPTI=libdl.so.2" };
	const char *out;

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		cr_assert(zero(int, run(variables[i], "range", &out)), "%s", out);
		cr_assert(strstr(out, "heard 0, passed on 0\n") != NULL, "%s: %s", variables[i],
			  out);
	}
}

Test(small_cupti, what_is_captured_is_no_launch)
{
	json_t *rows = record("", "capture");

	cr_assert(zero(i64, trace_calls_of(rows, "launch")));
	cr_assert(eq(i64, trace_calls_of(rows, "other"), 3));
	json_decref(rows);
}

Test(small_cupti, what_was_lost_is_counted)
{
	json_t *rows = record("", "every lost");

	cr_assert(eq(i64, trace_int(trace_row(rows, "end", NULL, NULL), "dropped"), 4));
	json_decref(rows);
}

Test(small_cupti, who_is_killed_keeps_what_was_written)
{
	const char *out;
	json_t *rows;

	cr_assert(eq(int, run("", "launches every die", &out), 128 + SIGKILL), "%s", out);
	rows = traced_rows(path);
	trace_judge(rows);
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 100));
	cr_assert(eq(i64, trace_ops_of(rows, "kernel"), 100));
	cr_assert(zero(sz, trace_count(rows, "end", NULL, NULL)));
	json_decref(rows);
}

/* Two runs of a command that writes its environment, one of them recorded. */
static void preloads(const char *variables, const char *option, const char *env)
{
	static const char program[] =
		"sh -c 'echo $CUDA_INJECTION64_PATH $NVTX_INJECTION64_PATH >>env; "
		"[ -z \"$RIFT_TRACE\" ] || echo {} >\"$RIFT_TRACE\"'";
	const char *out;

	shell(&out,
	      "exec 2>&1; cd '%s'; unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH; "
	      "%s '%s' profile --runs 1 --recorder device %s --output '%s' -- %s",
	      folder, variables, rift(), option, path, program);
	shell(&out, "cd '%s'; sed 's,[^ :]*/,,g' env; rm -f env ./*.trace", folder);
	cr_expect(eq(str, (char *)out, (char *)env), "%s %s: %s", variables, option, out);
}

/* Driver and NVTX are told one library, in the recorded run alone, NVTX where ranges are asked for;
 * another's ranges stay his. */
Test(small_cupti, who_is_told_of_the_recorder_of_the_device)
{
	preloads("", "", "cupti.so\n\n");
	preloads("", "--range=@profiler", "cupti.so\n\n");
	preloads("", "--ranges", "cupti.so cupti.so\n\n");
	preloads("", "--range=step", "cupti.so cupti.so\n\n");
	preloads("NVTX_INJECTION64_PATH=/mine", "--ranges", "cupti.so mine\nmine\n");
}

/* ---- the calibration --------------------------------------------------------------------- */

/* The stub's times: a pace of 2,000 ns, kernels of 600, 400 between calls, 300 more recorded. */
Test(small_cupti, what_costs_are_with_cupti_and_without)
{
	json_t *rows = record("", "every");
	const json_t *h = json_array_get(rows, 0), *c = json_object_get(h, "calibration");
	const json_t *r = json_object_get(c, "recorder");

	cr_assert(eq(str, (char *)text(h, "device"), "stub GPU 0"));
	cr_assert(eq(i64, trace_int(json_object_get(h, "cuda"), "driver"), 13000));
	cr_assert(eq(i64, trace_int(c, "n"), 1000));
	cr_assert(
		eq(i64, json_integer_value(json_array_get(json_object_get(c, "gap_ns"), 1)), 1400));
	cr_assert(eq(i64, trace_int(r, "kernel_ns"), 600));
	cr_assert(eq(i64, trace_int(r, "pace_ns"), 300));
	cr_assert(eq(i64, trace_int(r, "call_ns"), 400));
	cr_assert(eq(i64, trace_int(r, "copy_pace_ns"), 2100));
	/* The stub's call spins for 1,000 ns. */
	cr_assert(le(i64, 900, trace_int(r, "not_recorded_ns")));
	/* None of its kernels is in the trace. */
	cr_assert(zero(sz, trace_count(rows, "string", "text", "rift_calibration")));
	json_decref(rows);
}

Test(small_cupti, the_calibration_is_made_once_and_cleaned_up)
{
	const char *out;

	cr_assert(zero(int, run("", "first first count", &out)));
	/* A row to warm up, ten rows and 50 waits, graphs of 1 and 65 nodes, a hundred between
	 * other calls; then ten rows recorded and another hundred. */
	cr_assert(eq(str, (char *)out, "launches 2416 live 0\n"));
}

Test(small_cupti, launches_of_graphs_are_calibrated_where_there_are_graphs)
{
	json_t *rows = record("", "every"), *without;
	const json_t *c = json_object_get(json_array_get(rows, 0), "calibration");

	cr_assert(eq(sz, json_array_size(json_object_get(c, "graph_launch_ns")), 2));
	cr_assert(zero(int, unlink(path)));
	without = record("STUB_CUPTI_NO_GRAPHS=1", "every");
	c = json_object_get(json_array_get(without, 0), "calibration");
	cr_assert(zero(ptr, json_object_get(c, "graph_launch_ns")));
	cr_assert(eq(i64, trace_int(c, "n"), 1000));
	json_decref(rows);
	json_decref(without);
}

Test(small_cupti, copies_are_calibrated_where_memory_can_be_pinned)
{
	json_t *rows = record("STUB_CUPTI_NO_PINNED=1", "every");
	const json_t *c = json_object_get(json_array_get(rows, 0), "calibration");
	const json_t *r = json_object_get(c, "recorder");

	cr_assert(zero(ptr, json_object_get(r, "copy_pace_ns")));
	cr_assert(eq(i64, trace_int(r, "pace_ns"), 300));
	json_decref(rows);
}

/* CUPTI numbers each call, those too that it gives no record. */
Test(small_cupti, calls_without_a_record_are_counted)
{
	json_t *rows = record("RIFT_TRACE_FOLD=0", "asks");
	const json_t *row;
	size_t i;
	int64_t n = 0;

	json_array_foreach(rows, i, row) n += trace_int(row, "not_recorded");
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 30));
	cr_assert(eq(i64, n, 29 * 6));
	json_decref(rows);
	unlink(path);
	rows = record("", "asks");
	row = trace_row(rows, "fold", NULL, NULL);
	cr_assert(eq(i64, trace_int(row, "times"), 30));
	row = json_array_get(json_object_get(row, "body"), 0);
	cr_assert(eq(i64, trace_int(row, "not_recorded"), 29 * 6));
	json_decref(rows);
}

Test(small_cupti, without_a_calibration_it_is_recorded_all_the_same)
{
	json_t *rows = record("STUB_CUPTI_NO_MODULE=1", "launches");

	cr_assert(
		zero(int, json_is_object(json_object_get(json_array_get(rows, 0), "calibration"))));
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 100));
	json_decref(rows);
}

/* A call that leaves no context behind, as cudaGetDeviceCount() may: not yet. */
Test(small_cupti, it_begins_with_a_context)
{
	const char *out;

	cr_assert(zero(int, run("STUB_CUPTI_NO_CONTEXT=1", "count", &out)));
	cr_assert(eq(str, (char *)out, "launches 0 live 0\n"));
	cr_assert(ne(int, access(path, F_OK), 0));
}

/* ---- which calls CUPTI records ------------------------------------------------------------ */

static const struct {
	char domain; /* D: the driver's */
	int number;
} calls[] = {
#define CUPTI_CALL(domain, number, class, name, cuptis) { #domain[0], number },
#include "common/recorder/cupti/calls.h"
#undef CUPTI_CALL
};

/* Those that a trace has, and number 0, which is none. */
Test(small_cupti, calls_that_a_trace_has_are_chosen)
{
	char want[64];
	const char *out;
	int n[2] = { 1, 1 };

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		n[calls[i].domain == 'D']++;
	snprintf(want, sizeof(want), "recorded %d and %d, heard 0\n", n[0], n[1]);
	cr_assert(zero(int, run("", "recorded", &out)));
	cr_expect(eq(str, (char *)out, want));
}

/* ---- where CUPTI is ------------------------------------------------------------------------ */

/* Only there, under that name. */
static void is_found_at(const char *place, const char *variables)
{
	char all[9000], stub[4096];

	snprintf(stub, sizeof(stub), "%s", beside_tests("recorder/cupti.so"));
	shell(NULL, "cd '%s' && mkdir -p \"$(dirname '%s')\" && ln -s '%s' '%s'", folder, place,
	      stub, place);
	snprintf(all, sizeof(all), "env -u RIFT_TRACE_CUPTI %s", variables);
	json_decref(record(all, "every"));
	shell(NULL, "cd '%s' && rm '%s' a.trace", folder, place);
}

/* Files that are no libraries keep those of the system from being found. */
Test(small_cupti, where_it_is_looked_for)
{
	char names[4200], home[9000];
	const char *out;

	snprintf(names, sizeof(names), "LD_LIBRARY_PATH='%s/names'", folder);
	is_found_at("names/libcupti.so.13", names);
	is_found_at("names/libcupti.so.12", names);
	is_found_at("names/libcupti.so", names);
	shell(NULL, "cd '%s/names' && touch libcupti.so.13 libcupti.so.12 libcupti.so", folder);
	snprintf(home, sizeof(home), "%s CUDA_HOME='%s'", names, folder);
	is_found_at("extras/CUPTI/lib64/libcupti.so.13", home);
	is_found_at("extras/CUPTI/lib64/libcupti.so", home);
	is_found_at("lib64/libcupti.so.12", home);
	/* What comes of it depends on the machine; the program runs. */
	snprintf(home, sizeof(home), "%s RIFT_TRACE_CUPTI= CUDA_HOME=/nowhere", names);
	cr_expect(zero(int, run(home, "print", &out)), "%s", out);
	cr_expect(tells(out, "printed"), "%s", out);
}

/* A call of the runtime that has returned, or a launch by the driver's function. */
Test(small_cupti, the_call_that_it_begins_with)
{
	const char *out;

	begins = "none";
	cr_assert(zero(int, run("", "count", &out)));
	cr_expect(eq(str, (char *)out, (char *)"launches 0 live 0\n"));
	cr_assert(zero(int, run("", "launch count", &out)));
	cr_expect(eq(str, (char *)out, (char *)"launches 2416 live 0\n"));
}

/* ---- what is refused: the program runs all the same ------------------------------------- */

static void refuses(const char *variables, const char *says)
{
	const char *out;

	cr_assert(zero(int, run(variables, "print", &out)), "%s", out);
	cr_assert(strstr(out, says) != NULL, "%s", out);
	cr_assert(strstr(out, "printed") != NULL, "%s", out);
}

Test(small_cupti, what_cannot_be_recorded_runs_unrecorded)
{
	refuses("RIFT_TRACE_CUPTI=/nowhere/libcupti.so", "/nowhere/libcupti.so");
	refuses("RIFT_TRACE_CUPTI=libdl.so.2", "it lacks: cuptiGetVersion");
	refuses("STUB_CUPTI_VERSION=21", "too old: it must be of CUDA 12.4");
	cr_assert(ne(int, access(path, F_OK), 0));
}

Test(small_cupti, a_kind_that_is_refused)
{
	refuses("STUB_CUPTI_REFUSES=10", "cuptiActivityEnable(10): CUPTI error 15: NOT_COMPATIBLE");
}

Test(small_cupti, another_profiler)
{
	refuses("STUB_CUPTI_REFUSES=10 STUB_CUPTI_WHY=39", "another profiler is active");
	refuses("STUB_CUPTI_OTHER=1", "another profiler is active");
	cr_assert(ne(int, access(path, F_OK), 0));
}

Test(small_cupti, a_file_that_is_there)
{
	const char *out;

	shell(NULL, "echo mine >'%s'", path);
	refuses("", "a.trace");
	shell(&out, "cat '%s'", path);
	cr_assert(eq(str, (char *)out, "mine\n"));
}

Test(small_cupti, without_a_path_nothing_is_done)
{
	const char *out;

	cr_assert(zero(int, run("RIFT_TRACE=", "print", &out)));
	cr_assert(eq(str, (char *)out, "printed\n"));
	cr_assert(zero(int, run("env -u RIFT_TRACE", "print", &out)));
	cr_assert(eq(str, (char *)out, "printed\n"));
}
