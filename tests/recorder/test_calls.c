/*
 * test_calls.c - the recorder that is preloaded: calls and host times of the shared runtime, and
 * what `rift profile --recorder` makes of them. Programs are tests/cpu/traced.cu, rift itself, and
 * one whose runtime is of stubs.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <cuda_runtime_api.h>

#include "common/recorder/buffers.h"
#include "harness/base/json.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/golden.h"
#include "tests/traces.h"

TEST_FOLDER(folder);
static char path[4096];

static void prepare(void)
{
	let_sanitizer_come_second();
	make_folder();
	snprintf(path, sizeof(path), "%s/a.trace", folder);
	unsetenv("CUDA_INJECTION64_PATH");
}

TestSuite(small_calls, .timeout = 200, .init = prepare, .fini = remove_folder);

static const char *text(const json_t *row, const char *key)
{
	const char *is = json_string_value(json_object_get(row, key));

	return is ? is : "";
}

static const json_t *header(const json_t *rows)
{
	return json_array_get(rows, 0);
}

/* `rift profile`, with options, of a command; its exit code. */
static int profile(const char **out, const char *variables, const char *options,
		   const char *command)
{
	return shell(out, "exec 2>&1; cd '%s'; %s '%s' profile %s --output '%s' -- %s", folder,
		     variables, rift(), options, path, command);
}

/* ---- a program that has stubs for a runtime, and no recorder ------------------------------- */

/* The stubs are its runtime in all runs; the command, as the shell has it. */
static const char *stubbed(void)
{
	static char command[9000];
	char stubs[4096];

	snprintf(stubs, sizeof(stubs), "%s", beside_tests("layers/stubs.so"));
	snprintf(command, sizeof(command),
		 "'%s' calls cudaLaunchKernel=40 cudaMalloc=3 cudaDeviceSynchronize=5 "
		 "cudaGetDevice=7",
		 beside_tests("layers/caller"));
	setenv("LD_PRELOAD_OF_TEST", stubs, 1);
	return command;
}

#define STUBS "LD_PRELOAD=\"$LD_PRELOAD_OF_TEST\""

Test(small_calls, where_the_device_is_not_seen_calls_are)
{
	const char *out;
	json_t *rows;

	cr_assert(zero(int, profile(&out, STUBS, "--runs 1", stubbed())), "%s", out);
	cr_assert(ne(ptr,
		     strstr(out, "recorded without times of the device: these are not available"),
		     NULL),
		  "%s", out);
	rows = traced_rows(path);
	cr_assert(eq(str, (char *)text(header(rows), "recorder"), "calls"));
	cr_assert(eq(str, (char *)text(header(rows), "device_times"), "none"));
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 40));
	cr_assert(eq(i64, trace_calls_of(rows, "alloc"), 3));
	cr_assert(eq(i64, trace_calls_of(rows, "sync_device"), 5));
	/* The others are not seen at all. */
	cr_assert(eq(i64, trace_calls_of(rows, ""), 48));
	json_decref(rows);
}

/* What it adds to a call, by the calls of the program. */
Test(small_calls, what_it_adds_is_known)
{
	const char *out;
	json_t *rows;
	int64_t ns;

	cr_assert(zero(int, profile(&out, STUBS, "--runs 0 --recorder calls", stubbed())), "%s",
		  out);
	rows = traced_rows(path);
	ns = trace_int(trace_row(rows, "end", NULL, NULL), "call_ns");
	cr_expect(lt(i64, 0, ns), "%ld ns", (long)ns);
	cr_expect(lt(i64, ns, 1000000), "%ld ns", (long)ns);
	cr_expect(
		eq(ptr, (void *)json_object_get(header(rows), "calibration"), (void *)json_null()));
	cr_expect(tells(out, "no calibration"), "%s", out);
	json_decref(rows);
}

