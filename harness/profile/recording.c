/* recording.c - runs a program with the recorder and without it. */
#include "harness/profile/recording.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "harness/base/text.h"
#include "harness/measure/measure.h"
#include "harness/profile/trace.h"
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

static void tell_recorder(const struct recording_request *r)
{
	setenv("RIFT_TRACE", r->output, 1);
	if (r->anonymous)
		setenv("RIFT_TRACE_ANONYMOUS", "1", 1);
	if (r->range)
		setenv("RIFT_TRACE_RANGE", r->range, 1);
	set_number("RIFT_TRACE_DELAY_NS", r->delay_ns);
	set_number("RIFT_TRACE_DURATION_NS", r->duration_ns);
	set_number("RIFT_TRACE_MAX_EVENTS", r->max_events);
	set_number("RIFT_TRACE_STARTED_NS", clock_ns());
}

static void tell_nothing(void)
{
	static const char *const names[] = { "",	   "_ANONYMOUS",   "_RANGE",
					     "_DELAY_NS",  "_DURATION_NS", "_MAX_EVENTS",
					     "_STARTED_NS" };
	char variable[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(variable, sizeof(variable), "RIFT_TRACE%s", names[i]);
		unsetenv(variable);
	}
}

/* ---- all runs ----------------------------------------------------------------------------- */

static int run_recorded(const struct recording_request *r, struct recording *out)
{
	int err;

	if (!access(r->output, F_OK))
		return complain(EEXIST, "%s: exists; a trace replaces nothing", r->output);
	tell_nothing();
	tell_recorder(r);
	err = run_once(r, &out->status, &out->profiled_wall_ns);
	tell_nothing();
	if (!err && access(r->output, F_OK))
		err = complain(ENOENT,
			       "%s: wrote no trace: no recorder is in it, or it asked nothing "
			       "of the runtime",
			       text_shown(r->argv[0]).s);
	return err;
}

static int run_plain(const struct recording_request *r, struct recording *out)
{
	int err = 0;

	for (int i = 0; i < r->unprofiled && !err; i++) {
		int64_t wall_ns;
		int status;

		progress("%s: run %d of %d without the recorder", r->argv[0], i + 1, r->unprofiled);
		err = run_once(r, &status, &wall_ns);
		if (!err && status == out->status)
			out->unprofiled_wall_ns[out->n++] = wall_ns;
		else if (!err)
			complain(EIO,
				 "%s: run %d without the recorder ended otherwise than the "
				 "recorded one; it does not count",
				 text_shown(r->argv[0]).s, i + 1);
	}
	progress_clear();
	return err;
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
	int err;

	interrupt_install();
	*out = (struct recording){ 0 };
	CHECK(request->unprofiled <= RECORDING_RUNS_MAX, "%d runs", request->unprofiled);
	err = run_recorded(request, out);
	if (!err)
		err = run_plain(request, out);
	return err ? err : append_runs(request->output, out);
}
