/* run.c - rift run WORKLOAD [name=value...]: one configuration, checked and timed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/measure/run.h"
#include "harness/params/together.h"

enum {
	KEY_HELP = 'h',
	KEY_JSON = 256,
	KEY_PLOT,
	KEY_QUIET,
	KEY_PLATFORM,
	KEY_HOST_NAME,
	KEY_ROW,
	KEY_END = KEY_ROW + 6
};

/* From KEY_ROW on in the order of run_option_rows. */
static const struct argp_option options[] = {
	{ "mode", KEY_ROW, "stream|graph|fused", 0,
	  "how steps are submitted: launched one by one, captured into graphs, or all in one "
	  "launch (default: stream, or the first that the workload allows)",
	  0 },
	{ "depth", KEY_ROW + 1, "N", 0,
	  "steps enqueued before one synchronize (default: the workload's choice, else 64)", 0 },
	{ "blocks", KEY_ROW + 2, "N", 0, "timed blocks (default: what fits in 1 s, 5 to 100)", 0 },
	{ "check", KEY_ROW + 3, "sample|full", 0,
	  "compare a sample where the reference is slow (default), or everything", 0 },
	{ "check-steps", KEY_ROW + 4, "N", 0,
	  "steps to check (default: those of a block, but 1k, or what takes 1 s, to 4k)", 0 },
	/* all of them as the name of the value would tear argp's column */
	{ "sync", KEY_ROW + 5, "KIND", 0,
	  "how the end of a block is waited for: spin, yield, blocking (the driver's wait that "
	  "polls, yields or sleeps), event, or poll (queries in a loop); default: spin, on the "
	  "CPU device yield",
	  0 },
	{ "plot", KEY_PLOT, "DIR", OPTION_ARG_OPTIONAL,
	  "draw the workload's picture with gnuplot, PNG and SVG, its data and script beside it "
	  "(default folder: " PICTURE_FOLDER ")",
	  0 },
	{ "json", KEY_JSON, NULL, 0, "one JSON object instead of the table", 0 },
	{ "platform", KEY_PLATFORM, "NAME", 0, "what you call this platform; into the JSON", 0 },
	{ "host-name", KEY_HOST_NAME, NULL, 0, "the host's name into the JSON, not its hash", 0 },
	{ "quiet", KEY_QUIET, NULL, 0, "no progress, no remarks", 0 },
	{ "help", KEY_HELP, NULL, 0, "this help; with a workload its parameters too", 0 },
	{ 0 },
};

struct run_args {
	struct run_options values;
	struct params options;
	const char *workload;
	char **assignment;
	int n_assignments;
	const char *platform; /* as declared, or NULL */
	bool json, quiet, help, host_name;
};

/* "DIR/" is DIR; "/" stays. */
static const char *without_slash(char *folder)
{
	for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/'; n--)
		folder[n - 1] = '\0';
	return folder;
}

/* argp calls this for each option and argument, and for events of its own, which are refused. */
static error_t take(int key, char *arg, struct argp_state *state)
{
	struct run_args *a = state->input;

	switch (key) {
	case KEY_HELP:
		a->help = true;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case KEY_PLOT:
		return params_set(&a->options, "plot", arg ? without_slash(arg) : PICTURE_FOLDER);
	case KEY_QUIET:
		a->quiet = true;
		return 0;
	case KEY_PLATFORM:
		a->platform = arg;
		return platform_declared(arg);
	case KEY_HOST_NAME:
		a->host_name = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!a->workload)
			a->workload = arg;
		else
			a->assignment[a->n_assignments++] = arg;
		return 0;
	default:
		if (key < KEY_ROW || key >= KEY_END)
			return ARGP_ERR_UNKNOWN;
		return params_set(&a->options, run_option_rows[key - KEY_ROW].name, arg);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = take,
	.args_doc = "WORKLOAD [name=value...]",
	.doc = "Runs one configuration of a workload: sets up, warms up, times blocks of steps, "
	       "checks the result against a reference.\vN may end in k, M or G (powers of 1024). "
	       "`rift list WORKLOAD` shows the parameters. Exit codes: 0 ok, 1 the check failed, 3 "
	       "usage, bad input or, with --plot, no picture, 4 no such device, 75 interrupted.",
};

