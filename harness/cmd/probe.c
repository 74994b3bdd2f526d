/* probe.c - rift probe: the call costs. */
#include <errno.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "harness/base/text.h"
#include "harness/cmd/options.h"
#include "harness/layer/enter.h"
#include "harness/probe/costs.h"
#include "harness/probe/grid.h"

/* Options with values, as parameter rows: parsed and refused like all others. */
struct probe_values {
	int64_t processes;
	int sync;
	double patience_s;
};

static const struct param rows[] = {
	{ "processes", PARAM_INT, offsetof(struct probe_values, processes), "processes", "5", 1,
	  COSTS_PROCESSES_MAX, NULL, "", NULL, NULL, false },
	{ "sync", PARAM_CHOICE, offsetof(struct probe_values, sync), "", "", 0, 0, sync_names, "",
	  NULL, NULL, false },
	{ "patience", PARAM_REAL, offsetof(struct probe_values, patience_s), "s", "30", 1, 86400,
	  NULL, "", NULL, NULL, false },
	PARAM_END,
};

struct probe_args {
	struct arguments given;
	struct probe_values values;
	bool quick;
	const char *native; /* where the call costs without the layer go; NULL: none are taken */
};

static const struct command_option options[] = {
	{ OPTION_OUTPUT("FILE", option_text),
	  "keep the call costs in a new file, for rift compare" },
	{ OPTION_JSON, "the call costs as JSON instead of the page" },
	{ OPTION("quick", NULL, option_flag, offsetof(struct probe_args, quick)),
	  "2 processes: figures, but no intervals" },
	{ OPTION_ROW("processes", "N"), "fresh processes (default: 5; quick: 2)" },
	{ OPTION_ROW("sync", "KIND"),
	  "how ends are waited for, as in rift run (default: spin, on the CPU device yield)" },
	{ OPTION_LAYER, "run under it, as in rift run" },
	{ OPTION("native", "FILE", option_text, offsetof(struct probe_args, native)),
	  "with --layer and --output: also the call costs without the layer, in another new file, "
	  "by "
	  "processes in turn with those under it" },
	{ OPTION_PLATFORM, "what you call this platform" },
	{ OPTION_HOST_NAME, "the host's name into the file, not its hash" },
	{ OPTION_ROW("patience", "SECONDS"),
	  "how long opening the device may take before a process counts as hung, and a probe where "
	  "that is more than a minute (default: 30)" },
	{ OPTION_QUIET, "no progress, no remarks" },
	{ OPTION_HELP, "this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_FAILED_POINTS, "complete, but some probe failed or is not supported here" },
	{ RIFT_USAGE, EXIT_USUAL },
	{ RIFT_NO_DEVICE, EXIT_USUAL },
	{ RIFT_INTERRUPTED, EXIT_USUAL },
	{ 0 },
};

/* The file appears when it is whole. */
static int keep(const json_t *costs, struct output *out)
{
	json_dumpf(costs, out->file, JSON_INDENT(1));
	fputc('\n', out->file);
	return output_commit(out);
}

static void print(const void *found, FILE *out)
{
	if (json_object_get(found, "configs"))
		grid_print(found, out);
	else
		costs_print(found, out);
}

/* A new reference; jansson's own functions take what is const for what is not. */
static json_t *json(const void *found)
{
	return json_incref((json_t *)found);
}

/* What is taken: [0] of this platform or, of two, without the layer, and [1] under it. */
struct taken {
	json_t *costs[COSTS_SIDES];
	struct output out[COSTS_SIDES];
	int n;
};

/* Takes them, keeps them, shows the last: 0, or a negative errno after one line. */
static int take_and_keep(const struct probe_args *a, const struct costs_request *r, struct taken *t)
{
	const json_t *last;
	int err;

	progress_init(a->given.quiet);
	err = costs_take(r, t->costs);
	if (err == -EINTR)
		complain(EINTR, "interrupted; nothing is reported");
	if (err)
		return err;
	for (int i = 0; i < t->n && a->given.output && !err; i++)
		err = keep(t->costs[i], &t->out[i]);
	last = t->costs[t->n - 1];
	show(&a->given, last, print, json); /* also where they could not be kept */
	note_cpu(&a->given, a->given.json && costs_is_cpu(last));
	return err;
}

/* Before the measuring: a costs file that cannot be kept is not worth a minute. */
static int create_outputs(const struct probe_args *a, struct taken *t)
{
	int err = 0;

	if (a->native)
		err = output_create(&t->out[0], "--native", a->native);
	if (!err && a->given.output)
		err = output_create(&t->out[t->n - 1], "--output", a->given.output);
	return err;
}

static bool is_incomplete(const struct taken *t)
{
	bool is = false;

	for (int i = 0; i < t->n; i++)
		is |= json_array_size(json_object_get(t->costs[i], "failed")) ||
		      costs_has_refusals(t->costs[i]);
	return is;
}

static void taken_free(struct taken *t)
{
	for (int i = 0; i < t->n; i++) {
		json_decref(t->costs[i]);
		output_discard(&t->out[i]);
	}
}

/* A workload and its parameters: a grid. */
static int take_words(const struct arguments *given, struct costs_request *r, json_t **configs)
{
	*configs = NULL;
	if (!given->words.n)
		return 0;
	r->workload = workload_find(given->words.word[0]);
	if (!r->workload)
		return -EINVAL;
	return grid_parse(configs, r->workload, given->words.word + 1, given->words.n - 1);
}

static int probe_here(const struct probe_args *a, const char *layer)
{
	const struct arguments *given = &a->given;
	bool is_quick = a->quick && !given->rows.given[0];
	struct costs_request r = { .processes = is_quick ? 2 : (int)a->values.processes,
				   .platform = given->platform,
				   .host_name = given->host_name,
				   .patience_s = a->values.patience_s,
				   .layer = layer };
	struct taken t = { .n = layer ? COSTS_SIDES : 1 };
	json_t *configs;
	int err = take_words(given, &r, &configs);

	r.configs = configs;
	interrupt_install();
	if (!err)
		err = create_outputs(a, &t);
	if (!err) {
		r.sync = given->rows.given[1] ? (enum wait_policy)a->values.sync : sync_default();
		err = take_and_keep(a, &r, &t);
	}
	if (!err && is_incomplete(&t))
		err = RIFT_FAILED_POINTS;
	json_decref(configs);
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
	.line = "call costs: what each call costs here, on one page",
	.doc = "Call costs: what each call costs here, on one page, from the probes of "
	       "launch, graph, memory and transfer in fresh processes. Takes under a minute.",
	.remarks = "`rift compare A B` compares two files of call costs. WORKLOAD name=value,value "
		   "probes that one alone, at every combination of the values; `rift show` and "
		   "`rift plot` take such a file.",
	.exits = exits,
	.options = options,
	.layers_are_a_side = true,
	.words = "[WORKLOAD [name=value,value...]]",
	.hint = "parameters are written name=value",
	.size = sizeof(struct probe_args),
	.rows = rows,
	.values = offsetof(struct probe_args, values),
	.run = probe,
};
