/* workers.c - one worker: its job, its lines, its deadlines, its end. */
#include "harness/session/worker.h"
#include "harness/session/workers.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/json.h"
#include "harness/platform/system.h"
#include "harness/measure/measure.h"
#include "harness/measure/estimate.h"
#include "harness/record/environment.h"
#include "harness/measure/plan_record.h"
#include "harness/session/calibrate.h"

enum { TICK_MS = 20 };

/*
 * A hang is told from slowness generously: 50 times the side's own prediction, and no less than
 * this for a visit, than the patience for all else.
 */
static const double deadline_least_ns = 10e9;
static const double deadline_factor = 50;
/* For a block to end after Ctrl-C, and after a deadline, s. */
static const double interrupt_wait_s = 60, kill_wait_s = 2;

static void allow_ns(struct lane *l, double ns)
{
	l->allowed = (int64_t)fmin(ns, 1e18);
	l->deadline_ns = clock_ns() + l->allowed;
}

static void allow(struct lane *l, double least_ns, double predicted_ns)
{
	allow_ns(l, isfinite(predicted_ns) ? fmax(least_ns, deadline_factor * predicted_ns)
					   : least_ns);
}

/* ---- the worker's lines ------------------------------------------------------------------ */

static int integer(const json_t *o, const char *key)
{
	return (int)json_integer_value(json_object_get(o, key));
}

/* But for the wait policy, which is no part of the machine where a session has several. */
static json_t *without_policy(const json_t *header)
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
	snprintf(text, sizeof(text), "rift: changed%s%s: %s; recorded, still the same machine",
		 s->journal.sides == 2 ? " on side " : "",
		 s->journal.sides == 2 ? journal_side_name(side) : "", what);
	show_complaint(&s->show, text);
}

/* -ESTALE: it is not the machine that the side was begun on; s->change says why. */
static int compare_headers(struct session *s, int side, const json_t *before, const json_t *now)
{
	bool policies = session_plan(s)->design.policies;
	json_t *x = policies ? without_policy(before) : json_deep_copy(before);
	json_t *y = policies ? without_policy(now) : json_deep_copy(now);
	bool elsewhere = environment_differs(x, y, s->change, sizeof(s->change));

	if (!elsewhere)
		remark_changes(s, side, x, y);
	json_decref(x);
	json_decref(y);
	return elsewhere ? -ESTALE : 0;
}

static int on_header(struct lane *l, const json_t *o)
{
	struct journal *j = &l->session->journal;
	int side = side_of(l), err = 0;
	const json_t *before = j->header[side];

	l->point = l->config = -1;
	if (before)
		err = compare_headers(l->session, side, before, o);
	return err ? err : journal_header(j, l->replicate, json_copy((json_t *)(uintptr_t)o));
}

static int on_visit(struct lane *l, const json_t *o)
{
	struct session *s = l->session;
	struct journal *j = &s->journal;
	int point = integer(o, "point"), round = integer(o, "round"), err;
	int done = journal_count(j, POINT_PENDING);

	if (point < 0 || point >= session_plan(s)->n_points || round < 0 ||
	    round >= session_plan(s)->design.rounds)
		return complain(EPROTO, "a worker reports a point that is not in the plan");
	err = journal_visit(j, l->replicate, point, round, json_copy((json_t *)(uintptr_t)o));
	l->point = -1;
	l->lost_starts = 0;
	s->show.done_ns += predict_visit_ns(session_plan(s), journal_side(j, l->replicate), point);
	s->show.points_done += done - journal_count(j, POINT_PENDING);
	return err;
}

/* A hook said no: that is final, it would say it again. */
static int on_failed(struct lane *l, const json_t *o)
{
	struct session *s = l->session;
	int point = integer(o, "point");

	l->point = -1;
	if (point < 0 || point >= session_plan(s)->n_points)
		return complain(EPROTO, "a worker reports a point that is not in the plan");
	s->show.points_done++;
	return journal_failure(&s->journal, l->replicate, point, "error",
			       failure_of_hook(integer(o, "code"), l->child.last_error), true);
}

