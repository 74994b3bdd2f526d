/*
 * test_refusal.c - common/refusal.h: what a platform lacks is a finding, a bug still aborts; and
 * what run, probe, sweep and doctor make of it. tests/enemy/refusals.sh has every call.
 */
/* sanitizers: races seen elsewhere */
#include "tests/test.h"
#include "common/refusal.h"
#include "common/cuda_check.h"
#include "tests/cli.h"
#include "tests/on_cpu.h"
#include "tests/wrapped.h"

#include <signal.h>

TestSuite(small_refusal, .timeout = 300);
TestSuite(large_refusal, .timeout = 300);

Test(small_refusal, which_errors_of_which_calls)
{
	static const struct {
		const char *call;
		cudaError_t error;
		int is;
	} rows[] = {
		{ "cudaGraphLaunch(a, b)", cudaErrorNotSupported, 1 },
		{ "cudaGraphNodeGetDependencies(node, NULL, &n)", cudaErrorUnknown, 1 },
		{ "cudaStreamBeginCapture(s, m)", cudaErrorNotPermitted, 1 },
		{ "cudaHostAlloc(p, n, 0)", cudaErrorOperatingSystem, 1 },
		{ "cudaMallocAsync(p, n, s)", cudaErrorSymbolNotFound, 1 },
		{ "cudaMallocManaged(p, n, f)", cudaErrorSystemDriverMismatch, 1 },
		{ "cudaEventRecord(e, s)", cudaErrorNotSupported, 1 },
		{ "cudaGraphNodeGetDependencies(n)", cudaErrorInitializationError, 1 },
		{ "cudaMalloc(p, n)", cudaErrorInitializationError, 0 },
		{ "cudaMemPoolTrimTo(p, 0)", cudaErrorNotSupported, 1 },
		/* a launch while a stream is captured */
		{ "LAUNCH(k, 1, 1, 0, s)", cudaErrorStreamCaptureUnsupported, 1 },
		{ "cudaMemcpyAsync(a, b, n, k, s)", cudaErrorStreamCaptureInvalidated, 1 },
		/* bugs */
		{ "cudaGraphLaunch(a, b)", cudaErrorInvalidValue, 0 },
		{ "cudaGraphLaunch(a, b)", cudaErrorIllegalAddress, 0 },
		{ "cudaEventRecord(e, s)", cudaErrorInvalidResourceHandle, 0 },
		{ "cudaMalloc(p, n)", cudaErrorStreamCaptureUnsupported, 0 },
		{ "cudaStreamSynchronize(s)", cudaErrorStreamCaptureUnsupported, 0 },
		/* what every platform has */
		{ "cudaLaunchKernel(f, g, b, a, 0, s)", cudaErrorUnknown, 0 },
		{ "cudaMemcpy(graph, event, n, k)", cudaErrorNotSupported, 0 },
		{ "cudaMemcpyAsync(a, b, n, k, s)", cudaErrorNotSupported, 0 },
		{ "cudaMalloc(p, n)", cudaErrorNotSupported, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_assert(eq(int, refusal_is(rows[i].call, rows[i].error), rows[i].is), "%s: %s",
			  rows[i].call, cudaGetErrorName(rows[i].error));
}

static cudaError_t cudaGraphFails(cudaError_t error)
{
	return error;
}

/* 7, or what CUDA() makes of the error. */
static int returns_seven(void *error)
{
	CUDA(cudaGraphFails(*(cudaError_t *)error));
	return 7;
}

static int passes_on(void *error)
{
	struct refusal r;

	if (refusal_catch(returns_seven, error, &r) == -ENOSYS)
		refusal_pass_on(&r);
	return 8;
}

Test(small_refusal, the_innermost_catches_and_can_pass_on)
{
	cudaError_t fine = cudaSuccess, refused = cudaErrorNotSupported;
	struct refusal r = { .call = "" };
	char text[REFUSAL_TEXT];

	cr_assert(eq(int, refusal_catch(returns_seven, &fine, &r), 7), "comes back");
	cr_assert(eq(str, r.call, ""), "nothing was refused");
	cr_assert(eq(int, refusal_catch(returns_seven, &refused, &r), -ENOSYS), "refused");
	cr_assert(eq(str, r.call, "cudaGraphFails"), "%s", r.call);
	cr_assert(eq(str, r.error, "cudaErrorNotSupported"), "%s", r.error);
	cr_assert(ne(ptr, strstr(r.place, "test_refusal.c:"), NULL), "%s", r.place);
	refusal_text(&r, text);
	cr_assert(ne(ptr, strstr(text, "not supported here"), NULL), "%s", text);
	r = (struct refusal){ .call = "" };
	cr_assert(eq(int, refusal_catch(passes_on, &refused, &r), -ENOSYS), "through two");
	cr_assert(eq(str, r.call, "cudaGraphFails"), "%s", r.call);
	cr_assert(eq(int, refusal_catch(passes_on, &fine, &r), 8), "and comes back");
}

Test(small_refusal, nobody_catches, .signal = SIGABRT)
{
	cudaError_t refused = cudaErrorNotSupported;

	returns_seven(&refused);
}

Test(small_refusal, a_bug_is_not_caught, .signal = SIGABRT)
{
	cudaError_t bug = cudaErrorInvalidValue;
	struct refusal r;

	refusal_catch(returns_seven, &bug, &r);
}

static cudaError_t cudaFreeFails(cudaError_t error)
{
	return error;
}

static int frees(void *error)
{
	CUDA(cudaFreeFails(*(cudaError_t *)error));
	return 7;
}

static void frees_to_give_back(void *error)
{
	frees(error);
}

/* No capture allows it; only while things are given back that is nobody's mistake. */
Test(small_refusal, a_capture_refuses_frees_only_while_giving_back)
{
	cudaError_t first = cudaErrorStreamCaptureUnsupported;
	cudaError_t last = cudaErrorStreamCaptureWrongThread;

	refusal_ignore(frees_to_give_back, &first);
	refusal_ignore(frees_to_give_back, &last);
}

Test(small_refusal, a_free_during_a_capture_is_a_bug, .signal = SIGABRT)
{
	cudaError_t error = cudaErrorStreamCaptureUnsupported;
	struct refusal r;

	refusal_catch(frees, &error, &r);
}

Test(small_refusal, giving_back_hides_no_bug, .signal = SIGABRT)
{
	cudaError_t error = cudaErrorInvalidValue;

	refusal_ignore(frees_to_give_back, &error);
}

Test(small_refusal, nobody_is_left_to_pass_on_to, .signal = SIGABRT)
{
	struct refusal r = { .call = "cudaGraphFails" };

	refusal_pass_on(&r);
}

/* ---- through the commands, on the CPU device ------------------------------------------------ */

static int run_with(const char *fail, const char **text, const char *args)
{
	return shell(text, "RIFT_CPU_FAIL=%s '%s' %s 2>&1", fail, rift(), args);
}

static void only_on_the_cpu_device(void)
{
	if (!ON_CPU)
		cr_skip("the CPU device is told which calls fail");
}

Test(small_refusal, a_run_in_streams_does_without_graphs)
{
	const char *text;

	only_on_the_cpu_device();
	cr_assert(zero(int, run_with("cudaStreamBeginCapture=cudaErrorNotSupported", &text,
				     "run launch us=0 --depth 8 --samples 3")),
		  "%s", text);
	cr_assert(eq(int,
		     run_with("cudaStreamBeginCapture=cudaErrorNotSupported", &text,
			      "run launch us=0 --mode graph --depth 8 --samples 3"),
		     2),
		  "%s", text);
	cr_assert(ne(ptr,
		     strstr(text, ": cudaStreamBeginCapture: "
				  "cudaErrorNotSupported"),
		     NULL),
		  "%s", text);
}

/* What is captured in a set-up only to be counted stays unknown. */
Test(small_refusal, a_set_up_does_without_capture)
{
	const char *text;

	only_on_the_cpu_device();
	cr_assert(zero(int, run_with("cudaStreamBeginCapture=cudaErrorNotSupported", &text,
				     "run mlp batch=4 hidden=16 images=64 --check-steps 4 "
				     "--depth 1 --samples 1 --verbose")),
		  "%s", text);
	cr_assert(ne(ptr, strstr(text, "not counted"), NULL), "%s", text);
}

/* What is given back then was in part never made, or is in a capture that cannot be ended. */
Test(small_refusal, what_nothing_can_go_on_without_is_named)
{
	static const char *const calls[] = { "cudaEventCreateWithFlags", "cudaStreamEndCapture" };
	static const char *const commands[] = {
		"run mlp batch=4 hidden=16 images=64 --mode stream --depth 1 --samples 1",
		"run mlp batch=4 hidden=16 images=64 --mode graph --depth 1 --samples 1",
	/* nobody can wait for a stream whose capture cannot be ended: its last copy races */
#ifndef __SANITIZE_THREAD__
		"run launch us=0 streams=4 --mode stream --depth 8 --samples 3",
#endif
	};
	char fail[96], want[96];
	const char *text;

	only_on_the_cpu_device();
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		snprintf(fail, sizeof(fail), "%s=cudaErrorNotSupported", calls[i]);
		snprintf(want, sizeof(want), "%s: cudaErrorNotSupported", calls[i]);
		for (size_t k = 0; k < sizeof(commands) / sizeof(*commands); k++) {
			cr_assert(eq(int, run_with(fail, &text, commands[k]), 2), "%s, %s: %s",
				  fail, commands[k], text);
			cr_assert(ne(ptr, strstr(text, want), NULL), "%s, %s: %s", fail,
				  commands[k], text);
		}
	}
}

/* All points of the kind, and the other processes, do without asking again. */
Test(small_refusal, one_refusal_settles_all_points_of_its_kind)
{
	struct log log;
	const char *text;
	int asked = 0;

	only_on_the_cpu_device();
	text = run_wrapped(
		&log,
		"RIFT_CPU_FAIL=cudaGraphInstantiate=cudaErrorUnknown '%s' sweep launch "
		"us=0 --depth 1,4,8 --mode stream,graph --quick --processes 2 --rounds 1 "
		"--warm-up 0.01 --output /tmp/rift_refusal_$$.jsonl 2>&1; rc=$?; "
		"grep -o 'status[^,]*not_supported' /tmp/rift_refusal_$$.jsonl; "
		"rm /tmp/rift_refusal_$$.jsonl; test $rc = 2",
		rift());
	for (int i = 0; i < log.n; i++)
		asked += !strncmp(log.line[i], "cudaGraphInstantiate ", 21);
	cr_assert(eq(int, asked, 1), "%s", text);
	for (asked = 0; (text = strstr(text, "\":\"not_supported")); text++)
		asked++;
	cr_assert(eq(int, asked, 3 * 2), "three depths in two processes: %d", asked);
	log_release(&log);
}

Test(small_refusal, a_sweep_measures_the_rest_and_asks_once)
{
	const char *text;

	only_on_the_cpu_device();
	cr_assert(eq(int,
		     run_with("cudaGraphInstantiate=cudaErrorUnknown", &text,
			      "sweep launch us=0 --depth 1,4 --mode stream,graph --quick "
			      "--processes 2 --rounds 1 --warm-up 0.01 --output "
			      "/tmp/rift_refusal_$$.jsonl; rc=$?; cat /tmp/rift_refusal_$$.jsonl; "
			      "rm /tmp/rift_refusal_$$.jsonl; exit $rc"),
		     2),
		  "%s", text);
	cr_assert(ne(ptr, strstr(text, "4 points ok"), NULL), "streams, twice: %s", text);
	cr_assert(ne(ptr, strstr(text, "cudaGraphInstantiate: cudaErrorUnknown"), NULL), "%s",
		  text);
	cr_assert(ne(ptr, strstr(text, "\"status\":\"not_supported\""), NULL), "%s", text);
}

/* In the file on stdout, which is JSON. All probes take a minute under the thread sanitizer. */
Test(large_refusal, rows_of_a_probe_say_why)
{
	const char *text;
	json_t *costs;

	only_on_the_cpu_device();
	cr_assert(eq(int,
		     run_with("cudaEventRecord=cudaErrorNotSupported,"
			      "cudaMallocAsync=cudaErrorNotSupported",
			      &text, "probe --processes 1 --patience 600 --json --quiet"),
		     2),
		  "%s", text);
	cr_assert(ne(ptr, strstr(text, ": cudaEventRecord"), NULL), "%s", text);
	cr_assert(ne(ptr, strstr(text, ": cudaMallocAsync"), NULL), "%s", text);
	costs = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
	cr_assert(ne(ptr, costs, NULL), "JSON: %s", text);
	json_decref(costs);
}

Test(small_refusal, the_doctor_lists_what_fails)
{
	const char *text;

	only_on_the_cpu_device();
	cr_assert(eq(int,
		     run_with("cudaGraphNodeGetDependencies=cudaErrorNotSupported,"
			      "cudaHostGetDevicePointer=cudaErrorUnknown",
			      &text, "doctor --json"),
		     2),
		  "%s", text);
	cr_assert(
		ne(ptr, strstr(text, "cudaGraphNodeGetDependencies: cudaErrorNotSupported"), NULL),
		"%s", text);
	cr_assert(ne(ptr, strstr(text, "cudaHostGetDevicePointer: cudaErrorUnknown"), NULL), "%s",
		  text);
}

Test(small_refusal, the_cpu_device_takes_no_nonsense)
{
	static const char *const values[] = { "x", "cudaMalloc", "cudaMalloc=", "=cudaErrorUnknown",
					      "cudaMalloc=cudaErrorXyzzy" };
	const char *text;

	only_on_the_cpu_device();
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		cr_assert(eq(int, run_with(values[i], &text, "doctor"), 3), "%s: %s", values[i],
			  text);
		cr_assert(ne(ptr, strstr(text, "RIFT_CPU_FAIL"), NULL), "%s", text);
	}
}
