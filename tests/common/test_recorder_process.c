/*
 * test_recorder_process.c - common/recorder/recorder.h: a process that is recorded, by a source of
 * this file: what its file has (in tests/golden/outputs/recorder-process.txt, without times), the
 * limits, the ends that are announced, children.
 */
/* sanitizers: races seen elsewhere */
#include "tests/test.h"
#include "common/recorder/recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/recorder/ends.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/golden.h"
#include "tests/traces.h"

TEST_FOLDER(folder);

static char path[4096], said[4200];

static void prepare(void)
{
	make_folder();
	snprintf(path, sizeof(path), "%s/a.trace", folder);
	snprintf(said, sizeof(said), "%s/said", folder);
	setenv("RIFT_TRACE", path, 1);
	setenv("RIFT_TRACE_FOLD", "0", 1);
	setenv("RIFT_TRACE_CPU", "0", 1);
	unsetenv("RIFT_TRACE_OWNER");
	pthread_setname_np(pthread_self(), "a thread's name");
}

TestSuite(small_recorder_process, .timeout = 60, .init = prepare, .fini = remove_folder);

/* ---- a source, and a program --------------------------------------------------------------- */

static void (*tell)(enum recorder_end);

/* As ends.so has it: the recorder finds it by its name. */
__attribute__((visibility("default"))) recorder_ends_function rift_recorder_ends;

void rift_recorder_ends(void (*to)(enum recorder_end))
{
	tell = to;
}

static void call(enum trace_class class, bool has_op)
{
	struct trace_event op = { .kind = TRACE_KIND_kernel, .stream = 1, .busy_ns = -1 };
	uint64_t submitted;

	recorder_call_begin(class, "cudaCall");
	if (recorder_call)
		recorder_call->stream = 1;
	submitted = has_op ? recorder_submit() : 0;
	recorder_call_end();
	if (!submitted)
		return;
	op.t0 = recorder_now();
	op.t1 = op.t0 + 1;
	recorder_op(submitted, &op);
}

static void launches(int n)
{
	for (int i = 0; i < n; i++)
		call(TRACE_CLASS_launch, true);
}

static bool begins = true;

static bool begin(struct recorder_source *s)
{
	strcpy(s->device, "made up");
	s->runtime = 1;
	s->driver = 2;
	return begins;
}

static void calibrate(void)
{
	launches(5);
	call(TRACE_CLASS_sync_stream, false);
}

static struct recorder_source source = {
	.name = "made", .cupti = 3, .window = 77, .begin = begin, .calibrate = calibrate
};