/* What the platform lacks it will lack again: that is final, too. */
static int on_refused(struct lane *l, const json_t *o)
{
	struct session *s = l->session;
	int point = integer(o, "point");

	l->point = -1;
	if (point < 0 || point >= session_plan(s)->n_points)
		return complain(EPROTO, "a worker reports a point that is not in the plan");
	s->show.points_done++;
	return journal_failure(&s->journal, l->replicate, point, "not_supported",
			       json_incref(json_object_get(o, "error")), true);
}

static void on_begin(struct lane *l, const json_t *o)
{
	struct session *s = l->session;
	char text[80];

	l->config = -1;
	l->point = integer(o, "point");
	if (l->point < 0 || l->point >= session_plan(s)->n_points) {
		l->point = -1;
		return;
	}
	/* the first time the point is captured and uploaded as well */
	allow(l, integer(o, "round") < 0 ? s->patience_ns : deadline_least_ns,
	      predict_visit_ns(session_plan(s), side_of(l), l->point) +
		      predict_check_ns(session_plan(s), side_of(l), l->point));
	plan_point_text(session_plan(s), l->point, text, sizeof(text));
	show_progress(&s->show, text);
}

static void on_setup(struct lane *l, int config)
{
	const struct plan *p = session_plan(l->session);
	double longest_ns = 0;

	if (config < 0 || config >= p->n_configs)
		return;
	l->point = -1;
	l->config = config;
	/* the first of a workload in a process may pay for all of them: mlp keeps its images */
	for (int i = 0; i < p->n_configs; i++)
		if (p->config[i].workload == p->config[config].workload)
			longest_ns = fmax(longest_ns, p->config[i].timing[side_of(l)].setup_ns);
	allow(l, l->session->patience_ns, longest_ns);
}

/* It is at no point any more: whatever happens next is not that one's fault. */
static void on_phase(struct lane *l)
{
	const struct plan *p = session_plan(l->session);
	double longest_ns = 0;

	l->point = l->config = -1;
	if (strcmp(l->child.phase, phase_warm_up))
		return;
	for (int i = 0; i < p->n_points; i++)
		longest_ns = fmax(longest_ns, predict_block_ns(p, &p->point[i], side_of(l)));
	allow(l, l->session->patience_ns + (double)p->design.warmup_max_ns,
	      WARM_CANARIES * longest_ns);
}

/* What it has said before is what it will do; a set-up and an end have no line of their own. */
static void on_turn(struct lane *l, const json_t *o)
{
	const json_t *turn = json_object_get(o, "turn");

	l->turn_config = integer(o, "config");
	for (size_t i = 0; i < 3; i++)
		l->turn[i] = (int)json_integer_value(json_array_get(turn, i));
	l->waits = true;
	l->alone &= l->turn[1] < 0;
}

static void on_alone(struct lane *l, const json_t *o)
{
	int points = session_plan(l->session)->n_points;
	int point = integer(o, "point"), round = integer(o, "round");

	l->point = -1;
	if (!l->alone_ns || point < 0 || point >= points || round < 0 || round >= ALONE_ROUNDS)
		return;
	l->alone_ns[point * ALONE_ROUNDS + round] =
		json_number_value(json_object_get(o, "t_total_ns"));
}

static int take_line(const json_t *o, void *arg)
{
	struct lane *l = arg;

	if (record_is(o, "begin")) {
		on_begin(l, o);
		return 0;
	}
	if (record_is(o, "turn")) {
		on_turn(l, o);
		return 0;
	}
	/* what comes next, if nothing says otherwise: a round's end */
	allow_ns(l, l->session->patience_ns);
	if (record_is(o, "phase"))
		on_phase(l);
	else if (record_is(o, "setup"))
		on_setup(l, integer(o, "config"));
	else if (record_is(o, "header"))
		return on_header(l, o);
	else if (record_is(o, "alone"))
		on_alone(l, o);
	else if (record_is(o, "visit"))
		return on_visit(l, o);
	else if (record_is(o, "failed"))
		return on_failed(l, o);
	else if (record_is(o, "refused"))
		return on_refused(l, o);
	else if (record_is(o, "bye"))
		l->bye = json_copy((json_t *)(uintptr_t)o);
	return 0;
}

static void take_complaint(const char *line, void *arg)
{
	struct lane *l = arg;

	show_complaint(&l->session->show, line);
}

