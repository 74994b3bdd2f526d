/* plot.c - rift plot SESSION [SESSION]: charts, and the data and scripts that they are of. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/plural.h"
#include "harness/base/picture.h"
#include "harness/base/text.h"
#include "harness/chart/charts.h"
#include "harness/chart/grid_chart.h"
#include "harness/chart/warmup_chart.h"
#include "harness/cmd/options.h"
#include "harness/trial/trial.h"
#include "harness/probe/costs.h"
#include "harness/probe/grid.h"
#include "harness/probe/stack_sources.h"
#include "harness/probe/warmup.h"
#include "workloads/workload.h"

/* ---- the command line ------------------------------------------------------------------- */

static const struct command_option options[] = {
	{ OPTION_OUTPUT("DIR", option_folder),
	  "write pictures, data and scripts to this folder (default: next to the first session, "
	  "its name plus .plots; for sessions in data/sessions, in results/)" },
	{ OPTION_FROM, "take launch costs for the time stacks from this session of the workload "
		       "launch on the same platform (rift fit --stack)" },
	{ OPTION_COSTS, "separate transfers in the time stacks with these call costs", "card" },
	{ OPTION_OVER("NAME"),
	  "draw only the time of a step, over this parameter instead of the size axis; copied: "
	  "over the bytes that a step copies between host and device" },
	{ OPTION_SIDE, "draw only this side of a session that has two (rift sweep --against); "
		       "FILE:a or FILE:b does the same, for two sessions and --from too" },
	{ OPTION_SYNC, "use this wait policy, if a session was swept with several" },
	{ OPTION_QUIET, "print no remarks" },
	{ OPTION_HELP, "show this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_USAGE, "usage, bad input or no pictures (data and scripts are still written)" },
	{ RIFT_NOT_COMPARABLE, "the two sessions have no point in common" },
	{ RIFT_INTERRUPTED, EXIT_USUAL },
	{ 0 },
};

/* ---- sessions --------------------------------------------------------------------------- */

/* What is drawn: one side of each session, or both of one. */
struct plotted {
	struct journal journal[CHART_SIDES];
	struct chart_side side[CHART_SIDES];
	int sides;
};

static int refuse_same(const struct plotted *p, const struct arguments *a,
		       const int of[CHART_SIDES])
{
	if (!session_same(&p->journal[0], &p->journal[1]) || of[0] != of[1])
		return 0;
	return complain(EINVAL,
			"%s and %s are the same session, %s; give two sessions, or one alone",
			a->words.word[0], a->words.word[1], p->journal[0].session_id);
}

static int read_two(struct plotted *p, const struct arguments *a, int of[CHART_SIDES])
{
	int err = 0;

	for (int i = 0; i < CHART_SIDES && !err; i++) {
		const struct session_arg arg = session_word(a, i);

		err = session_read_side(&p->journal[i], &arg, a->sync, &of[i]);
	}
	p->sides = CHART_SIDES;
	return err ? err : refuse_same(p, a, of);
}

static int read_one(struct plotted *p, const struct arguments *a, int of[CHART_SIDES])
{
	const struct session_arg arg = session_word(a, 0);
	int side, err = session_read_any(&p->journal[0], &arg, a->sync, &side);

	p->sides = side == SIDE_ANY ? CHART_SIDES : 1;
	for (int i = 0; i < p->sides; i++)
		of[i] = side == SIDE_ANY ? i : side;
	return err;
}

static int read_sides(struct plotted *p, const struct arguments *a)
{
	static const char *const letters[CHART_SIDES] = { "A", "B" };
	int of[CHART_SIDES] = { 0 };
	int err = (a->words.n > 1 ? read_two : read_one)(p, a, of);

	for (int i = 0; i < p->sides && !err; i++) {
		chart_side_init(&p->side[i], &p->journal[a->words.n > 1 ? i : 0], of[i],
				p->sides > 1 ? letters[i] : "");
		p->side[i].over = a->over;
	}
	return err;
}

static void hand_sources(struct charts *c, const struct stack_sources *s)
{
	for (int i = 0; i < c->sets; i++) {
		c->set[i].from = s->from;
		c->set[i].costs = s->costs;
	}
}

/* ---- all of it -------------------------------------------------------------------------- */

static void print_pictures(const struct charts *c, const char *folder)
{
	char *again = gnuplot_by_hand(folder, "NAME.gp");
	bool drawn = false;

	for (int i = 0; i < c->pictures; i++) {
		const struct picture *p = &c->picture[i];

		drawn |= p->drawn;
		printf("%s/%s%s\n", folder, p->plot.name, p->drawn ? ".png, .svg" : ".gp");
	}
	if (drawn)
		printf("data and scripts are next to them; to draw again: %s\n", again);
	free(again);
}

/* What the charts do not show. */
static void print_left_out(const struct charts *c, const struct arguments *a)
{
	for (int i = 0; i < c->sets; i++)
		for (int k = 0; k < c->set[i].sides; k++) {
			const struct grid *g = &c->set[i].grid[k];
			const char *letter = c->set[i].side[k].letter;

			if (g->left_out && !chart_is_over_copied(a->over))
				fprintf(stderr,
					"rift: %s%s%s: left out: %s with other parameters than the "
					"grid's\n",
					letter, *letter ? ": " : "", g->workload->name,
					counted(g->left_out, "point").s);
			if (g->failed)
				fprintf(stderr,
					"rift: %s%s%s: left out: %s without a good result of every "
					"process\n",
					letter, *letter ? ": " : "", g->workload->name,
					counted(g->failed, "point").s);
		}
}

/* rift compare refuses these; a picture may still be of use to who knows. */
static void print_other_kind(const struct chart_side *a, const struct chart_side *b)
{
	enum wait_policy sync_a = a->journal->plan.design.sync;
	enum wait_policy sync_b = b->journal->plan.design.sync;

	if (strcmp(a->device, b->device))
		fprintf(stderr, "rift: A is of %s, B of %s: not only the platform differs\n",
			text_escaped(a->device).s, text_escaped(b->device).s);
	if (sync_a != sync_b)
		fprintf(stderr, "rift: A was swept with --sync %s, B with --sync %s\n",
			sync_names[sync_a], sync_names[sync_b]);
}

static void print_remarks(const struct charts *c, const struct chart_side *side, int sides,
			  const struct arguments *a)
{
	if (sides == 2)
		print_other_kind(&side[0], &side[1]);
	print_left_out(c, a);
	for (int i = 0; i < c->pictures; i++)
		if (*c->picture[i].said.s && c->picture[i].drawn)
			fprintf(stderr, "rift: gnuplot remarks on %s: %s\n",
				c->picture[i].plot.name, c->picture[i].said.s);
}

/* One side of two is named after it: the charts of both, and of the other one, stay apart. */
static char *folder_of(const struct plotted *p, const struct arguments *a)
{
	const char *path[CHART_SIDES] = { 0 };
	int side[CHART_SIDES];

	for (int i = 0; i < a->words.n; i++) {
		path[i] = p->journal[i].path;
		side[i] = p->journal[i].sides < 2 || (a->words.n == 1 && p->sides > 1)
				  ? SIDE_ANY
				  : p->side[i].side;
	}
	return plot_folder(path, side, a->words.n, a->output);
}

/* Every data file and script first: they are there whatever gnuplot says. */
static int make_charts(struct charts *c, const struct plotted *p, const struct arguments *a,
		       struct stack_sources *sources)
{
	const struct chart_side *side = p->side;
	int sides = p->sides;
	char *folder = folder_of(p, a);
	int err = stack_sources_read(sources, a->from, a->costs, a->sync, side->journal,
				     sides > 1 ? SIDE_ANY : side->side);

	if (!err)
		err = charts_init(c, side, sides);
	if (!err)
		hand_sources(c, sources);
	if (!err)
		err = picture_folder("--output", folder);
	if (!err)
		err = charts_write(c, folder);
	if (!err && !c->pictures)
		err = complain(EINVAL, "there is nothing to draw: %s",
			       chart_is_over_copied(a->over)
				       ? "a line needs 3 sizes that copy different numbers of bytes"
				       : "no size, mode and depth with a kernel time above 0 has a "
					 "good result of every process");
	else if (!err) {
		err = gnuplot_check(folder, "*.gp");
		if (!err)
			err = charts_draw(c);
		print_pictures(c, folder);
	}
	if (!a->quiet)
		print_remarks(c, side, sides, a);
	free(folder);
	return err;
}

static bool is_cpu_device(const struct chart_side *side, int sides)
{
	for (int i = 0; i < sides; i++)
		if (!side[i].is_gpu)
			return true;
	return false;
}

/* ---- what is no session: grids of probes, a warm-up curve ---------------------------------- */

static int refuse_options(const struct arguments *a)
{
	const char *option = a->from	? "--from"
			     : a->costs ? "--costs"
			     : a->over	? "--over"
			     : a->sync	? "--sync"
					: "--side";

	if (a->from || a->costs || a->over || a->sync || a->side != SIDE_ANY)
		return complain(EINVAL, "%s has no effect on %s, which is not a session", option,
				a->words.word[0]);
	return 0;
}

typedef int chart_fn(struct picture *p, json_t *const read[CHART_SIDES], int sides,
		     const char *folder);

static int draw_read(json_t *const read[CHART_SIDES], const struct arguments *a, chart_fn *chart)
{
	const char *path[CHART_SIDES] = { a->words.word[0],
					  a->words.n > 1 ? a->words.word[1] : "" };
	const int side[CHART_SIDES] = { SIDE_ANY, SIDE_ANY };
	char *folder = plot_folder(path, side, a->words.n, a->output);
	struct picture p = { 0 };
	int err = picture_folder("--output", folder);

	if (!err)
		err = chart(&p, read, a->words.n, folder);
	if (p.written)
		printf("%s/%s%s\n", folder, p.plot.name, p.drawn ? ".png, .svg" : ".gp");
	if (*p.said.s && p.drawn && !a->quiet)
		fprintf(stderr, "rift: gnuplot remarks on %s: %s\n", p.plot.name, p.said.s);
	note_cpu(a, p.written && (costs_is_cpu(read[0]) || costs_is_cpu(read[1])));
	picture_release(&p);
	free(folder);
	return err;
}

static int chart_curves(struct picture *p, json_t *const read[CHART_SIDES], int sides,
			const char *folder)
{
	(void)sides;
	return warmup_chart(p, read[0], folder);
}

static int plot_curves(const struct arguments *a)
{
	json_t *read[CHART_SIDES] = { NULL, NULL };
	int err = refuse_options(a);

	if (!err && a->words.n > 1)
		err = complain(EINVAL, "%s must be drawn alone; leave the other file out",
			       a->words.word[0]);
	if (!err)
		err = warmup_read(a->words.word[0], &read[0]);
	if (!err)
		err = draw_read(read, a, chart_curves);
	json_decref(read[0]);
	return err;
}

/* One, or two that are compared. */
static int plot_grids(const struct arguments *a)
{
	json_t *read[CHART_SIDES] = { NULL, NULL };
	int err = refuse_options(a);

	for (int i = 0; i < a->words.n && !err; i++)
		err = grid_read(a->words.word[i], &read[i]);
	if (!err && a->words.n > 1)
		err = grid_refuse_pair(read[0], read[1]);
	if (!err)
		err = draw_read(read, a, grid_chart);
	json_decref(read[0]);
	json_decref(read[1]);
	return err;
}

static int plot_timed(const struct arguments *a)
{
	const char *path = a->words.word[0];
	const int side = SIDE_ANY;
	char *folder = plot_folder(&path, &side, 1, a->output);
	struct picture p = { 0 };
	struct trial_findings f;
	struct trial t;
	int err = refuse_options(a);

	if (!err && a->words.n > 1)
		err = complain(EINVAL, "%s must be drawn alone; leave the other file out", path);
	if (!err)
		err = picture_folder("--output", folder);
	err = err ? err : trial_read(&t, path);
	if (!err) {
		trial_findings_init(&f, &t, NAN);
		err = show_picture(a, folder, &p, trial_chart_write(&p, &f, folder));
		trial_findings_release(&f);
		trial_release(&t);
	}
	picture_release(&p);
	free(folder);
	return err;
}

static int plot(void *arguments)
{
	const struct arguments *a = arguments;
	struct plotted p = { .journal = { JOURNAL_NONE, JOURNAL_NONE } };
	struct charts charts = { 0 };
	struct stack_sources sources = { 0 };
	int err;

	interrupt_install();
	progress_init(a->quiet);
	if (grid_is(a->words.word[0]))
		return plot_grids(a);
	if (trial_file_is(a->words.word[0]))
		return plot_timed(a);
	if (warmup_is(a->words.word[0]))
		return plot_curves(a);
	err = read_sides(&p, a);
	if (!err)
		err = make_charts(&charts, &p, a, &sources);
	note_cpu(a, charts.pictures && is_cpu_device(p.side, p.sides));
	charts_release(&charts);
	stack_sources_release(&sources);
	for (int i = 0; i < CHART_SIDES; i++)
		journal_release(&p.journal[i]);
	return err;
}

const struct command command_plot = {
	.name = "plot",
	.usage = "SESSION [SESSION]",
	.line = "draw charts of a record, or of two that are compared",
	.words = "SESSION [SESSION]",
	.doc = "Draws charts of a record of rift sweep with gnuplot, as PNG and SVG: overhead by "
	       "kernel size and depth, time of a sample by its depth and of a step by its kernels, "
	       "the depth needed for 5 % overhead, and where the time of a step goes; several "
	       "workloads share one page. For two platforms (the two sides of a session, or two "
	       "sessions A and B) it also draws how much longer B takes, and the workloads side by "
	       "side. Sessions must be complete. A grid of rift probe, two of them, or a warm-up "
	       "curve become one picture.",
	.remarks = "The data (CSV) and the script of each picture stay next to it: `gnuplot "
		   "NAME.gp` in that folder draws it again.",
	.exits = exits,
	.options = options,
	.takes = "one session or two",
	.most = CHART_SIDES,
	.missing = "no session; write rift plot FILE",
	.run = plot,
};
