/*
 * test_host_runs.c - runs of a program with its calls alone recorded: what they leave in the trace,
 * and what is said where they tell nothing. The program is tests/cpu/traced.cu, or a script.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <cuda_runtime_api.h>

#include "harness/profile/profile.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/made_trace.h"

TEST_FOLDER(folder);
static char output[4096];

static void prepare(void)
{
	let_sanitizer_come_second();
	make_folder();
	snprintf(output, sizeof(output), "%s/a.trace", folder);
	unsetenv("CUDA_INJECTION64_PATH");
}

TestSuite(small_host_runs, .timeout = 120, .init = prepare, .fini = remove_folder);

/* Exit status of the program's recording; what is said goes to *out. */
static int record(const char **out, int host_runs, const char *program)
{
	return shell(out, "'%s' profile --quiet --runs 0 --host-runs %d --output '%s' -- %s 2>&1",
		     rift(), host_runs, output, program);
}

static const char *files(void)
{
	const char *text;

	shell(&text, "ls -A '%s'", folder);
	return text;
}

#define KEPT "data/traces/h200-retime/"

/*
 * PyTorch on an H200, as its two last turns were. 500 graphs took 107.1 ms without the recorder,
 * and 113.4 with it.
 */
Test(small_host_runs, pytorch_s_graphs_are_as_long_as_without_the_recorder)
{
	static const struct kind_rules rules = KIND_DEFAULTS;
	struct profile p;

	cr_assert(zero(int, profile_make(&p, KEPT "mlp-graph.host-2.trace.gz", &rules, false)));
	cr_assert(lt(i64, 0, p.ranges.n));
	cr_expect(epsilon_eq(dbl, 1e-6 * (double)p.ranges.list[0].ns, 113.4, 0.1));
	cr_expect(epsilon_eq(dbl, 1e-6 * p.ranges.list[0].retimed_ns, 107.1, 0.3));
	profile_release(&p);
}

/* 32,863 of 33,942 calls, cuBLAS's among them, which lie within passages. */
Test(small_host_runs, pytorch_s_steps_are_joined_by_their_kernels)
{
	static const struct kind_rules rules = KIND_DEFAULTS;
	struct profile p;

	cr_assert(zero(int, profile_make(&p, KEPT "mlp-eager.host-2.trace.gz", &rules, false)));
	cr_expect(eq(i64, p.host_gaps, 32863));
	cr_expect(eq(dbl, p.steps.graph_factor, 1), "it has no graphs");
	cr_expect(lt(dbl, p.ranges.list[0].retimed_ns, 1060e6));
	cr_expect(lt(dbl, 1030e6, p.ranges.list[0].retimed_ns), "1,046 ms in that turn");
	profile_release(&p);
}

/* One recording, and two runs that differ by 13 %: each is re-timed as it took. */
Test(small_host_runs, pytorch_s_steps_take_what_the_run_took)
{
	static const struct kind_rules rules = KIND_DEFAULTS;
	static const double printed_ms[] = { 1211.658, 1074.569 };
	char path[64];

	for (int i = 0; i < 2; i++) {
		struct profile p;

		snprintf(path, sizeof(path), KEPT "mlp-eager.joined-%d.trace.gz", i + 1);
		cr_assert(zero(int, profile_make(&p, path, &rules, false)));
		cr_expect(epsilon_eq(dbl, 1e-6 * p.ranges.list[0].retimed_ns, printed_ms[i],
				     0.02 * printed_ms[i]));
		profile_release(&p);
	}
}

/*
 * Launches in a row: by the calibration each takes 4.6 us, in the runs with calls alone 3.8 with
 * its gap. These printed 806 ms; re-timed with launches of 4.6 us it is 949.
 */
Test(small_host_runs, launches_are_no_longer_than_in_the_lighter_runs)
{
	static const struct kind_rules rules = KIND_DEFAULTS;
	struct profile p;

	cr_assert(zero(int, profile_make(&p, KEPT "launches.host-2.trace.gz", &rules, false)));
	cr_expect(epsilon_eq(dbl, 1e-6 * p.ranges.list[0].retimed_ns, 806, 0.03 * 806));
	profile_release(&p);
}

#ifdef RIFT_CPU_DEVICE

/* 200 times three launches and a synchronize; the device's times are the CPU device's own. */
Test(small_host_runs, the_trace_has_what_the_host_takes)
{
	static const struct kind_rules rules = KIND_DEFAULTS;
	char program[4200];
	const char *out;
	struct profile p;
	int rc;

	snprintf(program, sizeof(program), "'%s' periods", beside_tests("cpu/traced"));
	rc = record(&out, 2, program);
	cr_assert(zero(int, rc), "%s", out);
	cr_expect(tells(out, "of 2 runs with calls alone, for"), "%s", out);
	cr_assert(eq(str, (char *)files(), "a.trace\n"));
	cr_assert(zero(int, profile_make(&p, output, &rules, false)));
	cr_expect(eq(int, p.trace.host_runs, 2));
	cr_expect(lt(i64, 0, p.host_gaps), "of %ld calls", (long)p.trace.calls);
	profile_release(&p);
}

#endif

/*
 * A script that leaves trace 1 in the recorded run, and does what is given in one of calls alone:
 * what is said of it. The trace is there in any case, and no other file.
 */
