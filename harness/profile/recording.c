/*
 * recording.c - runs a program with the recorder and without it.
 *
 * The recorder is in the program: in the CPU device, where that is the program's runtime, or in a
 * library that the driver loads (common/recorder/cupti). Variables tell both what to do.
 */
#include "harness/profile/recording.h"

#include <errno.h>
#include <glob.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "harness/base/text.h"
#include "harness/measure/measure.h"
#include "common/trace/trace.h"
#include "harness/record/record.h"

extern char **environ;

/* ---- one run ------------------------------------------------------------------------------ */

static int spawn(const struct recording_request *r, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int err;

	CHECK(!posix_spawn_file_actions_init(&actions), "memory of a program's files");
	if (r->stdout_to_stderr)
		posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	err = posix_spawnp(pid, r->argv[0], &actions, NULL, r->argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return err ? complain(err, "%s: cannot be started: %s", text_shown(r->argv[0]).s,
			      strerror(err))
		   : 0;
}

/* Ctrl-C is for the program, which gets it too: what it leaves is a trace all the same. */
static int run_once(const struct recording_request *r, int *status, int64_t *wall_ns)
{
	int64_t begin = clock_ns();
	pid_t pid;
	int err = spawn(r, &pid);

	if (err)
		return err;
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return complain(errno, "%s: %s", text_shown(r->argv[0]).s, strerror(errno));
	*wall_ns = clock_ns() - begin;
	return interrupted() ? -EINTR : 0;
}

/* ---- what the recorder is told, in the program's environment ------------------------------ */

static void set_number(const char *variable, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", (long)value);
	if (value)
		setenv(variable, text, 1);
}

/* On the recorder's clock, which is not that of clock_ns(): the two drift apart. */
static int64_t recorder_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The driver of a GPU loads it into each program that it names it to. */
static const char injection[] = "CUDA_INJECTION64_PATH";

/* Beside this program; false: it is not there. */
static bool find_injection(char out[PATH_MAX])
{
	static const char name[] = "recorder/cupti.so";
	ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - sizeof(name));
	char *slash;

	if (n < 0)
		return false;
	out[n] = '\0';
	slash = strrchr(out, '/');
	memcpy(slash ? slash + 1 : out, name, sizeof(name));
	return !access(out, R_OK);
}

static void tell_recorder(const struct recording_request *r)
{
	char library[PATH_MAX];

	setenv("RIFT_TRACE", r->output, 1);
	if (r->anonymous)
		setenv("RIFT_TRACE_ANONYMOUS", "1", 1);
	if (r->range)
		setenv("RIFT_TRACE_RANGE", r->range, 1);
	if (r->cupti)
		setenv("RIFT_TRACE_CUPTI", r->cupti, 1);
	if (find_injection(library))
		setenv(injection, library, 1);
	set_number("RIFT_TRACE_DELAY_NS", r->delay_ns);
	set_number("RIFT_TRACE_DURATION_NS", r->duration_ns);
	set_number("RIFT_TRACE_MAX_EVENTS", r->max_events);
	set_number("RIFT_TRACE_STARTED_NS", recorder_clock_ns());
}

/* What this process was told itself, too. */
static void tell_nothing(void)
{
	static const char *const names[] = { "",
					     "_ANONYMOUS",
					     "_RANGE",
					     "_DELAY_NS",
					     "_DURATION_NS",
					     "_MAX_EVENTS",
					     "_STARTED_NS",
					     "_OWNER",
					     "_CUPTI" };
	char variable[64];

	unsetenv(injection);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(variable, sizeof(variable), "RIFT_TRACE%s", names[i]);
		unsetenv(variable);
	}
}

/* ---- all runs ----------------------------------------------------------------------------- */

static int refuse(const struct recording_request *r)
{
	if (getenv(injection))
		return complain(EBUSY, "a profiler is there already: %s is set", injection);
	if (!access(r->output, F_OK))
		return complain(EEXIST, "%s: exists; a trace replaces nothing", r->output);
	return 0;
}