/* The first call opens files, and the fourth waited. */
Test(small_calls, what_waits_is_not_what_recording_adds)
{
	static const int64_t ns[] = { 5000000, 200, 300, 100000, 400 };
	struct buffer *b = buffer_own();

	cr_assert(zero(i64, buffers_added_ns()), "not measured");
	for (size_t i = 0; i < sizeof(ns) / sizeof(*ns); i++)
		buffer_add_ns(b, ns[i]);
	cr_expect(eq(i64, buffers_added_ns(), 300));
}

/* As CUPTI's recorder has it: which symbol a program's compiler chose is no name of a function. */
Test(small_calls, variants_have_one_name)
{
	const char *out;
	char command[9000];
	json_t *rows;

	stubbed();
	snprintf(command, sizeof(command),
		 "'%s' calls cudaLaunchKernel=1 __cudaLaunchKernel=2 cudaLaunchKernel_ptsz=4",
		 beside_tests("layers/caller"));
	cr_assert(zero(int, profile(&out, STUBS, "--runs 0 --recorder calls", command)), "%s", out);
	rows = traced_rows(path);
	cr_expect(eq(i64, trace_calls_of(rows, "launch"), 7));
	cr_expect(eq(sz, trace_count(rows, "string", "text", "cudaLaunchKernel"), 1));
	cr_expect(eq(sz, trace_count(rows, "string", NULL, NULL), 1));
	json_decref(rows);
}

/* The rows of `caller` with such words, recorded. */
static json_t *record_caller(const char *words, const char *options)
{
	char command[9000];
	const char *out;

	stubbed();
	snprintf(command, sizeof(command), "'%s' %s", beside_tests("layers/caller"), words);
	cr_assert(zero(int, profile(&out, STUBS, options, command)), "%s", out);
	return traced_rows(path);
}

/* The name of the kernel of the i-th launch; "" for none. */
static const char *kernel_of(const json_t *rows, size_t i)
{
	const json_t *row, *string;
	int64_t id = 0;

	for (size_t k = 0; k < json_array_size(rows); k++) {
		row = json_array_get(rows, k);
		if (!strcmp(text(row, "class"), "launch") && !i--)
			id = trace_int(row, "kernel");
	}
	for (size_t k = 0; k < json_array_size(rows) && id; k++) {
		string = json_array_get(rows, k);
		if (!strcmp(text(string, "record"), "string") && trace_int(string, "id") == id)
			return text(string, "text");
	}
	return "";
}

/* By their functions and handles, with names that CUPTI has, too. */
Test(small_calls, launches_have_their_kernels)
{
	json_t *rows = record_caller("kernels", "--runs 0 --recorder calls");
	const char *out;

	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 4));
	cr_expect(eq(str, (char *)kernel_of(rows, 0), "_Z5firstv"));
	cr_expect(eq(str, (char *)kernel_of(rows, 1), "_Z5firstv"));
	cr_expect(eq(str, (char *)kernel_of(rows, 2), "_Z6secondv"));
	cr_expect(eq(str, (char *)kernel_of(rows, 3), ""), "nobody has registered it");
	json_decref(rows);
	cr_expect(zero(int, shell(&out, "'%s' show --check '%s'", rift(), path)), "%s", out);
	unlink(path);
	rows = record_caller("kernels", "--runs 0 --recorder calls --anonymous");
	cr_expect(ne(str, (char *)kernel_of(rows, 0), "_Z5firstv"));
	cr_expect(ne(str, (char *)kernel_of(rows, 0), ""));
	json_decref(rows);
}

/* A number becomes #. */
static void mask(char *text, const char *key)
{
	for (char *at = text; (at = strstr(at, key));) {
		size_t n = strspn(at += strlen(key), "-0123456789");

		memmove(at + 1, at + n, strlen(at + n) + 1);
		*at = '#';
	}
}

/*
 * All that is told of calls, but for their times, in tests/golden/outputs/calls-handles.txt. On a
 * slow processor some gap is long enough for its processor time to be told.
 */
