/* commands.h - the commands of rift: which there are, and the one that a command line asks for. */
#ifndef RIFT_CMD_COMMANDS_H
#define RIFT_CMD_COMMANDS_H

/*
 * Runs the command that argv[1] names, or prints what `rift --help` and `rift --version` do.
 * Returns an exit code; a name that is none is refused in one line, with the nearest.
 */
int commands_main(int argc, char **argv);

/*
 * Names that commands had, and what answers the same question now: "show --check" for check. Such a
 * name is refused in one line that says so, with RIFT_USAGE; nothing is run. A name of NULL ends
 * the table.
 */
struct retired_name {
	const char *name, *now;
};

extern const struct retired_name retired_names[];

#endif
