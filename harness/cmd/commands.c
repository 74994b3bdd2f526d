/* commands.c - see commands.h. */
#include "harness/cmd/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/text.h"
#include "harness/cmd/manual.h"
#include "harness/cmd/options.h"
#include "harness/platform/platform.h"
#include "harness/platform/system.h"
#include "harness/probe/costs.h"
#include "harness/profile/recording.h"
#include "harness/session/worker.h"
#include "harness/share/share.h"
#include "harness/probe/warmup.h"
#include "workloads/workload.h"

/* ---- the list --------------------------------------------------------------------------- */

/* The process behind `rift sweep`, `rift probe` and `rift share`. */
static int cmd_worker(int argc, char **argv)
{
	static const struct worker_job jobs[] = { { "card", costs_work },
						  { "warmup", warmup_work },
						  { "share", share_client_work },
						  { "share-keeper", share_keeper_work },
						  { "share-taker", share_taker_work },
						  { NULL, NULL } };

	(void)argc, (void)argv;
	return worker_main(jobs);
}

static const struct command command_worker = { .name = "sweep-worker", .start = cmd_worker };
static const struct command command_empty = { .name = "profile-empty", .start = cmd_empty };
static const struct command command_clocks = { .name = "sweep-clocks", .start = cmd_clocks };
static const struct command command_of_help;

/* A line each. */
/* clang-format off */
static const struct command *const commands[] = {
	&command_list,
	&command_run,
	&command_sweep,
	&command_show,
	&command_fit,
	&command_predict,
	&command_profile,
	&command_compare,
	&command_time,
	&command_share,
	&command_plot,
	&command_report,
	&command_probe,
	&command_worker,
	&command_clocks,
	&command_empty,
	&command_layer,
	&command_doctor,
	&command_of_help,
	NULL,
};
/* clang-format on */

const struct retired_name retired_names[] = {
	{ "check", "show --check" },
	{ "stack", "fit --stack" },
	{ "validate", "predict --validate" },
	{ "warmup", "probe --warmup" },
	{ "atlas", "compare BASE A B..." },
	{ "sensitivity", "sweep WORKLOAD --layer 'emulate costs=usual'" },
	{ NULL, NULL },
};

/* ---- help ------------------------------------------------------------------------------- */

/* Words to the width of the page. */
static void print_exit_codes(void)
{
	enum { WIDTH = 96 };
	char *text = NULL;
	size_t size, at = 0;
	FILE *out = open_memstream(&text, &size);

	CHECK(out, "memory of the help");
	exit_codes_print(exit_texts, out);
	CHECK(!fclose(out), "memory of the help");
	while (size - at > WIDTH) {
		size_t end = at + WIDTH;

		while (text[end] != ' ')
			end--;
		text[end] = '\n';
		at = end + 1;
	}
	puts(text);
	free(text);
}

static int print_help(void)
{
	printf("rift measures what a GPU virtualization layer costs.\n\n");
	for (const struct command *const *c = commands; *c; c++)
		if ((*c)->line) /* else for rift itself */
			printf("  rift %-11s %-25s %s\n", (*c)->name, (*c)->usage, (*c)->line);
	printf("  rift --version\n\n`rift COMMAND --help` shows a command's options. Results go to "
	       "stdout, progress\nand errors to stderr.\n");
	print_exit_codes();
	return RIFT_OK;
}

static int too_many(const char *word, const char *before)
{
	complain(EINVAL, "unexpected argument '%s' after %s", text_shown(word).s, before);
	return RIFT_USAGE;
}

static int refuse(const char *name)
{
	struct suggestion near = suggest_start(name);

	for (const struct workload *const *w = workloads; *w; w++)
		if (!strcmp((*w)->name, name))
			return complain(EINVAL, "'%s' is a workload: rift run %s", name, name);
	for (const struct retired_name *r = retired_names; r->name; r++)
		if (!strcmp(r->name, name))
			return complain(EINVAL, "'%s' is now `rift %s`", name, r->now);
	for (const struct command *const *c = commands; *c; c++)
		if ((*c)->line)
			suggest_offer(&near, (*c)->name);
	return complain(EINVAL, "unknown command '%s'%s", text_shown(name).s,
			near.best ? suggest_hint(&near).s : "; `rift help` lists them");
}

/* Passes `NAME arguments` on; a wrong NAME is refused. */
static int dispatch(int argc, char **argv)
{
	for (const struct command *const *c = commands; *c; c++)
		if (!strcmp((*c)->name, argv[0]))
			return command_main(*c, argc, argv);
	refuse(argv[0]);
	return RIFT_USAGE;
}

/* ---- rift help -------------------------------------------------------------------------- */

struct help_args {
	struct arguments given;
	const char *format;
};

static const struct command *find_listed(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if ((*c)->line && !strcmp((*c)->name, name))
			return *c;
	refuse(name);
	return NULL;
}

static int check_format(void *field, const struct command_option *o, char *text)
{
	if (strcmp(text, "markdown") && strcmp(text, "man") && strcmp(text, "bash"))
		return complain(EINVAL, "--%s=%s: must be markdown, man or bash", o->name,
				text_shown(text).s);
	return option_once(field, o, text);
}

static int print_formatted(const struct help_args *a)
{
	const char *name = a->given.words.n ? a->given.words.word[0] : NULL;
	const struct command *c;

	if (!strcmp(a->format, "markdown") == !name)
		return complain(EINVAL, "--format=%s: %s", a->format,
				name ? "covers all commands; leave COMMAND out"
				     : "needs one command: rift help COMMAND --format=markdown");
	if (!strcmp(a->format, "man"))
		manual_man(commands, stdout);
	else if (!name)
		manual_bash(commands, stdout);
	else if ((c = find_listed(name)))
		manual_markdown(c, stdout);
	else
		return -EINVAL;
	return RIFT_OK;
}

/* rift help run = rift run --help */
static int help(void *arguments)
{
	const struct help_args *a = arguments;
	char option[] = "--help";
	char *asked[] = { a->given.words.n ? a->given.words.word[0] : NULL, option, NULL };

	if (a->format)
		return print_formatted(a);
	return asked[0] ? dispatch(2, asked) : print_help();
}

static const struct command_option help_options[] = {
	{ OPTION("format", "markdown|man|bash", check_format, offsetof(struct help_args, format)),
	  "print for other tools: markdown, a table of COMMAND's options; man, a manual page, or "
	  "bash, a completion script, both of all commands" },
	{ OPTION_HELP, "show this help" },
	{ NULL },
};

static const struct exit_text help_exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_USAGE, EXIT_USUAL },
	{ 0 },
};

static const struct command command_of_help = {
	.name = "help",
	.usage = "[COMMAND]",
	.line = "show this list, or a command's options",
	.words = "[COMMAND]",
	.doc = "Lists the commands, or one command's options.",
	.exits = help_exits,
	.options = help_options,
	.takes = "one command",
	.most = 1,
	.size = sizeof(struct help_args),
	.run = help,
};

/* ---- the command line ------------------------------------------------------------------- */

int commands_main(int argc, char **argv)
{
	const char *first = argc > 1 ? argv[1] : "";
	bool version = !strcmp(first, "--version");

	if (argc < 2) {
		complain(EINVAL, "no command; `rift help` lists them");
		return RIFT_USAGE;
	}
	if (!version && strcmp(first, "--help") && strcmp(first, "-h"))
		return dispatch(argc - 1, argv + 1);
	if (argc > 2)
		return too_many(argv[2], first);
	if (!version)
		return print_help();
	printf("rift %s, built for %s\n", RIFT_VERSION, platform_build());
	return RIFT_OK;
}
