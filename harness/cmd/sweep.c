/*
 * sweep.c - rift sweep [WORKLOAD...]: kernel size x depth x mode, in fresh processes, from the plan
 * to its last line: files, session, results.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/cmd/sweep.h"
#include "harness/cmd/sweep_text.h"
#include "harness/platform/platform.h"
#include "harness/measure/measure.h"
#include "harness/measure/wait.h"
#include "harness/measure/choose.h"
#include "harness/measure/plan.h"
#include "harness/record/record.h"
#include "harness/platform/system.h"
#include "harness/session/stopping.h"
#include "harness/session/supervisor.h"
#include "workloads/workload.h"

/* ---- making the plan -------------------------------------------------------------------- */

static uint64_t random_seed(void)
{
	uint32_t seed;

	CHECK(getrandom(&seed, sizeof(seed), 0) == (ssize_t)sizeof(seed), "no random numbers");
	return seed;
}

static struct design design_for(const struct sweep_args *a)
{
	struct design d = design_of(a->quick);
	const struct sweep_values *v = &a->values;

	if (a->express)
		design_express(&d);
	if (a->against && !a->apart)
		design_pairs(&d);
	d.goals = a->goals;
	d.sequential |= goals_any(&d.goals);
	if (goals_any(&d.goals)) {
		d.processes = PROCESSES_ASKED_MAX;
		d.processes = a->quick ? design_next_interim(&d, 0) : PROCESSES_ASKED_MAX;
	}
	if (v->processes) {
		d.processes = (int)v->processes;
		d.sequential = goals_any(&d.goals);
	}
	if (v->rounds)
		d.rounds = (int)v->rounds;
	if (v->check_steps)
		d.check_steps = v->check_steps;
	if (v->warm_up_s > 0) {
		d.warmup_max_ns = (int64_t)(v->warm_up_s * SECOND_NS);
		d.warmup_min_ns =
			d.warmup_min_ns < d.warmup_max_ns ? d.warmup_min_ns : d.warmup_max_ns;
	}
	d.lock = a->lock;
	d.lock_mhz = a->lock_mhz;
	d.sync = a->kinds ? a->kind[0] : sync_default();
	d.seed = a->given.rows.given[params_find(a->given.rows.rows, "seed", 4)] ? (uint64_t)v->seed
										 : random_seed();
	return d;
}

static double patience_ns(const struct sweep_args *a)
{
	return 1e9 * (a->values.patience_s > 0 ? a->values.patience_s : PATIENCE_S);
}

/* What a quick sweep may take, ns. */
static double limit_of(const struct sweep_args *a)
{
	return (a->against ? 2 : 1) * (a->kinds ? a->kinds : 1) *
	       (a->express ? express_limit_ns : quick_limit_ns);
}

static int refuse_quick(const struct plan *p, bool alone, double limit_ns, double least_ns)
{
	const char *name = design_name(&p->design);
	char limit[16], least[16];

	return complain(EINVAL,
			"--%s: the fewest points and processes%s take %s, far more than %s: name "
			"%sfewer or smaller sizes, or leave --%s out",
			name, alone ? "" : " of each workload", show_duration(least_ns, least),
			show_duration(limit_ns, limit), alone ? "" : "fewer workloads, ", name);
}

/* The load where more runs here than there are processors for, so that all takes longer; else 0. */
static double load_if_busy(void)
{
	double load;

	return getloadavg(&load, 1) == 1 && load > (double)sysconf(_SC_NPROCESSORS_ONLN) ? load : 0;
}

/*
 * The points that there is time for. Where there is not enough, it goes on with fewer processes,
 * and takes up to twice the time; on a busy machine as long as it takes.
 */
static int choose_points(struct plan *p, const struct sweep_args *a, double passed_ns,
			 struct omitted *o)
{
	int sides = a->against ? 2 : 1, kinds = a->kinds ? a->kinds : 1;
	double all_ns = limit_of(a), limit_ns = all_ns - passed_ns, least_ns;
	bool own = !a->values.processes && !goals_any(&a->goals);
	int processes = p->design.processes;

