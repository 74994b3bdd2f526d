/* session_process.c - one process of a session, and what is left of it when a worker is lost. */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/philox.h"
#include "harness/command.h"
#include "harness/sweep/failure.h"
#include "harness/sweep/session_impl.h"

enum { STARTS_LOST = 3 };

static const char *side_label(const struct session *s)
{
	return journal_side(&s->journal, s->slot) ? "side b: " : "side a: ";
}

/*
 * A worker was lost at a point. The first time it is tried again in a fresh process; the second
 * time in one process it is final, and other processes of this side leave it out.
 */
static int fail_point(struct session *s, bool hung)
{
	struct journal *j = &s->journal;
	const int *failures = &j->failures[s->slot * plan_of(s)->n_points + s->point];
	const char *status = hung ? "timeout" : "error";
	int err;

	err = journal_failure(j, s->slot, s->point, status, failure_of_worker(&s->child, hung),
			      false);
	if (!err && *failures >= 2) {
		err = journal_failure(j, s->slot, s->point, status,
				      failure_of_worker(&s->child, hung), true);
		s->show.points_done++;
	}
	return err;
}

static void say_lost(struct session *s, const char *at, bool hung)
{
	const int *failures = &s->journal.failures[s->slot * plan_of(s)->n_points + s->point];
	char text[160];

	plan_point_text(plan_of(s), s->point, text, sizeof(text));
	show_line(&s->show, "%s%s%s: %s; %s", s->journal.sides == 2 ? side_label(s) : "", at, text,
		  hung ? "hung and was killed" : "ended the worker",
		  *failures ? "left out" : "tried again in a fresh process");
}

static int lost_at_point(struct session *s, bool hung)
{
	say_lost(s, "", hung);
	return fail_point(s, hung);
}

/* It was lost while it set up a configuration: so are all points that need that. */
static int lost_at_setup(struct session *s, bool hung)
{
	const struct plan *p = plan_of(s);
	bool said = false;
	int err = 0;

	for (int i = 0; i < p->n_points && !err; i++) {
		if (p->point[i].config != s->config || p->point[i].sync != s->kind ||
		    s->journal.status[s->slot * p->n_points + i])
			continue;
		s->point = i;
		if (!said)
			say_lost(s, "setting up ", hung);
		said = true;
		err = fail_point(s, hung);
	}
	return err;
}

/*
 * It did not come back from what it said that it would do. Where the side has never come that far
 * it never will; else it is worth another try.
 */
static int hung_at_start(struct session *s, int times)
{
	const char *side = s->journal.sides == 2 ? side_label(s) : "";

	if (times < 2 && s->journal.header[journal_side(&s->journal, s->slot)]) {
		show_line(&s->show, "%sa worker hung %s and was killed; tried again", side,
			  s->child.phase);
		return 0;
	}
	complain(ETIMEDOUT,
		 "%sa worker hung %s: no answer for %.0f s; if it only needs longer, "
		 "`rift sweep --resume %s --patience SECONDS` waits",
		 side, s->child.phase, s->patience_ns / 1e9, s->journal.path);
	return -ENODEV;
}

/* It ended before it was at any point: worth a few tries, as somebody may have killed it. */
static int lost_at_start(struct session *s, int times)
{
	char how[80];

	child_describe(&s->child, how, sizeof(how));
	if (WIFEXITED(s->child.status) && WEXITSTATUS(s->child.status) == RIFT_NO_DEVICE)
		return -ENODEV; /* it said so */
	if (WIFEXITED(s->child.status) && WEXITSTATUS(s->child.status) == RIFT_FAILED_POINTS)
		return -ENOSYS; /* the platform lacks what no point does without: likewise */
	if (times < STARTS_LOST)
		return 0;
	return complain(EIO, "a worker %s before it measured anything, %d times: %s", how, times,
			*s->child.last_error ? s->child.last_error : "it said nothing");
}

/* Points that ended a worker twice on this side, or that it does not support. */
static int skip_known_failures(struct session *s)
{
	struct journal *j = &s->journal;
	const struct plan *p = plan_of(s);
	int err = 0;

	for (int i = 0; i < p->n_points && !err; i++) {
		const json_t *refused = journal_refusal(j, s->slot, i);

		if (j->status[s->slot * p->n_points + i] ||
		    !(refused || journal_is_deadly(j, s->slot, i)))
			continue;
		s->show.points_done++;
		if (refused) {
			err = journal_failure(j, s->slot, i, "not_supported",
					      json_deep_copy(refused), true);
			continue;
		}
		err = journal_failure(j, s->slot, i, "skipped",
				      json_pack("{s:s}", "name", "it ended two workers before"),
				      true);
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

void session_pause(const struct session *s, int turn)
{
	const struct design *d = &plan_of(s)->design;
	struct philox r = philox4x32((uint32_t)s->slot, (uint32_t)turn, 0, 0x70617573, d->seed);
	double ns = (double)d->pause_min_ns +
		    philox_uniform(r.word[0]) * (double)(d->pause_max_ns - d->pause_min_ns);

	usleep((useconds_t)(ns / 1e3));
}

/* The worker of s->kind, and others in its place, until one has ended in order: its s->bye. */
static int run_kind(struct session *s)
{
	int lost_starts = 0;

	for (;;) {
		int err = skip_known_failures(s);

		if (!err)
			err = session_run_worker(s);
		if (!err && s->bye) {
			child_release(&s->child);
			return 0;
		}
		if (!err || err == -ETIMEDOUT) {
			bool hung = err == -ETIMEDOUT;

			err = s->point >= 0    ? lost_at_point(s, hung)
			      : s->config >= 0 ? lost_at_setup(s, hung)
			      : hung	       ? hung_at_start(s, ++lost_starts)
					       : lost_at_start(s, ++lost_starts);
		}
		child_release(&s->child);
		if (err)
			return err;
	}
}

/* Adds the numbers of a worker's last line to those of the workers before it; takes both. */
static json_t *sum_of(json_t *all, json_t *bye)
{
	const char *name;
	json_t *v;

	if (!all)
		return bye;
	json_object_foreach(bye, name, v)
	{
		double before = json_number_value(json_object_get(all, name));

		if (json_is_real(v))
			json_object_set_new(all, name, json_real(before + json_real_value(v)));
	}
	json_decref(bye);
	return all;
}

static bool is_left(const struct session *s, enum sync_kind kind)
{
	const struct plan *p = plan_of(s);

	for (int i = 0; i < p->n_points; i++)
		if (p->point[i].sync == kind && !s->journal.status[s->slot * p->n_points + i])
			return true;
	return false;
}

/* A worker for each kind of waiting; of a process that was resumed, for each that is left. */
int session_run_process(struct session *s)
{
	int kinds = plan_kinds(plan_of(s)), err = 0;
	json_t *bye = NULL;

	for (int i = 0; i < kinds && !err; i++) {
		s->kind = journal_kind(&s->journal, s->slot, i);
		/* the last one also says bye where nothing is left at all */
		if (!is_left(s, s->kind) && (bye || i + 1 < kinds))
			continue;
		if (bye)
			session_pause(s, i);
		err = interrupted() ? -EINTR : run_kind(s);
		if (err)
			break;
		bye = sum_of(bye, s->bye);
		s->bye = NULL;
	}
	if (err) {
		json_decref(bye);
		return err;
	}
	json_object_set_new(bye, "nvml", watch_take(s->watch));
	json_object_set_new(bye, "look", take_look(s));
	return journal_trailer(&s->journal, s->slot, bye);
}
