/* check.c - rift check FILE...: is this record file whole and valid. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/output.h"
#include "harness/base/command.h"
#include "harness/base/text.h"
#include "harness/probe/costs.h"
#include "harness/record/point_record.h"
#include "harness/record/recorded.h"
#include "harness/record/validate_record.h"
#include "harness/session/results.h"

enum { KEY_HELP = 'h', KEY_CSV = 256, KEY_RATIOS, KEY_SIDE };

static const struct argp_option options[] = {
	{ "csv", KEY_CSV, "FILE", 0,
	  "also write a line for each point, its axes and its summary, to a new file", 0 },
	{ "ratios", KEY_RATIOS, "FILE", 0,
	  "of a record with two sides (rift sweep --against): also write, for each point, the "
	  "ratio of side b to side a, its 95 % interval, rift compare's verdict and, alone, that "
	  "without the correction for many points",
	  0 },
	{ "side", KEY_SIDE, "a|b", 0,
	  "of a record with two sides: write the points of one to --csv", 0 },
	{ "help", KEY_HELP, NULL, 0, "this help", 0 },
	{ 0 },
};

struct check_args {
	char **file;
	int n;
	const char *csv, *ratios;
	int side; /* SIDE_ANY: all */
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
	case KEY_RATIOS:
		a->ratios = arg;
		return 0;
	case KEY_SIDE:
		return session_side_parse(arg, &a->side);
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
	       "dropped, is valid), 2 incomplete: valid as far as it goes, but no .part and "
	       "without some of its processes, 3 not valid or not to be read.",
};

static void print_facts(const char *path, const struct record_facts *f)
{
	int whole = f->sides * (f->enough ? f->enough : f->processes);

	if (!f->sides) {
		printf("%s: valid; %d visits of a process under way%s\n", text_escaped(path).s,
		       f->visits, f->torn ? "; a torn last line is dropped" : "");
		return;
	}
	printf("%s: %s; schema %s, session %s, %d of %d processes complete, %d points ok, %d "
	       "failed%s\n",
	       text_escaped(path).s, f->incomplete ? "incomplete" : "valid",
	       text_escaped(f->schema).s, text_escaped(f->session_id).s, f->trailers, whole, f->ok,
	       f->failed, f->torn ? "; a torn last line is dropped" : "");
}

static int check_costs(const char *path)
{
	json_t *costs;
	int err = costs_read(path, &costs);

	if (!err)
		printf("%s: valid; call costs of %d processes\n", text_escaped(path).s,
		       costs_processes(costs));
	json_decref(costs);
	return err;
}

static int check_one(const char *path, struct csv_points *csv, bool *incomplete)
{
	struct record_facts facts;
	int err;

	if (!csv && costs_is(path))
		return check_costs(path);
	err = record_check(&facts, path, csv);
	if (!err && csv && csv->side && facts.sides < 2 && strcmp(csv->side, "a"))
		err = complain(EINVAL, "--side=%s: %s has one side: rift sweep --against makes two",
			       csv->side, path);
	if (!err)
		print_facts(path, &facts);
	*incomplete |= !err && facts.incomplete;
	return err;
}

/* Nothing that is there is replaced: it may be a record, which cannot be measured again. */
static int create_target(struct output *out, const struct check_args *a, const char *option,
			 const char *path)
{
	if (!path)
		return 0;
	if (!*path)
		return complain(EINVAL, "%s: give the name of a file", option);
	for (int i = 0; i < a->n; i++)
		if (output_same_file(a->file[i], path))
			return complain(EINVAL,
					"%s=%s: is a record that is to be checked; give another "
					"name",
					option, path);
	return output_create(out, option, path);
}

static int write_ratios(const struct check_args *a, struct output *out)
{
	const char *path = a->file[0];
	struct journal j;
	struct results r;
	int err = journal_read(&j, path);

	if (!err && j.sides != 2)
		err = complain(EINVAL, "--ratios: %s has one side: rift sweep --against makes two",
			       path);
	if (!err) {
		results_init(&r, &j, journal_processes(&j));
		contrast_csv(&r, out->file);
		results_release(&r);
		err = output_commit(out);
	}
	journal_release(&j);
	return err;
}

static int check_files(const struct check_args *a, struct csv_points *csv, bool *incomplete)
{
	int err = 0;

	for (int i = 0; i < a->n; i++) {
		int this = check_one(a->file[i], csv, incomplete);

		err = err ? err : this;
	}
	return err;
}

static int create_targets(const struct check_args *a, struct output *csv, struct output *ratios)
{
	int err = create_target(csv, a, "--csv", a->csv);

	if (!err && output_same_file(a->csv, a->ratios))
		err = complain(EINVAL, "--csv and --ratios name one file: %s", a->csv);
	if (!err)
		err = create_target(ratios, a, "--ratios", a->ratios);
	if (!err && (a->csv || a->ratios) && a->n > 1)
		err = complain(EINVAL, "--%s takes one record file", a->csv ? "csv" : "ratios");
	return err;
}

static int check_all(const struct check_args *a, bool *incomplete)
{
	struct output csv = { 0 }, ratios = { 0 };
	struct csv_points points = { 0 };
	int err = create_targets(a, &csv, &ratios);

	if (!err && a->side != SIDE_ANY && !a->csv)
		err = complain(EINVAL, "--side: says whose points --csv FILE writes, which is not "
				       "given");
	points.out = csv.file;
	if (a->side != SIDE_ANY)
		points.side = journal_side_name(a->side);
	if (!err)
		err = check_files(a, a->csv ? &points : NULL, incomplete);
	csv_points_release(&points);
	if (!err && a->csv)
		err = output_commit(&csv);
	if (!err && a->ratios)
		err = write_ratios(a, &ratios);
	output_discard(&csv);
	output_discard(&ratios);
	return err;
}

int cmd_check(int argc, char **argv)
{
	struct check_args a = { .file = calloc((size_t)argc + 1, sizeof(char *)),
				.side = SIDE_ANY };
	bool incomplete = false;
	int err;

	CHECK(a.file, "%d arguments", argc);
	err = options_parse(&argp, "`rift check --help` shows its options", argc, argv, &a);
	if (!err && a.help)
		options_help(&argp, "check", stdout);
	else if (!err && !a.n)
		err = complain(EINVAL, "rift check: no file; write rift check FILE");
	else if (!err)
		err = check_all(&a, &incomplete);
	free(a.file);
	return !err && incomplete ? RIFT_FAILED_POINTS : exit_code_of(err);
}