/* What becomes of a process that does so, and ends. */
static int status_of(void (*run)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		dup2(open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
		recorder_load(&source);
		run();
		quick_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The rows of such a process, which must end well. */
static json_t *record(void (*run)(void))
{
	json_t *rows;

	unlink(path);
	cr_assert(zero(int, status_of(run)));
	rows = traced_rows(path);
	trace_judge(rows);
	return rows;
}

static void one(void)
{
	launches(1);
}

/* ---- the file ------------------------------------------------------------------------------ */

/* A number, or several in brackets, becomes #. */
static void mask(char *text, const char *key)
{
	char *at = text;

	while ((at = strstr(at, key))) {
		size_t n;

		at += strlen(key);
		n = strspn(at, *at == '[' ? "[-0123456789,]" : "-0123456789");
		memmove(at + 1, at + n, strlen(at + n) + 1);
		*at = '#';
	}
}

static const char *masked(void)
{
	static const char *const keys[] = {
		"\"t\":",	"\"t0\":",	"\"t1\":",
		"\"tid\":",	"_start_ns\":", "\"launch_call_ns\":",
		"\"call_ns\":", "\"pace_ns\":", "\"launch_and_wait_ns\":",
		"\"gap_ns\":"
	};
	static char text[1 << 14];
	FILE *f = fopen(path, "r");
	char *program, *recorder;

	cr_assert(ne(ptr, f, NULL), "%s", path);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	program = strstr(text, "\"program\":");
	recorder = strstr(text, "\"recorder\":");
	cr_assert(lt(ptr, program, recorder), "%s", text);
	memmove(program, recorder, strlen(recorder) + 1);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		mask(text, keys[i]);
	return text;
}

static void all_kinds(void)
{
	recorder_mark(TRACE_MARK_push, "a range");
	for (int class = 0; class < TRACE_CLASSES; class ++)
		call((enum trace_class) class, class < 3);
	recorder_call_begin(TRACE_CLASS_launch, "cudaCaptured");
	recorder_call->is_captured = true;
	recorder_call_end();
	recorder_mark(TRACE_MARK_pop, NULL);
	recorder_lost(4);
}

/* Its calibration is in no row, and its calls count from 1. */
Test(small_recorder_process, its_file)
{
	setenv("RIFT_TRACE_STARTED_NS", "1", 1);
	setenv("RIFT_TRACE_DELAY_NS", "2", 1);
	setenv("RIFT_TRACE_DURATION_NS", "9000000000000000000", 1);
	setenv("RIFT_TRACE_MAX_EVENTS", "1234", 1);
	json_decref(record(all_kinds));
	golden_text("recorder-process", masked());
}

/* ---- limits -------------------------------------------------------------------------------- */

/* Five of them once the recorder has seen that it is full. */
static void forty(void)
{
	launches(35);
	while (recorder_start())
		usleep(1000);
	launches(5);
}

static void forty_records(void)
{
	for (int i = 0; i < 40; i++)
		call(TRACE_CLASS_record, false);
}

Test(small_recorder_process, no_more_rows_than_asked_for)
{
	json_t *rows;
	const json_t *end;
	int64_t calls;

	setenv("RIFT_TRACE_MAX_EVENTS", "20", 1);
	rows = record(forty);
	end = trace_row(rows, "end", "reason", "limit");
	calls = trace_int(end, "calls");
	cr_expect(eq(i64, calls, 10), "of two rows each");
	cr_expect(eq(i64, trace_int(end, "ops"), calls), "each has its operation");
	cr_expect(eq(i64, trace_int(end, "dropped"), 40 - calls));
	json_decref(rows);
	rows = record(forty_records);
	end = trace_row(rows, "end", "reason", "limit");
	calls = trace_int(end, "calls");
	cr_expect(lt(i64, calls, 21), "no operation came");
	cr_expect(eq(i64, trace_int(end, "dropped"), 40 - calls));
	json_decref(rows);
}

static char is_wanted[256];

static void want(int64_t t)
{
	strcat(is_wanted, recorder_wants(t) ? "1" : "0");
}

/* What a process wants at times and after marks; it says so by its status. */
static const char *wanted_by(void (*run)(void))
{
	static char text[256];
	int fd[2];
	pid_t child;
	ssize_t n;

	cr_assert(zero(int, pipe(fd)));
	unlink(path);
	child = fork();
	if (!child) {
		recorder_load(&source);
		run();
		n = write(fd[1], is_wanted, strlen(is_wanted));
		quick_exit(n < 0);
	}
	close(fd[1]);
	n = read(fd[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fd[0]);
	waitpid(child, NULL, 0);
	return text;
}

static void times(void)
{
	static const int64_t t[] = { 0, 1499, 1500, 1599, 1600, INT64_MAX - 1, INT64_MAX };

	for (int i = 0; i < 7; i++)
		want(t[i]);
}

Test(small_recorder_process, times_that_are_wanted)
{
	static const struct {
		const char *delay, *duration, *wanted;
	} rows[] = { { "500", "100", "0011000" },
		     { "500", "", "0011110" },
		     { "0", "600", "0111000" },
		     { "9223372036854775807", "", "0000000" },
		     { "500", "9223372036854775807", "0011110" } };

	setenv("RIFT_TRACE_STARTED_NS", "1000", 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		setenv("RIFT_TRACE_DELAY_NS", rows[i].delay, 1);
		setenv("RIFT_TRACE_DURATION_NS", rows[i].duration, 1);
		cr_expect(eq(str, (char *)wanted_by(times), (char *)rows[i].wanted), "row %zu", i);
	}
}

static void mark(enum trace_mark kind, const char *name)
{
	recorder_mark(kind, name);
	want(recorder_now());
}

static void *pop_elsewhere(void *unused)
{
	mark(TRACE_MARK_pop, NULL);
	return unused;
}

/* A space behind what belongs together. */
static void ranges(void)
{
	pthread_t other;

	mark(TRACE_MARK_pop, NULL);
	mark(TRACE_MARK_push, "other");
	mark(TRACE_MARK_push, "step");
	mark(TRACE_MARK_push, "step");
	mark(TRACE_MARK_push, "steps");
	strcat(is_wanted, " ");
	pthread_create(&other, NULL, pop_elsewhere, NULL);
	pthread_join(other, NULL);
	for (int i = 0; i < 5; i++)
		mark(TRACE_MARK_pop, NULL);
	strcat(is_wanted, " ");
	mark(TRACE_MARK_start, NULL);
	mark(TRACE_MARK_push, "step");
	mark(TRACE_MARK_stop, NULL);
	mark(TRACE_MARK_start, NULL);
	mark(TRACE_MARK_pop, NULL);
	for (int i = 0; i < 2; i++) { /* where ranges of that name were before */
		mark(TRACE_MARK_push, "other");
		mark(TRACE_MARK_pop, NULL);
		mark(TRACE_MARK_push, "step");
	}
}

/* 64 of them are looked at; below that all ends that come are told apart. */
static void deep_ranges(void)
{
	for (int i = 0; i < 66; i++)
		recorder_mark(TRACE_MARK_push, i == 63 || i == 64 ? "step" : "other");
	want(recorder_now());
	for (int i = 0; i < 2; i++)
		recorder_mark(TRACE_MARK_pop, NULL);
	want(recorder_now());
	mark(TRACE_MARK_pop, NULL);
	mark(TRACE_MARK_push, "step");
}

/* An end that has no begin is none. */
static void too_deep(void)
{
	mark(TRACE_MARK_pop, NULL);
	for (int i = 0; i < 65; i++)
		recorder_mark(TRACE_MARK_push, i == 64 ? "step" : "other");
	want(recorder_now());
}

static void profiler(void)
{
	want(recorder_now());
	mark(TRACE_MARK_push, "@profiler");
	mark(TRACE_MARK_start, NULL);
	mark(TRACE_MARK_pop, NULL);
	mark(TRACE_MARK_stop, NULL);
	mark(TRACE_MARK_start, NULL);
}

static void edges(void)
{
	recorder_mark(TRACE_MARK_push, "step");
	recorder_mark(TRACE_MARK_push, "inner");
	recorder_mark(TRACE_MARK_pop, NULL);
	recorder_mark(TRACE_MARK_pop, NULL);
	recorder_mark(TRACE_MARK_push, "other");
}

Test(small_recorder_process, ranges_that_are_wanted)
{
	json_t *rows;

	setenv("RIFT_TRACE_RANGE", "step", 1);
	cr_expect(eq(str, (char *)wanted_by(ranges), (char *)"00111 111000 01010001111"));
	cr_expect(eq(str, (char *)wanted_by(deep_ranges), (char *)"1101"));
	cr_expect(eq(str, (char *)wanted_by(too_deep), (char *)"00"));
	rows = record(edges);
	cr_expect(eq(sz, trace_count(rows, "mark", NULL, NULL), 4), "its own begin and end, too");
	json_decref(rows);
	setenv("RIFT_TRACE_RANGE", "@profiler", 1);
	cr_expect(eq(str, (char *)wanted_by(profiler), (char *)"001101"));
	setenv("RIFT_TRACE_RANGE", "", 1);
	cr_expect(eq(str, (char *)wanted_by(profiler), (char *)"111101"));
}

/* ---- tables -------------------------------------------------------------------------------- */

Test(small_recorder_process, threads_have_numbers)
{
	for (int i = 0; i < 40; i++)
		cr_assert(eq(int, recorder_thread(1000 + i, "a name that is too long"), i));
	for (int i = 0; i < 40; i++)
		cr_assert(eq(int, recorder_thread(1000 + i, "another"), i));
}

Test(small_recorder_process, texts_are_kept)
{
	enum { N = 3000 };
	static const char *kept[N];
	char text[16];
	int wrong = 0;

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < N; i++) {
			snprintf(text, sizeof(text), "text %d", i);
			if (!round)
				kept[i] = recorder_keep(text);
			wrong += recorder_keep(text) != kept[i] || strcmp(kept[i], text) != 0;
		}
	cr_expect(zero(int, wrong));
	cr_expect(zero(ptr, (void *)(uintptr_t)recorder_keep(NULL)));
}

/* ---- ends ---------------------------------------------------------------------------------- */

/* Rows of the file as it is. */
static size_t count(const char *record)
{
	json_t *rows = traced_rows(path);
	size_t n = trace_count(rows, record, NULL, NULL);

	json_decref(rows);
	return n;
}

static void check(bool is)
{
	if (!is)
		_exit(1);
}

/* An end that does not come is taken back. */
static void announced(void)
{
	tell(RECORDER_EXECS); /* nothing is recorded yet */
	launches(2);
	tell(RECORDER_EXECS);
	check(count("end") == 1 && count("call") == 2 && count("own") == 2);
	tell(RECORDER_GOES_ON);
	while (count("end"))
		usleep(1000);
	launches(3);
	tell(RECORDER_EXITS);
	check(count("end") == 1 && count("call") == 5 && count("own") == 3);
	if (!fork()) { /* another process: not its file */
		tell(RECORDER_GOES_ON);
		_exit(0);
	}
	wait(NULL);
	check(count("end") == 1);
	_exit(0);
}

static void *tell_of_end(void *unused)
{
	tell(RECORDER_EXITS); /* of a thread that has made no call */
	return unused;
}

static void announced_elsewhere(void)
{
	pthread_t other;

	launches(1);
	pthread_create(&other, NULL, tell_of_end, NULL);
	pthread_join(other, NULL);
	check(count("end") == 1 && count("own") == 1);
	_exit(0);
}

Test(small_recorder_process, ends_that_are_announced)
{
	json_decref(record(announced));
	json_decref(record(announced_elsewhere));
}

static void stopped(void)
{
	launches(1);
	recorder_mark(TRACE_MARK_stop, NULL);
}

/* The end says why there is no more; a duration that is over is a stop, too. */
Test(small_recorder_process, why_it_ends)
{
	json_t *rows = record(one);
	const json_t *limits = json_object_get(json_array_get(rows, 0), "limits");

	cr_expect(zero(i64, trace_int(limits, "delay_ns")));
	cr_expect(zero(i64, trace_int(limits, "duration_ns")));
	cr_expect(eq(i64, trace_int(limits, "max_events"), 2000000));
	trace_row(rows, "end", "reason", "exit");
	json_decref(rows);
	rows = record(stopped);
	trace_row(rows, "end", "reason", "stop");
	json_decref(rows);
	setenv("RIFT_TRACE_DURATION_NS", "1", 1);
	rows = record(one);
	trace_row(rows, "end", "reason", "stop");
	cr_expect(zero(sz, trace_count(rows, "call", NULL, NULL)));
	json_decref(rows);
}

/* ---- files and processes ------------------------------------------------------------------- */

/* There is no file; who is to end for that does, with status 3. */
static void has_no_file(bool ends_process, const char *says)
{
	const char *out;

	source.ends_process = ends_process;
	cr_expect(eq(int, status_of(one), ends_process ? 3 : 0), "%s", says);
	shell(&out, "cat said");
	cr_expect(tells(out, says), "%s", out);
}

Test(small_recorder_process, a_file_that_cannot_be)
{
	static char longest[4096];
	const char *out;

	cr_assert(zero(int, chdir(folder)));
	shell(NULL, "echo mine >a.trace");
	has_no_file(true, "give another name, nothing is overwritten");
	has_no_file(false, "give another name, nothing is overwritten");
	setenv("RIFT_TRACE_STARTED_NS", "1", 1); /* a command has seen that it was not there */
	source.ends_process = false;
	cr_expect(zero(int, status_of(one)));
	shell(&out, "cat a.trace; ls -A | sed 's/[0-9][0-9]*/N/'; tail -n 1 a.trace.*");
	cr_expect(tells(out, "mine\na.trace\na.trace.N\nsaid\n*\"calls\":1*"), "%s", out);
	setenv("RIFT_TRACE", "none/a.trace", 1);
	has_no_file(true, "No such file or directory\n");
	memset(longest, 'a', sizeof(longest) - 1);
	setenv("RIFT_TRACE", longest, 1);
	cr_expect(eq(int, status_of(one), 3));
}

static void is_off(void)
{
	launches(1);
	check(!recorder_state && !recorder_start());
}

/* No file is left, and the process goes on. */
Test(small_recorder_process, a_source_that_cannot_begin)
{
	begins = false;
	cr_expect(zero(int, status_of(is_off)));
	cr_expect(ne(int, access(path, F_OK), 0));
	begins = true;
	setenv("RIFT_TRACE_RECORDER", "other", 1);
	cr_expect(zero(int, status_of(is_off)), "another one is wanted");
	cr_expect(ne(int, access(path, F_OK), 0));
	setenv("RIFT_TRACE_RECORDER", "made", 1);
	json_decref(record(one));
	setenv("RIFT_TRACE", "", 1);
	cr_expect(zero(int, status_of(is_off)));
	unsetenv("RIFT_TRACE");
	cr_expect(zero(int, status_of(is_off)));
}

static void is_on(void)
{
	static struct recorder_source second = { .name = "second" };
	sigset_t before, after;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	recorder_load(&second); /* one is there already */
	check(recorder_start());
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	check(sigismember(&after, SIGUSR1) && !sigismember(&after, SIGTERM));
	launches(3);
	if (!fork()) {
		launches(2);
		quick_exit(0);
	}
	wait(NULL);
	launches(4);
}

/* A child has a file of its own, with its number behind the name, and begins anew. */
Test(small_recorder_process, children)
{
	json_t *rows;
	const char *out;

	cr_assert(zero(int, chdir(folder)));
	setenv("RIFT_TRACE", "a.trace", 1);
	source.calibrate = NULL; /* after one calls count from 1, too */
	rows = record(is_on);
	cr_expect(
		eq(str,
		   (char *)json_string_value(json_object_get(json_array_get(rows, 0), "recorder")),
		   (char *)"made"));
	cr_expect(eq(i64, trace_int(trace_row(rows, "end", NULL, NULL), "calls"), 7));
	json_decref(rows);
	shell(&out, "mv a.trace.[0-9]* a.trace");
	rows = traced_rows(path);
	trace_judge(rows);
	cr_expect(eq(i64, trace_int(trace_row(rows, "call", NULL, NULL), "id"), 1));
	cr_expect(eq(i64, trace_int(trace_row(rows, "thread", NULL, NULL), "id"), 0));
	cr_expect(eq(i64, trace_int(trace_row(rows, "end", NULL, NULL), "calls"), 2));
	cr_expect(zero(i64, trace_int(trace_row(rows, "end", NULL, NULL), "dropped")));
	json_decref(rows);
	unlink(path);
	setenv("RIFT_TRACE_OWNER", "1", 1); /* of another process's, which has started this one */
	cr_expect(zero(int, status_of(one)));
	cr_expect(ne(int, access(path, F_OK), 0));
	shell(&out, "ls a.trace.[0-9]* | wc -l");
	cr_expect(eq(str, (char *)out, (char *)"1\n"));
}

static void *launch_elsewhere(void *unused)
{
	launches(300);
	return unused;
}

static void beside_each_other(void)
{
	pthread_t other[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&other[i], NULL, launch_elsewhere, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(other[i], NULL);
}

/* Each call has its operation, whichever thread it is of; ordered and not. */
Test(small_recorder_process, threads)
{
	for (int ordered = 0; ordered < 2; ordered++) {
		json_t *rows;

		source.is_ordered = ordered;
		rows = record(beside_each_other);
		cr_expect(eq(i64, trace_calls_of(rows, "launch"), 900));
		cr_expect(eq(i64, trace_ops_of(rows, "kernel"), 900));
		cr_expect(zero(i64, trace_int(trace_row(rows, "end", NULL, NULL), "dropped")));
		cr_expect(le(sz, 3, trace_count(rows, "thread", NULL, NULL)));
		json_decref(rows);
	}
}

/* ---- the processor's time ------------------------------------------------------------------ */

enum { COMPUTED_NS = 2000000 };

/* Two calls in a row, one after so much of the thread's own time, and one after a while. */
static void gaps(void)
{
	struct timespec t;
	int64_t from = -1, now;

	launches(2);
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
		from = from < 0 ? now : from;
	} while (now < from + COMPUTED_NS);
	launches(1);
	usleep(20000);
	launches(1);
}

/* Of gaps that are worth a look, and none longer than the gap. */
Test(small_recorder_process, the_processor_s_time_between_calls)
{
	json_t *rows, *row;
	int64_t last = 0, cpu[4], gap[4];
	int n = 0;
	size_t i;

	setenv("RIFT_TRACE_CPU", "1", 1);
	rows = record(gaps);
	json_array_foreach(rows, i, row)
	{
		if (strcmp(json_string_value(json_object_get(row, "record")), "call") != 0)
			continue;
		cr_assert(lt(int, n, 4));
		gap[n] = trace_int(row, "t0") - last;
		cpu[n] = json_object_get(row, "cpu_ns") ? trace_int(row, "cpu_ns") : -1;
		cr_expect(le(i64, cpu[n], gap[n]), "call %d", n);
		if (n)
			cr_expect(eq(int, cpu[n] >= 0, gap[n] >= 20000), "call %d: %ld", n,
				  (long)gap[n]);
		last = trace_int(row, "t1");
		n++;
	}
	cr_assert(eq(int, n, 4));
	cr_expect(eq(i64, cpu[0], -1), "nothing was before it");
	cr_expect(le(i64, COMPUTED_NS * 9 / 10, cpu[2]));
	cr_expect(lt(i64, cpu[3], gap[3] / 2));
	json_decref(rows);
	setenv("RIFT_TRACE_CPU", "0", 1);
	rows = record(gaps);
	json_array_foreach(rows, i, row) cr_expect(zero(ptr, json_object_get(row, "cpu_ns")));
	json_decref(rows);
}
