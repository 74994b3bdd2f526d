/* supervisor.c - the processes of a session one after the other, whatever they do. */
#include "harness/session/supervisor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/philox.h"
#include "common/plural.h"
#include "harness/base/command.h"
#include "harness/base/text.h"
#include "harness/measure/measure.h"
#include "harness/measure/choose.h"
#include "harness/measure/estimate.h"
#include "harness/measure/plan_record.h"
#include "harness/platform/system.h"
#include "harness/session/stopping.h"
#include "harness/session/workers.h"

/* ---- processes, and what is left of one when a worker is lost --------------------------- */

enum { STARTS_LOST = 3 };

static const char *side_label(const struct lane *l)
{
	if (l->session->journal.sides < 2)
		return "";
	return side_of(l) ? "side b: " : "side a: ";
}

/*
 * A worker was lost at a point. The first time it is tried again in a fresh process; the second
 * time in one process it is final, and other processes of this side leave it out.
 */
static int fail_point(struct lane *l, bool hung)
{
	struct session *s = l->session;
	struct journal *j = &s->journal;
	const int *failures = &j->failures[l->replicate * session_plan(s)->n_points + l->point];
	const char *status = hung ? "timeout" : "error";
	int err;

	err = journal_failure(j, l->replicate, l->point, status, failure_of_worker(&l->child, hung),
			      false);
	if (!err && *failures >= 2) {
		err = journal_failure(j, l->replicate, l->point, status,
				      failure_of_worker(&l->child, hung), true);
		s->show.points_done++;
	}
	return err;
}

static void print_lost(struct lane *l, const char *at, bool hung)
{
	struct session *s = l->session;
	const int *failures =
		&s->journal.failures[l->replicate * session_plan(s)->n_points + l->point];
	char text[160];

	plan_point_text(session_plan(s), l->point, text, sizeof(text));
	show_line(&s->show, "%s%s%s: %s; %s", side_label(l), at, text,
		  hung ? "hung and was killed" : "ended the worker",
		  *failures ? "left out" : "tried again in a fresh process");
}

/* It was lost while it set up a configuration: so are all points that need that. */
static int lost_at_setup(struct lane *l, bool hung)
{
	struct session *s = l->session;
	const struct plan *p = session_plan(s);
	bool said = false;
	int err = 0;

	for (int i = 0; i < p->n_points && !err; i++) {
		if (p->point[i].config != l->config || p->point[i].sync != s->policy ||
		    s->journal.status[l->replicate * p->n_points + i])
			continue;
		l->point = i;
		if (!said)
			print_lost(l, "setting up ", hung);
		said = true;
		err = fail_point(l, hung);
	}
	return err;
}

/*
 * It did not come back from what it said that it would do. Where the side has never come that far
 * it never will; else it is worth another try.
 */
static int hung_at_start(struct lane *l, int times)
{
	struct session *s = l->session;
	const char *side = side_label(l);

	if (times < 2 && s->journal.header[side_of(l)]) {
		show_line(&s->show, "%sa worker hung %s and was killed; tried again", side,
			  l->child.phase);
		return 0;
	}
	complain(ETIMEDOUT,
		 "%sa worker hung %s: no answer for %.0f s; if it only needs longer, "
		 "`rift sweep --resume %s --patience SECONDS` waits",
		 side, l->child.phase, s->patience_ns / 1e9, s->journal.path);
	return -ENODEV;
}

/* It ended before it was at any point: worth a few tries, as somebody may have killed it. */
static int lost_at_start(struct lane *l, int times)
{
	char how[80];

	child_describe(&l->child, how, sizeof(how));
	if (WIFEXITED(l->child.status) && WEXITSTATUS(l->child.status) == RIFT_NO_DEVICE)
		return -ENODEV; /* it said so */
	if (WIFEXITED(l->child.status) && WEXITSTATUS(l->child.status) == RIFT_FAILED_POINTS)
		return -ENOSYS; /* the platform lacks what no point does without: likewise */
	if (times < STARTS_LOST)
		return 0;
	return complain(EIO, "a worker %s before it measured anything, %d times: %s", how, times,
			*l->child.last_error ? l->child.last_error : "it said nothing");
}

