/* run.c - rift run WORKLOAD [name=value...]: one configuration, checked and timed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/text.h"
#include "harness/cmd/options.h"
#include "harness/measure/run.h"
#include "harness/base/together.h"

struct run_args {
	struct arguments given; /* words: the workload, assignments */
	struct run_options values;
};

static int take_plot(void *field, const struct command_option *o, char *folder)
{
	return params_set(field, o->name, folder ? without_slashes(folder) : PICTURE_FOLDER);
}

static const struct command_option options[] = {
	{ OPTION_ROW("mode", "stream|graph|fused"),
	  "submit steps this way: launched one by one, captured into graphs, or all in one launch "
	  "(default: stream, or the first that the workload allows)" },
	{ OPTION_ROW("depth", "N"),
	  "enqueue N steps before each synchronize (default: the workload's choice, else 64)" },
	{ OPTION_ROW("samples", "N"), "time N samples (default: as many as fit in 1 s, 5 to 100)",
	  .old = "blocks" },
	{ OPTION_ROW("check", "sample|full"),
	  "compare everything (full), or a sample if the reference is slow (default: sample)" },
	{ OPTION_ROW("check-steps", "N"), "check N steps (default: those of a sample, at most 4k, "
					  "but at least 1k or what fits in 1 s)" },
	/* all of them as the name of the value would tear argp's column */
	{ OPTION_ROW("sync", "KIND"),
	  "wait for the end of a sample by spin, yield or blocking (the driver polls, yields or "
	  "sleeps), event, or poll (queries in a loop); default: spin, CPU device: yield" },
	{ OPTION("plot", "DIR", take_plot, COMMON(rows)),
	  "draw the workload's picture in this folder with gnuplot: PNG, SVG, data and script "
	  "(default: " PICTURE_FOLDER ")",
	  .may_lack = true },
	{ OPTION_LAYER, "run under this layer: a name that `rift layer` lists and name=value, as "
			"'cpu share=50'; repeatable, each further layer inside the last" },
	{ OPTION_JSON, "print one JSON object instead of the table" },
	{ OPTION_PLATFORM, "name this platform in the JSON" },
	{ OPTION_HOST_NAME, "write the host's name into the JSON, not its hash" },
	{ OPTION_VERBOSE,
	  "also print the host, all parameters, what was compared, the cost of starting, and the "
	  "figures of the workload itself" },
	{ OPTION_QUIET, "print no progress and no remarks" },
	{ OPTION_HELP, "show this help; with a workload its parameters too" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_CHECK_FAILED, "the check failed" },
	{ RIFT_USAGE, "usage, bad input or, with --plot, no picture" },
	{ RIFT_NO_DEVICE, EXIT_USUAL },
	{ RIFT_INTERRUPTED, EXIT_USUAL },
	{ 0 },
};

/* mode=graph where --mode graph is meant. */
static int refuse_option_as_parameter(const struct workload *w, const char *assignment)
{
	size_t len = strcspn(assignment, "=");

	if (!assignment[len] || params_find(w->params, assignment, len) >= 0)
		return 0;
	for (const struct command_option *o = options; o->name; o++)
		if (strlen(o->name) == len && !strncmp(o->name, assignment, len))
			return complain(EINVAL, "'%s': %s is an option of rift run: --%s%s%s",
					text_shown(assignment).s, o->name, o->name,
					!o->value     ? ""
					: o->may_lack ? "="
						      : " ",
					o->value ? text_shown(assignment + len + 1).s : "");
	return 0;
}

static int assign_all(struct params *params, const struct workload *w, char **assignment)
{
	int err = 0, n = 0;

	for (char **each = assignment; *each && !err; each++, n++) {
		if (preset_is(*each))
			continue;
		err = refuse_option_as_parameter(w, *each);
		if (!err)
			err = params_assign(params, *each);
	}
	return err ? err : preset_apply_named(params, w->presets, "rift list", assignment, n);
}

static void print(const void *found, FILE *out)
{
	run_print(found, false, out);
}

static void print_verbosely(const void *found, FILE *out)
{
	run_print(found, true, out);
}

static json_t *json(const void *found)
{
	return run_json(found);
}

static void show_run(const struct run *r, const struct arguments *a)
{
	show(a, r, a->verbose ? print_verbosely : print, json);
	if (*r->picture.said.s && !r->picture_error && !a->quiet)
		fprintf(stderr, "rift: gnuplot remarks: %s\n", r->picture.said.s);
	note_cpu(a, a->json && !r->platform.is_gpu);
}

/* Measures, prints, tears down; the exit code. */
static int execute(const struct workload *w, const struct params *params, const struct arguments *a)
{
	struct run r = { .workload = w, .params = params, .options = &a->rows };
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
		show_run(&r, a);
	run_release(&r);
	return code;
}

/* Parameters are complete and in range before anything else happens. */
static int run(void *arguments)
{
	const struct arguments *a = arguments;
	const struct workload *w = workload_find(a->words.word[0]);
	struct params params;
	void *opts;
	int err;

	if (!w)
		return -EINVAL;
	opts = calloc(1, w->opts_size ? w->opts_size : 1);
	CHECK(opts, "%zu bytes of options", w->opts_size);
	params_init(&params, w->params, w->name, opts);
	err = assign_all(&params, w, a->words.word + 1);
	if (!err)
		err = execute(w, &params, a);
	params_release(&params);
	free(opts);
	return err;
}

/* Options, and with a workload its parameters. */
static int help(void *arguments)
{
	const struct arguments *a = arguments;
	const struct workload *w = a->words.n ? workload_find(a->words.word[0]) : NULL;

	if (a->words.n && !w)
		return -EINVAL;
	command_help(&command_run, stdout);
	if (!w)
		return RIFT_OK;
	printf("\n");
	return workload_print(w, stdout);
}

const struct command command_run = {
	.name = "run",
	.usage = "WORKLOAD [name=value...]",
	.line = "check and time one configuration, as a table",
	.words = "WORKLOAD [name=value...]",
	.doc = "Runs one configuration of a workload: sets up, warms up, times samples of steps, "
	       "checks the result against a reference.",
	.remarks = "N may end in k, M or G (powers of 1024). `rift list WORKLOAD` shows the "
		   "parameters.",
	.exits = exits,
	.options = options,
	.hint = "parameters are written name=value",
	.missing = "no workload; write rift run WORKLOAD, `rift list` shows them",
	.size = sizeof(struct run_args),
	.rows = run_option_rows,
	.values = offsetof(struct run_args, values),
	.help = help,
	.run = run,
};