/* None of that name; perhaps processes that the program started have made theirs. */
static int no_trace(const struct recording_request *r)
{
	char pattern[PATH_MAX];
	glob_t children;
	size_t n;

	snprintf(pattern, sizeof(pattern), "%s.[0-9]*", r->output);
	n = glob(pattern, 0, NULL, &children) ? 0 : children.gl_pathc;
	globfree(&children);
	if (n)
		return complain(ENOENT, "%s: its children wrote %zu traces, %s.PID: profile these",
				text_shown(r->argv[0]).s, n, r->output);
	return complain(ENOENT,
			"%s: wrote no trace: no recorder is in it, or it asked nothing of the "
			"runtime",
			text_shown(r->argv[0]).s);
}

static int run_recorded(const struct recording_request *r, struct recording *out)
{
	int err;

	tell_recorder(r);
	err = run_once(r, &out->status, &out->profiled_wall_ns);
	tell_nothing();
	return !err && access(r->output, F_OK) ? no_trace(r) : err;
}

/* Runs without the recorder. */
struct plain {
	int64_t wall_ns[RECORDING_RUNS_MAX];
	int status[RECORDING_RUNS_MAX], n;
};

static int run_plain(const struct recording_request *r, struct plain *p, int until)
{
	int err = 0;

	for (; p->n < until && !err; p->n += !err) {
		progress("%s: run %d of %d without the recorder", r->argv[0], p->n + 1,
			 r->unprofiled);
		err = run_once(r, &p->status[p->n], &p->wall_ns[p->n]);
	}
	progress_clear();
	return err;
}

/* Those that ended as the recorded one did. */
static void keep_equal(const struct recording_request *r, const struct plain *p,
		       struct recording *out)
{
	for (int i = 0; i < p->n; i++)
		if (p->status[i] == out->status)
			out->unprofiled_wall_ns[out->n++] = p->wall_ns[i];
	if (out->n < p->n)
		complain(EIO,
			 "%s: %d of %d runs without the recorder ended otherwise than the recorded "
			 "one; they do not count",
			 text_shown(r->argv[0]).s, p->n - out->n, p->n);
}

/* ---- the row ------------------------------------------------------------------------------ */

static json_t *runs_row(const struct recording *rec)
{
	json_t *list = json_array();

	for (int i = 0; i < rec->n; i++)
		json_array_append_new(list, json_integer(rec->unprofiled_wall_ns[i]));
	return json_pack("{s:s, s:I, s:o, s:i}", "record", "runs", "profiled_wall_ns",
			 (json_int_t)rec->profiled_wall_ns, "unprofiled_wall_ns", list,
			 "exit_status", rec->status);
}

static int pass_over(const json_t *o, const struct record_scan *scan, void *arg)
{
	(void)o, (void)scan, (void)arg;
	return 0;
}

/* Behind the last whole line: of a program that was killed that is where its trace ends. */
static int append_runs(const char *path, const struct recording *rec)
{
	struct record_scan scan;
	struct record_file file;
	int err = record_read_as(&scan, path, &trace_format, pass_over, NULL);

	if (!err)
		err = record_append(&file, &scan);
	if (err)
		return err;
	err = record_write(&file, runs_row(rec));
	record_close(&file);
	return err;
}

int recording_run(const struct recording_request *request, struct recording *out)
{
	struct plain plain = { .n = 0 };
	int err;

	interrupt_install();
	*out = (struct recording){ 0 };
	CHECK(request->unprofiled <= RECORDING_RUNS_MAX, "%d runs", request->unprofiled);
	err = refuse(request);
	tell_nothing();
	if (!err)
		err = run_plain(request, &plain, request->unprofiled / 2);
	if (!err)
		err = run_recorded(request, out);
	if (!err)
		err = run_plain(request, &plain, request->unprofiled);
	if (err)
		return err;
	keep_equal(request, &plain, out);
	return append_runs(request->output, out);
}
