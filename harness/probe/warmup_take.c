/* warmup_take.c - warm-up curves are taken: fresh processes, and idling between them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/platform/platform.h"
#include "harness/platform/system.h"
#include "harness/measure/measure.h"
#include "harness/measure/run.h"
#include "harness/base/together.h"
#include "harness/record/journal_impl.h"
#include "harness/record/record.h"
#include "harness/session/job.h"
#include "harness/probe/warmup.h"

/* ---- what may be asked for ---------------------------------------------------------------- */

static int check_mode(struct warmup_request *r, const struct limits *limits)
{
	const char *why;

	for (int m = 0; !r->mode_given && m < MODE_COUNT; m++) {
		r->mode = (enum mode)m;
		if (!mode_refused(r->workload, limits, r->mode))
			break;
	}
	why = mode_refused(r->workload, limits, r->mode);
	return why ? complain(EINVAL, "--mode=%s: %s refuses it: %s", mode_name(r->mode),
			      r->workload->name, why)
		   : 0;
}

static int check_depths(const struct warmup_request *r, const struct limits *l)
{
	for (int i = 0; i < r->depths; i++)
		if (l->depth_max && r->depth[i] > l->depth_max)
			return complain(EINVAL, "--depth=%ld: %s allows at most %ld: %s",
					(long)r->depth[i], r->workload->name, (long)l->depth_max,
					l->depth_why ? l->depth_why : "no reason given");
	return 0;
}

int warmup_check(struct warmup_request *r)
{
	const struct workload *w = r->workload;
	void *opts = calloc(1, w->opts_size + 1);
	struct limits limits = { 0 };
	struct params params;
	int err = 0;

	CHECK(opts, "memory of %s", w->name);
	params_init(&params, w->params, w->name, opts);
	for (int i = 0; i < r->n_words && !err; i++)
		err = params_assign(&params, r->words[i]);
	err = err ? err : param_needs_check(&params, w->needs);
	err = err ? err : workload_limits(w, opts, &limits);
	if (!err && limits.action)
		err = complain(EINVAL,
			       "these parameters ask %s for an action, and nothing is "
			       "timed",
			       w->name);
	err = err ? err : check_mode(r, &limits);
	err = err ? err : check_depths(r, &limits);
	params_release(&params);
	free(opts);
	return err;
}

/* ---- processes ----------------------------------------------------------------------------- */

struct taking {
	json_t *curves; /* the file so far */
	int process;
	bool refused; /* the platform lacks something: said by the process */
};

static int take_line(const json_t *o, void *arg)
{
	struct taking *t = arg;
	json_t *curve = json_object_get(o, "curve");

	t->refused |= record_is(o, "refused");
	if (record_is(o, "header"))
		json_object_update_missing(t->curves, (json_t *)(uintptr_t)o);
	if (!record_is(o, "curve") || !curve)
		return 0;
	json_object_set_new(curve, "process", json_integer(t->process));
	return json_array_append(json_object_get(t->curves, "curves"), curve);
}

static json_t *words_json(const struct warmup_request *r)
{
	json_t *array = json_array();

	for (int i = 0; i < r->n_words; i++)
		json_array_append_new(array, json_text(r->words[i]));
	return array;
}

static json_t *job_json(const struct warmup_request *r, int64_t depth, bool following, bool last)
{
	return json_pack("{s:s, s:s, s:o, s:i, s:i, s:I, s:f, s:f, s:b, s:b, s:o, s:b}", "job",
			 "warmup", "workload", r->workload->name, "params", words_json(r), "sync",
			 (int)r->sync, "mode", (int)r->mode, "depth", (json_int_t)depth, "rest_s",
			 r->rest_s, "seconds", r->seconds, "following", following, "header", last,
			 "platform", json_text(r->platform), "host_name", r->host_name);
}

static json_t *new_curves(const struct warmup_request *r)
{
	unsigned char bytes[8];
	char id[17];
	uint32_t seed;

	CHECK(getrandom(bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes), "no random numbers");
	for (int i = 0; i < 8; i++)
		snprintf(id + (size_t)(2 * i), 3, "%02x", bytes[i]);
	memcpy(&seed, bytes, sizeof(seed));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:o, s:s, s:s, s:i, s:f, s:f, s:I, "
			 "s:[]}",
			 "record", "warmup_curves", "schema", WARMUP_SCHEMA, "tool", "rift",
			 "tool_version", RIFT_VERSION, "session_id", id, "start_utc",
			 journal_now_utc(), "workload", r->workload->name, "params", words_json(r),
			 "mode", mode_name(r->mode), "sync", sync_names[r->sync], "processes",
			 r->processes, "rest_s", r->rest_s, "seconds", r->seconds, "seed",
			 (json_int_t)seed, "curves");
}

static int idle(double seconds)
{
	int64_t end = clock_ns() + (int64_t)(1e9 * seconds);

	while (clock_ns() < end && !interrupted())
		usleep(10000);
	return interrupted() ? -EINTR : 0;
}

static int run_job(struct taking *t, const struct warmup_request *r, int64_t depth, bool following,
		   bool last)
{
	struct job run = { .process = t->process,
			   .processes = r->processes,
			   .patience_ns = 1e9 * r->patience_s,
			   .each = take_line,
			   .arg = t };
	json_t *job = job_json(r, depth, following, last);
	int err = job_run(&run, job);

	json_decref(job);
	return !err && t->refused ? -ENOSYS : err;
}

/* Nothing may run on the device before the first; the second follows the first at once. */
static int take_pair(struct taking *t, const struct warmup_request *r, int64_t depth, bool last)
{
	int err;

	progress_part("process %d of %d, depth %ld: the device idles", t->process + 1, r->processes,
		      (long)depth);
	err = idle(r->rest_s);
	progress("process %d of %d, depth %ld", t->process + 1, r->processes, (long)depth);
	err = err ? err : run_job(t, r, depth, false, false);
	return err ? err : run_job(t, r, depth, true, last);
}

int warmup_take(const struct warmup_request *r, json_t **curves)
{
	struct taking t = { .curves = new_curves(r) };
	int err = 0;

	for (; t.process < r->processes && !err; t.process++)
		for (int i = 0; i < r->depths && !err; i++)
			err = take_pair(&t, r, r->depth[i],
					t.process == r->processes - 1 && i == r->depths - 1);
	progress_clear();
	*curves = t.curves;
	return err;
}
