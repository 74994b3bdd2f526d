/* cmd_check.c - rift check FILE...: is this record file whole and valid. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/output.h"
#include "harness/command.h"
#include "harness/sweep/check_record.h"

enum { KEY_HELP = 'h', KEY_CSV = 256 };

static const struct argp_option options[] = {
	{ "csv", KEY_CSV, "FILE", 0, "also write a line for each point: its axes and its summary",
	  0 },
	{ "help", KEY_HELP, NULL, 0, "this help", 0 },
	{ 0 },
};

struct check_args {
	char **file;
	int n;
	const char *csv;
	bool help;
};

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct check_args *a = state->input;

	switch (key) {
	case KEY_HELP:
		a->help = true;
		return 0;
	case KEY_CSV:
		a->csv = arg;
		return 0;
	case ARGP_KEY_ARG:
		a->file[a->n++] = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = take,
	.args_doc = "FILE...",
	.doc = "Says whether record files of rift sweep are whole and valid: every line, field and "
	       "hash.\vExit codes: 0 valid (a file under way, or one whose torn last line is "
	       "dropped, is valid), 3 not valid or not to be read.",
};

static void print_facts(const char *path, const struct record_facts *f)
{
	int whole = f->sides * f->processes;

	if (!f->sides) {
		printf("%s: valid; %d visits of a process under way%s\n", path, f->visits,
		       f->torn ? "; a torn last line is dropped" : "");
		return;
	}
	printf("%s: valid; schema %s, session %s, %d of %d processes complete, %d points ok, %d "
	       "failed%s\n",
	       path, f->schema, f->session_id, f->trailers, whole, f->ok, f->failed,
	       f->torn ? "; a torn last line is dropped" : "");
}

static int check_one(const char *path, FILE *csv)
{
	struct record_facts facts;
	int err = record_check(&facts, path, csv);

	if (!err)
		print_facts(path, &facts);
	return err;
}

static int check_all(const struct check_args *a)
{
	struct output csv = { 0 };
	int err = 0;

	if (a->csv && a->n > 1)
		return complain(EINVAL, "--csv takes one record file");
	if (a->csv && output_open(&csv, "--csv", a->csv))
		return -EINVAL;
	for (int i = 0; i < a->n; i++) {
		int this = check_one(a->file[i], csv.file);

		err = err ? err : this;
	}
	if (a->csv && !err)
		err = output_commit(&csv) ? -EIO : 0;
	output_discard(&csv);
	return err;
}

int cmd_check(int argc, char **argv)
{
	struct check_args a = { .file = calloc((size_t)argc + 1, sizeof(char *)) };
	int err;

	CHECK(a.file, "%d arguments", argc);
	err = options_parse(&argp, "`rift check --help` shows its options", argc, argv, &a);
	if (!err && a.help)
		options_help(&argp, "check", stdout);
	else if (!err && !a.n)
		err = complain(EINVAL, "rift check: no file; write rift check FILE");
	else if (!err)
		err = check_all(&a);
	free(a.file);
	return exit_code_of(err);
}
