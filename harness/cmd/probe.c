/*
 * probe.c - rift probe: what fresh processes find out. The call costs, those of one workload on a
 * grid, or with --warmup what its blocks take from the first on.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "harness/base/text.h"
#include "harness/cmd/options.h"
#include "harness/platform/enter.h"
#include "harness/measure/run.h"
#include "harness/probe/costs.h"
#include "harness/probe/grid.h"
#include "harness/probe/warmup.h"

/* Options with values, as parameter rows: parsed and refused like all others. */
struct probe_values {
	int64_t processes;
	int sync;
	double patience_s;
	int mode;
	struct param_list depth;
	double rest_s, seconds;
};

static const char *const mode_choices[] = { "stream", "graph", "fused", NULL };

enum { ROW_PROCESSES, ROW_SYNC, ROW_PATIENCE, ROW_MODE, ROW_DEPTH, ROW_REST, ROW_SECONDS };

#define VALUE(name) offsetof(struct probe_values, name)

/* clang-format off */
static const struct param rows[] = {
	[ROW_PROCESSES] = { "processes", PARAM_INT, VALUE(processes), "processes", "5", 1,
			    COSTS_PROCESSES_MAX, NULL, "", NULL, NULL, false },
	[ROW_SYNC] = { "sync", PARAM_CHOICE, VALUE(sync), "", "", 0, 0, sync_names, "", NULL, NULL,
		       false },
	[ROW_PATIENCE] = { "patience", PARAM_REAL, VALUE(patience_s), "s", "30", 1, 86400, NULL, "",
			   NULL, NULL, false },
	[ROW_MODE] = { "mode", PARAM_CHOICE, VALUE(mode), "", "", 0, 0, mode_choices, "", NULL, NULL,
		       false },
	[ROW_DEPTH] = { "depth", PARAM_LIST, VALUE(depth), "steps", "1,10,100", 1, RUN_DEPTH_MAX,
			NULL, "", NULL, NULL, false },
	[ROW_REST] = { "rest", PARAM_REAL, VALUE(rest_s), "s", "10", 0, 3600, NULL, "", NULL, NULL,
		       false },
	[ROW_SECONDS] = { "seconds", PARAM_REAL, VALUE(seconds), "s", "2", 0.01, 60, NULL, "", NULL,
			  NULL, false },
	PARAM_END,
};
/* clang-format on */

_Static_assert((int)COSTS_PROCESSES_MAX == (int)WARMUP_PROCESSES_MAX, "--processes is of both");

struct probe_args {
	struct arguments given;
	struct probe_values values;
	bool quick, warmup;
	const char *native; /* where the call costs without the layer go; NULL: none are taken */
};

