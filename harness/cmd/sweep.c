/*
 * sweep.c - rift sweep [WORKLOAD...]: kernel size x depth x mode, in fresh processes, from its
 * options to its last line: plan, files, session, results.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/command.h"
#include "harness/cmd/sweep_text.h"
#include "harness/env/platform.h"
#include "harness/measure/measure.h"
#include "harness/measure/submit.h"
#include "harness/plan/choose.h"
#include "harness/plan/plan.h"
#include "harness/plan/request.h"
#include "harness/record/record.h"
#include "harness/env/system.h"
#include "harness/session/stopping.h"
#include "harness/session/supervisor.h"

/* ---- options ---------------------------------------------------------------------------- */

/* Options that are parsed like parameters; 0 and -1: not given. */
struct sweep_values {
	int64_t processes, rounds, seed, check_steps;
	double warm_up_s, patience_s;
};

struct sweep_args {
	struct sweep_values values;
	struct params rows;
	const struct workload **workload; /* ends with NULL */
	int n_workloads;
	char **assignment;
	int n_assignments;
	char **around;
	int n_arounds;
	enum wait_policy kind[SYNC_COUNT];
	int kinds; /* 0: not given */
	const char *size, *depth, *mode, *against, *output, *resume, *platform;
	bool quick, express, apart, dry_run, quiet, help;
	struct goals goals;
	bool lock;    /* --lock-clocks ... */
	int lock_mhz; /* ... =MHZ; 0: without */
	char *typed;  /* the command line */
};

enum {
	KEY_HELP = 'h',
	KEY_QUICK = 256,
	KEY_EXPRESS,
	KEY_APART,
	KEY_DRY_RUN,
	KEY_QUIET,
	KEY_SIZE,
	KEY_DEPTH,
	KEY_MODE,
	KEY_AGAINST,
	KEY_OUTPUT,
	KEY_RESUME,
	KEY_PLATFORM,
	KEY_AROUND,
	KEY_SYNC,
	KEY_LOCK,
	KEY_RESOLVE,
	KEY_MARGIN,
	KEY_ROW,
	KEY_END = KEY_ROW + 6
};

#define ROW(name, kind, f, unit, def, lo, hi, choices, help)                                       \
	{                                                                                          \
		name, kind, offsetof(struct sweep_values, f), unit, def, lo, hi, choices, help,    \
			NULL, NULL, false                                                          \
	}

/* The rows of struct sweep_values. */
static const struct param sweep_value_rows[] = {
	ROW("processes", PARAM_INT, processes, "processes", "", 1, PROCESSES_ASKED_MAX, NULL,
	    "replicates"),
	ROW("rounds", PARAM_INT, rounds, "rounds", "", 1, ROUNDS_MAX, NULL, "visits of a point"),
	ROW("seed", PARAM_INT, seed, "", "", 0, 9007199254740992.0, NULL, "order of the points"),
	ROW("check-steps", PARAM_SIZE, check_steps, "steps", "", 1, 1 << 24, NULL, "steps checked"),
	ROW("warm-up", PARAM_REAL, warm_up_s, "s", "", 0.01, 600, NULL, "at most"),
	ROW("patience", PARAM_REAL, patience_s, "s", "", 1, 86400, NULL, "for a silent worker"),
	PARAM_END,
};

