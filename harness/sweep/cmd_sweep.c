/* cmd_sweep.c - rift sweep [WORKLOAD...]: kernel size x depth x mode, in fresh processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/command.h"
#include "harness/interrupt.h"
#include "harness/platform.h"
#include "harness/sweep/predict.h"
#include "harness/sweep/session.h"
#include "harness/sweep/sweep_text.h"

enum {
	KEY_HELP = 'h',
	KEY_QUICK = 256,
	KEY_DRY_RUN,
	KEY_QUIET,
	KEY_SIZE,
	KEY_DEPTH,
	KEY_MODE,
	KEY_AGAINST,
	KEY_OUTPUT,
	KEY_RESUME,
	KEY_ROW,
	KEY_END = KEY_ROW + 5
};

/* Options that are parsed like parameters; 0 and -1: not given. */
struct sweep_values {
	int64_t processes, rounds, seed, check_steps;
	int sync;
};

#define ROW(name, kind, f, unit, def, lo, hi, choices, help)                                       \
	{                                                                                          \
		name, kind, offsetof(struct sweep_values, f), unit, def, lo, hi, choices, help,    \
			NULL                                                                       \
	}

static const char *const sync_choices[] = { "spin", "yield", "blocking", NULL };

static const struct param value_rows[] = {
	ROW("processes", PARAM_INT, processes, "processes", "", 1, 100, NULL, "replicates"),
	ROW("rounds", PARAM_INT, rounds, "rounds", "", 1, ROUNDS_MAX, NULL, "visits of a point"),
	ROW("seed", PARAM_INT, seed, "", "", 0, 9007199254740992.0, NULL, "order of the points"),
	ROW("check-steps", PARAM_SIZE, check_steps, "steps", "", 1, 1 << 24, NULL, "steps checked"),
	ROW("sync", PARAM_CHOICE, sync, "", "spin", 0, 0, sync_choices, "how the host waits"),
	PARAM_END,
};

/* From KEY_ROW on in the order of value_rows. */
static const struct argp_option options[] = {
	{ "quick", KEY_QUICK, NULL, 0,
	  "fewer sizes, depths, blocks and processes; points are left out until it takes less "
	  "than 60 s",
	  0 },
	{ "size", KEY_SIZE, "VALUES", 0, "values of the parameter that makes kernels larger", 0 },
	{ "depth", KEY_DEPTH, "VALUES", 0,
	  "steps before a synchronize (default: 1:4096:x2; quick: x4)", 0 },
	{ "mode", KEY_MODE, "VALUES", 0, "of stream, graph, fused (default: all that are allowed)",
	  0 },
	{ "processes", KEY_ROW, "N", 0, "fresh processes, the replicates (default: 10; quick: 5)",
	  0 },
	{ "rounds", KEY_ROW + 1, "N", 0, "visits of each point in a process (default: 5; quick: 3)",
	  0 },
	{ "seed", KEY_ROW + 2, "N", 0, "of the order of points (default: drawn, and recorded)", 0 },
	{ "check-steps", KEY_ROW + 3, "N", 0, "steps to check, at most (default: 256)", 0 },
	{ "sync", KEY_ROW + 4, "spin|yield|blocking", 0, "how the host waits (default: spin)", 0 },
	{ "against", KEY_AGAINST, "COMMAND", 0,
	  "a second platform on this host, in the same session: every other process is started "
	  "behind COMMAND, in ABBA order",
	  0 },
	{ "output", KEY_OUTPUT, "FILE", 0, "the record (default: results/TIME-WORKLOAD.jsonl)", 0 },
	{ "resume", KEY_RESUME, "FILE", 0, "go on with an interrupted sweep", 0 },
	{ "dry-run", KEY_DRY_RUN, NULL, 0, "print the points and how long they would take", 0 },
	{ "quiet", KEY_QUIET, NULL, 0, "no progress, no remarks", 0 },
	{ "help", KEY_HELP, NULL, 0, "this help", 0 },
	{ 0 },
};

