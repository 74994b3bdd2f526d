/*
 * show.c - rift show FILE: what a recorded session measured, as rift sweep printed it; and with
 * --check whether record files are whole and valid.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/output.h"
#include "common/plural.h"
#include "common/trace/trace.h"
#include "harness/base/text.h"
#include "harness/cmd/options.h"
#include "harness/cmd/sweep_text.h"
#include "harness/cmd/time.h"
#include "harness/probe/costs.h"
#include "harness/probe/grid.h"
#include "harness/record/environment.h"
#include "harness/record/journal.h"
#include "harness/record/point_record.h"
#include "harness/record/validate_record.h"
#include "harness/session/results.h"
#include "harness/share/share_file.h"
#include "harness/probe/warmup.h"

/* ---- the command line ------------------------------------------------------------------- */

struct show_args {
	struct arguments given;
	bool check;
	const char *csv, *ratios;
};

#define FIELD(name) offsetof(struct show_args, name)

static const struct command_option options[] = {
	{ OPTION("check", NULL, option_flag, FIELD(check)),
	  "only check whether each FILE is whole and unchanged" },
	{ OPTION("csv", "FILE", option_text, FIELD(csv)),
	  "with --check: write a line per point, with its axes and summary, to this new file",
	  .with = "check" },
	{ OPTION("ratios", "FILE", option_text, FIELD(ratios)),
	  "with --check, for a record with two sides (rift sweep --against): write, per point, the "
	  "ratio of side b to side a, its 95 % interval, rift compare's verdict and, in column "
	  "alone, the verdict without the correction for many points",
	  .with = "check" },
	{ OPTION_SIDE, "show only this side of a session that has two (rift sweep --against), as "
		       "FILE:a or FILE:b does; with --csv: write only its points" },
	{ OPTION_HELP, "show this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, "ok (with --check: valid; an unfinished file, or one whose torn last line is "
		   "dropped, is valid)" },
	{ RIFT_CHECK_FAILED, "a point failed its check" },
	{ RIFT_FAILED_POINTS, "failed points (with --check: incomplete: no .part, and without "
			      "some of its processes)" },
	{ RIFT_USAGE, "not readable (with --check: or not valid)" },
	{ 0 },
};

static const char *of_header(const struct journal *j, int side, const char *part, const char *name)
{
	const json_t *v = json_object_get(json_object_get(j->header[side], part), name);

	return json_is_string(v) ? json_string_value(v) : NULL;
}

/* ", KEY value", or nothing where it is not known. */
static void print_fact(const char *key, const char *value)
{
	if (value)
		printf(", %s%s", key, text_shown(value).s);
}

static void print_side(const struct journal *j, int side)
{
	const char *device = of_header(j, side, "gpu", "name");
	static const char *const layers[] = { "gpu", "hypervisor", "wsl", "sandbox", "container" };
	const char *start = json_string_value(json_object_get(j->header[side], "start_utc"));
	char under[LAYERS_TEXT];

	printf("%s  %s",
	       j->sides < 2 ? "measured on      "
	       : side	    ? "side b         "
			    : "side a         ",
	       device ? text_shown(device).s : "unknown device");
	print_fact("driver ", of_header(j, side, "gpu", "driver_version"));
	if (!session_is_cpu(j, side))
		print_fact("CUDA ", of_header(j, side, "gpu", "cuda_driver_api"));
	for (size_t i = 0; i < sizeof(layers) / sizeof(*layers); i++)
		print_fact("", of_header(j, side, "virt", layers[i]));
	print_fact("", start);
	printf("\n");
	environment_layers(j->header[side], under);
	if (*under)
		printf("                 %s\n", under);
	else if (side || *j->plan.declared)
		printf("                 %s%s\n", side ? "started with " : "declared as ",
		       text_shown(side ? j->against : j->plan.declared).s);
}

/* How many a sequential design takes is known when it has taken them. */
static void print_under_way(const struct journal *j)
{
	int complete = 0;

	for (int i = 0; i < j->replicates; i++)
		complete += j->complete[i];
	if (complete < j->replicates && !j->plan.design.sequential)
		printf("not complete     %d of %d processes are\n", complete, j->replicates);
}

static void print_lock(const struct design *d)
{
	if (d->lock && d->lock_mhz)
		printf("clock            locked at %d MHz\n", d->lock_mhz);
	else if (d->lock)
		printf("clock            locked at the base clock\n");
}

static int show_results(const struct journal *j)
{
	int failed = journal_count_failed(j);
	int unchecked = journal_count(j, POINT_CHECK_FAILED);

	results_print(j, stdout);
	refusals_print(j, stdout);
	printf("\n%s ok, %d failed their check, %d failed otherwise\n",
	       counted(journal_count(j, POINT_OK), "point").s, unchecked, failed);
	quality_print(j, stdout);
	return unchecked ? RIFT_CHECK_FAILED : failed ? RIFT_FAILED_POINTS : RIFT_OK;
}

/* As if it had been swept alone. */
static void view_side(struct journal *view, const struct journal *j, int side)
{
	int n = j->plan.design.processes;
	int *process = calloc((size_t)n, sizeof(*process));

	CHECK(process, "memory of %d processes", n);
	for (int i = 0; i < n; i++)
		process[i] = i;
	journal_view(view, j, side, process, n);
	view->drift_most[0] = j->drift_most[side];
	view->layers[0] = j->layers[side];
	free(process);
}

/* wanted: SIDE_ANY: all. shown: the session, or a view of the wanted side. */
static int show_session(const struct arguments *a, const struct journal *j, int wanted,
			const struct journal *shown)
{
	const struct plan *p = &j->plan;
	int code;

	distrust_print(shown, stdout);
	printf("session          %s, %s: %s design, seed %lu\n", text_shown(j->session_id).s,
	       text_shown(j->path).s, design_name(&p->design), (unsigned long)p->design.seed);
	for (int side = 0; side < j->sides; side++)
		if (wanted == SIDE_ANY || wanted == side)
			print_side(j, side);
	print_lock(&p->design);
	print_under_way(j);
	code = show_results(shown);
	note_cpu(a, session_is_cpu(j, wanted > 0));
	return code;
}

/* ---- records that are no sessions --------------------------------------------------------- */

static void sum_up_costs(const json_t *costs)
{
	printf("call costs of %s\n", counted(costs_processes(costs), "process").s);
}

static void sum_up_grid(const json_t *grid)
{
	printf("a grid of %s, %s\n", counted(grid_configs(grid), "configuration").s,
	       counted(costs_processes(grid), "process").s);
}

static void sum_up_warmup(const json_t *curves)
{
	printf("%zu warm-up curves\n", json_array_size(json_object_get(curves, "curves")));
}

/* Read whole before anything is said of them: what they hold, on a page or in a line. */
static const struct kind {
	bool (*is)(const char *path);
	int (*read)(const char *path, json_t **record);
	void (*print)(const json_t *record, FILE *out);
	void (*sum_up)(const json_t *record);
} kinds[] = {
	{ costs_is, costs_read, costs_print, sum_up_costs },
	{ grid_is, grid_read, grid_print, sum_up_grid },
	{ warmup_is, warmup_read, warmup_print, sum_up_warmup },
};

/* NULL: it is none of them. */
static const struct kind *kind_of(const char *path)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].is(path))
			return &kinds[i];
	return NULL;
}