/* Points that ended a worker twice on this side, or that it does not support. */
static int skip_known_failures(struct lane *l)
{
	struct session *s = l->session;
	struct journal *j = &s->journal;
	const struct plan *p = session_plan(s);
	int err = 0;

	for (int i = 0; i < p->n_points && !err; i++) {
		const json_t *refused = journal_refusal(j, l->replicate, i);

		if (j->status[l->replicate * p->n_points + i] ||
		    !(refused || journal_is_deadly(j, l->replicate, i)))
			continue;
		s->show.points_done++;
		if (refused) {
			err = journal_failure(j, l->replicate, i, "not_supported",
					      json_deep_copy(refused), true);
			continue;
		}
		err = journal_failure(j, l->replicate, i, "skipped",
				      json_pack("{s:s}", "name", "it ended two workers before"),
				      true);
	}
	return err;
}

/* After the last process of a pair; NULL: where no interim is due. New reference. */
static json_t *take_interim(struct session *s)
{
	const struct journal *j = &s->journal;
	int processes = s->show.process / j->sides;
	json_t *o;

	if (s->show.process % j->sides || !interims_due(&session_plan(s)->design, processes))
		return json_null();
	s->interim = interims_take(j, processes, &o);
	s->interim_processes = processes;
	return o;
}

/* Between processes, so that they do not all fall into the same beat of the machine. */
static void session_pause(const struct session *s, int replicate, int turn)
{
	const struct design *d = &session_plan(s)->design;
	struct philox r = philox4x32((uint32_t)replicate, (uint32_t)turn, 0, 0x70617573, d->seed);
	double ns = (double)d->pause_min_ns +
		    philox_uniform(r.word[0]) * (double)(d->pause_max_ns - d->pause_min_ns);

	usleep((useconds_t)(ns / 1e3));
}

/* Adds the numbers of a worker's last line to those of the workers before it, and its lists behind
 * theirs; takes both. */
static json_t *add_up(json_t *all, json_t *bye)
{
	const char *name;
	json_t *v;

	if (!all || !bye)
		return all ? all : bye;
	json_object_foreach(bye, name, v)
	{
		double before = json_number_value(json_object_get(all, name));

		if (json_is_array(v) && json_object_get(all, name))
			json_array_extend(json_object_get(all, name), v);
		if (json_is_real(v))
			json_object_set_new(all, name, json_real(before + json_real_value(v)));
	}
	json_decref(bye);
	return all;
}

static bool is_left(const struct lane *l, enum wait_policy policy)
{
	const struct session *s = l->session;
	const struct plan *p = session_plan(s);

	for (int i = 0; i < p->n_points; i++)
		if (p->point[i].sync == policy &&
		    !s->journal.status[l->replicate * p->n_points + i])
			return true;
	return false;
}

/* A worker has ended: in order, or what it was at is settled and another one may go on. */
static int take_end(struct lane *l, bool hung)
{
	int err = 0;

	if (l->waits)
		l->point = l->config = -1; /* it was to come there, and was not there yet */
	if (!hung && l->bye) {
		l->done = !json_is_true(json_object_get(l->bye, "left")) ||
			  !is_left(l, l->session->policy);
		/* Its sentinel did not come back after a configuration (worker.c): what is held or
		 * was held there is charged to others, so a fresh process goes on with those. */
		if (!l->done && !l->workers)
			show_line(&l->session->show,
				  "%sa synchronize stays slower after a configuration was "
				  "released: each gets a fresh process",
				  side_label(l));
		json_object_del(l->bye, "left");
		l->summed = add_up(l->summed, l->bye);
		l->bye = NULL;
		l->workers++;
	} else if (l->point >= 0) {
		print_lost(l, "", hung);
		err = fail_point(l, hung);
	} else if (l->config >= 0) {
		err = lost_at_setup(l, hung);
	} else {
		l->lost_starts++;
		err = hung ? hung_at_start(l, l->lost_starts) : lost_at_start(l, l->lost_starts);
	}
	child_release(&l->child);
	return err;
}

