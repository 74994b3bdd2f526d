/*
 * fit.c - rift fit SESSION: what launches, gaps and waits cost, and what follows from it. stack.c
 * has --stack.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "harness/cmd/options.h"
#include "harness/fit/report.h"
#include "harness/fit/source.h"
#include "workloads/workload.h"

/* ---- the command line ------------------------------------------------------------------- */

struct fit_args {
	struct arguments given;
	const char *off_grid;
	bool stack;
};

#define FIELD(name) offsetof(struct fit_args, name)

static const struct command_option options[] = {
	{ OPTION_WORKLOAD, "use this workload, if the session has several (default with --stack: "
			   "each); add its parameters, as \"matmul n=256\", if it was swept with "
			   "several values (default: their defaults)" },
	{ OPTION_SIDE, "use only this side of a session that has two (rift sweep --against); "
		       "FILE:a or FILE:b does the same, for the other sessions too" },
	{ OPTION_SYNC, "use this wait policy, if the session was swept with several" },
	{ OPTION_OVER("SESSION"),
	  "also show the smallest kernels relative to the platform of this session of the same "
	  "workload, FILE:a or FILE:b if it has two sides (default in a session with two sides: b "
	  "over a)",
	  .without = "stack" },
	{ OPTION("off-grid", "SESSION", option_text, FIELD(off_grid)),
	  "also predict the samples of this session, of the same platform and workload at other "
	  "sizes and depths",
	  .without = "stack" },
	{ OPTION("stack", NULL, option_flag, FIELD(stack)),
	  "show where the time of a step goes instead: kernels, gaps, submission, sync, ..." },
	{ OPTION_FROM,
	  "with --stack: take gap, submission and sync from this session of the workload launch on "
	  "the same platform",
	  .with = "stack" },
	{ OPTION_COSTS,
	  "with --stack: separate transfers from kernels with these call costs (rift probe "
	  "--output FILE)",
	  .old = "card", .with = "stack" },
	{ OPTION_ALL, "with --stack: show every sample, not a selection", .with = "stack" },
	{ OPTION_JSON, "print one JSON object; with --stack: all samples, parts in ns" },
	{ OPTION_HELP, "show this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_USAGE, "usage, or a file that is not a complete session or not call costs" },
	{ RIFT_NOT_COMPARABLE,
	  "sessions of different workloads; --from or --costs of another device" },
	{ 0 },
};

/* ---- sessions ----------------------------------------------------------------------------- */

/* A session, and the grid and fit of each side that is asked for. */
struct fitted {
	struct journal journal;
	struct grid grid[2];
	struct fit fit[2];
};

static void release(struct fitted *s)
{
	for (int side = 0; side < 2; side++) {
		fit_release(&s->fit[side]);
		grid_release(&s->grid[side]);
	}
	journal_release(&s->journal);
}

static int fit_side(struct fitted *s, int side, const char *workload, uint32_t group)
{
	int err = grid_make(&s->grid[side], &s->journal, side, workload);

	return err ? err : fit_make(&s->fit[side], &s->grid[side], group);
}

static bool holds(const struct journal *j, const struct workload *w)
{
	for (int i = 0; i < j->plan.n_configs; i++)
		if (j->plan.config[i].workload == w)
			return true;
	return false;
}

/* Nothing is held against itself: neither the session nor, of one with two sides, the same side. */
static int refuse_itself(const struct fitted *s, const struct session_arg *arg,
			 const struct grid *other)
{
	for (int side = 0; side < 2; side++)
		if (s->fit[side].draw && source_same(&s->grid[side], other))
			return complain(EINVAL,
					"%s=%s: is the session itself (%s); give another one",
					arg->option, arg->word, other->j->session_id);
	return 0;
}

/* One side of another session, of the workload and parameters of what is fitted. */
static int read_other(struct fitted *other, const struct session_arg *arg, const char *sync,
		      const struct fitted *s, int first)
{
	const struct grid *as = &s->grid[first], *g = &other->grid[0];
	int side, err = session_read_side(&other->journal, arg, sync, &side);

	if (!err && !holds(&other->journal, as->workload))
		err = complain(EXDEV, "%s=%s: has no results of %s", arg->option, arg->word,
			       as->workload->name);
	if (!err)
		err = grid_make(&other->grid[0], &other->journal, side, as->workload->name);
	if (!err)
		err = refuse_itself(s, arg, g);
	if (!err && strcmp(g->others, as->others))
		err = complain(EXDEV, "%s=%s: was swept with '%s', the session with '%s'",
			       arg->option, arg->word, g->others, as->others);
	return err;
}

/* Draws of its own: no group of the session's sides. */
static int read_over(struct fitted *over, const struct fit_args *a, const struct fitted *s,
		     int first)
{
	const struct session_arg arg = session_option("--over", a->given.over);
	int err = read_other(over, &arg, a->given.sync, s, first);

	return err ? err : fit_make(&over->fit[0], &over->grid[0], 2);
}

/* Figures of the same platform were asked for. */
static int read_off_grid(struct fitted *off_grid, const struct fit_args *a, const struct fitted *s,
			 int first)
{
	const struct session_arg arg = session_option("--off-grid", a->off_grid);
	int err;

	if (s->fit[0].draw && s->fit[1].draw)
		return complain(EINVAL,
				"--off-grid needs one platform, but %s has two sides; name one: "
				"--side a or --side b",
				s->journal.path);
	err = read_other(off_grid, &arg, a->given.sync, s, first);
	return err ? err
		   : source_same_device(arg.option, arg.word,
					off_grid->journal.header[off_grid->grid[0].side],
					&s->journal, first);
}

/* ---- output ------------------------------------------------------------------------------- */

/* A report for each side that was asked for. */
struct reports {
	struct fit_report report[2];
	int n;
};

static void print(const void *found, FILE *out)
{
	const struct reports *r = found;

	for (int i = 0; i < r->n; i++) {
		if (i)
			fputc('\n', out);
		report_print(&r->report[i], out);
	}
}

static json_t *json(const void *found)
{
	const struct reports *r = found;
	json_t *sides = json_array();

	for (int i = 0; i < r->n; i++)
		json_array_append_new(sides, report_json(&r->report[i]));
	return command_json("fit", "sides", sides);
}

/* What each side is held against: another session, or b against a. */
static void choose_over(struct report_options *o, const struct fitted *s,
			const struct fitted *other, int side, char *name, size_t size)
{
	*o = (struct report_options){ .off_grid = o->off_grid };
	if (other) {
		o->over = &other->fit[0];
		session_platform(&other->journal, other->grid[0].side, name, size);
	} else if (side && s->fit[0].draw) {
		o->over = &s->fit[0];
		snprintf(name, size, "side a");
	}
	o->over_name = o->over ? name : NULL;
}

static void show_sides(const struct arguments *a, const struct fitted *s, const struct fitted *over,
		       const struct fitted *off_grid)
{
	struct reports all = { .n = 0 };
	struct report_options o = { .off_grid = off_grid ? &off_grid->grid[0] : NULL };
	char name[2][160];

	for (int side = 0; side < 2; side++) {
		if (!s->fit[side].draw)
			continue;
		choose_over(&o, s, over, side, name[side], sizeof(name[side]));
		report_make(&all.report[all.n++], &s->fit[side], &o);
	}
	show(a, &all, print, json);
	for (int i = 0; i < all.n; i++)
		report_release(&all.report[i]);
	note_cpu(a, session_is_cpu(&s->journal, s->fit[0].draw ? 0 : 1));
}

static int fit_session(const struct fit_args *a)
{
	const struct arguments *given = &a->given;
	const struct session_arg session = session_word(given, 0);
	struct fitted s = { 0 }, over = { 0 }, off_grid = { 0 };
	int wanted, err = session_read_any(&s.journal, &session, given->sync, &wanted);
	int first = wanted > 0;

	for (int side = 0; side < 2 && !err; side++)
		if (wanted == SIDE_ANY || side == wanted)
			err = fit_side(&s, side, given->workload,
				       journal_draw_group(&s.journal, side));
	if (!err && given->over)
		err = read_over(&over, a, &s, first);
	if (!err && a->off_grid)
		err = read_off_grid(&off_grid, a, &s, first);
	if (!err)
		show_sides(given, &s, given->over ? &over : NULL, a->off_grid ? &off_grid : NULL);
	release(&s);
	release(&over);
	release(&off_grid);
	return err;
}

static int fit(void *arguments)
{
	const struct fit_args *a = arguments;

	return a->stack ? fit_stack(&a->given) : fit_session(a);
}

const struct command command_fit = {
	.name = "fit",
	.usage = "[--stack] SESSION",
	.line = "fit what a launch costs; --stack: split the time of a step",
	.words = "SESSION\n--stack SESSION [--from SESSION]",
	.doc = "Fits the model of launches to a session of rift sweep: what a call, a gap between "
	       "kernels and a synchronize cost, in stream, graph and fused mode, with 95 % "
	       "intervals; how well it predicts samples that it has not seen; signs that it does "
	       "not fit; and, within what was swept, the smallest kernels and depths for an "
	       "overhead of 1, 5, 10 and 25 %, and when graphs or fused launches pay.\n\nWith "
	       "--stack it splits the time of a step into kernels, gaps between them, submission "
	       "that they do not hide, the synchronize, transfers, allocations, and what none of "
	       "these explains (other). The lines above the numbers say which part contains which. "
	       "`rift plot` draws it.",
	.exits = exits,
	.options = options,
	.takes = "one session",
	.most = 1,
	.missing = "no session; write rift fit SESSION",
	.size = sizeof(struct fit_args),
	.run = fit,
};