Test(small_calls, streams_events_and_graphs_have_numbers)
{
	static const char *const keys[] = { "\"t\":", "\"t0\":", "\"t1\":", "\"tid\":",
					    "\"call_ns\":" };
	static char got[1 << 16];
	const char *out;

	setenv("RIFT_TRACE_FOLD", "0", 1);
	json_decref(record_caller("handles", "--runs 0 --recorder calls"));
	shell(&out, "sed -n 's/,\"cpu_ns\":[0-9]*//; 2,/\"end\"/p' '%s'", path);
	snprintf(got, sizeof(got), "%s", out);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		mask(got, keys[i]);
	golden_text("calls-handles", got);
}

/* Each thread has a buffer of its own: merged, they are one sequence. */
Test(small_calls, threads_in_turns_are_one_fold)
{
	json_t *rows = record_caller("turns 200", "--runs 0 --recorder calls");
	const json_t *fold;
	int threads = 0;

	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 1600));
	trace_judge(rows);
	fold = trace_longest_fold(rows, &threads);
	cr_assert(ne(ptr, (void *)fold, NULL));
	cr_expect(eq(int, threads, 2));
	/* or a longer one, as times ask for */
	cr_expect(zero(sz, json_array_size(json_object_get(fold, "body")) % 8));
	json_decref(rows);
}

Test(small_calls, who_wants_times_of_the_device_gets_no_less)
{
	const char *out;

	cr_assert(eq(int, profile(&out, STUBS, "--runs 0 --recorder device", stubbed()), 3));
	cr_assert(ne(ptr, strstr(out, "wrote no trace"), NULL), "%s", out);
	cr_assert(ne(int, access(path, F_OK), 0));
}

/* Ranges would be needed, which it does not have: an empty trace would be no answer. */
Test(small_calls, ranges_are_not_seen)
{
	const char *out;

	cr_assert(eq(int, profile(&out, STUBS, "--runs 0 --range step", stubbed()), 3), "%s", out);
	cr_assert(eq(int, profile(&out, STUBS, "--recorder calls --range step", stubbed()), 3));
	cr_assert(ne(ptr, strstr(out, "sees no NVTX ranges"), NULL), "%s", out);
}

Test(small_calls, beside_another_profiler)
{
	static const char other[] = "CUDA_INJECTION64_PATH=/nowhere/libprofiler.so " STUBS;
	const char *out;

	cr_assert(eq(int, profile(&out, other, "--runs 0 --recorder device", stubbed()), 3));
	cr_assert(ne(ptr, strstr(out, "--recorder calls works next to it"), NULL), "%s", out);
	cr_assert(zero(int, profile(&out, other, "--runs 0", stubbed())), "%s", out);
	cr_assert(ne(ptr, strstr(out, "another profiler is already loaded"), NULL), "%s", out);
}

/* Theirs stays in all runs, and stands behind the recorder. The program tells what it was given. */
Test(small_calls, what_others_preload_and_inject_stays)
{
	static const char program[] =
		"sh -c 'echo $CUDA_INJECTION64_PATH $LD_PRELOAD $RIFT_TRACE_RECORDER >>env; "
		"[ -z \"$RIFT_TRACE\" ] || echo {} >\"$RIFT_TRACE\"'";
	const char *out;

	stubbed();
	profile(&out, "CUDA_INJECTION64_PATH=/mine " STUBS, "--runs 1 --recorder calls", program);
	shell(&out, "sed 's,[^ :]*/,,g' '%s/env'", folder);
	cr_assert(eq(str, (char *)out, "mine calls.so:ends.so:stubs.so calls\nmine stubs.so\n"),
		  "%s", out);
}

/* As Python's ctypes asks it. */
Test(small_calls, a_runtime_that_is_asked_for_its_functions)
{
	char command[9000];
	const char *out;
	json_t *rows;

	need_device();
	snprintf(command, sizeof(command),
		 "'%s' ask \"$(ls \"$(dirname '%s')\"/libcudart.so.1? | tail -n 1)\" 7",
		 beside_tests("layers/caller"), rift());
	cr_assert(
		zero(int, profile(&out, "RIFT_TRACE_FOLD=0", "--runs 0 --recorder calls", command)),
		"%s", out);
	rows = traced_rows(path);
	cr_expect(eq(i64, trace_calls_of(rows, "other"), 7));
	json_decref(rows);
}

