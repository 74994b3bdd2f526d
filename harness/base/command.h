/*
 * command.h - what the commands of rift share: exit codes, options, finding a workload.
 */
#ifndef RIFT_BASE_COMMAND_H
#define RIFT_BASE_COMMAND_H

#include <argp.h>
#include <stdio.h>

#include "harness/base/text.h"
#include "workloads/workload.h"

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

/* Commands: argv[0] is the command's name. They return an exit code. */
int cmd_run(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_fit(int argc, char **argv);
int cmd_predict(int argc, char **argv);
int cmd_stack(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_probe(int argc, char **argv);
int cmd_worker(int argc, char **argv);

/* The workload, or NULL after one line with the nearest name. */
const struct workload *workload_find(const char *name);

/*
 * argp_parse() with one-line errors: an option that does not exist (with the nearest spelling, else
 * the hint), lacks its value or takes none. Long options only, written out, and -h for help.
 * Returns 0, -EINVAL after one line, or what the parser returned, which prints its own line.
 */
int options_parse(const struct argp *argp, const char *hint, int argc, char **argv, void *input);

/*
 * A word that is no option goes into the first of `capacity` slots that is NULL. takes: what is
 * said where all are taken, "rift list takes one workload". Returns 0, or -EINVAL after one line.
 */
int take_word(const char **slot, int capacity, const char *word, const char *takes);

/* The help that argp makes of its options, for `rift NAME`. */
void options_help(const struct argp *argp, const char *name, FILE *out);

/* What `rift list WORKLOAD` shows: modes, and a table of the parameters. */
int workload_print(const struct workload *w, FILE *out);

#endif