	o->load = load_if_busy();
	o->corners = predict_choose_at_all(p, sides, kinds, own, limit_ns,
					   o->load > 0 ? INFINITY : 2 * all_ns, &least_ns);
	if (o->corners < 0)
		return refuse_quick(p, !a->workload[1], all_ns, least_ns);
	o->processes = processes - p->design.processes;
	o->takes_ns = least_ns > limit_ns ? passed_ns + least_ns : 0;
	return 0;
}

/*
 * What a side's probe may take: of two sides the first one half, as it sets up more than the other
 * one; what it leaves is the other one's.
 */
static double planning_left_ns(const struct sweep_args *a, int sides, int side, double all_ns,
			       const struct show *show)
{
	double most_ns =
		a->quick ? fmin(planning_longest_ns, planning_share * all_ns) : planning_longest_ns;
	double passed_ns = (double)(clock_ns() - show->begun_ns);

	return fmax(most_ns / (sides == 2 && !side ? 2 : 1) - passed_ns, planning_shortest_ns);
}

/* The plan that is asked for, and how long blocks take on each side. */
static int plan_and_probe(struct session *s, struct plan *p, struct sweep_args *a, int sides)
{
	struct plan_request r = { .workload = a->workload,
				  .assignment = a->assignment,
				  .n_assignments = a->n_assignments,
				  .around = a->around.word,
				  .n_arounds = a->around.n,
				  .size = a->size,
				  .depth = a->depth,
				  .mode = a->mode,
				  .design = design_for(a) };
	int err;

	r.pairs_by_workloads =
		a->quick && r.design.pairs && !a->values.processes && !goals_any(&r.design.goals);
	err = plan_make(p, &r);

	if (!err)
		err = goals_refuse(p, sides);
	if (a->given.platform)
		snprintf(p->declared, sizeof(p->declared), "%s", a->given.platform);
	for (int side = 0; side < sides && !err; side++)
		err = session_probe(s, p, side, side ? a->against : NULL,
				    planning_left_ns(a, sides, side, limit_of(a), &s->show));
	return err;
}

/* Rounds and processes, as many as there is time for. */
static void fill_time(struct plan *p, const struct sweep_args *a, int sides, int kinds,
		      double limit_ns)
{
	if (p->n_points && p->design.pairs && !a->express && !a->values.rounds)
		predict_fill_rounds(p);
	if (p->n_points && a->express && !a->values.rounds)
		predict_fill_time(p, sides, limit_ns / kinds);
	if (a->quick && goals_any(&a->goals) && !a->values.processes)
		predict_fill_processes(p, sides, limit_ns);
}

static int refuse_no_point(const struct plan *p, const struct omitted *o)
{
	if (p->n_points)
		return 0;
	if (o->launches)
		return complain(EINVAL,
				"no point is left: a launch of each would take more than %.0f ms, "
				"the limit of the workload; name smaller sizes",
				o->launch_max_ns / 1e6);
	return complain(EINVAL,
			"no point is left: a sample of each would take more than %d "
			"ms; name sizes with --size",
			BLOCK_LONGEST_NS / 1000000);
}

static int make_plan(struct session *s, struct plan *p, struct sweep_args *a, struct omitted *o)
{
	int sides = a->against ? 2 : 1, kinds = a->kinds ? a->kinds : 1;
	int err = plan_and_probe(s, p, a, sides);
	double passed_ns;

	*o = (struct omitted){ 0 };
	if (err)
		return err;
	o->launches = predict_drop_launches(p, sides, &o->launch_max_ns);
	o->too_long = predict_drop_long(p, sides);
	passed_ns = (double)(clock_ns() - s->show.begun_ns);
	if (a->quick && p->n_points)
		err = choose_points(p, a, passed_ns, o);
	if (err)
		return err;
	o->apart = predict_apart(p);
	fill_time(p, a, sides, kinds, limit_of(a) - passed_ns);
	err = refuse_no_point(p, o);
	if (err)
		return err;
	if (a->kinds)
		plan_take_policies(p, a->kind, a->kinds);
	return goals_refuse(p, sides); /* of what is left */
}

/* ---- files ------------------------------------------------------------------------------ */