static int start_one(struct session *s)
{
	struct lane *l = session_to_start(s);
	int err = l ? skip_known_failures(l) : 0;

	return err || !l ? err : session_start_worker(l);
}

static bool all_done(const struct session *s)
{
	for (int i = 0; i < s->lanes; i++)
		if (!s->lane[i].done)
			return false;
	return true;
}

/* The workers of s->policy, and others in their place, until each has ended in order. */
static int run_kind(struct session *s)
{
	struct lane *ended;
	int err = 0;

	while (!err && !all_done(s)) {
		bool hung;

		ended = NULL;
		err = start_one(s);
		if (!err)
			err = session_attend(s, &ended);
		hung = err == -ETIMEDOUT;
		if (ended && (!err || hung))
			err = take_end(ended, hung);
	}
	for (int i = 0; i < s->lanes; i++)
		child_release(&s->lane[i].child);
	return err;
}

/* The i-th wait policy: for each process that has something left, or has said nothing yet. */
static int run_kind_number(struct session *s, int i)
{
	int policies = plan_policies(session_plan(s)), err;
	bool begun = false;

	/* the same for both sides: their processes have one number */
	s->policy = journal_policy(&s->journal, s->lane[0].replicate, i);
	for (int k = 0; k < s->lanes; k++) {
		struct lane *l = &s->lane[k];

		/* the last one also says bye where nothing is left at all */
		l->done = !is_left(l, s->policy) && (l->summed || i + 1 < policies);
		l->lost_starts = 0;
		begun |= l->summed != NULL;
	}
	if (all_done(s))
		return 0;
	if (begun)
		session_pause(s, s->lane[0].replicate, i);
	err = interrupted() ? -EINTR : run_kind(s);
	return err;
}

static int write_trailers(struct session *s)
{
	json_t *nvml = watch_take(s->watch);
	int err = 0;

	for (int k = 0; k < s->lanes && !err; k++) {
		struct lane *l = &s->lane[k];

		json_object_set(l->summed, "nvml", nvml);
		json_object_set_new(l->summed, "interim", take_interim(s));
		json_object_set_new(l->summed, "workers", json_integer(l->workers));
		if (l->alone_ns)
			json_object_set_new(l->summed, "alone",
					    company_json(&s->journal, l->replicate, l->alone_ns));
		if (s->lanes > 1)
			json_object_set_new(l->summed, "turns", json_integer(s->ties));
		err = journal_trailer(&s->journal, l->replicate, l->summed);
		l->summed = NULL;
		s->show.process += k + 1 < s->lanes;
	}
	json_decref(nvml);
	return err;
}

/*
 * All that is missing of these processes, one of each side or one alone, their trailers included.
 * Returns 0, -EINTR when interrupted, -ESTALE, or another negative errno after one line.
 */
static int session_run_processes(struct session *s, const int *replicate, int n)
{
	int policies = plan_policies(session_plan(s)), err = 0;

	s->lanes = n;
	s->ties = 0;
	for (int k = 0; k < n && !err; k++) {
		s->lane[k] = (struct lane){ .session = s,
					    .replicate = replicate[k],
					    .child = child_none() };
		err = journal_begin(&s->journal, replicate[k]);
	}
	for (int i = 0; i < policies && !err; i++)
		err = run_kind_number(s, i);
	if (!err)
		err = write_trailers(s);
	for (int k = 0; k < n; k++) {
		free(s->lane[k].alone_ns);
		json_decref(s->lane[k].bye);
		json_decref(s->lane[k].summed);
	}
	return err;
}

/* ---- the session ------------------------------------------------------------------------ */

