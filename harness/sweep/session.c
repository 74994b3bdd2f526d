/* session.c - the supervisor: the processes of a session one after the other, whatever they do. */
#include "harness/sweep/session.h"

#include <errno.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/measure.h"
#include "harness/sweep/goals.h"
#include "harness/sweep/hold.h"
#include "harness/sweep/predict.h"
#include "harness/sweep/session_impl.h"

/* Processes up to the next look are to come: how many, and how long they will take. */
static void foresee(struct session *s, int from)
{
	const struct design *d = &plan_of(s)->design;
	const struct journal *j = &s->journal;
	int to = d->sequential ? j->sides * looks_next(d, from / j->sides) : j->slots;

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

static void say_look(struct session *s, int processes)
{
	const struct design *d = &plan_of(s)->design;
	const char *each = s->journal.sides == 2 ? " a side" : "";
	const char *then = s->look.stop ? "no more" : "more are added";
	char known[320];

	if (!goals_any(&d->goals)) {
		show_line(&s->show,
			  "%d of %d points are wider than ±%.0f %% after %d processes%s: %s",
			  s->look.wide, s->look.points, 100 * d->half_width_max, processes, each,
			  then);
		return;
	}
	goals_text(&s->journal, known, sizeof(known));
	show_line(&s->show, "%s after %d processes%s: %s", known, processes, each, then);
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
		say_look(s, processes);
	return s->look.stop;
}

/* The processes from the i-th on that run together: two of a pair, where it has both still to do.
 */
static int together(const struct session *s, int i, int slot[CHILDREN_MAX])
{
	const struct journal *j = &s->journal;
	bool pairs = plan_of(s)->design.pairs && j->sides == 2 && i % 2 == 0;
	int n = 0;

	for (int k = i; k < i + 1 + pairs; k++)
		if (!j->complete[journal_slot(j, k)])
			slot[n++] = journal_slot(j, k);
	return n;
}

/* The n processes before the next one have ended. */
static void say_done(struct session *s, const int *slot, int n, int next)
{
	const struct journal *j = &s->journal;
	char which[32], left[16];

	for (int k = 0; k < n; k++)
		s->show.done_ns += predict_start_ns(plan_of(s), journal_side(j, slot[k]));
	snprintf(which, sizeof(which), n > 1 ? "es %d and %d" : " %d", next - n + 1, next);
	show_line(&s->show, "process%s of %d%s%s: %d of %d points, about %s left", which,
		  s->show.processes, j->sides == 2 && n == 1 ? ", side " : "",
		  j->sides == 2 && n == 1 ? journal_side_name(journal_side(j, slot[0])) : "",
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
			 "side %s takes %.3g times as long while a process of the other side is "
			 "there (%d processes): all is measured again, one process at a time",
			 journal_side_name(side), c.ratio, c.n);
		return true;
	}
	return false;
}

/* What is left of the i-th process, and of the one that runs beside it; *next: the one after them.
 */
static int run_from(struct session *s, int i, int *next)
{
	int slot[CHILDREN_MAX], n = together(s, i, slot), err;

	*next = i + (n > 1 ? n : 1);
	if (!n)
		return 0;
	s->show.process = i + 1;
	if (n == 1 && slot[0] != journal_slot(&s->journal, i))
		s->show.process = *next = i + 2; /* the first of a pair is complete */
	if (interrupted())
		return -EINTR;
	err = session_run_processes(s, slot, n);
	if (!err)
		say_done(s, slot, n, *next);
	return err;
}

/* ---- the plan, corrected ------------------------------------------------------------------ */

/* What is off by less is noise, and a share of the limit. */
static const double correct_from = 1.05;

static double predicted_turns_ns(const struct session *s, int process)
{
	double ns = 0;

	for (int side = 0; side < s->journal.sides; side++)
		ns += predict_turn_ns(plan_of(s), side, process);
	return ns;
}

/*
 * The first process of each side took took_ns. Where the others would then go beyond the limit,
 * points are left out of them, never processes: an interval is of all of them.
 */
static int correct_plan(struct session *s, double took_ns)
{
	struct journal *j = &s->journal;
	double times = took_ns / predicted_turns_ns(s, 0);
	double left_ns = s->limit_ns - (double)(clock_ns() - s->show.begun_ns);
	double rest_ns = times * (plan_of(s)->design.processes - 1) * predicted_turns_ns(s, 1);
	int before = plan_of(s)->n_points, gone, err = 0;
	bool *stays;

	if (!(s->limit_ns > 0) || plan_of(s)->design.kinds || goals_any(&plan_of(s)->design.goals) ||
	    rest_ns <= left_ns + (correct_from - 1) * s->limit_ns)
		return 0;
	stays = calloc((size_t)before + 1, sizeof(*stays));
	CHECK(stays, "memory of %d points", before);
	gone = predict_choose_again(plan_of(s), j->sides, times, left_ns, stays);
	if (gone)
		err = journal_drop(j, stays,
				   json_pack("{s:I, s:f}", "left_ns", (json_int_t)left_ns,
					     "times_as_long", times));
	free(stays);
	if (!gone || err)
		return err;
	show_line(&s->show,
		  "the first process%s took %.2g times as long as predicted: %d of %d points are "
		  "left out of the others",
		  j->sides == 2 ? "es" : "", times, gone, before);
	s->show.predicted_ns = s->show.done_ns;
	s->show.points_done = j->slots * plan_of(s)->n_points - journal_count(j, POINT_PENDING);
	foresee(s, j->sides);
	return 0;
}

int session_run(struct session *s)
{
	struct journal *j = &s->journal;
	bool first = true;
	char pci[32];
	int err = hold_device(pci);
	int64_t start_ns = clock_ns();

	s->watch = watch_open(pci);
	start_show(s);
	for (int i = 0, next; i < j->slots && !err; i = next) {
		if (!first && !j->complete[journal_slot(j, i)])
			session_pause(s, journal_slot(j, i), 0);
		first = j->complete[journal_slot(j, i)];
		if (i >= s->show.processes)
			foresee(s, i);
		err = run_from(s, i, &next);
		if (!err && is_crowded(s))
			err = -EBUSY;
		if (!err && is_enough(s, next))
			break;
		if (!err && next == j->sides && next < j->slots)
			err = correct_plan(s, (double)(clock_ns() - start_ns));
	}
	watch_close(s->watch);
	s->watch = NULL;
	json_decref(s->digests);
	s->digests = NULL;
	for (int side = 0; side < 2; side++) {
		json_decref(s->remarked[side]);
		s->remarked[side] = NULL;
	}
	return err ? err : journal_finish(j);
}