static int show_kind(const struct kind *k, const char *path, bool check)
{
	json_t *record;
	int err = k->read(path, &record);

	if (!err && check) {
		printf("%s: valid; ", text_escaped(path).s);
		k->sum_up(record);
	} else if (!err) {
		k->print(record, stdout);
	}
	json_decref(record);
	return err;
}

/* ---- one file ----------------------------------------------------------------------------- */

static int show_record(const struct arguments *a, const struct session_arg *session,
		       const char *path, int side)
{
	struct journal j = JOURNAL_NONE, view;
	int err = journal_read(&j, path);

	if (!err)
		j.path = strdup(path);
	if (!err)
		err = session_side_check(&j, session, &side);
	if (!err && !j.header[side > 0])
		err = complain(EINVAL, "%s: no process has begun", text_shown(path).s);
	if (!err && side != SIDE_ANY && j.sides == 2) {
		view_side(&view, &j, side);
		err = show_session(a, &j, side, &view);
		journal_view_release(&view);
	} else if (!err) {
		err = show_session(a, &j, side, &j);
	}
	journal_release(&j);
	return err;
}

static int show_file(const struct arguments *a)
{
	const struct session_arg session = session_word(a, 0);
	const struct kind *k;
	char *path;
	int side, err = session_word_parse(&session, &path, &side);

	k = err ? NULL : kind_of(path);
	if (!err && trial_file_is(path))
		err = trial_show_file(a, path, NAN);
	else if (k && side != SIDE_ANY)
		err = complain(EINVAL, "--side: %s is a file of rift probe, which has no sides",
			       path);
	else if (!err)
		err = k ? show_kind(k, path, false) : show_record(a, &session, path, side);
	free(path);
	return err;
}