/* From KEY_ROW on in the order of sweep_value_rows. */
static const struct argp_option options[] = {
	{ "quick", KEY_QUICK, NULL, 0,
	  "fewer sizes, depths, blocks and processes; points are left out until it takes less "
	  "than 60 s",
	  0 },
	{ "express", KEY_EXPRESS, NULL, 0,
	  "in 15 s, the points that say most of what a launch costs: all depths of the smallest "
	  "kernel, two of three larger ones, as often as there is time",
	  0 },
	{ "size", KEY_SIZE, "VALUES", 0, "values of the parameter that makes kernels larger", 0 },
	{ "depth", KEY_DEPTH, "VALUES", 0,
	  "steps before a synchronize (default: 1:4096:x2; quick: x4)", 0 },
	{ "mode", KEY_MODE, "VALUES", 0, "of stream, graph, fused (default: all that are allowed)",
	  0 },
	{ "around", KEY_AROUND, "NAME=VALUES", 0,
	  "also vary this parameter, at the centre of the grid only; may be given several times",
	  0 },
	{ "processes", KEY_ROW, "N", 0,
	  "exactly so many fresh processes, the replicates (default: 5, 10, 20 or 30, the first "
	  "after which 95 % of points are within 2 %; quick: 5, of two sides 9 pairs; express: 9)",
	  0 },
	{ "rounds", KEY_ROW + 1, "N", 0,
	  "visits of each point in a process (default: 5; quick: 3; of two sides 16 to 100)", 0 },
	{ "seed", KEY_ROW + 2, "N", 0, "of the order of points (default: drawn, and recorded)", 0 },
	{ "check-steps", KEY_ROW + 3, "N", 0, "steps to check, at most (default: 256)", 0 },
	{ "sync", KEY_SYNC, "KIND", 0,
	  "how a block's end is waited for: spin, yield, blocking, event or poll (default: spin; "
	  "CPU device: yield); several, as spin,blocking: all points in processes of each kind, "
	  "in turn",
	  0 },
	{ "warm-up", KEY_ROW + 4, "SECONDS", 0,
	  "how long a process warms up at most, where its clock does not stand still (default: 5; "
	  "quick: 1)",
	  0 },
	{ "patience", KEY_ROW + 5, "SECONDS", 0,
	  "how long opening the device, a set-up or calibration may take before it counts as hung "
	  "(default: 30); more than that where a probe has shown it",
	  0 },
	{ "resolve", KEY_RESOLVE, "NAME=TIME,...", 0,
	  "end when parameters of the model are known to plus or minus this much, as "
	  "c=100ns,Z=0.5us: of two sides by how much they differ; after 8, 12, 18, 28, 42, 64 or "
	  "100 processes, or what --processes or --quick allows",
	  0 },
	{ "margin", KEY_MARGIN, "PERCENT", 0,
	  "the same of each workload's mean ratio of two sides, to half of this: then `rift "
	  "compare --margin` can tell",
	  0 },
	{ "lock-clocks", KEY_LOCK, "MHZ", OPTION_ARG_OPTIONAL,
	  "lock the GPU's clock while it is measured, at so many MHz (default: its base clock), "
	  "and "
	  "set it free at the end; takes root",
	  0 },
	{ "against", KEY_AGAINST, "COMMAND", 0,
	  "a second platform on this host, in the same session: its processes are started behind "
	  "COMMAND, each beside one of this platform's, and they take turns in ABBA order",
	  0 },
	{ "apart", KEY_APART, NULL, 0,
	  "with --against: one process at a time, where two on one GPU get in each other's way",
	  0 },
	{ "output", KEY_OUTPUT, "FILE", 0, "the record (default: results/TIME-WORKLOAD.jsonl)", 0 },
	{ "platform", KEY_PLATFORM, "NAME", 0, "what you call this platform; into the record", 0 },
	{ "resume", KEY_RESUME, "FILE", 0,
	  "go on with an interrupted sweep; prints the command of --against that is in FILE, and "
	  "runs it",
	  0 },
	{ "dry-run", KEY_DRY_RUN, NULL, 0, "print the points and how long they would take", 0 },
	{ "quiet", KEY_QUIET, NULL, 0, "no progress, no remarks", 0 },
	{ "help", KEY_HELP, NULL, 0, "this help", 0 },
	{ 0 },
};

static error_t take_argument(struct sweep_args *a, char *arg)
{
	const struct workload *w;

	if (strchr(arg, '=')) {
		a->assignment[a->n_assignments++] = arg;
		return 0;
	}
	w = workload_find(arg);
	for (int i = 0; w && i < a->n_workloads; i++)
		if (a->workload[i] == w)
			return complain(EINVAL, "%s is given twice", arg);
	if (w)
		a->workload[a->n_workloads++] = w;
	return w ? 0 : EINVAL;
}

