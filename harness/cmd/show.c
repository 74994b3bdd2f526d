/* show.c - rift show FILE: what a recorded session measured, as rift sweep printed it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/text.h"
#include "harness/cmd/options.h"
#include "harness/cmd/sweep_text.h"
#include "harness/probe/costs.h"
#include "harness/probe/grid.h"
#include "harness/record/environment.h"
#include "harness/record/journal.h"
#include "harness/warmup/warmup.h"

static const struct command_option options[] = {
	{ OPTION_SIDE,
	  "of a session with two sides (rift sweep --against), one only; FILE:a or FILE:b says the "
	  "same" },
	{ OPTION_HELP, "this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_CHECK_FAILED, "a point failed its check" },
	{ RIFT_FAILED_POINTS, "failed points" },
	{ RIFT_USAGE, "the file is not to be read. `rift check` says whether it is whole and "
		      "unchanged" },
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
		printf("                 %s%s\n", side ? "behind " : "declared as ",
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

static int show_costs(const char *path)
{
	json_t *costs;
	int err = costs_read(path, &costs);

	if (!err)
		costs_print(costs, stdout);
	json_decref(costs);
	return err;
}

static int show_grid(const char *path)
{
	json_t *grid;
	int err = grid_read(path, &grid);

	if (!err)
		grid_print(grid, stdout);
	json_decref(grid);
	return err;
}

static int show_warmup(const char *path)
{
	json_t *curves;
	int err = warmup_read(path, &curves);

	if (!err)
		warmup_print(curves, stdout);
	json_decref(curves);
	return err;
}

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

static int show_file(void *arguments)
{
	const struct arguments *a = arguments;
	const struct session_arg session = session_word(a, 0);
	char *path;
	int side, err = session_word_parse(&session, &path, &side);

	if (!err && (costs_is(path) || grid_is(path)) && side != SIDE_ANY)
		err = complain(EINVAL,
			       "--side: %s has call costs of rift probe, which has no sides", path);
	else if (!err && grid_is(path))
		err = show_grid(path);
	else if (!err && warmup_is(path))
		err = show_warmup(path);
	else if (!err)
		err = costs_is(path) ? show_costs(path) : show_record(a, &session, path, side);
	free(path);
	return err;
}

const struct command command_show = {
	.name = "show",
	.usage = "FILE",
	.line = "what a recorded session measured: where, and the tables",
	.words = "FILE",
	.doc = "Shows what a record file of rift sweep holds: where it was measured, and the "
	       "tables. A session under way, a .part, is shown as far as its processes are "
	       "complete. The file may be compressed with gzip.",
	.exits = exits,
	.options = options,
	.takes = "one file",
	.most = 1,
	.missing = "no file; write rift show FILE",
	.run = show_file,
};