static const char *said(const char *calls)
{
	const char *out;
	char program[4200];
	struct made made;
	int rc;

	made_begin(&made, "", MADE_CALIBRATION);
	made_kernel(&made, 2, 0, 6000, 9000);
	made_call(&made, "sync_device", MADE_C, 12000, "");
	made_end(&made, 12000, 0, 0);
	shell(NULL,
	      "cd '%s' && mv '%s' 1 && cat >app <<'END'\ncd '%s'\n"
	      "if [ \"$RIFT_TRACE_RECORDER\" ]; then %s; else cp 1 \"$RIFT_TRACE\"; fi\nEND\n",
	      folder, made.path, folder, calls);
	snprintf(program, sizeof(program), "sh '%s/app'", folder);
	rc = record(&out, 3, program);
	cr_assert(zero(int, rc), "%s", out);
	cr_expect(eq(ptr, strstr(out, "with calls alone, for"), NULL), "%s", out);
	return out;
}

static void said_once(const char *calls, const char *what)
{
	static const char begins[] = "rift: sh: the host's times are those of the recording: ";
	const char *out = said(calls), *at = strstr(out, begins);

	cr_assert(at != NULL, "%s", out);
	cr_expect(eq(ptr, strstr(at + 1, begins), NULL), "the next run would be the same: %s", out);
	cr_expect(tells(at, what), "%s", out);
	cr_expect(eq(str, (char *)files(), "1\na.trace\napp\n"));
}

Test(small_host_runs, a_runtime_that_is_not_shared)
{
	said_once("true", "made no call of a shared CUDA runtime");
}

Test(small_host_runs, a_run_that_ends_otherwise)
{
	said_once("cp 1 \"$RIFT_TRACE\"; exit 7", "ended differently");
}

Test(small_host_runs, a_run_whose_trace_is_damaged)
{
	said_once("echo x >\"$RIFT_TRACE\"", "incomplete");
}

Test(small_host_runs, a_run_whose_trace_has_no_end)
{
	said_once("head -n 8 1 >\"$RIFT_TRACE\"", "incomplete");
}

/* No call has a name. What children wrote goes, too. */
Test(small_host_runs, nothing_in_common)
{
	said_once("cp 1 \"$RIFT_TRACE\"; cp 1 \"$RIFT_TRACE.77\"", "20 times");
}

/* A recording that is cut off is none that could be held against another; nothing more runs. */
Test(small_host_runs, a_recording_without_an_end)
{
	const char *out;
	struct made made;

	made_begin(&made, "", MADE_CALIBRATION);
	made_kernel(&made, 2, 0, 6000, 9000);
	fclose(made.out);
	shell(NULL,
	      "cd '%s' && mv '%s' 1 && echo \"cd '%s'; cp 1 \\$RIFT_TRACE; echo run >>n\" >app",
	      folder, made.path, folder);
	shell(&out, "'%s' profile --quiet --runs 0 --host-runs 3 --output '%s' -- sh '%s/app' 2>&1",
	      rift(), output, folder);
	cr_expect(tells(out, "the host's times are those of the recording: its trace is not whole"),
		  "%s", out);
	shell(&out, "cd '%s'; ls -A; cat n", folder);
	cr_expect(eq(str, (char *)out, "1\na.trace\napp\nn\nrun\n"), "%s", out);
}

/* Its traces lie in a folder of their own: files of such names are the user's. */
Test(small_host_runs, files_of_others_stay)
{
	const char *out;

	shell(NULL, "cd '%s'; echo mine >a.trace.calls; echo mine >a.trace.calls.77", folder);
	said("cp 1 \"$RIFT_TRACE\"");
	shell(&out, "cd '%s'; ls -A; cat a.trace.calls*", folder);
	cr_expect(eq(str, (char *)out,
		     "1\na.trace\na.trace.calls\na.trace.calls.77\napp\nmine\n"
		     "mine\n"),
		  "%s", out);
}

/* Before anything runs. */
Test(small_host_runs, a_library_that_is_not_there)
{
	const char *out;
	int rc = shell(&out,
		       "cd '%s'; cp '%s' rift; LD_LIBRARY_PATH=$(dirname '%s'):$LD_LIBRARY_PATH "
		       "./rift profile "
		       "--host-runs 1 --output a.trace -- touch ran 2>&1; echo $?; ls ran 2>&1",
		       folder, rift(), rift());

	cr_expect(ne(int, rc, 0), "ran is not there");
	cr_expect(tells(out, "recorder/calls.so*not found*3\n"), "%s", out);
}

static void is_refused(const char *options, const char *told)
{
	const char *out;
	int rc = shell(&out, "'%s' profile --host-runs 2 %s 2>&1", rift(), options);

	cr_expect(eq(int, rc, 3), "%s", options);
	cr_expect(is_one_complaint(out) && tells(out, told), "%s", out);
}

Test(small_host_runs, what_they_cannot_be_beside)
{
	is_refused("--recorder calls -- true", "--host-runs*--recorder calls");
	is_refused("--range step -- true", "--host-runs*--range=step");
	is_refused("--delay 1 -- true", "--host-runs*--delay");
	is_refused("--duration 1 -- true", "--host-runs*--duration");
	is_refused("--calibrate", "cannot be combined with --host-runs");
	is_refused("a.trace", "--host-runs*a.trace");
}
