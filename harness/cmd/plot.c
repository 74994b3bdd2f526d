/* plot.c - rift plot SESSION [SESSION]: charts, and the data and scripts that they are of. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/command.h"
#include "harness/base/picture.h"
#include "harness/base/text.h"
#include "harness/chart/charts.h"
#include "harness/env/platform.h"
#include "harness/probe/stack_sources.h"
#include "harness/record/recorded.h"

enum {
	KEY_HELP = 'h',
	KEY_OUTPUT = 256,
	KEY_SYNC,
	KEY_QUIET,
	KEY_FROM,
	KEY_COSTS,
	KEY_OVER,
	KEY_SIDE
};

static const struct argp_option options[] = {
	{ "output", KEY_OUTPUT, "DIR", 0,
	  "the folder for pictures, data and scripts (default: beside the first session, its name "
	  "with .plots behind it; of those in data/sessions in results/)",
	  0 },
	{ "from", KEY_FROM, "SESSION", 0,
	  "for the time stacks: one of the workload launch on the same platform (rift stack)", 0 },
	{ "costs", KEY_COSTS, "FILE", 0, "for the time stacks: call costs, to tell transfers", 0 },
	{ "over", KEY_OVER, "NAME", 0,
	  "only the time of a step, over this parameter instead of the size axis; copied: over the "
	  "bytes that it copies between host and device",
	  0 },
	{ "side", KEY_SIDE, "a|b", 0,
	  "of a session with two sides (rift sweep --against), one only; FILE:a or FILE:b says the "
	  "same, and is how two sessions and --from take it",
	  0 },
	{ "sync", KEY_SYNC, "KIND", 0,
	  "which, where a session was swept with several wait policies", 0 },
	{ "quiet", KEY_QUIET, NULL, 0, "no remarks", 0 },
	{ "help", KEY_HELP, NULL, 0, "this help", 0 },
	{ 0 },
};

struct plot_args {
	const char *session[CHART_SIDES];
	int n, side; /* side: SIDE_ANY: all */
	const char *output, *sync, *from, *costs, *over;
	bool quiet, help;
};

