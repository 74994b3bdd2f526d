/* session.c - the supervisor: the processes of a session one after the other, whatever they do. */
#include "harness/sweep/session.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "common/philox.h"
#include "harness/command.h"
#include "common/interrupt.h"
#include "harness/measure.h"
#include "harness/sweep/failure.h"
#include "harness/sweep/hold.h"
#include "harness/sweep/predict.h"
#include "harness/sweep/session_impl.h"

enum { STARTS_LOST = 3 };

static const struct plan *plan_of(const struct session *s)
{
	return &s->journal.plan;
}

/* ---- one process of the session ---------------------------------------------------------- */

/*
 * A worker was lost at a point. The first time it is tried again in a fresh process; the second
 * time in one process it is final, and other processes of this side leave it out.
 */
static int lost_at_point(struct session *s, bool hung)
{
	struct journal *j = &s->journal;
	const int *failures = &j->failures[s->slot * plan_of(s)->n_points + s->point];
	const char *status = hung ? "timeout" : "error";
	char text[160];
	int err;

	plan_point_text(plan_of(s), s->point, text, sizeof(text));
	show_line(&s->show, "%s: %s; %s", text, hung ? "hung and was killed" : "ended the worker",
		  *failures ? "left out" : "tried again in a fresh process");
	err = journal_failure(j, s->slot, s->point, status, failure_of_worker(&s->child, hung),
			      false);
	if (!err && *failures >= 2) {
		err = journal_failure(j, s->slot, s->point, status,
				      failure_of_worker(&s->child, hung), true);
		s->show.points_done++;
	}
	return err;
}

/* It was lost while it set up a configuration: so are all points that need that. */
static int lost_at_setup(struct session *s, bool hung)
{
	const struct plan *p = plan_of(s);
	int err = 0;

	for (int i = 0; i < p->n_points && !err; i++) {
		if (p->point[i].config != s->config || s->journal.status[s->slot * p->n_points + i])
			continue;
		s->point = i;
		err = lost_at_point(s, hung);
	}
	return err;
}

/* It ended before it was at any point: worth a few tries, as somebody may have killed it. */
static int lost_at_start(struct session *s, int times)
{
	char how[80];

	child_describe(&s->child, how, sizeof(how));
	if (WIFEXITED(s->child.status) && WEXITSTATUS(s->child.status) == RIFT_NO_DEVICE)
		return -ENODEV; /* it said so */
	if (times < STARTS_LOST)
		return 0;
	return complain(EIO, "a worker %s before it measured anything, %d times: %s", how, times,
			*s->child.last_error ? s->child.last_error : "it said nothing");
}

/* Points that ended a worker twice on this side. */
static int skip_known_failures(struct session *s)
{
	struct journal *j = &s->journal;
	const struct plan *p = plan_of(s);
	int err = 0;

	for (int i = 0; i < p->n_points && !err; i++) {
		if (j->status[s->slot * p->n_points + i] || !journal_is_deadly(j, s->slot, i))
			continue;
		err = journal_failure(j, s->slot, i, "skipped",
				      json_pack("{s:s}", "name", "it ended two workers before"),
				      true);
		s->show.points_done++;
	}
	return err;
}

/* After the last process of a pair; NULL: where no look is due. New reference. */
static json_t *take_look(struct session *s)
{
	const struct journal *j = &s->journal;
	int processes = s->show.process / j->sides;
	json_t *o;

	if (s->show.process % j->sides || !looks_due(&plan_of(s)->design, processes))
		return json_null();
	s->look = looks_take(j, processes, &o);
	s->looked = processes;
	return o;
}

static int run_process(struct session *s)
{
	int lost_starts = 0;

	for (;;) {
		int err = skip_known_failures(s);

		if (!err)
			err = session_run_worker(s);
		if (!err && s->bye) {
			json_t *bye = s->bye;

			s->bye = NULL;
			json_object_set_new(bye, "nvml", watch_take(s->watch));
			json_object_set_new(bye, "look", take_look(s));
			child_release(&s->child);
			return journal_trailer(&s->journal, s->slot, bye);
		}
		if (!err || err == -ETIMEDOUT) {
			bool hung = err == -ETIMEDOUT;

			err = s->point >= 0    ? lost_at_point(s, hung)
			      : s->config >= 0 ? lost_at_setup(s, hung)
					       : lost_at_start(s, ++lost_starts);
		}
		child_release(&s->child);
		if (err)
			return err;
	}
}