/* NAME.jsonl -> NAME-2.jsonl, the first that does not exist. */
static void next_output(const char *path, char *out, size_t size)
{
	size_t stem = strlen(path);

	if (stem > 6 && !strcmp(path + stem - 6, ".jsonl"))
		stem -= 6;
	for (int i = 2;; i++) {
		char part[4400];

		snprintf(out, size, "%.*s-%d.jsonl", (int)stem, path, i);
		snprintf(part, sizeof(part), "%s.part", out);
		if (access(out, F_OK) && access(part, F_OK))
			return;
	}
}

/* ---- running ---------------------------------------------------------------------------- */

/* How long this command took, with its probe; after a resume, what was left. */
static void print_times(const struct show *s)
{
	double probe_ns = (double)(s->start_ns - s->begun_ns);
	char predicted[16], took[16];

	printf("predicted %s, took %s\n", show_duration(probe_ns + s->planned_ns, predicted),
	       show_duration((double)(clock_ns() - s->begun_ns), took));
}

static int end_of(const struct session *s, const struct arguments *given)
{
	const struct journal *j = &s->journal;
	int failed = journal_count_failed(j);
	int unchecked = journal_count(j, POINT_CHECK_FAILED);

	distrust_print(j, stdout);
	results_print(j, stdout);
	refusals_print(j, stdout);
	printf("\n%s ok, %d failed their check, %d failed otherwise: %s\n",
	       counted(journal_count(j, POINT_OK), "point").s, unchecked, failed, j->path);
	quality_print(j, stdout);
	if (goals_any(&j->plan.design.goals))
		goals_print(j, (double)(clock_ns() - s->show.begun_ns), stdout);
	print_times(&s->show);
	note_cpu(given, !given->quiet && !strcmp(platform_build(), "CPU device"));
	if (j->moved) /* who goes on with the name that was asked for has another file */
		return RIFT_USAGE;
	return unchecked ? RIFT_CHECK_FAILED : failed ? RIFT_FAILED_POINTS : RIFT_OK;
}

static int interrupted_end(const struct session *s)
{
	const struct journal *j = &s->journal;
	int done = j->replicates * j->plan.n_points - journal_count(j, POINT_PENDING);

	complain(EINTR, "interrupted: %d of %d points are kept; rift sweep --resume %s continues",
		 done, s->show.points, j->path);
	return RIFT_INTERRUPTED;
}

/* What session_run() has to say, as an exit code. */
static int code_of(const struct session *s, const struct sweep_args *a, int err)
{
	if (err == -EINTR)
		return interrupted_end(s);
	return err ? err : end_of(s, &a->given);
}

/*
 * The machine is another one: what was measured stays, and the same plan starts anew. Once: where
 * the machine changes again there is no telling what is measured.
 */
static int start_anew(struct session *s, const struct sweep_args *a)
{
	struct session fresh = { .show = s->show,
				 .patience_ns = s->patience_ns,
				 .limit_ns = s->limit_ns };
	char path[4300];
	int code, err;

	next_output(s->journal.path, path, sizeof(path));
	complain(ESTALE, "this is not the machine that %s was begun on: %s; starting %s",
		 s->journal.path, s->change, path);
	err = journal_create(&fresh.journal, &s->journal.plan, path, s->journal.against, a->typed);
	if (!err) {
		err = session_run(&fresh);
		show_end(&fresh.show);
	}
	if (err == -ESTALE) {
		complain(ESTALE,
			 "%s: the machine changed again: %s; all processes of a side must share a "
			 "machine, so no further one is started",
			 path, fresh.change);
		code = RIFT_NOT_COMPARABLE;
	} else {
		code = code_of(&fresh, a, err);
	}
	journal_release(&fresh.journal);
	return code;
}

static int run_session(struct session *s, const struct sweep_args *a);

