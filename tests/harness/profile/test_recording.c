/*
 * test_recording.c - programs are run with the recorder and without it: what they print, how they
 * end, what is refused. The program is tests/cpu/traced.cu. No wall time is judged.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <cuda_runtime_api.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/profile/recording.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/made_trace.h"
#include "tests/traces.h"

TEST_FOLDER(folder);
static char output[4096];

static void prepare(void)
{
	make_folder();
	snprintf(output, sizeof(output), "%s/a.trace", folder);
	unsetenv("CUDA_INJECTION64_PATH");
}

TestSuite(small_recording, .timeout = 120, .init = prepare, .fini = remove_folder);

#ifdef RIFT_CPU_DEVICE

static int run(int unprofiled, struct recording *out, char *first, char *second)
{
	static char program[4096];
	char *argv[] = { program, first, second, NULL };
	struct recording_request request = {
		.argv = argv, .output = output, .unprofiled = unprofiled, .stdout_to_stderr = true
	};

	snprintf(program, sizeof(program), "%s", beside_tests("cpu/traced"));
	return recording_run(&request, out);
}

Test(small_recording, a_trace_with_the_runs_behind_it)
{
	struct recording out;
	json_t *rows;
	const json_t *row;

	cr_assert(zero(int, run(3, &out, "ten", NULL)));
	cr_assert(zero(int, out.status));
	cr_assert(eq(int, out.n, 3));
	cr_assert(lt(i64, 0, out.profiled_wall_ns));
	rows = traced_rows(output);
	row = json_array_get(rows, json_array_size(rows) - 1);
	cr_assert(eq(str, (char *)json_string_value(json_object_get(row, "record")), "runs"));
	cr_assert(eq(sz, json_array_size(json_object_get(row, "unprofiled_wall_ns")), 3));
	cr_assert(eq(i64, trace_calls_of(rows, "launch"), 10));
	/* The process began before the trace did, and in the recorded run: by one clock, and by the
	 * kernel's book to a hundredth of a second. */
	cr_assert(lt(i64, trace_int(json_array_get(rows, 0), "process_start_ns"), 0));
	cr_assert(lt(i64, -out.profiled_wall_ns - 10000000,
		     trace_int(json_array_get(rows, 0), "process_start_ns")));
	json_decref(rows);
}

Test(small_recording, what_the_program_prints_is_its_own)
{
	struct recording out;
	const char *text;

	divert_stderr();
	cr_assert(zero(int, run(1, &out, "ten", "print")));
	text = diverted_stderr();
	cr_assert(eq(sz, strlen(text), 2 * strlen("printed complained ")), "%s", text);
}

Test(small_recording, a_program_that_fails_has_a_trace)
{
	struct recording out;

	cr_assert(zero(int, run(2, &out, "ten", "fail")));
	cr_assert(eq(int, WEXITSTATUS(out.status), 7));
	cr_assert(eq(int, out.n, 2));
}

Test(small_recording, a_program_that_crashes_has_one_too)
{
	struct recording out;
	json_t *rows;

	cr_assert(zero(int, run(1, &out, "ten", "abort")));
	cr_assert(eq(int, WTERMSIG(out.status), SIGABRT));
	cr_assert(eq(int, out.n, 1));
	rows = traced_rows(output); /* whole lines, the runs last */
	trace_row(rows, "runs", NULL, NULL);
	json_decref(rows);
}

/* By rift itself, which has libraries beside it; the exit code. */
static int profile(const char *words, const char **said)
{
	return run_rift(ERR, said, "profile --quiet --runs 0 --output '%s' -- '%s' %s", output,
			beside_tests("cpu/traced"), words);
}

/* What is asked for stands in the first row, in ns. */
Test(small_recording, limits_are_told_to_the_recorder)
{
	const char *said;
	const json_t *limits;
	json_t *rows;

	cr_assert(zero(int, run_rift(ERR, &said,
				     "profile --quiet --runs 0 --delay 0.001 --duration 50 "
				     "--max-events 5000 --output '%s' -- '%s' ten",
				     output, beside_tests("cpu/traced"))),
		  "%s", said);
	rows = traced_rows(output);
	limits = json_object_get(json_array_get(rows, 0), "limits");
	cr_expect(eq(dbl, json_get_number(limits, "delay_ns"), 1e6));
	cr_expect(eq(dbl, json_get_number(limits, "duration_ns"), 50e9));
	cr_expect(eq(dbl, json_get_number(limits, "max_events"), 5000));
	json_decref(rows);
}

