/* cmd_sweep.c - rift sweep [WORKLOAD...]: kernel size x depth x mode, in fresh processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/command.h"
#include "common/interrupt.h"
#include "harness/plan/request.h"
#include "harness/session/clocks.h"
#include "harness/session/stopping.h"
#include "harness/record/record.h"
#include "harness/cmd/sweep_run.h"

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

const struct param sweep_value_rows[] = {
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
	  "after which 95 % of points are within 2 %; quick: 5, of two sides 8 pairs)",
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
		a->kind[a->kinds++] = (enum sync_kind)kind;
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
	return complain(EINVAL, "--resolve and --margin are of one kind of waiting: name one with "
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
