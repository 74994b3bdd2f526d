/* job.c - one worker process that does one job, attended to its end. */
#include <errno.h>
#include <stdio.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/text.h"
#include "harness/platform/system.h"
#include "harness/record/record.h"
#include "harness/session/child.h"
#include "harness/session/job.h"

enum { WAIT_MS = 100 };

/* A probe of one workload takes some seconds; one that says nothing for so long hangs. */
static const double silence_ns = 60e9;

/* ---- lines ------------------------------------------------------------------------------ */

void job_send(FILE *out, json_t *o)
{
	json_dumpf(o, out, JSON_COMPACT);
	json_decref(o);
	fputc('\n', out);
	fflush(out); /* a reader that is gone ends this process by SIGPIPE */
}

static int take_line(const json_t *o, void *arg)
{
	struct job *j = arg;

	j->heard_ns = clock_ns();
	j->bye |= record_is(o, "bye");
	if (record_is(o, "phase"))
		j->busy = json_is_string(json_object_get(o, "workload"));
	return j->each(o, j->arg);
}

static void take_complaint(const char *line, void *arg)
{
	(void)arg;
	progress_clear();
	fprintf(stderr, "%s\n", line);
}

/* ---- processes -------------------------------------------------------------------------- */

static double longest_ns(const struct job *j)
{
	return j->busy && j->patience_ns < silence_ns ? silence_ns : j->patience_ns;
}

static bool is_silent(const struct job *j)
{
	return (double)(clock_ns() - j->heard_ns) > longest_ns(j);
}

static int attend_child(struct job *j, struct child *c)
{
	bool ended;

	do {
		ended = child_ended(c); /* before reading: what it wrote is then all there */
		child_read(c, take_line, take_complaint, j);
		if (interrupted())
			return -EINTR;
		if (!ended && is_silent(j)) {
			complain(ETIMEDOUT,
				 "process %d of %d hung %s: no answer for %.0f s; --patience "
				 "SECONDS waits longer",
				 j->process + 1, j->processes, c->phase, longest_ns(j) / 1e9);
			return -ENODEV;
		}
		if (!ended)
			child_wait(&c, 1, WAIT_MS);
	} while (!ended);
	return 0;
}

/* What its end means, after its own line where it had one. */
static int judge_end(const struct job *j, const struct child *c)
{
	char how[80];

	if (j->bye)
		return 0;
	if (child_errno(c))
		return child_errno(c);
	child_describe(c, how, sizeof(how));
	return complain(EIO, "process %d of %d %s", j->process + 1, j->processes, how);
}

int job_run(struct job *j, const json_t *job)
{
	struct child c;
	int err;

	j->bye = j->busy = false;
	j->heard_ns = clock_ns();
	err = child_start(&c, job, j->prefix, false);
	if (err)
		return err;
	err = attend_child(j, &c);
	if (!err)
		err = judge_end(j, &c);
	child_release(&c);
	return err;
}