static error_t take_text(const char **text, int key, const char *arg)
{
	const struct argp_option *o = options;

	while (o->key != key)
		o++;
	if (*text)
		return complain(EINVAL, "--%s is given twice", o->name);
	if (!*arg && (key == KEY_OUTPUT || key == KEY_RESUME))
		return complain(EINVAL, "--%s: give the name of a file", o->name);
	*text = arg;
	return 0;
}

/* "spin" or "spin,blocking". */
static error_t take_kinds(struct sweep_args *a, const char *text)
{
	static const struct param row = { "sync", PARAM_CHOICE, 0,  "",	  "",	0,
					  0,	  sync_names,	"", NULL, NULL, false };
	struct axis kinds;
	int err = a->kinds ? complain(EINVAL, "--sync is given twice") : 0, kind;

	if (err)
		return err;
	err = axis_parse(&kinds, &row, "--sync", text);
	for (int i = 0; !err && i < kinds.n; i++) {
		CHECK(!param_parse(&row, "--sync", kinds.value[i], &kind), "kind");
		a->kind[a->kinds++] = (enum wait_policy)kind;
	}
	axis_release(&kinds);
	return err;
}

static error_t take_lock(struct sweep_args *a, const char *mhz)
{
	static const struct param row = { "lock-clocks", PARAM_INT, 0,	"MHz", "",   1,
					  CLOCK_MHZ_MAX, NULL,	    "", NULL,  NULL, false };
	int64_t value = 0;
	int err = 0;

	if (a->lock)
		return complain(EINVAL, "--lock-clocks is given twice");
	if (mhz)
		err = param_parse(&row, "--lock-clocks", mhz, &value);
	a->lock = true;
	a->lock_mhz = (int)value;
	return err;
}

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct sweep_args *a = state->input;
	bool *const flags[] = { &a->quick, &a->express, &a->apart, &a->dry_run, &a->quiet };
	const char **const texts[] = { &a->size,   &a->depth,  &a->mode,    &a->against,
				       &a->output, &a->resume, &a->platform };

	if (key == KEY_HELP)
		a->help = true;
	else if (key >= KEY_QUICK && key <= KEY_QUIET)
		*flags[key - KEY_QUICK] = true;
	else if (key >= KEY_SIZE && key <= KEY_PLATFORM)
		return take_text(texts[key - KEY_SIZE], key, arg);
	else if (key == KEY_AROUND)
		a->around[a->n_arounds++] = arg;
	else if (key == KEY_LOCK)
		return take_lock(a, arg);
	else if (key == KEY_RESOLVE)
		return goals_take_resolve(&a->goals, arg);
	else if (key == KEY_MARGIN)
		return goals_take_margin(&a->goals, arg);
	else if (key == KEY_SYNC)
		return take_kinds(a, arg);
	else if (key >= KEY_ROW && key < KEY_END)
		return params_set(&a->rows, sweep_value_rows[key - KEY_ROW].name, arg);
	else if (key == ARGP_KEY_ARG)
		return take_argument(a, arg);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = take,
	.args_doc = "[WORKLOAD...] [[WORKLOAD.]name=values...]",
	.doc = "Measures kernel size x depth x mode in fresh processes and writes a record, JSON "
	       "Lines. Without a workload it sweeps launch. Every parameter can be an axis: "
	       "name=1,8,64 or name=1k:64k:x2 or name=10:50:+10. Of several workloads all that "
	       "have it take it; WORKLOAD.name=values, as stereo.width=640, is for that one.\v"
	       "Ctrl-C ends after the block in hand and leaves FILE.part, which --resume goes on "
	       "with; so does whatever kills it. `rift check FILE` looks a record over. "
	       "Exit codes: 0 ok, 1 a check failed, 2 complete with failed points, 3 usage, bad "
	       "input or a file that cannot be written, 4 no such device, 75 interrupted.",
};