/* Processes up to the next interim are to come: how many, and how long they will take. */
static void estimate_left(struct session *s, int from)
{
	const struct design *d = &session_plan(s)->design;
	const struct journal *j = &s->journal;
	int to = d->sequential ? j->sides * design_next_interim(d, from / j->sides) : j->replicates;
	double ns = 0;

	for (int i = from; i < to; i++)
		if (!j->complete[journal_replicate(j, i)])
			ns += predict_turn_ns(session_plan(s),
					      journal_side(j, journal_replicate(j, i)),
					      i / j->sides);
	s->show.predicted_ns += ns;
	s->show.planned_ns += ns;
	s->show.processes = to;
	s->show.points = to * session_plan(s)->n_points;
}

static void start_show(struct session *s)
{
	struct journal *j = &s->journal;

	s->show.start_ns = clock_ns();
	s->show.points_done =
		j->replicates * session_plan(s)->n_points - journal_count(j, POINT_PENDING);
	s->show.predicted_ns = s->show.planned_ns = 0;
	estimate_left(s, 0);
}

static void print_interim(struct session *s, int processes)
{
	const struct design *d = &session_plan(s)->design;
	const char *each = s->journal.sides == 2 ? " a side" : "";
	const char *then = s->interim.stop ? "no more" : "more are added";
	char known[320];

	if (!goals_any(&d->goals)) {
		show_line(&s->show, "%d of %d points are wider than ±%s %% after %s%s: %s",
			  s->interim.wide, s->interim.points,
			  text_half_width(d->half_width_max, 0).s, counted(processes, "process").s,
			  each, then);
		return;
	}
	goals_text(&s->journal, known, sizeof(known));
	show_line(&s->show, "%s after %s%s: %s", known, counted(processes, "process").s, each,
		  then);
}

/* The interim analysis after i replicates is done, if one was due: is that enough? */
static bool is_enough(struct session *s, int i)
{
	const struct journal *j = &s->journal;
	int processes = i / j->sides;
	bool fresh;

	if (i % j->sides || !interims_due(&session_plan(s)->design, processes))
		return false;
	fresh = s->interim_processes == processes; /* else it was taken before a resume */
	if (!fresh)
		s->interim = interims_take(j, processes, NULL);
	s->interim_processes = processes;
	if (fresh || s->interim.stop)
		print_interim(s, processes);
	return s->interim.stop;
}

/* The processes from the i-th on that run together: two of a pair, where it has both still to do.
 */
static int together(const struct session *s, int i, int replicate[CHILDREN_MAX])
{
	const struct journal *j = &s->journal;
	bool pairs = session_plan(s)->design.pairs && j->sides == 2 && i % 2 == 0;
	int n = 0;

	for (int k = i; k < i + 1 + pairs; k++)
		if (!j->complete[journal_replicate(j, k)])
			replicate[n++] = journal_replicate(j, k);
	return n;
}

/* The n processes before the next one have ended. */
static void print_done(struct session *s, const int *replicate, int n, int next)
{
	const struct journal *j = &s->journal;
	char which[32], left[16];

	for (int k = 0; k < n; k++)
		s->show.done_ns += predict_start_ns(session_plan(s), journal_side(j, replicate[k]));
	snprintf(which, sizeof(which), n > 1 ? "es %d and %d" : " %d", next - n + 1, next);
	show_line(&s->show, "process%s of %d%s%s: %d of %d points, about %s left", which,
		  s->show.processes, j->sides == 2 && n == 1 ? ", side " : "",
		  j->sides == 2 && n == 1 ? journal_side_name(journal_side(j, replicate[0])) : "",
		  s->show.points_done, s->show.points, show_duration(show_left_ns(&s->show), left));
}

/* Do the sides get in each other's way? One line then. */
static bool is_crowded(const struct session *s)
{
	const struct journal *j = &s->journal;

	for (int side = 0; side < j->sides; side++) {
		struct company c = company_of(j, side);

		if (!c.matters)
			continue;
		complain(EBUSY,
			 "side %s takes %.3g times as long while a process of the other side runs "
			 "(%s): measuring everything again, one process at a time",
			 journal_side_name(side), c.ratio, counted(c.n, "process").s);
		return true;
	}
	return false;
}