/* ---- one worker -------------------------------------------------------------------------- */

/* The side of a pair that starts first, in ABBA order, runs alone; not one that goes on. */
static bool is_to_be_alone(const struct lane *l)
{
	const struct session *s = l->session;
	const struct journal *j = &s->journal;
	const struct plan *p = session_plan(s);
	int rounds = p->design.rounds;

	if (s->lanes < 2 || l != &s->lane[0] || l->summed || l->alone_ns || l->workers)
		return false;
	for (int i = 0; i < p->n_points; i++) {
		if (j->status[l->replicate * p->n_points + i])
			return false;
		for (int r = 0; r < rounds; r++)
			if (journal_visits(j, l->replicate, i)[r])
				return false;
	}
	return true;
}

static void make_alone_times(struct lane *l)
{
	size_t n = (size_t)session_plan(l->session)->n_points * ALONE_ROUNDS;

	l->alone_ns = malloc((n + 1) * sizeof(*l->alone_ns));
	CHECK(l->alone_ns, "memory of %zu rounds", n);
	for (size_t i = 0; i < n; i++)
		l->alone_ns[i] = NAN;
}

static json_t *job_json(const struct lane *l)
{
	const struct session *s = l->session;
	const struct journal *j = &s->journal;
	const struct plan *p = session_plan(s);
	json_t *done = json_array(), *skip = json_array();
	double canary_ns = journal_canary_ns(j, side_of(l));
	int rounds = p->design.rounds;

	for (int i = 0; i < p->n_points; i++) {
		if (j->status[l->replicate * p->n_points + i] || p->point[i].sync != s->policy)
			json_array_append_new(skip, json_integer(i));
		for (int r = 0; r < rounds; r++)
			if (journal_visits(j, l->replicate, i)[r])
				json_array_append_new(done, json_pack("[i, i]", i, r));
	}
	return json_pack(
		"{s:s, s:o, s:i, s:i, s:s, s:o, s:o, s:o, s:b, s:b, s:i}", "job", "measure", "plan",
		plan_json(p), "process", l->replicate % p->design.processes, "side", side_of(l),
		"sync", sync_names[s->policy], "done", done, "skip", skip, "canary_ns",
		json_number(canary_ns), "check_all", l->replicate % p->design.processes == 0,
		"takes_turns", s->lanes > 1, "alone", l->alone ? ALONE_ROUNDS : 0);
}

/* Last of all, so that what a process takes to start is the process's. */
static void add_start(json_t *job)
{
	json_object_set_new(job, "started",
			    json_pack("{s:s, s:I}", "boot_id", system_boot_id(), "at_ns",
				      (json_int_t)clock_ns()));
}

int session_start_worker(struct lane *l)
{
	struct session *s = l->session;
	json_t *job;
	int err;

	l->alone = is_to_be_alone(l);
	if (l->alone)
		make_alone_times(l);
	job = job_json(l);
	l->point = l->config = -1;
	l->waits = false;
	json_decref(l->bye);
	l->bye = NULL;
	allow_ns(l, s->patience_ns);
	add_start(job);
	err = child_start(&l->child, job, side_of(l) ? s->journal.against : NULL, s->lanes > 1);
	json_decref(job);
	l->running = !err;
	return err;
}

/* ---- workers that run -------------------------------------------------------------------- */