struct sweep_args {
	struct sweep_values values;
	struct params rows;
	const struct workload **workload; /* ends with NULL */
	int n_workloads;
	char **assignment;
	int n_assignments;
	const char *size, *depth, *mode, *against, *output, *resume;
	bool quick, dry_run, quiet, help;
	char *typed; /* the command line */
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

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct sweep_args *a = state->input;
	bool *const flags[] = { &a->quick, &a->dry_run, &a->quiet };
	const char **const texts[] = { &a->size,    &a->depth,	&a->mode,
				       &a->against, &a->output, &a->resume };

	if (key == KEY_HELP)
		a->help = true;
	else if (key >= KEY_QUICK && key <= KEY_QUIET)
		*flags[key - KEY_QUICK] = true;
	else if (key >= KEY_SIZE && key <= KEY_RESUME)
		*texts[key - KEY_SIZE] = arg;
	else if (key >= KEY_ROW && key < KEY_END)
		return params_set(&a->rows, value_rows[key - KEY_ROW].name, arg);
	else if (key == ARGP_KEY_ARG)
		return take_argument(a, arg);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = take,
	.args_doc = "[WORKLOAD...] [name=values...]",
	.doc = "Measures kernel size x depth x mode in fresh processes and writes a record, JSON "
	       "Lines. Without a workload it sweeps launch. Every parameter can be an axis: "
	       "name=1,8,64 or name=1k:64k:x2 or name=10:50:+10.\v"
	       "Ctrl-C ends after the block in hand and leaves FILE.part, which --resume goes on "
	       "with; so does whatever kills it. `rift check FILE` looks a record over. "
	       "Exit codes: 0 ok, 1 a check failed, 2 complete with failed points, 3 usage, bad "
	       "input or a file that cannot be written, 4 no such device, 75 interrupted.",
};

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

	if (v->processes)
		d.processes = (int)v->processes;
	if (v->rounds)
		d.rounds = (int)v->rounds;
	if (v->check_steps)
		d.check_steps = v->check_steps;
	d.sync = v->sync;
	d.seed = a->rows.given[params_find(value_rows, "seed", 4)] ? (uint64_t)v->seed
								   : random_seed();
	return d;
}

static int make_plan(struct plan *p, struct sweep_args *a, struct show *show, struct omitted *o)
{
	struct plan_request r = { .workload = a->workload,
				  .assignment = a->assignment,
				  .n_assignments = a->n_assignments,
				  .size = a->size,
				  .depth = a->depth,
				  .mode = a->mode,
				  .design = design_for(a) };
	int sides = a->against ? 2 : 1, err;

	*o = (struct omitted){ 0 };
	if (!a->n_workloads && !(a->workload[0] = workload_find("launch")))
		return -EINVAL;
	err = plan_make(p, &r);
	if (!err)
		err = session_probe(p, show);
	if (err)
		return err;
	o->too_long = predict_drop_long(p);
	if (a->quick && p->n_points)
		o->corners = predict_drop_corners(p, sides, quick_limit_ns);
	if (!p->n_points)
		return complain(EINVAL,
				"no point is left: a block of each would take more than %d "
				"ms; name sizes with --size",
				BLOCK_LONGEST_NS / 1000000);
	return 0;
}

/* ---- files ------------------------------------------------------------------------------ */

