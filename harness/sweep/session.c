/* session.c - the supervisor: the processes of a session one after the other, whatever they do. */
#include "harness/sweep/session.h"

#include <errno.h>

#include "common/interrupt.h"
#include "harness/measure.h"
#include "harness/sweep/hold.h"
#include "harness/sweep/predict.h"
#include "harness/sweep/session_impl.h"

/* Processes up to the next look are to come: how many, and how long they will take. */
static void foresee(struct session *s, int from)
{
	const struct design *d = &plan_of(s)->design;
	const struct journal *j = &s->journal;
	int to = d->sequential ? j->sides * next_look(from / j->sides) : j->slots;

	for (int i = from; i < to; i++)
		if (!j->complete[journal_slot(j, i)])
			s->show.predicted_ns += predict_turn_ns(
				plan_of(s), journal_side(j, journal_slot(j, i)), i / j->sides);
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
		err = session_run_process(s);
	if (err)
		return err;
	s->show.done_ns += predict_start_ns(plan_of(s), journal_side(j, s->slot));
	show_line(&s->show, "process %d of %d%s%s: %d of %d points, about %s left", i + 1,
		  s->show.processes, j->sides == 2 ? ", side " : "",
		  j->sides == 2 ? journal_side_name(journal_side(j, s->slot)) : "",
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
			session_pause(s, 0);
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
	for (int side = 0; side < 2; side++) {
		json_decref(s->remarked[side]);
		s->remarked[side] = NULL;
	}
	return err ? err : journal_finish(j);
}