Test(small_calls, a_program_without_a_shared_runtime)
{
	const char *out;

	cr_assert(eq(int, profile(&out, "", "--runs 0 --recorder calls", "true"), 3));
	cr_assert(ne(ptr, strstr(out, "shared CUDA runtime; a runtime that is linked in"), NULL),
		  "%s", out);
	cr_assert(eq(int, is_one_complaint(out), 1), "%s", out);
}

#ifdef RIFT_CPU_DEVICE

static json_t *record(const char *words)
{
	char command[4200];
	const char *out;
	json_t *rows;

	snprintf(command, sizeof(command), "'%s' %s", beside_tests("cpu/traced"), words);
	cr_assert(
		zero(int, profile(&out, "RIFT_TRACE_FOLD=0", "--runs 0 --recorder calls", command)),
		"%s", out);
	rows = traced_rows(path);
	trace_judge(rows);
	cr_assert(eq(str, (char *)text(header(rows), "recorder"), "calls"));
	return rows;
}

/* ---- what calls tell ----------------------------------------------------------------------- */

Test(small_calls, each_class_with_what_it_is_about)
{
	json_t *rows = record("every");
	const json_t *row = trace_row(rows, "call", "class", "alloc");

	cr_assert(eq(i64, trace_int(row, "bytes"), 4096));
	cr_assert(eq(str, (char *)text(row, "memory"), "device"));
	cr_assert(eq(str, (char *)traced_name(rows, row), "cudaMalloc"));
	row = trace_row(rows, "call", "class", "memset");
	cr_assert(eq(i64, trace_int(row, "bytes"), 100));
	cr_assert(eq(i64, trace_int(row, "stream"), 1));
	row = trace_row(rows, "stream", NULL, NULL);
	cr_assert(eq(str, (char *)text(row, "kind"), "non-blocking"));
	cr_assert(eq(i64, trace_int(row, "priority"), -1));
	row = trace_row(rows, "call", "class", "copy");
	cr_assert(eq(i64, trace_int(row, "bytes"), 200));
	cr_assert(eq(int, json_is_true(json_object_get(row, "async")), 1));
	trace_row(rows, "stream", "kind", "legacy"); /* of cudaMemcpy */
	cr_assert(eq(i64, trace_calls_of(rows, "copy"), 4));
	cr_assert(eq(i64, trace_calls_of(rows, "hostfunc"), 1));
	cr_assert(eq(i64, trace_calls_of(rows, "sync_stream"), 1));
	cr_assert(eq(i64, trace_calls_of(rows, "query"), 1));
	cr_assert(eq(i64, trace_calls_of(rows, "free"), 2));
	cr_assert(zero(sz, trace_count(rows, "op", NULL, NULL)));
	json_decref(rows);
}

Test(small_calls, waits_are_for_the_last_record_of_an_event)
{
	json_t *rows = record("periods"), *calls = trace_calls(rows, 0);
	const json_t *call;
	int64_t last = 0;
	size_t i;

	json_array_foreach(calls, i, call)
	{
		if (!strcmp(text(call, "class"), "record"))
			cr_assert(eq(i64, trace_int(call, "recording"), ++last));
		if (!strcmp(text(call, "class"), "wait_event"))
			cr_assert(eq(i64, trace_int(call, "recording"), last));
	}
	cr_assert(eq(i64, last, 200));
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 600));
	json_decref(calls);
	json_decref(rows);
}

Test(small_calls, what_is_captured_is_no_launch)
{
	json_t *rows = record("graph");
	const json_t *nodes;

	cr_assert(zero(i64, trace_calls_of(rows, "launch")));
	cr_assert(zero(i64, trace_calls_of(rows, "memset")));
	cr_assert(eq(i64, trace_calls_of(rows, "graph_launch"), 5));
	cr_assert(eq(i64, trace_int(trace_row(rows, "call", "class", "graph_launch"), "graph"), 1));
	nodes = json_object_get(trace_row(rows, "graph", NULL, NULL), "nodes");
	cr_assert(eq(ptr, (void *)nodes, (void *)json_null()), "nobody has said how many");
	json_decref(rows);
}

