/* main.c - rift COMMAND: finds the command; everything else is in cmd/. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/command.h"
#include "harness/base/text.h"
#include "harness/cmd/options.h"
#include "harness/env/platform.h"
#include "harness/env/system.h"
#include "harness/measure/contract.h"
#include "harness/probe/costs.h"
#include "harness/session/worker.h"

enum { STACK_BYTES_LEAST = 256 << 10 }; /* four times what any command was seen to need */

static int cmd_help(int argc, char **argv);

/* The process behind `rift sweep` and `rift probe`. */
static int cmd_worker(int argc, char **argv)
{
	static const struct worker_job jobs[] = { { "card", costs_work }, { NULL, NULL } };

	(void)argc, (void)argv;
	return worker_main(jobs);
}

static const struct command command_worker = { .name = "sweep-worker", .start = cmd_worker };
static const struct command command_clocks = { .name = "sweep-clocks", .start = cmd_clocks };
static const struct command command_of_help = {
	.name = "help",
	.usage = "[COMMAND]",
	.line = "this, or the options of a command",
	.start = cmd_help,
};

static const struct command *const commands[] = {
	&command_list,
	&command_run,
	&command_sweep,
	&command_show,
	&command_check,
	&command_fit,
	&command_predict,
	&command_stack,
	&command_validate,
	&command_compare,
	&command_plot,
	&command_probe,
	&command_worker,
	&command_clocks,
	&command_doctor,
	&command_of_help,
	NULL,
};

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
	printf("rift measures what a virtualization layer costs a GPU.\n\n");
	for (const struct command *const *c = commands; *c; c++)
		if ((*c)->line) /* else for rift itself */
			printf("  rift %-8s %-25s %s\n", (*c)->name, (*c)->usage, (*c)->line);
	printf("  rift --version\n\n"
	       "`rift COMMAND --help` shows a command's options. Results go to stdout, progress\n"
	       "and complaints to stderr.\n");
	print_exit_codes();
	return RIFT_OK;
}

static int too_many(const char *word, const char *before)
{
	complain(EINVAL, "'%s' is too many behind %s", text_shown(word).s, before);
	return RIFT_USAGE;
}

static int refuse(const char *name)
{
	struct suggestion near = suggest_start(name);

	for (const struct workload *const *w = workloads; *w; w++)
		if (!strcmp((*w)->name, name))
			return complain(EINVAL, "'%s' is a workload: rift run %s", name, name);
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

/* rift help run = rift run --help */
static int cmd_help(int argc, char **argv)
{
	char help[] = "--help";
	char *asked[] = { argc > 1 ? argv[1] : NULL, help, NULL };

	if (argc > 2)
		return too_many(argv[2], "rift help COMMAND");
	if (argc < 2 || !strcmp(argv[1], "help") || argv[1][0] == '-')
		return print_help();
	return dispatch(2, asked);
}

static int obey(int argc, char **argv)
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

/*
 * A file that is opened later must not become one of these three, as a worker's job would become
 * stdin. A closed stdout stays one that cannot be written, so that lost results are an error.
 */
static int open_standard_streams(void)
{
	static const int flags[] = { O_RDONLY, O_RDONLY, O_RDWR };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) != fd)
			return complain(errno,
					"stdin, stdout or stderr is closed, and /dev/null "
					"cannot be opened in its place: %s",
					strerror(errno));
	return 0;
}

/* A full disk must not look like a result. */
static int close_output(int code)
{
	bool failed = ferror(stdout);

	errno = 0;
	failed |= fclose(stdout) != 0;
	if (!failed)
		return code;
	/* what an earlier write failed of may be forgotten */
	complain(EIO, "cannot write the output: %s",
		 errno ? strerror(errno) : "writing to stdout failed");
	return interrupted() ? RIFT_INTERRUPTED : RIFT_USAGE;
}

/* A stack that overflows would end rift by a signal, without a line. */
static int check_stack(void)
{
	struct rlimit stack;

	if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur == RLIM_INFINITY ||
	    stack.rlim_cur >= STACK_BYTES_LEAST)
		return 0;
	return complain(EINVAL, "a stack of %ld KiB is too small: ulimit -s %d or more",
			(long)(stack.rlim_cur >> 10), STACK_BYTES_LEAST >> 10);
}

int main(int argc, char **argv)
{
	if (open_standard_streams() || check_stack())
		return RIFT_USAGE;
	/* a file that grows over a limit is to be reported, not to end the program */
	signal(SIGXFSZ, SIG_IGN);
	return close_output(contract_check(workloads) ? RIFT_USAGE : obey(argc, argv));
}