/* --resume takes everything from the file. */
static int refuse_with_resume(const struct sweep_args *a)
{
	bool other = a->n_workloads || a->n_assignments || a->n_arounds || a->size || a->depth ||
		     a->mode || a->against || a->platform || a->output || a->quick || a->express ||
		     a->apart || a->dry_run || a->kinds || a->lock || goals_any(&a->goals);

	for (int i = 0; sweep_value_rows[i].name; i++)
		other |= a->rows.given[i] && strcmp(sweep_value_rows[i].name, "patience");
	if (!other)
		return 0;
	return complain(EINVAL, "--resume goes on with the plan in the file: nothing else but "
				"--quiet and --patience goes with it");
}

static int refuse_apart(const struct sweep_args *a)
{
	if (!a->apart || a->against)
		return 0;
	return complain(EINVAL, "--apart: of two sides; give the other one with --against");
}

static int refuse_two_designs(const struct sweep_args *a)
{
	return a->quick && a->express ? complain(EINVAL, "--quick and --express: give one") : 0;
}

static int refuse_goals(const struct sweep_args *a)
{
	if (!goals_any(&a->goals) || a->kinds < 2)
		return 0;
	return complain(EINVAL, "--resolve and --margin are of one wait policy: name one with "
				"--sync");
}

/* As of a variable that is not set: the other side would be this one. */
static int refuse_empty_side(const struct sweep_args *a)
{
	if (!a->against || a->against[strspn(a->against, " \t\n")])
		return 0;
	return complain(EINVAL,
			"--against: is empty; give what stands before `rift` on the other side");
}

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
	if (goals_any(&d.goals))
		d.processes =
			a->quick ? goals_next_interim(0, PROCESSES_ASKED_MAX) : PROCESSES_ASKED_MAX;
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
	d.seed = a->rows.given[params_find(sweep_value_rows, "seed", 4)] ? (uint64_t)v->seed
									 : random_seed();
	return d;
}

static double patience_ns(const struct sweep_args *a)
{
	return 1e9 * (a->values.patience_s > 0 ? a->values.patience_s : PATIENCE_S);
}

static int refuse_quick(const struct plan *p, double limit_ns, double least_ns)
{
	const char *name = design_name(&p->design);
	char limit[16], least[16];

	return complain(EINVAL,
			"--%s: %s are not enough for %d points of each workload on %d "
			"configurations, which take %s: name fewer workloads, fewer or smaller "
			"sizes, or leave --%s out",
			name, show_duration(limit_ns, limit), (int)QUICK_POINTS_LEAST, p->n_configs,
			show_duration(least_ns, least), name);
}

