/* warmup.c - rift warmup WORKLOAD [name=value...]: what each block takes, from the first on. */
#include <errno.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "harness/base/text.h"
#include "harness/cmd/options.h"
#include "harness/env/platform.h"
#include "harness/measure/run.h"
#include "harness/warmup/warmup.h"

struct warmup_values {
	int mode;
	struct param_list depth;
	int64_t processes;
	double rest_s, seconds;
	int sync;
	double patience_s;
};

static const char *const mode_choices[] = { "stream", "graph", "fused", NULL };

enum { ROW_MODE, ROW_DEPTH, ROW_PROCESSES, ROW_REST, ROW_SECONDS, ROW_SYNC };

/* clang-format off */
static const struct param rows[] = {
	[ROW_MODE] = { "mode", PARAM_CHOICE, offsetof(struct warmup_values, mode), "", "", 0, 0,
		       mode_choices, "", NULL, NULL, false },
	[ROW_DEPTH] = { "depth", PARAM_LIST, offsetof(struct warmup_values, depth), "steps",
			"1,10,100", 1, RUN_DEPTH_MAX, NULL, "", NULL, NULL, false },
	[ROW_PROCESSES] = { "processes", PARAM_INT, offsetof(struct warmup_values, processes),
			    "processes", "1", 1, WARMUP_PROCESSES_MAX, NULL, "", NULL, NULL, false },
	[ROW_REST] = { "rest", PARAM_REAL, offsetof(struct warmup_values, rest_s), "s", "10", 0, 3600,
		       NULL, "", NULL, NULL, false },
	[ROW_SECONDS] = { "seconds", PARAM_REAL, offsetof(struct warmup_values, seconds), "s", "2",
			  0.01, 60, NULL, "", NULL, NULL, false },
	[ROW_SYNC] = { "sync", PARAM_CHOICE, offsetof(struct warmup_values, sync), "", "", 0, 0,
		       sync_names, "", NULL, NULL, false },
	{ "patience", PARAM_REAL, offsetof(struct warmup_values, patience_s), "s", "30", 1, 86400,
	  NULL, "", NULL, NULL, false },
	PARAM_END,
};
/* clang-format on */

struct warmup_args {
	struct arguments given;
	struct warmup_values values;
};