static void has_whole_trace(const char *path, int launches, const char *of)
{
	json_t *rows = traced_rows(path);

	trace_judge(rows);
	cr_expect(eq(i64, trace_calls_of(rows, "launch"), launches), "%s", of);
	cr_expect(eq(sz, trace_count(rows, "end", "reason", "exit"), 1), "%s", of);
	json_decref(rows);
}

static int exit_code_told(const char *path)
{
	json_t *rows = traced_rows(path);
	int status = (int)trace_int(trace_row(rows, "runs", NULL, NULL), "exit_status");

	json_decref(rows);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* How a process may end without its atexit() handlers, its exit code, and launches of its first
 * program, all of which are in its trace. */
Test(small_recording, no_end_loses_what_came_before)
{
	static const struct {
		const char *words;
		int code, launches;
	} ends[] = { { "ten leave", 5, 10 },
		     { "ten quick", 6, 10 },
		     { "ten become", 7, 10 },
		     { "ten try ten", 0, 20 },
		     { "ten vfork ten", 0, 20 } };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const char *said;

		cr_assert(zero(int, profile(ends[i].words, &said)), "%s", said);
		cr_expect(eq(int, exit_code_told(output), ends[i].code), "%s", ends[i].words);
		has_whole_trace(output, ends[i].launches, ends[i].words);
		shell(NULL, "rm -f '%s'*", output);
	}
}

/* All files are named: of the program, of the one that it became, under the same number, and of
 * workers that leave by _exit(). */
Test(small_recording, every_process_has_a_whole_trace_that_is_named)
{
	static const struct {
		const char *words;
		int traces;
	} all[] = { { "ten become", 1 }, { "workers", 3 } };

	for (size_t i = 0; i < 2; i++) {
		char *text = NULL, *at;
		const char *said;
		int n = 0, pid;

		cr_assert(eq(int,
			     shell(&said,
				   "'%s' profile --runs 0 --output '%s' -- '%s' %s 2>&1 | grep -A9 "
				   "'traces;\\|^trace ' | tr '\\n' ' '",
				   rift(), output, beside_tests("cpu/traced"), all[i].words),
			     0));
		text = strdup(said);
		for (at = text; (at = strstr(at, "a.trace.")); n++) {
			char path[4096 + 32];

			at += strlen("a.trace.");
			cr_assert(eq(int, sscanf(at, "%d", &pid), 1), "%s", text);
			snprintf(path, sizeof(path), "%s.%d", output, pid);
			has_whole_trace(path, 10, all[i].words);
		}
		cr_expect(eq(int, n, all[i].traces), "%s", text);
		free(text);
		shell(NULL, "rm -f '%s'*", output);
	}
}

/* It may hold any lock, and have been anywhere in malloc(). */
Test(small_recording, a_handler_that_leaves)
{
	const char *said;
	json_t *rows;

	cr_assert(zero(int, profile("handler", &said)), "%s", said);
	cr_expect(eq(int, exit_code_told(output), 8));
	rows = traced_rows(output);
	cr_expect(lt(i64, 100, trace_calls_of(rows, "launch")));
	json_decref(rows);
}

/* A half line, as a kill may leave it: the row stands on a line of its own. */
Test(small_recording, the_runs_stand_behind_the_last_whole_line)
{
	struct recording out;
	json_t *rows;
	char script[] = "echo '{\"record\":\"trace\",\"trace\":\"1.0\"}' >$RIFT_TRACE; printf "
			"'{\"rec' >>$RIFT_TRACE";
	char *argv[] = { "sh", "-c", script, NULL };
	struct recording_request request = { .argv = argv, .output = output };

	cr_assert(zero(int, recording_run(&request, &out)));
	rows = traced_rows(output);
	cr_assert(eq(sz, json_array_size(rows), 2));
	trace_row(rows, "runs", NULL, NULL);
	json_decref(rows);
}

