/*
 * options.h - the pattern of a command: a table of options that one function parses, what it takes
 * and says, and the function that does it.
 *
 * commands.c lists the commands and command_main() runs one: it parses the command line into the
 * command's arguments, prints the help or calls run(), and makes the exit code.
 */
#ifndef RIFT_CMD_OPTIONS_H
#define RIFT_CMD_OPTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/base/command.h"
#include "harness/base/picture.h"
#include "harness/base/param.h"
#include "harness/record/recorded.h"

/* ---- arguments -------------------------------------------------------------------------- */

/* Texts in the order that they were given in; NULL behind the last one. */
struct word_list {
	char **word;
	int n;
};

/*
 * What every command's arguments begin with: the words that are no options, and the values of the
 * options that several commands have. NULL, SIDE_ANY, false: not given.
 */
struct arguments {
	struct word_list words;
	int argc; /* the command line, without the rest */
	char **argv;
	char **rest;	    /* of a command that has one: what stands behind "--", else NULL */
	struct params rows; /* of the command's rows */
	uint64_t given;	    /* bit i: option i of the command's table was given */
	const char *workload, *sync, *from, *on, *over, *costs, *output, *platform;
	int side;
	struct word_list layers; /* of --layer, the outermost first */
	bool json, all, verbose, quiet, host_name, help;
};

/* ---- options ---------------------------------------------------------------------------- */

/* One option. A table of them ends with a name that is NULL. */
struct command_option {
	const char *name;
	const char *value; /* what its value is called; NULL: it has none */
	/* Into the field: 0, or a negative errno after one line. text: NULL without a value. */
	int (*take)(void *field, const struct command_option *o, char *text);
	size_t at; /* the field, in the command's arguments */
	const char *help;
	const char *old; /* the name that it had, which is taken too but not shown */
	bool may_lack;	 /* its value is optional */
	/* Options of the same table; NULL: none. */
	const char *with;    /* it is refused without this one */
	const char *without; /* it is refused beside this one */
};

int option_flag(void *field, const struct command_option *o, char *text); /* a bool */
int option_text(void *field, const struct command_option *o, char *text); /* the last one given */
int option_once(void *field, const struct command_option *o, char *text); /* a text, given once */
int option_file(void *field, const struct command_option *o,
		char *text); /* the same, a file's name */
int option_folder(void *field, const struct command_option *o,
		  char *text);						  /* the same, a folder's */
int option_list(void *field, const struct command_option *o, char *text); /* a struct word_list */
int option_side(void *field, const struct command_option *o,
		char *text); /* an int: 0 of a, 1 of b */
int option_sync(void *field, const struct command_option *o, char *text); /* a wait policy's name */
int option_platform(void *field, const struct command_option *o,
		    char *text); /* as it is declared */
int option_percent(void *field, const struct command_option *o,
		   char *text); /* a double: a share of 1 */
int option_workload(void *field, const struct command_option *o,
		    char *text);					 /* a struct workload * */
int option_row(void *field, const struct command_option *o, char *text); /* a struct params */

/* "2" or "2%" as 0.02, a share of 1. False: it is no percentage, 0 or 0.1 to 100. */
bool percent_parse(const char *text, double *share);

/* "DIR//" is DIR, in place; "/" stays. option_folder() does it. */
char *without_slashes(char *folder);

/* A row of a table but for its help, which follows, and for the name that it had. */
#define OPTION(name_, value_, take_, at_) .name = name_, .value = value_, .take = take_, .at = at_

