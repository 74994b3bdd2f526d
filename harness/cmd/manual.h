/*
 * manual.h - the commands' help in the forms that other tools read. All are made of the tables that
 * the command lines are parsed by, as `rift help COMMAND` is.
 */
#ifndef RIFT_CMD_MANUAL_H
#define RIFT_CMD_MANUAL_H

#include <stdio.h>

#include "harness/cmd/options.h"

/*
 * The options of a command as a table in Markdown, and a line of its exit codes, for
 * docs/guide/options.md.
 */
void manual_markdown(const struct command *c, FILE *out);

/* A page for man(1), of section 1: all commands that `rift help` lists. NULL ends the list. */
void manual_man(const struct command *const *all, FILE *out);

/* A script for bash-completion: commands, options, workloads and their parameters, files. */
void manual_bash(const struct command *const *all, FILE *out);

#endif