/* A limit on the size of files is a full disk. What it leaves has no row `runs`. */
static void record_within(int blocks, const char *says)
{
	struct recording out;
	char script[9000];
	char *argv[] = { "sh", "-c", script, NULL };
	struct recording_request request = { .argv = argv, .output = output };
	const char *text;

	snprintf(script, sizeof(script),
		 "trap '' XFSZ; ulimit -f %d; RIFT_TRACE_FOLD=0 exec '%s' long", blocks,
		 beside_tests("cpu/traced"));
	divert_stderr();
	cr_assert(lt(int, recording_run(&request, &out), 0));
	text = diverted_stderr();
	cr_assert(tells(text, says), "%s", text);
}

Test(small_recording, a_full_disk_is_told_and_leaves_no_whole_trace)
{
	json_t *rows;

	record_within(64, "a.trace: is incomplete: File too large");
	rows = traced_rows(output);
	cr_assert(eq(sz, trace_count(rows, "runs", NULL, NULL), 0));
	cr_assert(eq(sz, trace_count(rows, "end", NULL, NULL), 0));
	json_decref(rows);
}

Test(small_recording, a_trace_without_a_line_is_none)
{
	record_within(0, "a.trace: nothing of the trace could be written");
	cr_assert(ne(int, access(output, F_OK), 0));
}

/* The second has a file of its own, and goes on as it would. */
Test(small_recording, two_processes_of_one_program)
{
	struct recording out;
	char script[9000];
	char *argv[] = { "sh", "-c", script, NULL };
	struct recording_request request = { .argv = argv, .output = output };
	const char *text;

	snprintf(script, sizeof(script), "'%s' ten && '%s' ten", beside_tests("cpu/traced"),
		 beside_tests("cpu/traced"));
	cr_assert(zero(int, recording_run(&request, &out)));
	cr_assert(zero(int, out.status));
	shell(&text, "ls '%s' | wc -l", folder);
	cr_assert(eq(str, (char *)text, "2\n"));
}

/* ---- several recordings ------------------------------------------------------------------- */

#define SECOND INT64_C(1000000000)

/* The file of that number in the folder: a trace of a program of one kernel, so long. */
static void make_trace(int number, long kernel_ns)
{
	struct made made;
	long end = 10000 + kernel_ns;

	made_begin(&made, "", MADE_CALIBRATION);
	made_kernel(&made, 2, 0, MADE_C + MADE_L, MADE_C + MADE_L + kernel_ns);
	made_call(&made, "sync_device", MADE_C, end, "");
	made_end(&made, end, 0, 0);
	shell(NULL, "mv '%s' '%s/%d'", made.path, folder, number);
}

/*
 * A program whose n-th recording is that trace, with one of a child; it ends with a status. Every
 * other run without the recorder lasts 50 ms longer.
 */
static int record_runs(int recordings, int runs, const char *status, struct recording *out)
{
	char script[9000];
	char *argv[] = { "sh", "-c", script, NULL };
	const struct recording_request request = {
		.argv = argv, .output = output, .recordings = recordings, .unprofiled = runs
	};

	snprintf(script, sizeof(script),
		 "cd '%s'; if [ ! \"$RIFT_TRACE\" ]; then if [ -e .late ]; then rm .late; sleep "
		 "0.05; "
		 "else : >.late; fi; exit 0; fi; "
		 "echo >>n; n=$(wc -l <n); cp $n \"$RIFT_TRACE\"; "
		 "echo $n >\"$RIFT_TRACE.77\"; exit %s",
		 folder, status);
	return recording_run(&request, out);
}

static int record_made(int recordings, const char *status, struct recording *out)
{
	return record_runs(recordings, 4, status, out);
}

static int64_t kernel_of_kept(void)
{
	json_t *rows = traced_rows(output);
	const json_t *op = trace_row(rows, "op", "kind", "kernel");
	int64_t ns = trace_int(op, "t1") - trace_int(op, "t0");

	json_decref(rows);
	return ns;
}