Test(small_calls, threads_and_children)
{
	json_t *rows = record("threads");
	const char *out;

	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 2000));
	cr_assert(eq(sz, trace_count(rows, "thread", NULL, NULL), 5));
	json_decref(rows);
	unlink(path);
	rows = record("ten exec");
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 10));
	json_decref(rows);
	shell(&out, "cat '%s'.[0-9]* | grep -c '\"record\":\"trace\".*\"recorder\":\"calls\"'",
	      path);
	cr_assert(eq(str, (char *)out, "1\n"));
}

Test(small_calls, the_profiler_s_calls_pause_it)
{
	json_t *rows = record("profiler");

	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 20));
	trace_row(rows, "mark", "kind", "stop");
	json_decref(rows);
}

/* Folders are the program's own business. */
Test(small_calls, a_program_that_goes_elsewhere)
{
	json_t *rows = record("elsewhere ten");

	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 10));
	json_decref(rows);
}

/* Arguments on the stack too: each of these checks its results. */
Test(small_calls, calls_pass_as_they_were_made)
{
	static const char *const runs[] = { "launch args=256 --samples 2 --depth 8",
					    "transfer --samples 2 --depth 2",
					    "graph length=10 --samples 2",
					    "stereo width=160 --samples 1 --depth 1" };
	char command[4400];
	const char *out;

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		snprintf(command, sizeof(command), "'%s' run %s --quiet", rift(), runs[i]);
		cr_assert(
			zero(int, profile(&out, "", "--runs 0 --recorder calls --quiet", command)),
			"%s: %s", runs[i], out);
		cr_assert(ne(ptr, strstr(out, "passed"), NULL), "%s: %s", runs[i], out);
		unlink(path);
	}
}

/* ---- what is made of it ---------------------------------------------------------------------- */

Test(small_calls, shares_of_the_device_are_unknown)
{
	json_t *rows = record("ten");
	const json_t *o, *shares;

	json_decref(rows);
	o = rift_json("profile '%s' --json --quiet", path);
	shares = json_object_get(o, "shares");
	cr_assert(eq(int, json_is_null(json_object_get(o, "verdict")), 1));
	cr_assert(eq(int,
		     json_is_null(json_object_get(json_object_get(shares, "kernels"), "share")),
		     1));
	cr_assert(lt(dbl, 0, json_get_number(json_object_get(shares, "sync"), "share")));
	/* No copy was asked for: no rule can be met. */
	for (size_t i = 0; i < json_array_size(json_object_get(o, "may_be")); i++)
		cr_assert(ne(
			str,
			(char *)json_string_value(json_array_get(json_object_get(o, "may_be"), i)),
			"transfer-bound"));
	cr_assert(lt(sz, 0, json_array_size(json_object_get(o, "may_be"))));
}

Test(small_calls, it_has_no_price)
{
	json_t *rows = record("ten");
	const char *out;

	json_decref(rows);
	cr_assert(eq(int,
		     run_rift(ERR, &out, "predict '%s' --on data/sessions/h200-launch.jsonl", path),
		     3));
	cr_assert(ne(ptr, strstr(out, "the trace has no times of the device"), NULL), "%s", out);
	cr_assert(zero(int, run_rift(OUT, &out, "show --check '%s'", path)), "%s", out);
}

/* The client of a remoting layer is no place for CUPTI. */
Test(small_calls, under_the_layer_remote)
{
	const char *out;
	json_t *rows;

	cr_assert(zero(int, shell(&out,
				  "exec 2>&1; '%s' layer remote -- '%s' profile --recorder calls "
				  "--runs 0 --output '%s' -- '%s' run launch us=0 --samples 2 "
				  "--depth 8",
				  rift(), rift(), path, rift())),
		  "%s", out);
	cr_assert(eq(ptr, strstr(out, "refused"), NULL), "%s", out);
	rows = traced_rows(path);
	cr_assert(lt(i64, 16, trace_calls_of(rows, "launch")));
	json_decref(rows);
}

#endif