/* ---- is it whole? ------------------------------------------------------------------------- */

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

static int check_one(const char *path, struct csv_points *csv, bool *incomplete)
{
	const struct kind *k = csv ? NULL : kind_of(path);
	struct record_facts facts;
	int err;

	if (k)
		return show_kind(k, path, true);
	if (!csv && trace_is(path))
		return trace_check(path, incomplete);
	if (!csv && share_file_is(path))
		return share_check(path, incomplete);
	if (!csv && trial_file_is(path))
		return trial_check(path, incomplete);
	err = record_check_strictly(&facts, path, csv);
	if (!err && csv && csv->side && facts.sides < 2 && strcmp(csv->side, "a"))
		err = complain(EINVAL, "--side=%s: %s has one side: rift sweep --against makes two",
			       csv->side, path);
	if (!err)
		print_facts(path, &facts);
	*incomplete |= !err && facts.incomplete;
	return err;
}

/* Nothing that is there is replaced: it may be a record, which cannot be measured again. */
static int create_target(struct output *out, const struct show_args *a, const char *option,
			 const char *path)
{
	if (!path)
		return 0;
	if (!*path)
		return complain(EINVAL, "%s: needs the name of a file", option);
	for (int i = 0; i < a->given.words.n; i++)
		if (output_same_file(a->given.words.word[i], path))
			return complain(EINVAL,
					"%s=%s: is a record that is to be checked; give another "
					"name",
					option, path);
	return output_create(out, option, path);
}

static int write_ratios(const struct show_args *a, struct output *out)
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

static int check_files(const struct show_args *a, struct csv_points *csv, bool *incomplete)
{
	int err = 0;

	for (int i = 0; i < a->given.words.n; i++) {
		int this = check_one(a->given.words.word[i], csv, incomplete);

		err = err ? err : this;
	}
	return err;
}

static int create_targets(const struct show_args *a, struct output *csv, struct output *ratios)
{
	int err = create_target(csv, a, "--csv", a->csv);

	if (!err && output_same_file(a->csv, a->ratios))
		err = complain(EINVAL, "--csv and --ratios name the same file: %s; give two",
			       a->csv);
	if (!err)
		err = create_target(ratios, a, "--ratios", a->ratios);
	if (!err && (a->csv || a->ratios) && a->given.words.n > 1)
		err = complain(EINVAL, "--%s takes one record file", a->csv ? "csv" : "ratios");
	return err;
}

static int check_all(const struct show_args *a, bool *incomplete)
{
	struct output csv = { 0 }, ratios = { 0 };
	struct csv_points points = { 0 };
	int err = create_targets(a, &csv, &ratios);

	if (!err && a->given.side != SIDE_ANY && !a->csv)
		err = complain(EINVAL, "--side: needs --csv FILE, whose points it chooses");
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

/* ---- the command -------------------------------------------------------------------------- */

static int show_or_check(void *arguments)
{
	const struct show_args *a = arguments;
	bool incomplete = false;
	int err;

	if (!a->check && a->given.words.n > 1)
		return complain(EINVAL,
				"unexpected argument '%s': rift show takes one file, or several "
				"with --check",
				text_shown(a->given.words.word[1]).s);
	if (!a->check)
		return show_file(&a->given);
	err = check_all(a, &incomplete);
	return !err && incomplete ? RIFT_FAILED_POINTS : err;
}

const struct command command_show = {
	.name = "show",
	.usage = "FILE, --check FILE...",
	.line = "show what a record holds; --check: whether it is whole",
	.words = "FILE\n--check FILE...",
	.doc = "Shows what a record file of rift sweep holds: where it was measured, and the "
	       "tables. An unfinished session (.part) is shown as far as its processes are "
	       "complete. With --check it says whether record files, traces and results of rift "
	       "share are whole and valid: every line, field and hash. The files may be compressed "
	       "with gzip.",
	.exits = exits,
	.options = options,
	.missing = "no file; write rift show FILE",
	.size = sizeof(struct show_args),
	.run = show_or_check,
};