Test(small_recording, of_several_recordings_the_median_one_is_kept)
{
	struct recording out;
	const char *text;
	json_t *rows;
	const json_t *list;

	make_trace(1, 3 * SECOND);
	make_trace(2, 1 * SECOND);
	make_trace(3, 2 * SECOND);
	cr_assert(zero(int, record_made(3, "0", &out)));
	cr_assert(eq(int, out.recordings, 3));
	cr_assert(eq(int, out.n, 4));
	cr_assert(eq(i64, kernel_of_kept(), 2 * SECOND));
	rows = traced_rows(output);
	cr_assert(eq(sz, trace_count(rows, "runs", NULL, NULL), 1));
	list = json_object_get(trace_row(rows, "runs", NULL, NULL), "retimed_wall_ns");
	cr_assert(eq(sz, json_array_size(list), 3));
	for (size_t i = 0; i < 3; i++) /* and the processes' starts */
		cr_assert(eq(i64, (int64_t)json_integer_value(json_array_get(list, i)) / SECOND,
			     i ? (int64_t)i : 3));
	json_decref(rows);
	/* with the trace of its own child */
	shell(&text, "cd '%s'; ls; cat a.trace.77", folder);
	cr_assert(eq(str, (char *)text, "1\n2\n3\na.trace\na.trace.77\nn\n3\n"));
}

/* Where the runs differ and no number was given there are five, of ten runs; else one. */
static void records(int recordings, int runs, int most, int most_runs)
{
	struct recording out;

	cr_assert(zero(int, record_runs(recordings, runs, "0", &out)));
	cr_expect(eq(int, out.recordings, most > 1 ? most : 0), "%d recordings", most);
	cr_expect(eq(int, out.n, most_runs), "%d runs", most_runs);
	shell(NULL, "cd '%s'; rm -f a.trace* n .late", folder);
}

Test(small_recording, a_program_whose_runs_differ_is_recorded_more_often)
{
	for (int i = 1; i <= RECORDING_MORE; i++)
		make_trace(i, i * SECOND);
	records(0, 5, RECORDING_MORE, RECORDING_MORE_RUNS);
	records(0, 12, RECORDING_MORE, 12);
	records(0, 4, 1, 4);
	records(1, 5, 1, 5);
	records(2, 5, 2, 5);
	shell(NULL, "touch '%s.again-2.5'", output); /* another's, which must stay */
	records(0, 5, 1, 5);
}

static const char *progress_of(int recordings)
{
	struct recording out;
	const char *text;

	divert_terminal();
	progress_init(false);
	cr_assert(zero(int, record_made(recordings, "0", &out)));
	text = diverted_stderr();
	shell(NULL, "cd '%s'; rm -f a.trace* n", folder);
	return text;
}

Test(small_recording, each_of_several_recordings_is_shown)
{
	const char *text;

	make_trace(1, 2 * SECOND);
	make_trace(2, 1 * SECOND);
	text = progress_of(2);
	cr_expect(ne(ptr, strstr(text, "sh: recording 1 of 2"), NULL), "%s", text);
	cr_expect(ne(ptr, strstr(text, "sh: recording 2 of 2"), NULL), "%s", text);
	cr_expect(eq(ptr, strstr(text, "recording 3"), NULL), "%s", text);
	text = progress_of(1);
	cr_expect(eq(ptr, strstr(text, "recording 1"), NULL), "one is not counted: %s", text);
}

Test(small_recording, recordings_that_end_otherwise_do_not_count)
{
	struct recording out;
	const char *text;

	make_trace(1, 3 * SECOND);
	make_trace(2, 1 * SECOND);
	make_trace(3, 2 * SECOND);
	divert_stderr();
	cr_assert(zero(int, record_made(3, "$((n == 3))", &out)));
	text = diverted_stderr();
	cr_assert(is_one_complaint(text) && tells(text, "1 of 3 recordings ended differently"),
		  "%s", text);
	cr_assert(eq(int, out.recordings, 2));
	cr_assert(eq(i64, kernel_of_kept(), 1 * SECOND), "the lower of two");
}

