/* probe.c - rift probe: the call costs. */
#include <errno.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/env/platform.h"
#include "harness/params/param.h"
#include "harness/probe/costs.h"

enum {
	KEY_HELP = 'h',
	KEY_JSON = 256,
	KEY_OUTPUT,
	KEY_PROCESSES,
	KEY_SYNC,
	KEY_PLATFORM,
	KEY_HOST_NAME,
	KEY_QUIET,
	KEY_PATIENCE
};

static const struct argp_option options[] = {
	{ "output", KEY_OUTPUT, "FILE", 0, "keep the call costs in a new file, for rift compare",
	  0 },
	{ "json", KEY_JSON, NULL, 0, "the call costs as JSON instead of the page", 0 },
	{ "processes", KEY_PROCESSES, "N", 0, "fresh processes (default: 5)", 0 },
	{ "sync", KEY_SYNC, "KIND", 0,
	  "how ends are waited for, as in rift run (default: spin, on the CPU device yield)", 0 },
	{ "platform", KEY_PLATFORM, "NAME", 0, "what you call this platform", 0 },
	{ "host-name", KEY_HOST_NAME, NULL, 0, "the host's name into the file, not its hash", 0 },
	{ "patience", KEY_PATIENCE, "SECONDS", 0,
	  "how long opening the device may take before a process counts as hung, and a probe where "
	  "that is more than a minute (default: 30)",
	  0 },
	{ "quiet", KEY_QUIET, NULL, 0, "no progress, no remarks", 0 },
	{ "help", KEY_HELP, NULL, 0, "this help", 0 },
	{ 0 },
};

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
	struct probe_values values;
	struct params params;
	const char *output, *platform;
	bool json, quiet, host_name, help;
};

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct probe_args *a = state->input;

	switch (key) {
	case KEY_HELP:
		a->help = true;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case KEY_OUTPUT:
		a->output = arg;
		return 0;
	case KEY_PROCESSES:
		return params_set(&a->params, "processes", arg);
	case KEY_SYNC:
		return params_set(&a->params, "sync", arg);
	case KEY_PATIENCE:
		return params_set(&a->params, "patience", arg);
	case KEY_PLATFORM:
		a->platform = arg;
		return platform_declared(arg);
	case KEY_HOST_NAME:
		a->host_name = true;
		return 0;
	case KEY_QUIET:
		a->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		return complain(EINVAL, "rift probe takes no arguments; '%s' is too many",
				text_shown(arg).s);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = take,
	.doc = "Call costs: what each call costs here, on one page, from the probes of "
	       "launch, graph, memory and transfer in fresh processes. Takes under a minute."
	       "\v`rift compare A B` compares two files of call costs. Exit codes: 0 ok, 2 "
	       "complete, but some "
	       "probe failed or is not supported here, 3 usage or bad input, 4 no such device, 75 "
	       "interrupted.",
};

/* The file appears when it is whole. */
static int keep(const json_t *costs, struct output *out)
{
	json_dumpf(costs, out->file, JSON_INDENT(1));
	fputc('\n', out->file);
	return output_commit(out);
}

static void show(json_t *costs, const struct probe_args *a)
{
	if (a->json)
		json_write(json_incref(costs), stdout);
	else
		costs_print(costs, stdout);
	if (a->json && costs_is_cpu(costs) && !a->quiet)
		fprintf(stderr, "%s\n", platform_not_gpu);
}

static int probe(const struct probe_args *a)
{
	struct costs_request r = { .processes = (int)a->values.processes,
				   .platform = a->platform,
				   .host_name = a->host_name,
				   .patience_s = a->values.patience_s };
	struct output out = { 0 };
	json_t *costs;
	int err, kept = 0;

	interrupt_install();
	/* before the measuring: a costs file that cannot be kept is not worth a minute */
	if (a->output && (err = output_create(&out, "--output", a->output)))
		return (int)exit_code_of(err);
	r.sync = a->params.given[1] ? (enum wait_policy)a->values.sync : sync_default();
	progress_init(a->quiet);
	err = costs_take(&r, &costs);
	if (!err && a->output)
		kept = keep(costs, &out);
	if (!err)
		show(costs, a); /* also where it could not be kept */
	else if (err == -EINTR)
		complain(EINTR, "interrupted; nothing is reported");
	err = err ? err : kept;
	err = err ? (int)exit_code_of(err)
	      : json_array_size(json_object_get(costs, "failed")) || costs_has_refusals(costs)
		      ? RIFT_FAILED_POINTS
		      : RIFT_OK;
	json_decref(costs);
	output_discard(&out);
	return err;
}

int cmd_probe(int argc, char **argv)
{
	struct probe_args a = { .output = NULL };
	int code;

	params_init(&a.params, rows, "rift probe", &a.values);
	a.params.prefix = "--";
	code = exit_code_of(
		options_parse(&argp, "`rift probe --help` shows its options", argc, argv, &a));
	if (code == RIFT_OK && a.help)
		options_help(&argp, "probe", stdout);
	else if (code == RIFT_OK)
		code = probe(&a);
	params_release(&a.params);
	return code;
}
