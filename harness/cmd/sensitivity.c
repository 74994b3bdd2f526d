/* sensitivity.c - rift sensitivity WORKLOAD [name=value...]: its time over costs of a layer. */
#include "harness/sensitivity/sensitivity.h"

#include <errno.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/picture.h"
#include "harness/base/text.h"
#include "harness/cmd/options.h"
#include "harness/sensitivity/sensitivity_chart.h"

/* ---- the command line --------------------------------------------------------------------- */

/* Options with values, as parameter rows: parsed and refused like all others. */
struct sensitivity_values {
	int64_t processes;
	double limit_s;
};

static const struct param rows[] = {
	{ "processes", PARAM_INT, offsetof(struct sensitivity_values, processes), "processes", "3",
	  1, SENSITIVITY_PROCESSES_MAX, NULL, "", NULL, NULL, false },
	{ "time-limit", PARAM_REAL, offsetof(struct sensitivity_values, limit_s), "s", "", 1, 1e6,
	  NULL, "", NULL, NULL, false },
	PARAM_END,
};

struct sensitivity_args {
	struct arguments given;
	struct sensitivity_values values;
	struct word_list costs;
	const char *mode, *depth, *blocks, *layer; /* rift run parses them */
	const char *plot;			   /* folder of the chart; NULL: none */
	bool dry_run;
};

#define FIELD(name) offsetof(struct sensitivity_args, name)

static const struct command_option options[] = {
	{ OPTION("cost", "NAME=V,V,...", option_list, FIELD(costs)),
	  "a cost of the layer and its values, in the layer's unit; given again another one "
	  "(default: call, sync, return, copy, alloc and latency of 0,1,5,20,100 us, copies at "
	  "100,10,1 GB/s)" },
	{ OPTION("layer", "LAYER", option_once, FIELD(layer)),
	  "whose costs: emulate, or 'remote transport=tcp', which imitates a network: rtt of "
	  "0,5,10,20,50,100,200 us at 200 Gbit/s, bandwidth of 200,100,25,10,1 Gbit/s (default: "
	  "emulate)" },
	{ OPTION_ROW("processes", "N"), "fresh processes for each value (default: 3)" },
	{ OPTION_ROW("time-limit", "SECONDS"),
	  "fewer processes, where all would take longer than that; at least one" },
	{ OPTION("mode", "stream|graph|fused", option_text, FIELD(mode)), "as in rift run" },
	{ OPTION("depth", "N", option_text, FIELD(depth)),
	  "as in rift run (default: the one that a native run chooses, for all)" },
	{ OPTION("blocks", "N", option_text, FIELD(blocks)), "as in rift run" },
	{ OPTION("dry-run", NULL, option_flag, FIELD(dry_run)),
	  "first runs, then only how many runs there would be, and how long they would take" },
	{ OPTION("plot", "DIR", option_folder, FIELD(plot)),
	  "also a chart with gnuplot, PNG and SVG, its data and script beside it, in this folder" },
	{ OPTION_JSON, "one JSON object with all figures and their runs" },
	{ OPTION_QUIET, "no progress, no remarks" },
	{ OPTION_HELP, "this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_CHECK_FAILED, "the check of a run failed: its value has no figure" },
	{ RIFT_FAILED_POINTS, "some run failed otherwise: its value has no figure" },
	{ RIFT_USAGE, "usage, bad input or, with --plot, no picture" },
	{ RIFT_NO_DEVICE, "no such device, or the layer cannot be had here" },
	{ RIFT_INTERRUPTED, EXIT_USUAL },
	{ 0 },
};

/* ---- output ------------------------------------------------------------------------------- */

static void print(const void *found, FILE *out)
{
	sensitivity_print(found, out);
}

static json_t *json(const void *found)
{
	return sensitivity_json(found);
}

static void print_plan(const void *found, FILE *out)
{
	sensitivity_plan_print(found, out);
}

static json_t *plan_json(const void *found)
{
	return sensitivity_plan_json(found);
}

static int draw(const struct sensitivity *s, const struct sensitivity_args *a)
{
	struct picture picture;
	int err;

	if (!a->plot)
		return 0;
	err = sensitivity_chart_write(&picture, s, a->plot);
	err = show_picture(&a->given, a->plot, &picture, err);
	sensitivity_chart_release(&picture);
	return err;
}

/* ---- the command -------------------------------------------------------------------------- */

static int measure_and_show(struct sensitivity *s, const struct sensitivity_args *a)
{
	int err;

	if (!a->given.quiet)
		sensitivity_plan_print(s, stderr);
	err = sensitivity_measure(s);
	if (err)
		return err;
	show(&a->given, s, print, json);
	err = draw(s, a);
	note_cpu(&a->given, s->first.is_cpu);
	return err ? err : (int)sensitivity_exit_code(s);
}

static int plan_and_measure(struct sensitivity *s, const struct sensitivity_args *a)
{
	int err = sensitivity_plan(s);

	if (err || !a->dry_run)
		return err ? err : measure_and_show(s, a);
	show(&a->given, s, print_plan, plan_json);
	return RIFT_OK;
}

static int sensitivity(void *arguments)
{
	const struct sensitivity_args *a = arguments;
	const struct sensitivity_request r = { .words = a->given.words.word,
					       .mode = a->mode,
					       .depth = a->depth,
					       .blocks = a->blocks,
					       .costs = a->costs.word,
					       .layer = a->layer,
					       .processes = (int)a->values.processes,
					       .limit_s = a->values.limit_s };
	struct sensitivity s;
	int err;

	interrupt_install();
	progress_init(a->given.quiet);
	err = sensitivity_init(&s, &r);
	/* before the measuring: a folder that cannot be written to is not worth minutes */
	if (!err && a->plot)
		err = picture_folder("--plot", a->plot);
	if (!err)
		err = plan_and_measure(&s, a);
	if (err == -EINTR)
		complain(EINTR, "interrupted; nothing is reported");
	sensitivity_release(&s);
	return err;
}

const struct command command_sensitivity = {
	.name = "sensitivity",
	.usage = "WORKLOAD [name=value...]",
	.line = "how a workload's time grows with each cost of a layer",
	.words = "WORKLOAD [name=value...]",
	.doc = "Measures a workload under a layer that adds one known cost at a time, and "
	       "natively: how many times as long a step takes, which cost makes it 5 % and "
	       "25 % longer, and what a simple model says of that. Each value is measured by rift "
	       "run in fresh processes, in shuffled turns.",
	.remarks = "`rift layer` lists the costs of emulate.",
	.exits = exits,
	.options = options,
	.hint = "parameters are written name=value",
	.missing = "no workload; write rift sensitivity WORKLOAD, `rift list` shows them",
	.size = sizeof(struct sensitivity_args),
	.rows = rows,
	.values = offsetof(struct sensitivity_args, values),
	.run = sensitivity,
};
