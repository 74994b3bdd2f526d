/* host_runs.c - a program's calls, recorded by the library that is preloaded. */
#include "harness/profile/host_runs.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "common/trace/host_gaps.h"
#include "harness/base/text.h"

/* After one line: above 0. */
static int untold(const struct recording_request *r, const char *why)
{
	return -complain(ENODATA, "%s: the host's times are those of the recording: %s",
			 text_shown(r->argv[0]).s, why);
}

/* ---- a folder for their traces ------------------------------------------------------------ */

/* Beside the recording, where there is room for it. A child that goes on for longer than the
 * program finds the folder gone. */
static bool make_folder(const char *output, char out[PATH_MAX])
{
	const char *slash = strrchr(output, '/');
	int n = snprintf(out, PATH_MAX, "%.*s.rift-calls-XXXXXX",
			 slash ? (int)(slash - output + 1) : 0, output);

	return n < PATH_MAX && mkdtemp(out);
}

static void name_trace(const char *folder, int run, char out[PATH_MAX + 32])
{
	snprintf(out, PATH_MAX + 32, "%s/%d", folder, run);
}

/* ---- the runs ----------------------------------------------------------------------------- */

static bool is_whole(const struct trace *t)
{
	return t->finished && !t->dropped && !*t->failed;
}

/* Counts what a run left at the path. 0, or above 0 after a line. */
static int count(const struct recording_request *r, const char *path, struct host_gaps *gaps)
{
	struct trace t;
	int err = 0;

	if (access(path, F_OK))
		return untold(r, "it made no call of a shared CUDA runtime");
	if (trace_read(&t, path) || !is_whole(&t))
		err = untold(r, "the trace of a run with calls alone is incomplete");
	else
		host_gaps_count(gaps, &t);
	trace_release(&t);
	return err;
}

/* 0, a negative errno, or above 0 after a line: it tells nothing. */
static int run_one(const struct recording_request *request, const char *folder, int run, int status,
		   struct host_gaps *gaps)
{
	struct recording_request r = *request;
	struct recording one = { 0 };
	char path[PATH_MAX + 32];
	int err;

	if (interrupted())
		return -EINTR;
	name_trace(folder, run, path);
	r.output = path;
	r.recorder = RECORDER_CALLS;
	r.no_cpu_times = true;
	progress("%s: run %d of %d with calls alone", r.argv[0], run + 1, r.host_runs);
	err = recording_told(&r, &one);
	progress_clear();
	if (err)
		return err;
	return one.status == status ? count(&r, path, gaps)
				    : untold(&r, "a run with calls alone ended differently");
}

/* A second time, now that it is known which functions all have called equally often. */
static void add(const char *folder, int run, struct host_gaps *gaps)
{
	char path[PATH_MAX + 32];
	struct trace t;

	name_trace(folder, run, path);
	if (!trace_read(&t, path))
		host_gaps_add(gaps, &t);
	trace_release(&t);
}

static int run_all(const struct recording_request *r, const char *folder, const struct trace *full,
		   struct recording *out)
{
	struct host_gaps *gaps = host_gaps_new(full);
	int err = 0;

	for (int i = 0; i < r->host_runs && !err; i++)
		err = run_one(r, folder, i, out->status, gaps);
	for (int i = 0; i < r->host_runs && !err; i++)
		add(folder, i, gaps);
	if (!err)
		out->host_gaps = host_gaps_json(gaps);
	if (!err && !out->host_gaps)
		err = untold(r, "no two calls follow each other 20 times in all runs, and equally "
				"often, and no wait is for graphs");
	host_gaps_free(gaps);
	return err;
}

/* NULL: a recording that such runs may be held against. */
static const char *unfit(const struct trace *full)
{
	if (!full->device_times || !full->is_calibrated)
		return "it has no times of the device, or no calibration";
	return full->calls && is_whole(full) ? NULL : "its trace is not whole";
}

int host_runs_take(const struct recording_request *r, struct recording *out)
{
	char folder[PATH_MAX];
	struct trace full;
	int err;

	if (!r->host_runs)
		return 0;
	err = trace_read(&full, r->output);
	if (!err && unfit(&full))
		err = untold(r, unfit(&full));
	if (!err && !make_folder(r->output, folder))
		err = untold(r, "no folder can be made next to it");
	if (!err) {
		err = run_all(r, folder, &full, out);
		output_remove_folder(folder);
	}
	trace_release(&full);
	return err < 0 ? err : 0;
}
