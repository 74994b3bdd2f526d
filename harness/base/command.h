/*
 * command.h - what the commands of rift and its workers share: exit codes, finding a workload.
 */
#ifndef RIFT_BASE_COMMAND_H
#define RIFT_BASE_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

struct workload;

#define RIFT_VERSION "0.1"

enum exit_code {
	RIFT_OK = 0,
	RIFT_CHECK_FAILED = 1,
	RIFT_FAILED_POINTS = 2,
	RIFT_USAGE = 3,
	RIFT_NO_DEVICE = 4,
	RIFT_NOT_COMPARABLE = 5,
	RIFT_INTERRUPTED = 75,
};

/* The exit code for a hook's or the harness's negative errno; RIFT_OK for 0. */
enum exit_code exit_code_of(int err);

/* The same for a run: RIFT_CHECK_FAILED where it ended well but did not pass its check. */
enum exit_code exit_code_of_run(int err, bool passed);

/* What an exit code means. Tables of them end with a text that is NULL. */
struct exit_text {
	enum exit_code code;
	const char *text; /* EXIT_USUAL: as exit_texts says */
};

#define EXIT_USUAL ""

/* What each code means of all commands together. */
extern const struct exit_text exit_texts[];

/* "Exit codes: 0 ok, 3 usage or bad input.", without a newline. */
void exit_codes_print(const struct exit_text *exits, FILE *out);

/* The workload, or NULL after one line with the nearest name. */
const struct workload *workload_find(const char *name);

/* What `rift list WORKLOAD` shows: modes, and a table of the parameters. */
int workload_print(const struct workload *w, FILE *out);

#endif
