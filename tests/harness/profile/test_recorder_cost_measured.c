/*
 * test_recorder_cost_measured.c - what a recorder costs: one turn of the real processes. No time of
 * one is judged.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <cuda_runtime_api.h>

#include "harness/base/json.h"
#include "harness/profile/recorder_cost.h"
#include "tests/cli.h"
#include "tests/on_cpu.h"

TestSuite(small_recorder_cost, .init = let_sanitizer_come_second, .timeout = 300);

static void measures(const char *choice, const char *recorder, bool times)
{
	char folder[] = "/tmp/rift-cost-XXXXXX";
	const char *left;
	const json_t *o;

	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	setenv("TMPDIR", folder, 1);
	unsetenv("CUDA_INJECTION64_PATH");
	o = rift_json("profile --calibrate --runs 1 --json --quiet --recorder %s", choice);
	cr_assert(eq(str, (char *)json_get_text(o, "recorder"), (char *)recorder));
	cr_assert(eq(int, json_is_true(json_object_get(o, "device_times")), times));
	for (int i = 0; i < RECORDER_COSTS; i++) {
		const json_t *row = json_array_get(json_object_get(o, "rows"), (size_t)i);
		double with = json_get_number(json_object_get(row, "with"), "median_ns");

		cr_assert(eq(int, isnan(with), 0), "%s", json_get_text(row, "name"));
		cr_assert(eq(dbl, json_get_number(json_object_get(row, "difference"), "median_ns"),
			     with - json_get_number(json_object_get(row, "without"), "median_ns")),
			  "%s", json_get_text(row, "name"));
		/* what a further node takes is a difference, which may come out negative */
		cr_assert(lt(dbl, i < RECORDER_COSTS - 2 ? 0 : -INFINITY,
			     fmin(with, with - json_get_number(json_object_get(row, "difference"),
							       "median_ns"))),
			  "%s", json_get_text(row, "name"));
	}
	shell(&left, "ls '%s'; rmdir '%s'", folder, folder);
	cr_assert(eq(str, (char *)left, ""), "%s", left);
}

#ifdef RIFT_CPU_DEVICE

Test(small_recorder_cost, of_the_device_s_own_recorder)
{
	measures("device", "cpu-device", true);
}

#endif

Test(small_recorder_cost, of_calls_alone)
{
	need_device();
	measures("calls", "calls", false);
}

/* A probe that sets nothing up says which one it was; one that dies has said so itself. */
Test(small_recorder_cost, a_probe_that_fails_is_named)
{
	const char *text;

	need_device();
	if (!ON_CPU)
		cr_skip("holds for the CPU device only: its calls can be made to fail");
	setenv("RIFT_CPU_FAIL", "cudaMalloc=cudaErrorNotSupported", 1);
	cr_assert(
		eq(int, run_rift(ERR, &text, "profile --calibrate --runs 1 --recorder calls"), 3));
	cr_assert(ne(ptr, strstr(text, "the probe of launch failed"), NULL), "%s", text);
	setenv("RIFT_CPU_FAIL", "cudaStreamCreateWithFlags=cudaErrorNotSupported", 1);
	cr_assert(
		eq(int, run_rift(ERR, &text, "profile --calibrate --runs 1 --recorder calls"), 3));
	cr_assert(ne(ptr, strstr(text, "was killed by signal"), NULL), "%s", text);
	cr_assert(eq(ptr, strstr(text, "the probe of launch failed"), NULL), "%s", text);
}

Test(small_recorder_cost, what_it_takes)
{
	static const char *const wrong[][2] = {
		{ "--runs 0", "--runs=0" },
		{ "--delay 1", "--delay" },
		{ "--output x", "--output" },
		{ "--rule cpu=5", "--rule" },
		{ "a.trace", "no program and no trace" },
		{ "-- true", "no program and no trace" },
		{ "--recorder cupti", "auto, device, calls" },
	};
	const char *text;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		cr_assert(eq(int, run_rift(ERR, &text, "profile --calibrate %s", wrong[i][0]), 3));
		cr_assert(ne(ptr, strstr(text, wrong[i][1]), NULL), "%s: %s", wrong[i][0], text);
	}
}
