/* host_runs.c - a program's calls, recorded by the library that is preloaded. */
#include "harness/profile/host_runs.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/check.h"
#include "common/trace/host_gaps.h"
#include "harness/base/text.h"
#include "harness/profile/trace_files.h"

static void name_of(const struct recording_request *r, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s.calls", r->output);
}

int host_runs_refuse(const struct recording_request *r)
{
	char path[PATH_MAX];

	name_of(r, path);
	return r->host_runs ? trace_files_refuse(path, 2) : 0;
}

/* After one line: above 0. */
static int untold(const struct recording_request *r, const char *why)
{
	return -complain(ENODATA, "%s: the host's times are those of the recording: %s",
			 text_shown(r->argv[0]).s, why);
}

/* What is at the path is read into *t, and removed with what children wrote. */
static int take_trace(const struct recording_request *r, bool as_recorded, struct trace *t)
{
	bool is_there = !access(r->output, F_OK), is_whole = is_there && !trace_read(t, r->output);

	trace_files_remove(r->output);
	if (!is_there)
		return untold(r, "it asked nothing of a shared CUDA runtime");
	if (!is_whole)
		return untold(r, "the trace of a run with calls alone cannot be read");
	return as_recorded ? 0 : untold(r, "a run with calls alone ended otherwise");
}

/* One of them. 0, a negative errno, or above 0 after one line: it tells nothing. */
static int take_one(const struct recording_request *request, int number, int status,
		    struct trace *t)
{
	struct recording_request r = *request;
	struct recording one = { 0 };
	char path[PATH_MAX];
	int err;

	name_of(request, path);
	r.output = path;
	r.recorder = RECORDER_CALLS;
	progress("%s: run %d of %d with calls alone", r.argv[0], number + 1, r.host_runs);
	err = recording_told(&r, &one);
	progress_clear();
	if (err)
		trace_files_remove(path);
	return err ? err : take_trace(&r, one.status == status, t);
}

static int take_all(const struct recording_request *r, const struct trace *full,
		    struct recording *out)
{
	struct trace *calls = calloc((size_t)r->host_runs, sizeof(*calls));
	int n = 0, err = 0;

	CHECK(calls, "memory of %d traces", r->host_runs);
	for (; n < r->host_runs && !err; n++)
		err = take_one(r, n, out->status, &calls[n]);
	if (!err)
		out->host_gaps = host_gaps_json(full, calls, n);
	if (!err && !out->host_gaps)
		err = untold(r, "it makes other calls in a run with calls alone");
	for (int i = 0; i < n; i++)
		trace_release(&calls[i]);
	free(calls);
	return err;
}

int host_runs_take(const struct recording_request *r, struct recording *out)
{
	struct trace full;
	int err = 0;

	if (!r->host_runs)
		return 0;
	/* one that is damaged is refused where its last row is to be written */
	if (!trace_read(&full, r->output))
		err = full.device_times && full.is_calibrated
			      ? take_all(r, &full, out)
			      : untold(r, "it has no times of the device, or no calibration");
	trace_release(&full);
	return err < 0 ? err : 0;
}