/* What is left of the i-th process, and of the one that runs beside it; *next: the one after them.
 */
static int run_from(struct session *s, int i, int *next)
{
	int replicate[CHILDREN_MAX], n = together(s, i, replicate), err;

	*next = i + (n > 1 ? n : 1);
	if (!n)
		return 0;
	s->show.process = i + 1;
	if (n == 1 && replicate[0] != journal_replicate(&s->journal, i))
		s->show.process = *next = i + 2; /* the first of a pair is complete */
	if (interrupted())
		return -EINTR;
	err = session_run_processes(s, replicate, n);
	if (!err)
		print_done(s, replicate, n, *next);
	return err;
}

/* ---- the plan, corrected ------------------------------------------------------------------ */

/* What is over by less is noise, as a share of the limit. */
static const double correct_from = 0.05;

static bool can_be_corrected(const struct session *s)
{
	const struct design *d = &session_plan(s)->design;

	return s->limit_ns > 0 && !d->policies && !goals_any(&d->goals);
}

/* The plan and the file without the points that do not stay; what is to come is predicted anew. */
static int leave_out(struct session *s, const bool *stays, double left_ns, double times)
{
	struct journal *j = &s->journal;
	double planned_ns = s->show.planned_ns; /* that the plan was too long is to be seen */
	int err = journal_drop(
		j, stays,
		json_pack("{s:I, s:f}", "left_ns", (json_int_t)left_ns, "times_as_long", times));

	s->show.predicted_ns = s->show.done_ns;
	s->show.points_done =
		j->replicates * session_plan(s)->n_points - journal_count(j, POINT_PENDING);
	estimate_left(s, j->sides);
	s->show.planned_ns = planned_ns;
	return err;
}

/*
 * The first process of each side took took_ns. Where the others would then go beyond the limit,
 * points are left out of them, never processes: an interval is of all of them.
 */
static int correct_plan(struct session *s, double took_ns)
{
	double left_ns = s->limit_ns - (double)(clock_ns() - s->show.begun_ns), times;
	int before = session_plan(s)->n_points, gone, err = 0;
	bool *stays = calloc((size_t)before + 1, sizeof(*stays));

	CHECK(stays, "memory of %d points", before);
	gone = predict_choose_again(session_plan(s), s->journal.sides, took_ns,
				    left_ns + correct_from * s->limit_ns, stays, &times);
	if (gone) {
		show_line(&s->show,
			  "the first process%s took %.3g times as long as predicted: %d of %d "
			  "points are left out of the others",
			  s->journal.sides == 2 ? "es" : "", times, gone, before);
		err = leave_out(s, stays, left_ns, times);
	}
	free(stays);
	return err;
}

int session_run(struct session *s)
{
	struct journal *j = &s->journal;
	bool first = true;
	char pci[32];
	int err = keep_device_alive(pci);
	int64_t start_ns = clock_ns();

	s->watch = watch_open(pci);
	start_show(s);
	for (int i = 0, next; i < j->replicates && !err; i = next) {
		if (!first && !j->complete[journal_replicate(j, i)])
			session_pause(s, journal_replicate(j, i), 0);
		first = j->complete[journal_replicate(j, i)];
		if (i >= s->show.processes)
			estimate_left(s, i);
		err = run_from(s, i, &next);
		if (!err && is_crowded(s))
			err = -EBUSY;
		if (!err && is_enough(s, next))
			break;
		if (!err && next == j->sides && next < j->replicates && can_be_corrected(s))
			err = correct_plan(s, (double)(clock_ns() - start_ns));
	}
	watch_close(s->watch);
	s->watch = NULL;
	for (int side = 0; side < 2; side++) {
		json_decref(s->remarked[side]);
		s->remarked[side] = NULL;
	}
	return err ? err : journal_finish(j);
}