static void default_output(const struct sweep_args *a, char *out, size_t size)
{
	time_t t = time(NULL);
	struct tm tm;
	char stamp[32];

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

static int end_of(const struct session *s, bool quiet)
{
	const struct journal *j = &s->journal;
	int failed = journal_count(j, POINT_FAILED) + journal_count(j, POINT_SKIPPED);
	int unchecked = journal_count(j, POINT_CHECK_FAILED);

	results_print(j, stdout);
	printf("\n%d points ok, %d failed their check, %d failed otherwise: %s\n",
	       journal_count(j, POINT_OK), unchecked, failed, j->path);
	if (!quiet && !strcmp(platform_build(), "CPU device"))
		printf("%s\n", platform_not_gpu);
	return unchecked ? RIFT_CHECK_FAILED : failed ? RIFT_FAILED_POINTS : RIFT_OK;
}

static int interrupted_end(const struct session *s)
{
	const struct journal *j = &s->journal;
	int all = j->slots * j->plan.n_points;

	complain(EINTR, "interrupted: %d of %d points are kept; rift sweep --resume %s goes on",
		 all - journal_count(j, POINT_PENDING), all, j->path);
	return RIFT_INTERRUPTED;
}

static int run_session(struct session *s, const struct sweep_args *a);

/* The machine is another one: what was measured stays, and the same plan starts anew. */
static int start_anew(struct session *s, const struct sweep_args *a)
{
	struct session fresh = { .show = s->show };
	char path[4300];
	int err;

	next_output(s->journal.path, path, sizeof(path));
	complain(ESTALE, "this is not the machine that %s was begun on: %s; starting %s",
		 s->journal.path, s->change, path);
	err = journal_create(&fresh.journal, &s->journal.plan, path, s->journal.against, a->typed);
	if (!err)
		err = run_session(&fresh, a);
	else
		err = exit_code_of(err);
	journal_release(&fresh.journal);
	return err;
}

/* An exit code. */
static int run_session(struct session *s, const struct sweep_args *a)
{
	int err = session_run(s);

	show_end(&s->show);
	if (err == -ESTALE)
		return start_anew(s, a);
	if (err == -EINTR)
		return interrupted_end(s);
	return err ? (int)exit_code_of(err) : end_of(s, a->quiet);
}

static int resume(const struct sweep_args *a)
{
	struct session s = { 0 };
	int err, code;

	show_start(&s.show, a->quiet);
	err = journal_open(&s.journal, a->resume);
	if (!err && s.journal.torn)
		show_complaint(&s.show, "rift: a torn last line was dropped");
	code = err ? (int)exit_code_of(err) : run_session(&s, a);
	journal_release(&s.journal);
	return code;
}

static int start(struct sweep_args *a)
{
	struct session s = { 0 };
	struct omitted omitted;
	struct plan plan = { 0 };
	char path[4200];
	int err, code;

	show_start(&s.show, a->quiet);
	err = make_plan(&plan, a, &s.show, &omitted);
	if (!err && a->dry_run) {
		plan_print(&plan, a->against ? 2 : 1, &omitted, stdout);
		plan_release(&plan);
		return RIFT_OK;
	}
	if (!err) {
		if (!a->quiet)
			omitted_print(&plan, &omitted, stderr);
		default_output(a, path, sizeof(path));
		err = journal_create(&s.journal, &plan, a->output ? a->output : path, a->against,
				     a->typed);
	}
	code = err ? (int)exit_code_of(err) : run_session(&s, a);
	show_end(&s.show);
	plan_release(&plan);
	if (s.journal.path)
		journal_release(&s.journal);
	return code;
}

/* --resume takes everything from the file. */
static int refuse_with_resume(const struct sweep_args *a)
{
	bool other = a->n_workloads || a->n_assignments || a->size || a->depth || a->mode ||
		     a->against || a->output || a->quick || a->dry_run;

	for (int i = 0; value_rows[i].name; i++)
		other |= a->rows.given[i];
	if (!other)
		return 0;
	return complain(EINVAL, "--resume goes on with the plan in the file: nothing else but "
				"--quiet goes with it");
}

static int obey(struct sweep_args *a)
{
	if (a->help) {
		options_help(&argp, "sweep", stdout);
		return RIFT_OK;
	}
	interrupt_install();
	/* a file that grows over a limit is to be reported, not to end the program */
	signal(SIGXFSZ, SIG_IGN);
	if (!a->resume)
		return start(a);
	return refuse_with_resume(a) ? RIFT_USAGE : resume(a);
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
				.workload = calloc((size_t)argc + 2, sizeof(*a.workload)),
				.typed = joined(argc, argv) };
	int code;

	CHECK(a.assignment && a.workload, "%d arguments", argc);
	params_init(&a.rows, value_rows, "rift sweep", &a.values);
	a.rows.prefix = "--";
	code = exit_code_of(
		options_parse(&argp, "`rift sweep --help` shows its options", argc, argv, &a));
	if (code == RIFT_OK)
		code = obey(&a);
	free(a.assignment);
	free(a.workload);
	free(a.typed);
	return code;
}