Test(small_recording, names_of_all_recordings_must_be_free)
{
	struct recording out;
	const char *text;

	make_trace(1, SECOND);
	shell(NULL, "echo mine >'%s.again-2'", output);
	divert_stderr();
	cr_assert(lt(int, record_made(3, "0", &out), 0));
	text = diverted_stderr();
	cr_assert(is_one_complaint(text) && tells(text, "a.trace.again-2*exists"), "%s", text);
	shell(&text, "cd '%s'; ls; cat a.trace.again-2", folder);
	cr_assert(eq(str, (char *)text, "1\na.trace.again-2\nmine\n"), "%s", text);
}

/* What has such names could not be told from the recordings' own, which are removed. */
Test(small_recording, names_of_all_children_must_be_free)
{
	struct recording out;
	const char *text;

	make_trace(1, SECOND);
	shell(NULL, "echo mine >'%s.5'", output);
	divert_stderr();
	cr_assert(lt(int, record_made(3, "0", &out), 0));
	text = diverted_stderr();
	cr_assert(is_one_complaint(text) && tells(text, "a.trace.PID*exist"), "%s", text);
	shell(&text, "cd '%s'; ls; cat a.trace.5", folder);
	cr_assert(eq(str, (char *)text, "1\na.trace.5\nmine\n"), "%s", text);
}

/* Neither names that go on, nor names that the trace's would match as a pattern. */
Test(small_recording, files_of_others_stay)
{
	struct recording out;
	const char *text;

	make_trace(1, 3 * SECOND);
	make_trace(2, 1 * SECOND);
	make_trace(3, 2 * SECOND);
	snprintf(output, sizeof(output), "%s/[ab].trace", folder);
	shell(NULL, "cd '%s'; touch a.trace.5 '[ab].trace.7.notes'", folder);
	cr_assert(zero(int, record_made(3, "0", &out)));
	shell(&text, "cd '%s'; ls | LC_ALL=C sort; cat '[ab].trace.77'", folder);
	cr_assert(eq(str, (char *)text,
		     "1\n2\n3\n[ab].trace\n[ab].trace.7.notes\n[ab].trace.77\na.trace.5\nn\n3\n"),
		  "%s", text);
}

/* The first one stays, as without others. */
Test(small_recording, one_is_left_of_recordings_that_fail)
{
	struct recording out;
	const char *text;

	make_trace(1, 3 * SECOND);
	make_trace(2, 1 * SECOND);
	divert_stderr();
	cr_assert(lt(int, record_made(3, "0", &out), 0), "the third copies nothing");
	shell(&text, "cd '%s'; ls", folder);
	cr_assert(eq(str, (char *)text, "1\n2\na.trace\na.trace.77\nn\n"), "%s", text);
}

Test(small_recording, children_alone_are_pointed_out)
{
	struct recording out;
	const char *text;

	divert_stderr();
	cr_assert(lt(int, run(0, &out, "fork", NULL), 0));
	text = strstr(diverted_stderr(), "rift: ");
	cr_assert(text && tells(text, "children*a.trace."), "%s", text);
}

#endif

/* Variables that the recorder reads, without times and folders, which differ. */
static const char *told(void)
{
	const char *text;

	shell(&text,
	      "env | sed -n 's,=.*/,=,; /STARTED_NS=/s/[0-9].*/now/; /^RIFT_TRACE/p; "
	      "/^CUDA_INJECTION64_PATH/p; /^NVTX_INJECTION64_PATH/p; /^LD_PRELOAD/p' | sort");
	return text;
}

