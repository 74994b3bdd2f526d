/* check.c - rift check FILE...: is this record file whole and valid. */
#include <errno.h>
#include <string.h>

#include "common/check.h"
#include "common/output.h"
#include "common/plural.h"
#include "harness/base/text.h"
#include "harness/cmd/options.h"
#include "harness/probe/costs.h"
#include "harness/probe/grid.h"
#include "common/trace/trace.h"
#include "harness/record/point_record.h"
#include "harness/record/validate_record.h"
#include "harness/session/results.h"
#include "harness/share/share_file.h"
#include "harness/warmup/warmup.h"

struct check_args {
	struct arguments given;
	const char *csv, *ratios;
};

static const struct command_option options[] = {
	{ OPTION("csv", "FILE", option_text, offsetof(struct check_args, csv)),
	  "also write a line for each point, its axes and its summary, to a new file" },
	{ OPTION("ratios", "FILE", option_text, offsetof(struct check_args, ratios)),
	  "of a record with two sides (rift sweep --against): also write, for each point, the "
	  "ratio of side b to side a, its 95 % interval, rift compare's verdict and, alone, that "
	  "without the correction for many points" },
	{ OPTION_SIDE, "of a record with two sides: write the points of one to --csv" },
	{ OPTION_HELP, "this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, "valid (a file under way, or one whose torn last line is dropped, is valid)" },
	{ RIFT_FAILED_POINTS, "incomplete: valid as far as it goes, but no .part and without some "
			      "of its processes" },
	{ RIFT_USAGE, "not valid or not to be read" },
	{ 0 },
};

static void print_facts(const char *path, const struct record_facts *f)
{
	int whole = f->sides * (f->enough ? f->enough : f->processes);

	if (!f->sides) {
		printf("%s: valid; %s of a process under way%s\n", text_escaped(path).s,
		       counted(f->visits, "visit").s,
		       f->torn ? "; a torn last line is dropped" : "");
		return;
	}
	printf("%s: %s; schema %s, session %s, %d of %d processes complete, %s ok, %d "
	       "failed%s\n",
	       text_escaped(path).s, f->incomplete ? "incomplete" : "valid",
	       text_escaped(f->schema).s, text_escaped(f->session_id).s, f->trailers, whole,
	       counted(f->ok, "point").s, f->failed,
	       f->torn ? "; a torn last line is dropped" : "");
}

static int check_costs(const char *path)
{
	json_t *costs;
	int err = costs_read(path, &costs);

	if (!err)
		printf("%s: valid; call costs of %s\n", text_escaped(path).s,
		       counted(costs_processes(costs), "process").s);
	json_decref(costs);
	return err;
}

static int check_grid(const char *path)
{
	json_t *grid;
	int err = grid_read(path, &grid);

	if (!err)
		printf("%s: valid; a grid of %s, %s\n", text_escaped(path).s,
		       counted(grid_configs(grid), "configuration").s,
		       counted(costs_processes(grid), "process").s);
	json_decref(grid);
	return err;
}

static int check_warmup(const char *path)
{
	json_t *curves;
	int err = warmup_read(path, &curves);

	if (!err)
		printf("%s: valid; %zu warm-up curves\n", text_escaped(path).s,
		       json_array_size(json_object_get(curves, "curves")));
	json_decref(curves);
	return err;
}

static int check_one(const char *path, struct csv_points *csv, bool *incomplete)
{
	struct record_facts facts;
	int err;

	if (!csv && costs_is(path))
		return check_costs(path);
	if (!csv && trace_is(path))
		return trace_check(path, incomplete);
	if (!csv && grid_is(path))
		return check_grid(path);
	if (!csv && warmup_is(path))
		return check_warmup(path);
	if (!csv && share_file_is(path))
		return share_check(path, incomplete);
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
	for (int i = 0; i < a->given.words.n; i++)
		if (output_same_file(a->given.words.word[i], path))
			return complain(EINVAL,
					"%s=%s: is a record that is to be checked; give another "
					"name",
					option, path);
	return output_create(out, option, path);
}

static int write_ratios(const struct check_args *a, struct output *out)
{
	const char *path = a->given.words.word[0];
	struct journal j;
	struct results r;
	int err = journal_read(&j, path);

	if (!err && j.sides != 2)
		err = complain(EINVAL, "--ratios: %s has one side: rift sweep --against makes two",
			       path);
	if (!err) {
		results_init(&r, &j, journal_processes(&j));
		sides_csv(&r, out->file);
		results_release(&r);
		err = output_commit(out);
	}
	journal_release(&j);
	return err;
}

static int check_files(const struct check_args *a, struct csv_points *csv, bool *incomplete)
{
	int err = 0;

	for (int i = 0; i < a->given.words.n; i++) {
		int this = check_one(a->given.words.word[i], csv, incomplete);

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
	if (!err && (a->csv || a->ratios) && a->given.words.n > 1)
		err = complain(EINVAL, "--%s takes one record file", a->csv ? "csv" : "ratios");
	return err;
}

static int check_all(const struct check_args *a, bool *incomplete)
{
	struct output csv = { 0 }, ratios = { 0 };
	struct csv_points points = { 0 };
	int err = create_targets(a, &csv, &ratios);

	if (!err && a->given.side != SIDE_ANY && !a->csv)
		err = complain(EINVAL, "--side: says whose points --csv FILE writes, which is not "
				       "given");
	points.out = csv.file;
	if (a->given.side != SIDE_ANY)
		points.side = journal_side_name(a->given.side);
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

static int check(void *arguments)
{
	bool incomplete = false;
	int err = check_all(arguments, &incomplete);

	return !err && incomplete ? RIFT_FAILED_POINTS : err;
}

const struct command command_check = {
	.name = "check",
	.usage = "FILE...",
	.line = "is this record file whole and valid",
	.words = "FILE...",
	.doc = "Says whether record files of rift sweep and rift share are whole and valid: every "
	       "line, field and "
	       "hash. They may be compressed with gzip.",
	.exits = exits,
	.options = options,
	.missing = "no file; write rift check FILE",
	.size = sizeof(struct check_args),
	.run = check,
};