/* What a quick sweep may take, ns. */
static double limit_of(const struct sweep_args *a)
{
	return (a->against ? 2 : 1) * (a->kinds ? a->kinds : 1) *
	       (a->express ? express_limit_ns : quick_limit_ns);
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

static int make_plan(struct session *s, struct plan *p, struct sweep_args *a, struct omitted *o)
{
	struct plan_request r = { .workload = a->workload,
				  .assignment = a->assignment,
				  .n_assignments = a->n_assignments,
				  .around = a->around,
				  .n_arounds = a->n_arounds,
				  .size = a->size,
				  .depth = a->depth,
				  .mode = a->mode,
				  .design = design_for(a) };
	int sides = a->against ? 2 : 1, kinds = a->kinds ? a->kinds : 1, err;
	double all_ns = limit_of(a), limit_ns, least_ns;

	*o = (struct omitted){ 0 };
	err = plan_make(p, &r);
	if (!err)
		err = goals_refuse(p, sides);
	if (a->platform)
		snprintf(p->declared, sizeof(p->declared), "%s", a->platform);
	for (int side = 0; side < sides && !err; side++)
		err = session_probe(s, p, side, side ? a->against : NULL,
				    planning_left_ns(a, sides, side, all_ns, &s->show));
	if (err)
		return err;
	o->launches = predict_drop_launches(p, sides, &o->launch_max_ns);
	o->too_long = predict_drop_long(p, sides);
	limit_ns = all_ns - (double)(clock_ns() - s->show.begun_ns);
	if (a->quick && p->n_points) {
		o->corners = predict_choose(p, sides, kinds, limit_ns, &least_ns);
		if (o->corners < 0)
			return refuse_quick(p, all_ns, least_ns);
	}
	o->apart = predict_apart(p);
	if (p->n_points && p->design.pairs && !a->express && !a->values.rounds)
		predict_fill_rounds(p);
	if (p->n_points && a->express && !a->values.rounds)
		predict_fill_time(p, sides, limit_ns / kinds);
	if (a->quick && goals_any(&a->goals) && !a->values.processes)
		predict_fill_processes(p, sides, limit_ns);
	if (!p->n_points && o->launches)
		return complain(EINVAL,
				"no point is left: a launch of each would take more than %.0f ms, "
				"the limit of the workload; name smaller sizes",
				o->launch_max_ns / 1e6);
	if (!p->n_points)
		return complain(EINVAL,
				"no point is left: a block of each would take more than %d "
				"ms; name sizes with --size",
				BLOCK_LONGEST_NS / 1000000);
	if (a->kinds)
		plan_take_policies(p, a->kind, a->kinds);
	return goals_refuse(p, sides); /* of what is left */
}

/* ---- files ------------------------------------------------------------------------------ */

static void choose_output(const struct sweep_args *a, char *out, size_t size)
{
	time_t t = time(NULL);
	struct tm tm;
	char stamp[32];

	if (a->output) {
		snprintf(out, size, "%s", a->output);
		return;
	}
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", gmtime_r(&t, &tm));
	mkdir("results", 0777); /* where it fails, the file says so */
	snprintf(out, size, "results/%s-%s.jsonl", stamp, a->workload[0]->name);
}

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

/* Of this command, with its probe; after a resume, of what was left. */
static void print_times(const struct show *s)
{
	double probe_ns = (double)(s->start_ns - s->begun_ns);
	char predicted[16], took[16];

	printf("predicted %s, took %s\n", show_duration(probe_ns + s->planned_ns, predicted),
	       show_duration((double)(clock_ns() - s->begun_ns), took));
}

static int end_of(const struct session *s, bool quiet)
{
	const struct journal *j = &s->journal;
	int failed = journal_count_failed(j);
	int unchecked = journal_count(j, POINT_CHECK_FAILED);

	results_print(j, stdout);
	refusals_print(j, stdout);
	printf("\n%d points ok, %d failed their check, %d failed otherwise: %s\n",
	       journal_count(j, POINT_OK), unchecked, failed, j->path);
	quality_print(j, stdout);
	if (goals_any(&j->plan.design.goals))
		goals_print(j, (double)(clock_ns() - s->show.begun_ns), stdout);
	print_times(&s->show);
	if (!quiet && !strcmp(platform_build(), "CPU device"))
		printf("%s\n", platform_not_gpu);
	if (j->moved) /* who goes on with the name that was asked for has another file */
		return RIFT_USAGE;
	return unchecked ? RIFT_CHECK_FAILED : failed ? RIFT_FAILED_POINTS : RIFT_OK;
}

static int interrupted_end(const struct session *s)
{
	const struct journal *j = &s->journal;
	int done = j->replicates * j->plan.n_points - journal_count(j, POINT_PENDING);

	complain(EINTR, "interrupted: %d of %d points are kept; rift sweep --resume %s goes on",
		 done, s->show.points, j->path);
	return RIFT_INTERRUPTED;
}

/* What session_run() has to say, as an exit code. */
static int code_of(const struct session *s, const struct sweep_args *a, int err)
{
	if (err == -EINTR)
		return interrupted_end(s);
	return err ? (int)exit_code_of(err) : end_of(s, a->quiet);
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
			 "%s: the machine changed once more: %s; processes of one side must share "
			 "it, so nothing else is started",
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
	code = err ? (int)exit_code_of(err) : run_session(&apart, a);
	if (apart.journal.path)
		journal_release(&apart.journal);
	return code;
}

/* An exit code. */
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

	complain(0, "%s: side b is started behind the command in this file:", j->path);
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
	snprintf(line, sizeof(line), "rift: %d damaged visits were dropped, and are measured again",
		 s->journal.visits_dropped);
	show_complaint(&s->show, line);
}