static const struct command_option options[] = {
	{ OPTION_ROW("mode", "stream|graph|fused"),
	  "how steps are submitted, as in rift run (default: the first that the workload allows)" },
	{ OPTION_ROW("depth", "LIST"),
	  "steps of a block, several with commas between them: a process of each (default: "
	  "1,10,100)" },
	{ OPTION_ROW("rest", "SECONDS"), "how long the device idles before curves (default: 10)" },
	{ OPTION_ROW("seconds", "SECONDS"), "how long a curve is (default: 2)" },
	{ OPTION_ROW("processes", "N"),
	  "how often all of it; from 5 on there are intervals (default: 1)" },
	{ OPTION_OUTPUT("FILE", option_text), "keep the curves in a new file, for rift plot" },
	{ OPTION_JSON, "the curves as JSON instead of the table" },
	{ OPTION_ROW("sync", "KIND"),
	  "how ends are waited for, as in rift run (default: spin, on the CPU device yield)" },
	{ OPTION_LAYER, "run under it, as in rift run" },
	{ OPTION_PLATFORM, "what you call this platform" },
	{ OPTION_HOST_NAME, "the host's name into the file, not its hash" },
	{ OPTION_ROW("patience", "SECONDS"),
	  "how long opening the device may take before a process counts as hung (default: 30)" },
	{ OPTION_QUIET, "no progress, no remarks" },
	{ OPTION_HELP, "this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_CHECK_FAILED, "the check failed" },
	{ RIFT_FAILED_POINTS, "the platform lacks what it takes" },
	{ RIFT_USAGE, EXIT_USUAL },
	{ RIFT_NO_DEVICE, EXIT_USUAL },
	{ RIFT_INTERRUPTED, EXIT_USUAL },
	{ 0 },
};

static void print(const void *found, FILE *out)
{
	warmup_print(found, out);
}

/* A new reference; jansson's own functions take what is const for what is not. */
static json_t *json(const void *found)
{
	return json_incref((json_t *)found);
}

/* The file appears when it is whole. */
static int keep(const json_t *curves, struct output *out)
{
	json_dumpf(curves, out->file, JSON_COMPACT);
	fputc('\n', out->file);
	return output_commit(out);
}

static int take_and_keep(const struct arguments *a, const struct warmup_request *r,
			 struct output *out)
{
	json_t *curves;
	int err;

	progress_init(a->quiet);
	err = warmup_take(r, &curves);
	if (err == -EINTR)
		complain(EINTR, "interrupted; nothing is reported");
	if (!err) {
		if (a->output)
			err = keep(curves, out);
		show(a, curves, print, json); /* also where they could not be kept */
		note_cpu(a, a->json && warmup_is_cpu(curves));
	}
	if (!err && warmup_check_failed(curves))
		err = RIFT_CHECK_FAILED;
	json_decref(curves);
	return err;
}

static int fill_request(struct warmup_request *r, const struct warmup_args *a)
{
	const struct arguments *given = &a->given;
	const struct warmup_values *v = &a->values;

	*r = (struct warmup_request){ .workload = workload_find(given->words.word[0]),
				      .words = given->words.word + 1,
				      .n_words = given->words.n - 1,
				      .mode_given = given->rows.given[ROW_MODE],
				      .mode = (enum mode)v->mode,
				      .depths = v->depth.n,
				      .processes = (int)v->processes,
				      .rest_s = v->rest_s,
				      .seconds = v->seconds,
				      .platform = given->platform,
				      .host_name = given->host_name,
				      .patience_s = v->patience_s };
	if (!r->workload)
		return -EINVAL;
	if (r->depths > WARMUP_DEPTHS_MAX)
		return complain(EINVAL, "--depth: %d values, at most %d", r->depths,
				WARMUP_DEPTHS_MAX);
	for (int i = 0; i < r->depths; i++) {
		r->depth[i] = v->depth.value[i];
		for (int k = 0; k < i; k++)
			if (r->depth[k] == r->depth[i])
				return complain(EINVAL, "--depth: %ld is given twice",
						(long)r->depth[i]);
	}
	return warmup_check(r);
}

static int warmup(void *arguments)
{
	const struct warmup_args *a = arguments;
	const struct arguments *given = &a->given;
	struct warmup_request r;
	struct output out = { 0 };
	int err = fill_request(&r, a);

	interrupt_install();
	if (!err && given->output)
		err = output_create(&out, "--output", given->output);
	if (!err) {
		r.sync = given->rows.given[ROW_SYNC] ? (enum wait_policy)a->values.sync
						     : sync_default();
		err = take_and_keep(given, &r, &out);
	}
	output_discard(&out);
	return err;
}

const struct command command_warmup = {
	.name = "warmup",
	.usage = "WORKLOAD [name=value...]",
	.line = "what each block takes from a process's first on",
	.words = "WORKLOAD [name=value...]",
	.doc = "Warm-up curves: what each block takes, from the very first of a fresh process on, "
	       "after the device has idled, after it has idled within the process, and at once "
	       "after another process. With clocks, temperature, power and the canaries beside "
	       "it.",
	.remarks = "`rift show` prints such a file again, `rift plot` draws it.",
	.exits = exits,
	.options = options,
	.hint = "parameters are written name=value",
	.missing = "no workload; write rift warmup WORKLOAD, `rift list` shows them",
	.size = sizeof(struct warmup_args),
	.rows = rows,
	.values = offsetof(struct warmup_args, values),
	.run = warmup,
};