/* Between processes, so that they do not all fall into the same beat of the machine. */
static void pause_between(const struct session *s)
{
	const struct design *d = &plan_of(s)->design;
	struct philox r = philox4x32((uint32_t)s->slot, 0, 0, 0x70617573, d->seed);
	double ns = (double)d->pause_min_ns +
		    philox_uniform(r.word[0]) * (double)(d->pause_max_ns - d->pause_min_ns);

	usleep((useconds_t)(ns / 1e3));
}

/* Processes up to the next look are to come: how many, and how long they will take. */
static void foresee(struct session *s, int from)
{
	const struct design *d = &plan_of(s)->design;
	const struct journal *j = &s->journal;
	int to = d->sequential ? j->sides * next_look(from / j->sides) : j->slots;

	for (int i = from; i < to; i++)
		if (!j->complete[journal_slot(j, i)])
			s->show.predicted_ns += predict_turn_ns(plan_of(s), i / j->sides);
	s->show.processes = to;
	s->show.points = to * plan_of(s)->n_points;
}

static void start_show(struct session *s)
{
	struct journal *j = &s->journal;

	s->show.start_ns = clock_ns();
	s->show.points_done = j->slots * plan_of(s)->n_points - journal_count(j, POINT_PENDING);
	s->show.processes = 0;
	s->show.predicted_ns = 0;
	foresee(s, 0);
}

/* The rule has looked after i slots, if it was to: is that enough? */
static bool is_enough(struct session *s, int i)
{
	const struct journal *j = &s->journal;
	int processes = i / j->sides;
	bool fresh;

	if (i % j->sides || !looks_due(&plan_of(s)->design, processes))
		return false;
	fresh = s->looked == processes; /* else it was taken before a resume */
	if (!fresh)
		s->look = looks_take(j, processes, NULL);
	s->looked = processes;
	if (fresh || s->look.stop)
		show_line(&s->show,
			  "%d of %d points are wider than ±%.0f %% after %d processes%s: %s",
			  s->look.wide, s->look.points, 100 * plan_of(s)->design.half_width_max,
			  processes, j->sides == 2 ? " a side" : "",
			  s->look.stop ? "no more" : "more are added");
	return s->look.stop;
}

static int run_slot(struct session *s, int i)
{
	struct journal *j = &s->journal;
	char left[16];
	int err;

	s->slot = journal_slot(j, i);
	s->show.process = i + 1;
	if (j->complete[s->slot])
		return 0;
	err = journal_begin(j, s->slot);
	if (!err)
		err = run_process(s);
	if (err)
		return err;
	s->show.done_ns += predict_start_ns(plan_of(s));
	show_line(&s->show, "process %d of %d%s%s: %d of %d points, about %s left", i + 1,
		  s->show.processes, j->sides == 2 ? ", side " : "",
		  j->sides == 2 ? journal_side_name(s->slot / plan_of(s)->design.processes) : "",
		  s->show.points_done, s->show.points, show_duration(show_left_ns(&s->show), left));
	return 0;
}

int session_run(struct session *s)
{
	struct journal *j = &s->journal;
	bool first = true;
	char pci[32];
	int err = hold_device(pci);

	s->child = (struct child){ .out.fd = -1, .err.fd = -1 };
	s->watch = watch_open(pci);
	start_show(s);
	for (int i = 0; i < j->slots && !err; i++) {
		if (!first && !j->complete[journal_slot(j, i)])
			pause_between(s);
		first = j->complete[journal_slot(j, i)];
		if (i == s->show.processes)
			foresee(s, i);
		err = interrupted() ? -EINTR : run_slot(s, i);
		if (!err && is_enough(s, i + 1))
			break;
	}
	child_release(&s->child);
	watch_close(s->watch);
	s->watch = NULL;
	json_decref(s->bye);
	s->bye = NULL;
	return err ? err : journal_finish(j);
}