/* An interrupted one. An exit code. */
static int sweep_resume(const struct sweep_args *a)
{
	struct session s = { .patience_ns = patience_ns(a) };
	struct clocks clocks = { 0 };
	int err, code;

	show_start(&s.show, a->quiet);
	err = journal_open(&s.journal, a->resume);
	if (!err)
		print_dropped(&s);
	if (!err && s.journal.against)
		print_command(&s.journal);
	if (!err && s.journal.plan.design.lock)
		err = clocks_lock(&clocks, s.journal.plan.design.lock_mhz);
	code = err ? (int)exit_code_of(err) : run_session(&s, a);
	clocks_free(&clocks);
	journal_release(&s.journal);
	return code;
}

/* A new sweep, or its plan alone. An exit code. */
static int sweep_start(struct sweep_args *a)
{
	struct session s = { .patience_ns = patience_ns(a) };
	struct omitted omitted;
	struct plan plan = { 0 };
	struct clocks clocks = { 0 };
	char path[4200];
	int err, code;

	show_start(&s.show, a->quiet);
	if (!a->n_workloads && !(a->workload[0] = workload_find("launch")))
		return RIFT_USAGE;
	if (!a->dry_run)
		choose_output(a, path, sizeof(path));
	err = a->dry_run ? 0 : journal_refuse(path); /* before a probe takes its time */
	if (!err && !a->dry_run && a->lock)
		err = clocks_lock(&clocks, a->lock_mhz);
	if (!err && !a->dry_run && a->against)
		err = session_handshake(a->against, &s.show);
	if (!err)
		err = make_plan(&s, &plan, a, &omitted);
	if (!err && a->quick)
		s.limit_ns = limit_of(a);
	if (!err && a->dry_run) {
		plan_print(&plan, a->against ? 2 : 1, &omitted, stdout);
		plan_release(&plan);
		json_decref(s.digests);
		return RIFT_OK;
	}
	if (!err) {
		if (!a->quiet)
			omitted_print(&plan, &omitted, stderr);
		err = journal_create(&s.journal, &plan, path, a->against, a->typed);
	}
	code = err ? (int)exit_code_of(err) : run_session(&s, a);
	show_end(&s.show);
	clocks_free(&clocks);
	plan_release(&plan);
	json_decref(s.digests);
	if (s.journal.path)
		journal_release(&s.journal);
	return code;
}

/* ---- the command ------------------------------------------------------------------------ */

static int obey(struct sweep_args *a)
{
	if (a->help) {
		options_help(&argp, "sweep", stdout);
		return RIFT_OK;
	}
	interrupt_install();
	if ((a->platform && platform_declared(a->platform)) || refuse_empty_side(a))
		return RIFT_USAGE;
	if (a->resume)
		return refuse_with_resume(a) ? RIFT_USAGE : sweep_resume(a);
	if (refuse_two_designs(a))
		return RIFT_USAGE;
	a->quick |= a->express;
	return refuse_apart(a) || refuse_goals(a) ? RIFT_USAGE : sweep_start(a);
}

static char *joined(int argc, char **argv)
{
	size_t size = 8;
	char *text;

	for (int i = 0; i < argc; i++)
		size += strlen(argv[i]) + 1;
	text = calloc(1, size);
	CHECK(text, "%zu bytes", size);
	strcat(text, "rift");
	for (int i = 0; i < argc; i++) {
		strcat(text, " ");
		strcat(text, argv[i]);
	}
	return text;
}

int cmd_sweep(int argc, char **argv)
{
	struct sweep_args a = { .assignment = calloc((size_t)argc + 1, sizeof(char *)),
				.around = calloc((size_t)argc + 1, sizeof(char *)),
				.workload = calloc((size_t)argc + 2, sizeof(*a.workload)),
				.typed = joined(argc, argv) };
	int code;

	CHECK(a.assignment && a.around && a.workload, "%d arguments", argc);
	params_init(&a.rows, sweep_value_rows, "rift sweep", &a.values);
	a.rows.prefix = "--";
	code = exit_code_of(
		options_parse(&argp, "`rift sweep --help` shows its options", argc, argv, &a));
	if (code == RIFT_OK)
		code = obey(&a);
	free(a.assignment);
	free(a.around);
	free(a.workload);
	free(a.typed);
	return code;
}
