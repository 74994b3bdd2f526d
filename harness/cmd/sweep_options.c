/*
 * sweep_options.c - the command line of `rift sweep [WORKLOAD...]`: options, words, and what does
 * not go together.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/param.h"
#include "harness/cmd/sweep.h"
#include "harness/platform/platform.h"
#include "harness/platform/enter.h"
#include "harness/measure/axis.h"
#include "harness/probe/sensitivity.h"
#include "harness/probe/sensitivity_costs.h"
#include "harness/platform/system.h"
#include "harness/session/stopping.h"

/* ---- options ---------------------------------------------------------------------------- */

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
	ROW("time-limit", PARAM_REAL, limit_s, "s", "", 1, 1e6, NULL, "of all processes"),
	PARAM_END,
};

/* "spin" or "spin,blocking". */
static int take_kinds(void *field, const struct command_option *o, char *text)
{
	struct sweep_args *a = field;
	static const struct param row = { "sync", PARAM_CHOICE, 0,  "",	  "",	0,
					  0,	  sync_names,	"", NULL, NULL, false };
	struct axis kinds;
	int err;

	if (a->kinds)
		return complain(EINVAL, "--%s is given twice", o->name);
	err = axis_parse(&kinds, &row, "--sync", text);
	for (int i = 0; !err && i < kinds.n; i++)
		a->kind[a->kinds++] = (enum wait_policy)kinds.value[i].choice;
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
	  "measure fewer sizes, depths, samples and processes, and leave points out until it takes "
	  "less than 60 s" },
	{ OPTION("express", NULL, option_flag, FIELD(express)),
	  "measure, in 15 s, the points that say most about launch costs: all depths of the "
	  "smallest kernel and two depths of three larger ones, as often as time allows" },
	{ OPTION("size", "VALUES", option_once, FIELD(size)),
	  "sweep these values of the parameter that makes kernels larger" },
	{ OPTION("depth", "VALUES", option_once, FIELD(depth)),
	  "enqueue these numbers of steps before a synchronize (default: 1:4096:x2; quick: x4; "
	  "with a layer's costs: one, chosen by a native run)" },
	{ OPTION("mode", "VALUES", option_once, FIELD(mode)),
	  "sweep these of stream, graph, fused (default: all that are allowed; with a layer's "
	  "costs: one, chosen by a native run)" },
	{ OPTION("around", "NAME=VALUES", option_list, FIELD(around)),
	  "also vary this parameter, at the centre of the grid only; repeatable" },
	{ OPTION_ROW("processes", "N"),
	  "measure exactly N fresh processes, the replicates (default: 5, 10, 20 or 30, with two "
	  "sides 12, 20 or 30 pairs, the first after which 95 % of points are within 2 %; quick: "
	  "5, or 9 pairs (12 with more than two workloads, 13 with more than seven); express: 9; "
	  "with "
	  "a layer's costs: 3 per value)" },
	{ OPTION_ROW("rounds", "N"),
	  "visit each point N times per process (default: 5; quick: 3; with two sides 16 to 100)" },
	{ OPTION_ROW("seed", "N"), "seed the order of points (default: random, and recorded)" },
	{ OPTION_ROW("check-steps", "N"), "check at most N steps (default: 256)" },
	{ OPTION("sync", "KIND", take_kinds, 0),
	  "wait for the end of a sample by spin, yield, blocking, event or poll (default: spin; "
	  "CPU "
	  "device: yield); several, as spin,blocking, measure all points in processes of each "
	  "kind, alternately" },
	{ OPTION_ROW("warm-up", "SECONDS"), "warm each process up for at most this long if its "
					    "clock keeps changing (default: 5; quick: 1)" },
	{ OPTION_ROW("patience", "SECONDS"),
	  "count opening the device, a set-up or a calibration as hung after this long (default: "
	  "30), or later if a probe has shown that it takes longer" },
	{ OPTION("resolve", "NAME=TIME,...", take_resolve, FIELD(goals)),
	  "stop once these model parameters are known to plus or minus this much, as "
	  "c=100ns,Z=0.5us, with two sides their differences; checked after 8, 12, 18, 28, 42, 64 "
	  "and 100 processes, as far as --processes or --quick allows" },
	{ OPTION("margin", "PERCENT", take_margin, FIELD(goals)),
	  "with two sides: stop once each workload's mean b/a ratio is known to half of this, "
	  "enough for `rift compare --margin` to decide" },
	{ OPTION("lock-clocks", "MHZ", take_lock, 0),
	  "lock the GPU's clock during the measurement, at this many MHz (default: its base "
	  "clock), and unlock it at the end; needs root",
	  .may_lack = true },
	{ OPTION("against", "COMMAND", option_once, FIELD(against)),
	  "measure a second platform on this host in the same session: COMMAND starts its "
	  "processes, each paired with one of this platform's, alternating in ABBA order" },
	{ OPTION_LAYER,
	  "measure a second side: this platform under a layer, as in rift run. With several values "
	  "of its costs, as 'emulate call=0,1,5,20 sync=0,20' or 'remote transport=tcp "
	  "rtt=0,20,100', measure natively and with one of these costs at a time, at one depth, "
	  "and keep no record; costs=usual means the costs that distinguish most programs" },
	{ OPTION("apart", NULL, option_flag, FIELD(apart)),
	  "with two sides: run one process at a time, for when two on one GPU interfere" },
	{ OPTION("samples", "N", option_text, FIELD(blocks)),
	  "with a layer's costs: time N samples, as in rift run", .old = "blocks" },
	{ OPTION_ROW("time-limit", "SECONDS"), "with a layer's costs: use fewer processes, at "
					       "least one, if all would take longer than this" },
	{ OPTION("plot", "DIR", option_folder, FIELD(plot)),
	  "with a layer's costs: also draw a chart in this folder with gnuplot (PNG, SVG, data and "
	  "script)" },
	{ OPTION_JSON,
	  "with a layer's costs: print one JSON object with all results and their runs" },
	{ OPTION_OUTPUT("FILE", option_file),
	  "write the record to this file (default: results/TIME-WORKLOAD.jsonl)" },
	{ OPTION("platform", "NAME", option_once, COMMON(platform)),
	  "name this platform in the record" },
	{ OPTION("resume", "FILE", option_file, FIELD(resume)),
	  "continue an interrupted sweep; prints the command of --against that FILE holds, and "
	  "runs it" },
	{ OPTION("dry-run", NULL, option_flag, FIELD(dry_run)),
	  "only print the points and how long they take" },
	{ OPTION_QUIET, "print no progress and no remarks" },
	{ OPTION_HELP, "show this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_CHECK_FAILED, "a check failed" },
	{ RIFT_FAILED_POINTS, "complete with failed points or values" },
	{ RIFT_USAGE,
	  "usage, bad input, a file that cannot be written or, with --plot, no picture" },
	{ RIFT_NO_DEVICE, "no such device, or the layer not available here" },
	{ RIFT_NOT_COMPARABLE, "the machine changed a second time" },
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

/* Options of a grid, and rows but for these two. */
static bool plans_grid(const struct sweep_args *a, const char *row, const char *other_row)
{
	bool is = a->around.n || a->size || a->against || a->given.platform || a->given.output ||
		  a->quick || a->express || a->apart || a->kinds || a->lock || goals_any(&a->goals);

	for (int i = 0; sweep_value_rows[i].name; i++)
		is |= a->given.rows.given[i] && strcmp(sweep_value_rows[i].name, row) != 0 &&
		      strcmp(sweep_value_rows[i].name, other_row) != 0;
	return is;
}

/* --resume takes everything from the file. */
static int refuse_with_resume(const struct sweep_args *a)
{
	if (!plans_grid(a, "patience", "patience") && !a->n_workloads && !a->n_assignments &&
	    !a->depth && !a->mode && !a->dry_run)
		return 0;
	return complain(EINVAL, "--resume continues the plan in the file; it can only be combined "
				"with --quiet and --patience");
}

static int refuse_apart(const struct sweep_args *a)
{
	if (!a->apart || a->against)
		return 0;
	return complain(EINVAL,
			"--apart: needs two sides; give the other one with --against or --layer");
}

static int refuse_two_designs(const struct sweep_args *a)
{
	return a->quick && a->express ? complain(EINVAL, "--quick and --express: give one") : 0;
}

static int refuse_goals(const struct sweep_args *a)
{
	if (!goals_any(&a->goals) || a->kinds < 2)
		return 0;
	return complain(EINVAL,
			"--resolve and --margin need one wait policy; name one with --sync");
}

/* The first layer of which several costs are asked for; NULL: none. */
static const char *layer_of_costs(const struct sweep_args *a)
{
	for (int i = 0; i < a->given.layers.n; i++)
		if (sensitivity_is_asked(a->given.layers.word[i]))
			return a->given.layers.word[i];
	return NULL;
}

static int refuse_with_costs(const struct sweep_args *a, const char *layer)
{
	if (a->given.layers.n > 1 || a->n_workloads > 1)
		return complain(EINVAL, "--layer '%s': several costs need exactly one %s",
				text_shown(layer).s, a->n_workloads > 1 ? "workload" : "layer");
	if (!plans_grid(a, "processes", "time-limit") && !a->resume)
		return 0;
	return complain(
		EINVAL,
		"--layer '%s': several costs can only be combined with --depth, --mode, --samples, "
		"--processes, --time-limit, --dry-run, --plot, --json and --quiet%s",
		text_shown(layer).s,
		cost_source_find(layer)->rows
			? "; a session over one network has network=ROUND_TRIP,BANDWIDTH"
			: "");
}

static int refuse_without_costs(const struct sweep_args *a)
{
	const char *name = a->blocks		   ? "samples"
			   : a->values.limit_s > 0 ? "time-limit"
			   : a->plot		   ? "plot"
			   : a->given.json	   ? "json"
						   : NULL;

	return name ? complain(EINVAL,
			       "--%s needs a layer's costs, as --layer 'emulate call=0,1,5,20'",
			       name)
		    : 0;
}

/* As of a variable that is not set: the other side would be this one. */
static int refuse_empty_side(const struct sweep_args *a)
{
	if (!a->against || a->against[strspn(a->against, " \t\n")])
		return 0;
	return complain(
		EINVAL,
		"--against: is empty; give the command that starts `rift` on the other side");
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
		err = refuse_without_costs(a);
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

/* The other side is the same command behind what `rift layer` makes of these. */
static int take_layers(struct sweep_args *a, char **command)
{
	const struct word_list *layers = &a->given.layers;
	int err;

	*command = NULL;
	if (!layers->n)
		return 0;
	if (a->against || a->resume)
		return complain(EINVAL, "--layer cannot be combined with --against or --resume");
	err = layer_command(layers->word, layers->n, command);
	if (err)
		return err;
	if (layer_texts_name_secret(layers->word, layers->n)) {
		free(*command);
		*command = NULL;
		return complain(EINVAL,
				"--layer: cannot name a secret, as the record would keep it; set "
				"the variable before rift, or start rift under `rift layer`");
	}
	a->against = *command;
	a->apart |= layer_texts_disturb(layers->word, layers->n);
	return 0;
}

static int sweep_grid(struct sweep_args *a)
{
	char *layers;
	int err = take_layers(a, &layers);

	if (!err)
		err = obey(a);
	free(layers);
	return err;
}

static int sweep(void *arguments)
{
	struct sweep_args *a = arguments;
	const char *layer = layer_of_costs(a);
	int err;

	interrupt_install();
	sort_words(a);
	a->typed = joined(a->given.argc, a->given.argv);
	err = layer ? refuse_with_costs(a, layer) : 0;
	if (!err)
		err = layer ? sweep_costs(a) : sweep_grid(a);
	free(a->workload);
	free(a->assignment);
	free(a->typed);
	return err;
}

const struct command command_sweep = {
	.name = "sweep",
	.usage = "[WORKLOAD...] [--quick]",
	.line = "measure size x depth x mode in fresh processes; resumable",
	.words = "[WORKLOAD...] [[WORKLOAD.]name=values...]",
	.doc = "Measures kernel size x depth x mode in fresh processes and writes a record (JSON "
	       "Lines). Without a workload it sweeps launch. Every parameter can be an axis: "
	       "name=1,8,64 or name=1k:64k:x2 or name=10:50:+10. It applies to all workloads that "
	       "have it; WORKLOAD.name=values, as stereo.width=640, to that one only. With several "
	       "values of a layer's costs it shows instead how many times as long a step takes, "
	       "which cost makes it 5 % and 25 % longer, and what a simple model predicts.",
	.remarks = "Ctrl-C ends the sweep after the current sample and leaves FILE.part, as a kill "
		   "does; --resume continues it. `rift show --check FILE` checks a record.",
	.exits = exits,
	.options = options,
	.layers_are_a_side = true,
	.size = sizeof(struct sweep_args),
	.rows = sweep_value_rows,
	.values = FIELD(values),
	.check_word = check_word,
	.run = sweep,
};