int turns_order(const int x[3], const int y[3], bool apart)
{
	bool begun = x[1] != TURN_SET_UP || y[1] != TURN_SET_UP;

	if (x[0] == y[0] && apart && begun)
		return x[1] != TURN_SET_UP ? -1 : 1; /* the other one has set nothing up */
	for (int i = 0; i < 3; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static bool is_apart(const struct lane *l)
{
	const struct plan *p = session_plan(l->session);

	return l->turn_config >= 0 && l->turn_config < p->n_configs &&
	       p->config[l->turn_config].apart;
}

/* The lane whose turn it is where both wait; at the same point each begins every other time. */
static struct lane *next_lane(struct session *s)
{
	struct lane *x = &s->lane[0], *y = &s->lane[1];
	int order;

	if (s->lanes < 2 || !y->running)
		return x;
	if (!x->running)
		return y;
	order = turns_order(x->turn, y->turn, is_apart(x));
	if (order)
		return order < 0 ? x : y;
	/* who was first is then behind and waits: A B, B A, A B, ... */
	return s->ties++ % 2 ? y : x;
}

static void give_turn(struct session *s)
{
	struct lane *l = next_lane(s);

	if (!l->running || !l->waits)
		return;
	l->waits = false;
	l->deadline_ns = clock_ns() + l->allowed;
	child_go(&l->child);
}

/* Is one at work, or all at rest? */
static bool one_works(const struct session *s)
{
	for (int i = 0; i < s->lanes; i++)
		if (s->lane[i].running && !s->lane[i].waits)
			return true;
	return false;
}

struct lane *session_to_start(struct session *s)
{
	for (int i = 0; i < s->lanes; i++)
		if (s->lane[i].running && (!s->lane[i].waits || s->lane[i].alone))
			return NULL;
	for (int i = 0; i < s->lanes; i++)
		if (!s->lane[i].running && !s->lane[i].done)
			return &s->lane[i];
	return NULL;
}

/*
 * At once, so that a crash of this process loses nothing; but where the worker has two processors
 * or fewer this process would take one of them at every visit, just when a canary runs. Workers
 * that take turns do nothing until they are told to.
 */
static void rest(struct session *s)
{
	struct child *c[CHILDREN_MAX];
	cpu_set_t allowed;
	int n = 0;

	for (int i = 0; i < s->lanes; i++)
		if (s->lane[i].running)
			c[n++] = &s->lane[i].child;
	if (s->lanes > 1 ||
	    (!sched_getaffinity(0, sizeof(allowed), &allowed) && CPU_COUNT(&allowed) > 2))
		child_wait(c, n, TICK_MS);
	else
		usleep(1000 * TICK_MS);
}

/* 1: it has ended. -ETIMEDOUT: it is late. */
static int attend_lane(struct lane *l)
{
	struct journal *j = &l->session->journal;
	/* before reading: what it wrote is then all there */
	bool ended = child_ended(&l->child);
	int err = child_read(&l->child, take_line, take_complaint, l);

	if (!err)
		err = record_sync(&j->part, false);
	if (!err)
		err = record_sync(&j->visits, false);
	if (!err && ended) {
		l->running = false;
		return 1;
	}
	return !err && !l->waits && clock_ns() > l->deadline_ns ? -ETIMEDOUT : err;
}

/* The blocks in hand end; what workers still say is kept. */
static int end_in_order(struct session *s)
{
	int err = 0;

	for (int i = 0; i < s->lanes; i++)
		child_signal(&s->lane[i].child, SIGTERM);
	for (int i = 0; i < s->lanes; i++) {
		struct lane *l = &s->lane[i];

		if (!l->running)
			continue;
		child_stop(&l->child, interrupt_wait_s);
		l->running = false;
		if (!err)
			err = child_read(&l->child, take_line, take_complaint, l);
	}
	return err ? err : -EINTR;
}

static void end_all(struct session *s)
{
	for (int i = 0; i < s->lanes; i++) {
		if (s->lane[i].running)
			child_stop(&s->lane[i].child, kill_wait_s);
		s->lane[i].running = false;
	}
}

/* 1: one has ended, *ended. */
static int attend_all(struct session *s, struct lane **ended)
{
	int err = 0;

	for (int i = 0; i < s->lanes && !err; i++) {
		struct lane *l = &s->lane[i];

		if (!l->running)
			continue;
		err = attend_lane(l);
		if (err == 1 || err == -ETIMEDOUT)
			*ended = l;
	}
	return err;
}

int session_attend(struct session *s, struct lane **ended)
{
	int err;

	*ended = NULL;
	do {
		err = attend_all(s, ended);
		if (!err && interrupted())
			return end_in_order(s);
		if (err || one_works(s)) {
			if (!err)
				watch_sample(s->watch, clock_ns());
		} else if (session_to_start(s)) {
			return 0;
		} else {
			give_turn(s);
		}
		if (!err)
			rest(s);
	} while (!err);
	if (err == -ETIMEDOUT) {
		child_stop(&(*ended)->child, kill_wait_s);
		(*ended)->running = false;
	} else if (err != 1) {
		end_all(s);
	}
	return err == 1 ? 0 : err;
}
