/* session_worker.c - one worker: its job, its lines, its deadlines, its end. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/json.h"
#include "harness/measure.h"
#include "harness/sweep/environment.h"
#include "harness/sweep/failure.h"
#include "harness/sweep/predict.h"
#include "harness/sweep/session_impl.h"
#include "harness/sweep/warm.h"

enum { TICK_MS = 20 };

/*
 * A hang is told from slowness generously: 50 times the side's own prediction, and no less than
 * this for a visit, than the patience for all else.
 */
static const double deadline_least_ns = 10e9;
static const double deadline_factor = 50;
/* For a block to end after Ctrl-C, and after a deadline, s. */
static const double interrupt_wait_s = 60, kill_wait_s = 2;

static int side_of(const struct session *s)
{
	return journal_side(&s->journal, s->slot);
}

static void allow(struct session *s, double least_ns, double predicted_ns)
{
	double ns = fmax(least_ns, deadline_factor * (isfinite(predicted_ns) ? predicted_ns : 0));

	s->deadline_ns = clock_ns() + (int64_t)fmin(ns, 1e18);
}

/* ---- the worker's lines ------------------------------------------------------------------ */

static int integer(const json_t *o, const char *key)
{
	return (int)json_integer_value(json_object_get(o, key));
}

/* But for the kind of waiting, which is no part of the machine where a session has several. */
static json_t *without_kind(const json_t *header)
{
	json_t *o = json_copy((json_t *)(uintptr_t)header);
	json_t *flags = json_copy(json_object_get(o, "cuda_flags"));

	json_object_del(flags, "sync");
	json_object_del(flags, "sync_flag");
	json_object_set_new(o, "cuda_flags", flags);
	return o;
}

/* Each field that has changed is said once a side: a container has a new name in every process. */
static void remark_changes(struct session *s, int side, const json_t *before, const json_t *now)
{
	char text[400], what[320];

	if (!s->remarked[side])
		s->remarked[side] = json_object();
	if (!environment_changes(before, now, s->remarked[side], what, sizeof(what)))
		return;
	snprintf(text, sizeof(text), "rift: changed%s%s: %s; recorded, and no other machine",
		 s->journal.sides == 2 ? " on side " : "",
		 s->journal.sides == 2 ? journal_side_name(side) : "", what);
	show_complaint(&s->show, text);
}

/* -ESTALE: it is not the machine that the side was begun on; s->change says why. */
static int compare_headers(struct session *s, int side, const json_t *before, const json_t *now)
{
	bool kinds = plan_of(s)->design.kinds;
	json_t *x = kinds ? without_kind(before) : json_deep_copy(before);
	json_t *y = kinds ? without_kind(now) : json_deep_copy(now);
	bool elsewhere = environment_differs(x, y, s->change, sizeof(s->change));

	if (!elsewhere)
		remark_changes(s, side, x, y);
	json_decref(x);
	json_decref(y);
	return elsewhere ? -ESTALE : 0;
}

static int on_header(struct session *s, const json_t *o)
{
	struct journal *j = &s->journal;
	int side = side_of(s), err = 0;
	const json_t *before = j->header[side];

	s->started = true;
	s->point = s->config = -1;
	if (before)
		err = compare_headers(s, side, before, o);
	return err ? err : journal_header(j, s->slot, json_copy((json_t *)(uintptr_t)o));
}

static int on_visit(struct session *s, const json_t *o)
{
	struct journal *j = &s->journal;
	int point = integer(o, "point"), round = integer(o, "round"), err;
	int done = journal_count(j, POINT_PENDING);

	if (point < 0 || point >= plan_of(s)->n_points || round < 0 ||
	    round >= plan_of(s)->design.rounds)
		return complain(EPROTO, "a worker reports a point that is not in the plan");
	err = journal_visit(j, s->slot, point, round, json_copy((json_t *)(uintptr_t)o));
	s->point = -1;
	s->show.done_ns += predict_visit_ns(plan_of(s), journal_side(j, s->slot), point);
	s->show.points_done += done - journal_count(j, POINT_PENDING);
	return err;
}

/* A hook said no: that is final, it would say it again. */
static int on_failed(struct session *s, const json_t *o)
{
	int point = integer(o, "point");

	s->point = -1;
	if (point < 0 || point >= plan_of(s)->n_points)
		return complain(EPROTO, "a worker reports a point that is not in the plan");
	s->show.points_done++;
	return journal_failure(&s->journal, s->slot, point, "error",
			       failure_of_hook(integer(o, "code"), s->child.last_error), true);
}

/* What the platform lacks it will lack again: that is final, too. */
static int on_refused(struct session *s, const json_t *o)
{
	int point = integer(o, "point");

	s->point = -1;
	if (point < 0 || point >= plan_of(s)->n_points)
		return complain(EPROTO, "a worker reports a point that is not in the plan");
	s->show.points_done++;
	return journal_failure(&s->journal, s->slot, point, "not_supported",
			       json_incref(json_object_get(o, "error")), true);
}