/* All of it is taken back, and what was there before is as it was. */
Test(small_recording, what_the_recorder_is_told)
{
	struct recording_request r = { .output = output };

	cr_assert(zero(int, recording_tell(&r)));
	cr_expect(eq(str, (char *)told(), "RIFT_TRACE=a.trace\nRIFT_TRACE_STARTED_NS=now\n"));
	recording_tell_nothing();
	cr_expect(eq(str, (char *)told(), ""), "nothing is left");
	r = (struct recording_request){ .output = "/b.trace",
					.anonymous = true,
					.no_cpu_times = true,
					.range = "a range",
					.cupti = "libcupti.so",
					.delay_ns = 11,
					.duration_ns = 12,
					.max_events = 13 };
	setenv("LD_PRELOAD", "", 1);
	cr_assert(zero(int, recording_tell(&r)));
	unsetenv("LD_PRELOAD"); /* of the shell that is asked */
	cr_expect(eq(str, (char *)told(),
		     "RIFT_TRACE=b.trace\nRIFT_TRACE_ANONYMOUS=1\nRIFT_TRACE_CPU=0\n"
		     "RIFT_TRACE_CUPTI=libcupti.so\nRIFT_TRACE_DELAY_NS=11\n"
		     "RIFT_TRACE_DURATION_NS=12\nRIFT_TRACE_MAX_EVENTS=13\n"
		     "RIFT_TRACE_RANGE=a range\n"
		     "RIFT_TRACE_STARTED_NS=now\n"));
	recording_tell_nothing();
	cr_expect(eq(str, getenv("LD_PRELOAD"), ""), "as it was");
	unsetenv("LD_PRELOAD");
	cr_expect(eq(str, (char *)told(), ""), "nothing is left");
}

/* Of times of the device: a program that ended, one that failed and one that was killed. */
Test(small_recording, why_there_is_no_trace)
{
	static const char *const seen[] = {
		[RECORDER_AUTO] = "no recorder saw a CUDA call of it; a runtime that is linked in",
		[RECORDER_DEVICE] = "no recorder was loaded into it, or it made no call of the",
	};
	static const char *const ends[][2] = { { "exit 0", "sh: wrote no trace: %s" },
					       { "exit 3", "sh: wrote no trace: it *3, and %s" },
					       { "kill -9 $$", "sh: wrote no trace: it *%.0s" } };

	for (int recorder = RECORDER_AUTO; recorder <= RECORDER_DEVICE; recorder++)
		for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
			char shell_word[] = "sh", option[] = "-c", script[32], want[200];
			char *argv[] = { shell_word, option, script, NULL };
			struct recording_request r = { .argv = argv,
						       .output = output,
						       .recorder = (enum recorder_choice)recorder };
			struct recording out;
			const char *text;

			snprintf(script, sizeof(script), "%s", ends[i][0]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(want, sizeof(want), ends[i][1], seen[recorder]);
#pragma GCC diagnostic pop
			divert_stderr();
			cr_expect(eq(int, recording_run(&r, &out), -ENOENT), "%s", want);
			text = diverted_stderr();
			cr_expect(is_one_complaint(text) && tells(text, want), "%s: %s", want,
				  text);
		}
}

static void refuses(int unprofiled, char *program, const char *says)
{
	char *argv[] = { program, NULL };
	struct recording_request request = { .argv = argv,
					     .output = output,
					     .unprofiled = unprofiled };
	struct recording out;
	const char *text;

	divert_stderr();
	cr_assert(lt(int, recording_run(&request, &out), 0));
	text = diverted_stderr();
	cr_assert(is_one_complaint(text) && tells(text, says), "%s", text);
}

Test(small_recording, what_cannot_be_recorded_is_refused)
{
	char none[] = "/nowhere/program", idle[] = "true";

	refuses(1, none, "/nowhere/program");
	refuses(1, idle, "true: wrote no trace");
	cr_assert(ne(int, access(output, F_OK), 0));
}

Test(small_recording, a_file_that_is_there_is_refused_before_anything_runs)
{
	char program[4200];
	const char *out;

	shell(NULL,
	      "echo mine >'%s'; printf '#!/bin/sh\\ntouch %s/ran\\n' >'%s/p'; chmod +x '%s/p'",
	      output, folder, folder, folder);
	snprintf(program, sizeof(program), "%s/p", folder);
	refuses(4, program, "a.trace*exists");
	shell(&out, "cat '%s'; ls '%s'", output, folder);
	cr_assert(eq(str, (char *)out, "mine\na.trace\np\n"));
}

Test(small_recording, another_profiler_is_refused)
{
	char idle[] = "true";

	setenv("CUDA_INJECTION64_PATH", "/nowhere/libprofiler.so", 1);
	refuses(1, idle, "CUDA_INJECTION64_PATH");
}