static error_t take_session(struct plot_args *a, const char *arg)
{
	int err = take_word(a->session, CHART_SIDES, arg, "rift plot takes one session or two");

	a->n += !err;
	return err;
}

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct plot_args *a = state->input;

	switch (key) {
	case KEY_HELP:
		a->help = true;
		return 0;
	case KEY_OUTPUT:
		if (a->output)
			return complain(EINVAL, "--output is given twice");
		if (!*arg)
			return complain(EINVAL, "--output: give the name of a folder");
		a->output = arg;
		return 0;
	case KEY_SYNC:
		a->sync = arg;
		return session_sync_check(arg);
	case KEY_FROM:
		a->from = arg;
		return 0;
	case KEY_COSTS:
		a->costs = arg;
		return 0;
	case KEY_OVER:
		a->over = arg;
		return 0;
	case KEY_SIDE:
		return session_side_parse(arg, &a->side);
	case KEY_QUIET:
		a->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		return take_session(a, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = take,
	.args_doc = "SESSION [SESSION]",
	.doc = "Draws charts of a record of rift sweep with gnuplot, as PNG and SVG: overhead by "
	       "kernel size and depth, time of a block by its depth and of a step by its kernels, "
	       "the depth that 5 % takes, where the time of a step goes; of several workloads all "
	       "on one page. Of two platforms, the two "
	       "sides of a session or two "
	       "sessions, A and B, also how much longer B takes, and the workloads side by "
	       "side. The sessions must be complete.\vThe data (CSV) and the script of each "
	       "picture stay beside it: `gnuplot "
	       "NAME.gp` in that folder draws it again. Exit codes: 0 ok, 3 usage, bad input or "
	       "no pictures (data and scripts are written all the same), 5 the two sessions have "
	       "no point in common, 75 interrupted.",
};

/* ---- sessions --------------------------------------------------------------------------- */

/* What is drawn: one side of each session, or both of one. */
struct plotted {
	struct journal journal[CHART_SIDES];
	struct chart_side side[CHART_SIDES];
	int sides;
};

static int refuse_same(const struct plotted *p, const struct plot_args *a,
		       const int of[CHART_SIDES])
{
	if (!session_same(&p->journal[0], &p->journal[1]) || of[0] != of[1])
		return 0;
	return complain(EINVAL, "%s and %s are one session, %s: give two, or one alone",
			a->session[0], a->session[1], p->journal[0].session_id);
}

static int read_two(struct plotted *p, const struct plot_args *a, int of[CHART_SIDES])
{
	int err = 0;

	for (int i = 0; i < CHART_SIDES && !err; i++) {
		const struct session_arg arg = { NULL, a->session[i], a->side };

		err = session_read_side(&p->journal[i], &arg, a->sync, &of[i]);
	}
	p->sides = CHART_SIDES;
	return err ? err : refuse_same(p, a, of);
}

static int read_one(struct plotted *p, const struct plot_args *a, int of[CHART_SIDES])
{
	const struct session_arg arg = { NULL, a->session[0], a->side };
	int side, err = session_read_any(&p->journal[0], &arg, a->sync, &side);

	p->sides = side == SIDE_ANY ? CHART_SIDES : 1;
	for (int i = 0; i < p->sides; i++)
		of[i] = side == SIDE_ANY ? i : side;
	return err;
}

static int read_sides(struct plotted *p, const struct plot_args *a)
{
	static const char *const letters[CHART_SIDES] = { "A", "B" };
	int of[CHART_SIDES] = { 0 };
	int err = (a->n > 1 ? read_two : read_one)(p, a, of);

	for (int i = 0; i < p->sides && !err; i++) {
		chart_side_init(&p->side[i], &p->journal[a->n > 1 ? i : 0], of[i],
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
		printf("data and scripts are beside them; to draw again: %s\n", again);
	free(again);
}

/* What the charts do not show. */
static void print_left_out(const struct charts *c, const struct plot_args *a)
{
	for (int i = 0; i < c->sets; i++)
		for (int k = 0; k < c->set[i].sides; k++) {
			const struct grid *g = &c->set[i].grid[k];
			const char *letter = c->set[i].side[k].letter;

			if (g->left_out && !chart_is_over_copied(a->over))
				fprintf(stderr,
					"rift: %s%s%s: %d points with other parameters than the "
					"grid's are left out\n",
					letter, *letter ? ": " : "", g->workload->name,
					g->left_out);
			if (g->failed)
				fprintf(stderr,
					"rift: %s%s%s: %d points are left out, as some process "
					"has no good result of them\n",
					letter, *letter ? ": " : "", g->workload->name, g->failed);
		}
}

/* rift compare refuses these; a picture may still be of use to who knows. */
static void print_other_kind(const struct chart_side *a, const struct chart_side *b)
{
	enum wait_policy sync_a = a->journal->plan.design.sync;
	enum wait_policy sync_b = b->journal->plan.design.sync;

	if (strcmp(a->device, b->device))
		fprintf(stderr,
			"rift: A is of %s, B of %s: what differs is not the platform alone\n",
			text_escaped(a->device).s, text_escaped(b->device).s);
	if (sync_a != sync_b)
		fprintf(stderr, "rift: A was swept with --sync %s, B with --sync %s\n",
			sync_names[sync_a], sync_names[sync_b]);
}

static void print_remarks(const struct charts *c, const struct chart_side *side, int sides,
			  const struct plot_args *a)
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
static char *folder_of(const struct plotted *p, const struct plot_args *a)
{
	const char *path[CHART_SIDES] = { 0 };
	int side[CHART_SIDES];

	for (int i = 0; i < a->n; i++) {
		path[i] = p->journal[i].path;
		side[i] = p->journal[i].sides < 2 || (a->n == 1 && p->sides > 1) ? SIDE_ANY
										 : p->side[i].side;
	}
	return plot_folder(path, side, a->n, a->output);
}

/* Every data file and script first: they are there whatever gnuplot says. */
static int make_charts(struct charts *c, const struct plotted *p, const struct plot_args *a,
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
		err = complain(
			EINVAL, "there is nothing to draw: %s",
			chart_is_over_copied(a->over)
				? "a line takes 3 sizes that copy different numbers of bytes"
				: "no size, mode and depth of a kernel that lasts has a good "
				  "result of every process");
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

static int plot(const struct plot_args *a)
{
	struct plotted p = { .journal = { { .part.fd = -1, .visits.fd = -1 },
					  { .part.fd = -1, .visits.fd = -1 } } };
	struct charts charts = { 0 };
	struct stack_sources sources = { 0 };
	int err;

	interrupt_install();
	progress_init(a->quiet);
	err = read_sides(&p, a);
	if (!err)
		err = make_charts(&charts, &p, a, &sources);
	if (charts.pictures && is_cpu_device(p.side, p.sides))
		printf("%s\n", platform_not_gpu);
	charts_release(&charts);
	stack_sources_release(&sources);
	for (int i = 0; i < CHART_SIDES; i++)
		journal_release(&p.journal[i]);
	return err;
}

int cmd_plot(int argc, char **argv)
{
	struct plot_args a = { .side = SIDE_ANY };
	int err = options_parse(&argp, "`rift plot --help` shows its options", argc, argv, &a);

	if (!err && a.help) {
		options_help(&argp, "plot", stdout);
		return RIFT_OK;
	}
	if (!err && !a.n)
		err = complain(EINVAL, "rift plot: no session; write rift plot FILE");
	if (!err)
		err = plot(&a);
	return err == -EXDEV ? RIFT_NOT_COMPARABLE : exit_code_of(err);
}