/* What pairs say of sides that get in each other's way is of no use: the same points without. */
static int start_apart(struct session *s, const struct sweep_args *a)
{
	struct session apart = { .show = s->show, .patience_ns = s->patience_ns };
	struct journal *j = &s->journal;
	int err, code;

	for (int side = 0; side < 2; side++)
		j->plan.design.company[side] = round(1000 * company_of(j, side).ratio) / 1000;
	j->plan.design.pairs = false;
	journal_discard(j);
	err = journal_create(&apart.journal, &j->plan, j->path, j->against, a->typed);
	code = err ? err : run_session(&apart, a);
	if (apart.journal.path)
		journal_release(&apart.journal);
	return code;
}

/* An exit code, or a negative errno after one line. */
static int run_session(struct session *s, const struct sweep_args *a)
{
	int err = session_run(s);

	show_end(&s->show);
	if (err == -EBUSY)
		return start_apart(s, a);
	return err == -ESTALE ? start_anew(s, a) : code_of(s, a, err);
}

/* Not what was typed now, but what a file says: all of it, as a long line would be cut. */
static void print_command(const struct journal *j)
{
	enum { PIECE = 800 };
	size_t n = strlen(j->against);

	complain(0, "%s: side b is started with the command in this file:", j->path);
	for (size_t at = 0; at < n; at += PIECE)
		complain(0, "  %.*s", PIECE, j->against + at);
}

/* What of the files could not be used. */
static void print_dropped(struct session *s)
{
	char line[120];

	if (s->journal.torn)
		show_complaint(&s->show, "rift: a torn last line was dropped");
	if (!s->journal.visits_dropped)
		return;
	snprintf(line, sizeof(line), "rift: dropped, to be measured again: %s",
		 counted(s->journal.visits_dropped, "damaged visit").s);
	show_complaint(&s->show, line);
}

int sweep_resume(const struct sweep_args *a)
{
	struct session s = { .patience_ns = patience_ns(a) };
	struct clocks clocks = { 0 };
	int err, code;

	show_start(&s.show, a->given.quiet);
	err = journal_open(&s.journal, a->resume);
	if (!err)
		print_dropped(&s);
	if (!err && s.journal.against)
		print_command(&s.journal);
	if (!err && s.journal.plan.design.lock)
		err = clocks_lock(&clocks, s.journal.plan.design.lock_mhz);
	code = err ? err : run_session(&s, a);
	clocks_free(&clocks);
	journal_release(&s.journal);
	return code;
}

/* What has to work before a probe takes its time: the file, the clocks, the other side. */
static int prepare(struct session *s, const struct sweep_args *a, const char *path,
		   struct clocks *clocks)
{
	int err = journal_refuse(path);

	if (!err && a->lock)
		err = clocks_lock(clocks, a->lock_mhz);
	if (!err && a->against)
		err = session_handshake(a->against, &s->show);
	return err;
}

static int start_planned(struct session *s, const struct sweep_args *a, struct plan *plan,
			 const struct omitted *omitted, const char *path)
{
	int err;

	if (a->dry_run) {
		plan_print(plan, a->against ? 2 : 1, omitted,
			   (double)(clock_ns() - s->show.begun_ns), stdout);
		return RIFT_OK;
	}
	if (!a->given.quiet)
		omitted_print(plan, omitted, stderr);
	err = journal_create(&s->journal, plan, path, a->against, a->typed);
	return err ? err : run_session(s, a);
}

int sweep_start(struct sweep_args *a)
{
	struct session s = { .patience_ns = patience_ns(a) };
	struct omitted omitted = { 0 };
	struct plan plan = { 0 };
	struct clocks clocks = { 0 };
	char path[4200];
	int err = 0;

	show_start(&s.show, a->given.quiet);
	if (!a->n_workloads && !(a->workload[0] = workload_find("launch")))
		return -EINVAL;
	if (!a->dry_run) {
		err = choose_output(&a->given, a->workload[0]->name, path, sizeof(path));
		err = err ? err : prepare(&s, a, path, &clocks);
	}
	if (!err)
		err = make_plan(&s, &plan, a, &omitted);
	if (!err && a->quick)
		s.limit_ns = fmax(limit_of(a), omitted.takes_ns);
	if (!err)
		err = start_planned(&s, a, &plan, &omitted, path);
	show_end(&s.show);
	clocks_free(&clocks);
	plan_release(&plan);
	if (s.journal.path)
		journal_release(&s.journal);
	return err;
}