static void on_begin(struct session *s, const json_t *o)
{
	char text[80];

	s->config = -1;
	s->point = integer(o, "point");
	if (s->point < 0 || s->point >= plan_of(s)->n_points) {
		s->point = -1;
		return;
	}
	/* the first time the point is captured and uploaded as well */
	allow(s, integer(o, "round") < 0 ? s->patience_ns : deadline_least_ns,
	      predict_visit_ns(plan_of(s), side_of(s), s->point));
	plan_point_text(plan_of(s), s->point, text, sizeof(text));
	show_progress(&s->show, text);
}

static void on_setup(struct session *s, int config)
{
	if (config < 0 || config >= plan_of(s)->n_configs)
		return;
	s->point = -1;
	s->config = config;
	allow(s, s->patience_ns, plan_of(s)->config[config].timing[side_of(s)].setup_ns);
}

/* It is at no point any more: whatever happens next is not that one's fault. */
static void on_phase(struct session *s)
{
	const struct plan *p = plan_of(s);
	double longest_ns = 0;

	s->point = s->config = -1;
	if (strcmp(s->child.phase, phase_warm_up))
		return;
	for (int i = 0; i < p->n_points; i++)
		longest_ns = fmax(longest_ns, predict_block_ns(p, &p->point[i], side_of(s)));
	allow(s, s->patience_ns + (double)p->design.warmup_max_ns, WARM_CANARIES * longest_ns);
}

static int take_line(const json_t *o, void *arg)
{
	struct session *s = arg;

	if (record_is(o, "begin")) {
		on_begin(s, o);
		return 0;
	}
	/* what comes next, if nothing says otherwise: a round's end */
	allow(s, s->patience_ns, 0);
	if (record_is(o, "phase"))
		on_phase(s);
	else if (record_is(o, "setup"))
		on_setup(s, integer(o, "config"));
	else if (record_is(o, "header"))
		return on_header(s, o);
	else if (record_is(o, "visit"))
		return on_visit(s, o);
	else if (record_is(o, "failed"))
		return on_failed(s, o);
	else if (record_is(o, "refused"))
		return on_refused(s, o);
	else if (record_is(o, "bye"))
		s->bye = json_copy((json_t *)(uintptr_t)o);
	return 0;
}

static void take_complaint(const char *line, void *arg)
{
	struct session *s = arg;

	show_complaint(&s->show, line);
}

/* ---- one worker -------------------------------------------------------------------------- */

static json_t *job_of(const struct session *s)
{
	const struct journal *j = &s->journal;
	const struct plan *p = plan_of(s);
	json_t *done = json_array(), *skip = json_array();
	double canary_ns = journal_canary_ns(j, side_of(s));
	int rounds = p->design.rounds;

	for (int i = 0; i < p->n_points; i++) {
		if (j->status[s->slot * p->n_points + i] || p->point[i].sync != s->kind)
			json_array_append_new(skip, json_integer(i));
		for (int r = 0; r < rounds; r++)
			if (j->visit[i * rounds + r])
				json_array_append_new(done, json_pack("[i, i]", i, r));
	}
	return json_pack("{s:s, s:o, s:i, s:i, s:s, s:o, s:o, s:o, s:b}", "job", "measure", "plan",
			 plan_json(p), "process", s->slot % p->design.processes, "side", side_of(s),
			 "sync", sync_names[s->kind], "done", done, "skip", skip, "canary_ns",
			 json_number(canary_ns), "check_all", s->slot % p->design.processes == 0);
}

/*
 * At once, so that a crash of this process loses nothing; but where the worker has two processors
 * or fewer this process would take one of them at every visit, just when a canary runs.
 */
static void rest(struct session *s)
{
	cpu_set_t allowed;

	if (!sched_getaffinity(0, sizeof(allowed), &allowed) && CPU_COUNT(&allowed) > 2)
		child_wait(&s->child, TICK_MS);
	else
		usleep(1000 * TICK_MS);
}

/* Reads until the worker ends, hangs, or is to be ended. -ETIMEDOUT: it hung and was killed. */
static int attend(struct session *s)
{
	int err = 0;
	bool ended;

	allow(s, s->patience_ns, 0);
	do {
		ended = child_ended(
			&s->child); /* before reading: what it wrote is then all there */
		err = child_read(&s->child, take_line, take_complaint, s);
		if (!err)
			err = record_sync(&s->journal.part, false);
		if (!err)
			err = record_sync(&s->journal.visits, false);
		if (!err && !ended && interrupted())
			err = -EINTR;
		if (!err && !ended && clock_ns() > s->deadline_ns)
			err = -ETIMEDOUT;
		if (!err && !ended) {
			watch_sample(s->watch, clock_ns());
			rest(s);
		}
	} while (!err && !ended);
	return err;
}

/* The block in hand ends; what the worker still says is kept. */
static int end_in_order(struct session *s)
{
	int err;

	child_stop(&s->child, interrupt_wait_s);
	err = child_read(&s->child, take_line, take_complaint, s);
	return err ? err : -EINTR;
}

int session_run_worker(struct session *s)
{
	json_t *job = job_of(s);
	int side = side_of(s), err;

	s->started = false;
	s->point = s->config = -1;
	json_decref(s->bye);
	s->bye = NULL;
	err = child_start(&s->child, job, side ? s->journal.against : NULL);
	json_decref(job);
	if (err)
		return err;
	err = attend(s);
	if (err == -EINTR)
		err = end_in_order(s);
	else if (err)
		child_stop(&s->child, kill_wait_s);
	return err;
}