/* The rows that several commands have. */
#define COMMON(field) offsetof(struct arguments, field)
#define OPTION_JSON OPTION("json", NULL, option_flag, COMMON(json))
#define OPTION_ALL OPTION("all", NULL, option_flag, COMMON(all))
#define OPTION_VERBOSE OPTION("verbose", NULL, option_flag, COMMON(verbose))
#define OPTION_QUIET OPTION("quiet", NULL, option_flag, COMMON(quiet))
#define OPTION_HOST_NAME OPTION("host-name", NULL, option_flag, COMMON(host_name))
#define OPTION_HELP OPTION("help", NULL, option_flag, COMMON(help))
#define OPTION_SIDE OPTION("side", "a|b", option_side, COMMON(side))
#define OPTION_SYNC OPTION("sync", "KIND", option_sync, COMMON(sync))
#define OPTION_PLATFORM OPTION("platform", "NAME", option_platform, COMMON(platform))
#define OPTION_WORKLOAD OPTION("workload", "NAME", option_text, COMMON(workload))
#define OPTION_LAYER OPTION("layer", "LAYER", option_list, COMMON(layers))
#define OPTION_FROM OPTION("from", "SESSION", option_text, COMMON(from))
#define OPTION_ON OPTION("on", "SESSION", option_text, COMMON(on))
#define OPTION_COSTS OPTION("costs", "FILE", option_text, COMMON(costs))
#define OPTION_OVER(value) OPTION("over", value, option_text, COMMON(over))
#define OPTION_OUTPUT(value, take) OPTION("output", value, take, COMMON(output))
#define OPTION_ROW(name, value) OPTION(name, value, option_row, COMMON(rows))

/* ---- commands --------------------------------------------------------------------------- */

/* This command line without --layer, under the layers: an exit code, or -errno after one line. */
int arguments_run_under_layers(const struct arguments *a);

struct command {
	const char *name;
	const char *usage, *line;	     /* of `rift help`; NULL: for rift itself, not shown */
	int (*start)(int argc, char **argv); /* instead of all below; returns an exit code */

	const char *words;   /* of its help: what it takes beside options */
	const char *doc;     /* of its help, above the options */
	const char *remarks; /* below the options, before the exit codes; or NULL */
	const struct exit_text *exits;
	const struct command_option *options;
	const char *hint;  /* for an option that is near to none; NULL: the help */
	const char *takes; /* "one session", where it takes `most` words; NULL: any number */
	int most;
	const char *missing; /* what is said without a word; NULL: it needs none */

	bool has_rest;		/* behind "--" stands another program's command line */
	bool layers_are_a_side; /* --layer is of its second side, or of what run() makes of it;
				 * else of the command itself */
	size_t size;		/* of its arguments, which begin with struct arguments; 0: these */
	const void *defaults;	/* of these; NULL: zeroed */
	const struct param *rows; /* options that are parsed like parameters, or NULL */
	size_t values;		  /* their struct, in the arguments */
	/* Is this a word for it? 0, or a negative errno after one line; NULL: all are. */
	int (*check_word)(const struct arguments *a, const char *word);
	int (*help)(void *arguments); /* instead of the help that is made; or NULL */
	/* Does it: an exit code, or a negative errno after one line. */
	int (*run)(void *arguments);
};

extern const struct command command_compare, command_doctor, command_fit, command_layer,
	command_list, command_plot, command_predict, command_probe, command_profile, command_report,
	command_run, command_share, command_show, command_sweep, command_time;

/* What a command does with the option of that name, where a file of its own has it. */
enum { VALIDATE_SESSIONS_MAX = 16 };

int fit_stack(const struct arguments *a);
int predict_validate(const struct arguments *a); /* up to VALIDATE_SESSIONS_MAX words */

/* The command of argv, its name first. Returns an exit code. */
int command_main(const struct command *c, int argc, char **argv);

/* The help that is made of the tables. */
void command_help(const struct command *c, FILE *out);

/* ---- what commands do alike --------------------------------------------------------------- */

/* Word i as a session, which --side is for too. */
struct session_arg session_word(const struct arguments *a, int i);

/* The session that an option names. */
struct session_arg session_option(const char *option, const char *word);

/* What was found, on stdout: as JSON with --json, else as text. */
void show(const struct arguments *a, const void *found, void (*print)(const void *found, FILE *out),
	  json_t *(*json)(const void *found));

/* JSON of a command that says several things: version, command, and these by that name. */
json_t *command_json(const char *command, const char *name, json_t *several);

/* The line below figures of the CPU device; beside JSON on stderr, and not with --quiet. */
void note_cpu(const struct arguments *a, bool cpu);

/*
 * Draws a picture whose data and script are written (err: what writing them came to), names its
 * files, passes on what gnuplot remarks. Returns 0, or a negative errno after one line.
 */
int show_picture(const struct arguments *a, const char *folder, struct picture *p, int err);

/*
 * --output, else results/TIME-WHAT.jsonl, and that folder is made. Returns 0, or a negative errno
 * after one line.
 */
int choose_output(const struct arguments *a, const char *what, char *out, size_t size);

#endif