static const struct command_option options[] = {
	{ OPTION_OUTPUT("FILE", option_text),
	  "save the results in this new file, for rift show, rift compare or rift plot" },
	{ OPTION_JSON, "print JSON instead of the page" },
	{ OPTION("quick", NULL, option_flag, offsetof(struct probe_args, quick)),
	  "use 2 processes, which give values but no intervals", .without = "warmup" },
	{ OPTION_ROW("processes", "N"),
	  "measure in N fresh processes (default: 5; quick: 2); with --warmup: repeat everything N "
	  "times (default: 1); intervals need 5 or more" },
	{ OPTION_ROW("sync", "KIND"),
	  "wait by this policy, as in rift run (default: spin; CPU device: yield)" },
	{ OPTION_LAYER, "run under this layer, as in rift run" },
	{ OPTION("native", "FILE", option_text, offsetof(struct probe_args, native)),
	  "with --layer and --output: also measure call costs without the layer, in alternating "
	  "processes, and save them in this new file",
	  .without = "warmup" },
	{ OPTION_PLATFORM, "name this platform in the output" },
	{ OPTION_HOST_NAME, "write the host's name into the file, not its hash" },
	{ OPTION_ROW("patience", "SECONDS"),
	  "count a process as hung if opening the device takes longer than this (default: 30); "
	  "above 60, probes too may take this long" },
	{ OPTION("warmup", NULL, option_flag, offsetof(struct probe_args, warmup)),
	  "measure what each sample of WORKLOAD takes, from a process's first sample on" },
	{ OPTION_ROW("mode", "stream|graph|fused"),
	  "with --warmup: submit steps this way, as in rift run (default: the first that the "
	  "workload allows)",
	  .with = "warmup" },
	{ OPTION_ROW("depth", "LIST"),
	  "with --warmup: measure samples of N steps; several values, separated by commas, get a "
	  "process each (default: 1,10,100)",
	  .with = "warmup" },
	{ OPTION_ROW("rest", "SECONDS"),
	  "with --warmup: let the device idle this long before curves (default: 10)",
	  .with = "warmup" },
	{ OPTION_ROW("seconds", "SECONDS"),
	  "with --warmup: measure each curve for this long (default: 2)", .with = "warmup" },
	{ OPTION_QUIET, "print no progress and no remarks" },
	{ OPTION_HELP, "show this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_CHECK_FAILED, "the check failed (--warmup)" },
	{ RIFT_FAILED_POINTS, "complete, but some probe failed or is not supported here; with "
			      "--warmup: the platform lacks something needed" },
	{ RIFT_USAGE, EXIT_USUAL },
	{ RIFT_NO_DEVICE, EXIT_USUAL },
	{ RIFT_INTERRUPTED, EXIT_USUAL },
	{ 0 },
};

/* What is to be taken: curves with --warmup, else call costs; of a workload: on a grid. */
struct request {
	struct warmup_request curves;
	struct costs_request costs;
	json_t *configs; /* owned */
};

/* What is taken: [0] of this platform or, of two, without the layer, and [1] under it. */
struct taken {
	json_t *found[COSTS_SIDES];
	struct output out[COSTS_SIDES];
	int n;
};

static bool is_curves(const json_t *found)
{
	return json_object_get(found, "curves");
}

/* The file appears when it is whole. */
static int keep(const json_t *found, struct output *out)
{
	json_dumpf(found, out->file, is_curves(found) ? JSON_COMPACT : JSON_INDENT(1));
	fputc('\n', out->file);
	return output_commit(out);
}

static void print(const void *found, FILE *out)
{
	if (is_curves(found))
		warmup_print(found, out);
	else if (json_object_get(found, "configs"))
		grid_print(found, out);
	else
		costs_print(found, out);
}

/* A new reference; jansson's own functions take what is const for what is not. */
static json_t *json(const void *found)
{
	return json_incref((json_t *)found);
}

/* Takes it, keeps it, shows the last: 0, or a negative errno after one line. */
static int take_and_keep(const struct probe_args *a, const struct request *r, struct taken *t)
{
	const json_t *last;
	int err;

	progress_init(a->given.quiet);
	err = a->warmup ? warmup_take(&r->curves, t->found) : costs_take(&r->costs, t->found);
	if (err == -EINTR)
		complain(EINTR, "interrupted; nothing is reported");
	if (err)
		return err;
	for (int i = 0; i < t->n && a->given.output && !err; i++)
		err = keep(t->found[i], &t->out[i]);
	last = t->found[t->n - 1];
	show(&a->given, last, print, json); /* also where they could not be kept */
	note_cpu(&a->given, a->given.json && costs_is_cpu(last));
	return err;
}

/* Before the measuring: a file that cannot be kept is not worth a minute. */
static int create_outputs(const struct probe_args *a, struct taken *t)
{
	int err = 0;

	if (a->native)
		err = output_create(&t->out[0], "--native", a->native);
	if (!err && a->given.output)
		err = output_create(&t->out[t->n - 1], "--output", a->given.output);
	return err;
}

/* An exit code. */
static int judge(const struct taken *t)
{
	bool incomplete = false;

	if (is_curves(t->found[0]))
		return warmup_check_failed(t->found[0]) ? RIFT_CHECK_FAILED : RIFT_OK;
	for (int i = 0; i < t->n; i++)
		incomplete |= json_array_size(json_object_get(t->found[i], "failed")) ||
			      costs_has_refusals(t->found[i]);
	return incomplete ? RIFT_FAILED_POINTS : RIFT_OK;
}

static void taken_free(struct taken *t)
{
	for (int i = 0; i < t->n; i++) {
		json_decref(t->found[i]);
		output_discard(&t->out[i]);
	}
}

static int fill_depths(struct warmup_request *r, const struct param_list *depth)
{
	r->depths = depth->n;
	if (r->depths > WARMUP_DEPTHS_MAX)
		return complain(EINVAL, "--depth: has %d values, must have at most %d", r->depths,
				WARMUP_DEPTHS_MAX);
	for (int i = 0; i < r->depths; i++) {
		r->depth[i] = depth->value[i];
		for (int k = 0; k < i; k++)
			if (r->depth[k] == r->depth[i])
				return complain(EINVAL, "--depth: %ld is given twice",
						(long)r->depth[i]);
	}
	return 0;
}

static int fill_curves(struct warmup_request *r, const struct probe_args *a)
{
	const struct arguments *given = &a->given;
	const struct probe_values *v = &a->values;
	int err;

	if (!given->words.n)
		return complain(EINVAL,
				"rift probe --warmup: no workload; write rift probe --warmup "
				"WORKLOAD, `rift list` shows them");
	*r = (struct warmup_request){ .workload = workload_find(given->words.word[0]),
				      .words = given->words.word + 1,
				      .n_words = given->words.n - 1,
				      .mode_given = given->rows.given[ROW_MODE],
				      .mode = (enum mode)v->mode,
				      .processes = given->rows.given[ROW_PROCESSES]
							   ? (int)v->processes
							   : 1,
				      .rest_s = v->rest_s,
				      .seconds = v->seconds,
				      .platform = given->platform,
				      .host_name = given->host_name,
				      .patience_s = v->patience_s };
	if (!r->workload)
		return -EINVAL;
	err = fill_depths(r, &v->depth);
	return err ? err : warmup_check(r);
}

/* Of a workload and its parameters: a grid. */
static int fill_costs(struct request *r, const struct probe_args *a, const char *layer)
{
	const struct arguments *given = &a->given;
	bool is_quick = a->quick && !given->rows.given[ROW_PROCESSES];
	int err = 0;

	r->costs = (struct costs_request){ .processes = is_quick ? 2 : (int)a->values.processes,
					   .platform = given->platform,
					   .host_name = given->host_name,
					   .patience_s = a->values.patience_s,
					   .layer = layer };
	if (!given->words.n)
		return 0;
	r->costs.workload = workload_find(given->words.word[0]);
	if (!r->costs.workload)
		return -EINVAL;
	err = grid_parse(&r->configs, r->costs.workload, given->words.word + 1, given->words.n - 1);
	r->costs.configs = r->configs;
	return err;
}

static int probe_here(const struct probe_args *a, const char *layer)
{
	struct request r = { .configs = NULL };
	struct taken t = { .n = layer ? COSTS_SIDES : 1 };
	int err = a->warmup ? fill_curves(&r.curves, a) : fill_costs(&r, a, layer);

	interrupt_install();
	if (!err)
		err = create_outputs(a, &t);
	if (!err) {
		/* asks the device, so not before all else is found in order */
		r.curves.sync = r.costs.sync = a->given.rows.given[ROW_SYNC]
						       ? (enum wait_policy)a->values.sync
						       : sync_default();
		err = take_and_keep(a, &r, &t);
	}
	if (!err)
		err = judge(&t);
	json_decref(r.configs);
	taken_free(&t);
	return err;
}

static int probe(void *arguments)
{
	const struct probe_args *a = arguments;
	const struct word_list *layers = &a->given.layers;
	char *layer;
	int err;

	if (a->native && (!layers->n || !a->given.output))
		return complain(EINVAL,
				"--native needs --layer, and --output for the costs under it");
	if (output_same_file(a->native, a->given.output))
		return complain(EINVAL, "--native and --output name the same file");
	if (!a->native)
		return layers->n ? arguments_run_under_layers(&a->given) : probe_here(a, NULL);
	err = layer_command(layers->word, layers->n, &layer);
	if (!err) {
		err = probe_here(a, layer);
		free(layer);
	}
	return err;
}

const struct command command_probe = {
	.name = "probe",
	.usage = "[WORKLOAD name=values]",
	.line = "measure what each call costs; --warmup: the first samples",
	.doc = "Measures what each call costs here and shows it on one page, using the probes of "
	       "launch, graph, memory and transfer in fresh processes. Takes under a "
	       "minute.\n\nWith --warmup it measures warm-up curves of WORKLOAD: what each sample "
	       "takes, from the very first of a fresh process on, after the device has idled, "
	       "after it has idled within the process, and immediately after another process. It "
	       "also records clocks, temperature, power and the canaries.",
	.remarks = "`rift compare A B` compares two files of call costs. WORKLOAD name=value,value "
		   "probes only that workload, at every combination of the values; `rift show` and "
		   "`rift plot` take such a file.",
	.exits = exits,
	.options = options,
	.layers_are_a_side = true,
	.words = "[WORKLOAD [name=value,value...]]\n--warmup WORKLOAD [name=value...]",
	.hint = "parameters are written name=value",
	.size = sizeof(struct probe_args),
	.rows = rows,
	.values = offsetof(struct probe_args, values),
	.run = probe,
};
