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
#include "harness/cmd/options.h"
#include "harness/cmd/sweep_text.h"
#include "harness/env/platform.h"
#include "harness/measure/measure.h"
#include "harness/measure/submit.h"
#include "harness/plan/choose.h"
#include "harness/plan/plan.h"
#include "harness/plan/request.h"
#include "harness/record/record.h"
#include "harness/session/host.h"
#include "harness/session/stopping.h"
#include "harness/session/supervisor.h"

/* ---- options ---------------------------------------------------------------------------- */

/* Options that are parsed like parameters; 0 and -1: not given. */
struct sweep_values {
	int64_t processes, rounds, seed, check_steps;
	double warm_up_s, patience_s;
};

struct sweep_args {
	struct arguments given; /* words: workloads, and assignments */
	struct sweep_values values;
	struct word_list around;
	const struct workload **workload; /* of the words; ends with NULL */
	int n_workloads;
	char **assignment; /* of the words */
	int n_assignments;
	enum wait_policy kind[SYNC_COUNT];
	int kinds; /* 0: not given */
	const char *size, *depth, *mode, *against, *resume;
	bool quick, express, apart, dry_run;
	struct goals goals;
	bool lock;    /* --lock-clocks ... */
	int lock_mhz; /* ... =MHZ; 0: without */
	char *typed;  /* the command line */
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

/* "spin" or "spin,blocking". */
static int take_kinds(void *field, const struct command_option *o, char *text)
{
	struct sweep_args *a = field;
	static const struct param row = { "sync", PARAM_CHOICE, 0,  "",	  "",	0,
					  0,	  sync_names,	"", NULL, NULL, false };
	struct axis kinds;
	int err, kind;

	if (a->kinds)
		return complain(EINVAL, "--%s is given twice", o->name);
	err = axis_parse(&kinds, &row, "--sync", text);
	for (int i = 0; !err && i < kinds.n; i++) {
		CHECK(!param_parse(&row, "--sync", kinds.value[i], &kind), "kind");
		a->kind[a->kinds++] = (enum wait_policy)kind;
	}
	axis_release(&kinds);
	return err;
}

static int take_lock(void *field, const struct command_option *o, char *mhz)
{
	struct sweep_args *a = field;
	static const struct param row = { "lock-clocks", PARAM_INT, 0,	"MHz", "",   1,
					  CLOCK_MHZ_MAX, NULL,	    "", NULL,  NULL, false };
	int64_t value = 0;
	int err = 0;

	if (a->lock)
		return complain(EINVAL, "--%s is given twice", o->name);
	if (mhz)
		err = param_parse(&row, "--lock-clocks", mhz, &value);
	a->lock = true;
	a->lock_mhz = (int)value;
	return err;
}

static int take_resolve(void *field, const struct command_option *o, char *text)
{
	(void)o;
	return goals_take_resolve(field, text);
}

static int take_margin(void *field, const struct command_option *o, char *text)
{
	(void)o;
	return goals_take_margin(field, text);
}

#define FIELD(name) offsetof(struct sweep_args, name)

static const struct command_option options[] = {
	{ OPTION("quick", NULL, option_flag, FIELD(quick)),
	  "fewer sizes, depths, blocks and processes; points are left out until it takes less "
	  "than 60 s" },
	{ OPTION("express", NULL, option_flag, FIELD(express)),
	  "in 15 s, the points that say most of what a launch costs: all depths of the smallest "
	  "kernel, two of three larger ones, as often as there is time" },
	{ OPTION("size", "VALUES", option_once, FIELD(size)),
	  "values of the parameter that makes kernels larger" },
	{ OPTION("depth", "VALUES", option_once, FIELD(depth)),
	  "steps before a synchronize (default: 1:4096:x2; quick: x4)" },
	{ OPTION("mode", "VALUES", option_once, FIELD(mode)),
	  "of stream, graph, fused (default: all that are allowed)" },
	{ OPTION("around", "NAME=VALUES", option_list, FIELD(around)),
	  "also vary this parameter, at the centre of the grid only; may be given several times" },
	{ OPTION_ROW("processes", "N"),
	  "exactly so many fresh processes, the replicates (default: 5, 10, 20 or 30, the first "
	  "after which 95 % of points are within 2 %; quick: 5, of two sides 9 pairs; express: "
	  "9)" },
	{ OPTION_ROW("rounds", "N"),
	  "visits of each point in a process (default: 5; quick: 3; of two sides 16 to 100)" },
	{ OPTION_ROW("seed", "N"), "of the order of points (default: drawn, and recorded)" },
	{ OPTION_ROW("check-steps", "N"), "steps to check, at most (default: 256)" },
	{ OPTION("sync", "KIND", take_kinds, 0),
	  "how a block's end is waited for: spin, yield, blocking, event or poll (default: spin; "
	  "CPU device: yield); several, as spin,blocking: all points in processes of each kind, "
	  "in turn" },
	{ OPTION_ROW("warm-up", "SECONDS"),
	  "how long a process warms up at most, where its clock does not stand still (default: 5; "
	  "quick: 1)" },
	{ OPTION_ROW("patience", "SECONDS"),
	  "how long opening the device, a set-up or calibration may take before it counts as hung "
	  "(default: 30); more than that where a probe has shown it" },
	{ OPTION("resolve", "NAME=TIME,...", take_resolve, FIELD(goals)),
	  "end when parameters of the model are known to plus or minus this much, as "
	  "c=100ns,Z=0.5us: of two sides by how much they differ; after 8, 12, 18, 28, 42, 64 or "
	  "100 processes, or what --processes or --quick allows" },
	{ OPTION("margin", "PERCENT", take_margin, FIELD(goals)),
	  "the same of each workload's mean ratio of two sides, to half of this: then `rift "
	  "compare --margin` can tell" },
	{ OPTION("lock-clocks", "MHZ", take_lock, 0),
	  "lock the GPU's clock while it is measured, at so many MHz (default: its base clock), "
	  "and "
	  "set it free at the end; takes root",
	  .may_lack = true },
	{ OPTION("against", "COMMAND", option_once, FIELD(against)),
	  "a second platform on this host, in the same session: its processes are started behind "
	  "COMMAND, each beside one of this platform's, and they take turns in ABBA order" },
	{ OPTION("apart", NULL, option_flag, FIELD(apart)),
	  "with --against: one process at a time, where two on one GPU get in each other's way" },
	{ OPTION_OUTPUT("FILE", option_file), "the record (default: results/TIME-WORKLOAD.jsonl)" },
	{ OPTION("platform", "NAME", option_once, COMMON(platform)),
	  "what you call this platform; into the record" },
	{ OPTION("resume", "FILE", option_file, FIELD(resume)),
	  "go on with an interrupted sweep; prints the command of --against that is in FILE, and "
	  "runs it" },
	{ OPTION("dry-run", NULL, option_flag, FIELD(dry_run)),
	  "print the points and how long they would take" },
	{ OPTION_QUIET, "no progress, no remarks" },
	{ OPTION_HELP, "this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_CHECK_FAILED, "a check failed" },
	{ RIFT_FAILED_POINTS, "complete with failed points" },
	{ RIFT_USAGE, "usage, bad input or a file that cannot be written" },
	{ RIFT_NO_DEVICE, EXIT_USUAL },
	{ RIFT_INTERRUPTED, EXIT_USUAL },
	{ 0 },
};

static bool is_assignment(const char *word)
{
	return strchr(word, '=') != NULL;
}

static int check_word(const struct arguments *a, const char *word)
{
	if (is_assignment(word))
		return 0;
	if (!workload_find(word))
		return -EINVAL;
	for (int i = 0; i < a->words.n; i++)
		if (!strcmp(a->words.word[i], word))
			return complain(EINVAL, "%s is given twice", word);
	return 0;
}

/* ---- what does not go together ------------------------------------------------------------ */

/* --resume takes everything from the file. */
static int refuse_with_resume(const struct sweep_args *a)
{
	bool other = a->n_workloads || a->n_assignments || a->around.n || a->size || a->depth ||
		     a->mode || a->against || a->given.platform || a->given.output || a->quick ||
		     a->express || a->apart || a->dry_run || a->kinds || a->lock ||
		     goals_any(&a->goals);

	for (int i = 0; sweep_value_rows[i].name; i++)
		other |= a->given.rows.given[i] && strcmp(sweep_value_rows[i].name, "patience");
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
	d.seed = a->given.rows.given[params_find(sweep_value_rows, "seed", 4)] ? (uint64_t)v->seed
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
				  .around = a->around.word,
				  .n_arounds = a->around.n,
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
	if (a->given.platform)
		snprintf(p->declared, sizeof(p->declared), "%s", a->given.platform);
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

	if (a->given.output) {
		snprintf(out, size, "%s", a->given.output);
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

static int end_of(const struct session *s, const struct arguments *given)
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
	note_cpu(given, !given->quiet && !strcmp(platform_build(), "CPU device"));
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
	code = err ? err : run_session(&apart, a);
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

/* A new sweep, or its plan alone. An exit code. */
static int sweep_start(struct sweep_args *a)
{
	struct session s = { .patience_ns = patience_ns(a) };
	struct omitted omitted;
	struct plan plan = { 0 };
	struct clocks clocks = { 0 };
	char path[4200];
	int err, code;

	show_start(&s.show, a->given.quiet);
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
		if (!a->given.quiet)
			omitted_print(&plan, &omitted, stderr);
		err = journal_create(&s.journal, &plan, path, a->against, a->typed);
	}
	code = err ? err : run_session(&s, a);
	show_end(&s.show);
	clocks_free(&clocks);
	plan_release(&plan);
	json_decref(s.digests);
	if (s.journal.path)
		journal_release(&s.journal);
	return code;
}

/* ---- the command ------------------------------------------------------------------------ */

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

static void sort_words(struct sweep_args *a)
{
	const struct word_list *words = &a->given.words;

	/* a sweep of none takes one of its own */
	a->workload = calloc((size_t)words->n + 2, sizeof(*a->workload));
	a->assignment = calloc((size_t)words->n + 1, sizeof(*a->assignment));
	CHECK(a->workload && a->assignment, "memory of %d words", words->n);
	for (int i = 0; i < words->n; i++)
		if (is_assignment(words->word[i]))
			a->assignment[a->n_assignments++] = words->word[i];
		else
			a->workload[a->n_workloads++] = workload_find(words->word[i]);
}

static int obey(struct sweep_args *a)
{
	int err = a->given.platform ? platform_declared(a->given.platform) : 0;

	if (!err)
		err = refuse_empty_side(a);
	if (!err && a->resume) {
		err = refuse_with_resume(a);
		return err ? err : sweep_resume(a);
	}
	if (!err)
		err = refuse_two_designs(a);
	a->quick |= a->express;
	if (!err)
		err = refuse_apart(a);
	if (!err)
		err = refuse_goals(a);
	return err ? err : sweep_start(a);
}

static int sweep(void *arguments)
{
	struct sweep_args *a = arguments;
	int err;

	interrupt_install();
	sort_words(a);
	a->typed = joined(a->given.argc, a->given.argv);
	err = obey(a);
	free(a->workload);
	free(a->assignment);
	free(a->typed);
	return err;
}

const struct command command_sweep = {
	.name = "sweep",
	.usage = "[WORKLOAD...] [--quick]",
	.line = "size x depth x mode, in fresh processes; resumable",
	.words = "[WORKLOAD...] [[WORKLOAD.]name=values...]",
	.doc = "Measures kernel size x depth x mode in fresh processes and writes a record, JSON "
	       "Lines. Without a workload it sweeps launch. Every parameter can be an axis: "
	       "name=1,8,64 or name=1k:64k:x2 or name=10:50:+10. Of several workloads all that "
	       "have it take it; WORKLOAD.name=values, as stereo.width=640, is for that one.",
	.remarks = "Ctrl-C ends after the block in hand and leaves FILE.part, which --resume goes "
		   "on with; so does whatever kills it. `rift check FILE` looks a record over.",
	.exits = exits,
	.options = options,
	.size = sizeof(struct sweep_args),
	.rows = sweep_value_rows,
	.values = FIELD(values),
	.check_word = check_word,
	.run = sweep,
};