/* mode=graph where --mode graph is meant. */
static int refuse_option_as_parameter(const struct workload *w, const char *assignment)
{
	size_t len = strcspn(assignment, "=");

	if (!assignment[len] || params_find(w->params, assignment, len) >= 0)
		return 0;
	for (const struct argp_option *o = options; o->name; o++)
		if (strlen(o->name) == len && !strncmp(o->name, assignment, len))
			return complain(EINVAL, "'%s': %s is an option of rift run: --%s%s%s",
					text_shown(assignment).s, o->name, o->name,
					!o->arg				 ? ""
					: o->flags & OPTION_ARG_OPTIONAL ? "="
									 : " ",
					o->arg ? text_shown(assignment + len + 1).s : "");
	return 0;
}

/* preset=NAME comes after the parameters that are given, which stay. */
static int assign_preset(struct params *params, const struct workload *w, const struct run_args *a)
{
	const struct preset *preset = NULL;

	for (int i = 0; i < a->n_assignments; i++) {
		if (!preset_is(a->assignment[i]))
			continue;
		if (preset)
			return complain(EINVAL, "%s: a preset is given twice",
					text_shown(a->assignment[i]).s);
		preset = preset_find(w, a->assignment[i]);
		if (!preset)
			return -EINVAL;
	}
	return preset ? preset_apply(params, preset) : 0;
}

static int assign_all(struct params *params, const struct workload *w, const struct run_args *a)
{
	int err = 0;

	for (int i = 0; i < a->n_assignments && !err; i++) {
		if (preset_is(a->assignment[i]))
			continue;
		err = refuse_option_as_parameter(w, a->assignment[i]);
		if (!err)
			err = params_assign(params, a->assignment[i]);
	}
	return err ? err : assign_preset(params, w, a);
}

static void print_results(const struct run *r, const struct run_args *a)
{
	if (!a->json)
		run_print(r, stdout);
	else
		json_write(run_json(r), stdout);
	if (*r->picture.said.s && !r->picture_error && !a->quiet)
		fprintf(stderr, "rift: gnuplot remarks: %s\n", r->picture.said.s);
	if (a->json && !r->platform.is_gpu && !a->quiet)
		fprintf(stderr, "%s\n", platform_not_gpu);
}

/* Measures, prints, tears down; the exit code. */
static int execute(const struct workload *w, const struct params *params, const struct run_args *a)
{
	struct run r = { .workload = w, .params = params, .options = &a->options };
	int err, code;

	r.platform.declared = a->platform;
	r.platform.host_name = a->host_name;
	interrupt_install();
	interrupt_end_within(INTERRUPT_GRACE_S, "rift: interrupted; nothing is reported\n");
	progress_init(a->quiet);
	err = run_execute(&r);
	code = exit_code_of_run(err, r.passed);
	if (code == RIFT_OK)
		code = exit_code_of(r.picture_error);
	/* before the release: texts may live in the workload's state */
	if (!err)
		print_results(&r, a);
	run_release(&r);
	return code;
}

/* Parameters are complete and in range before anything else happens. */
static int run_workload(const struct workload *w, const struct run_args *a)
{
	void *opts = calloc(1, w->opts_size ? w->opts_size : 1);
	struct params params;
	int code;

	CHECK(opts, "%zu bytes of options", w->opts_size);
	params_init(&params, w->params, w->name, opts);
	code = exit_code_of(assign_all(&params, w, a));
	if (code == RIFT_OK)
		code = execute(w, &params, a);
	params_release(&params);
	free(opts);
	return code;
}

/* Options, and with a workload its parameters. */
static int help(const struct run_args *a)
{
	const struct workload *w = a->workload ? workload_find(a->workload) : NULL;

	if (a->workload && !w)
		return RIFT_USAGE;
	options_help(&argp, "run", stdout);
	if (!w)
		return RIFT_OK;
	printf("\n");
	return exit_code_of(workload_print(w, stdout));
}

static int obey(const struct run_args *a)
{
	const struct workload *w;

	if (a->help)
		return help(a);
	if (!a->workload)
		return exit_code_of(complain(EINVAL, "rift run: no workload; write rift run "
						     "WORKLOAD, `rift list` shows them"));
	w = workload_find(a->workload);
	return w ? run_workload(w, a) : RIFT_USAGE;
}

int cmd_run(int argc, char **argv)
{
	struct run_args a = { .assignment = calloc((size_t)argc, sizeof(char *)) };
	int code;

	CHECK(a.assignment, "%d arguments", argc);
	params_init(&a.options, run_option_rows, "rift run", &a.values);
	a.options.prefix = "--";
	code = exit_code_of(
		options_parse(&argp, "parameters are written name=value", argc, argv, &a));
	if (code == RIFT_OK)
		code = obey(&a);
	params_release(&a.options);
	free(a.assignment);
	return code;
}
