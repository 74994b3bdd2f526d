/* fit.c - rift fit SESSION: what launches, gaps and waits cost, and what follows from it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/env/platform.h"
#include "harness/fit/report.h"
#include "harness/fit/source.h"
#include "harness/record/recorded.h"

enum { KEY_HELP = 'h', KEY_JSON = 256, KEY_WORKLOAD, KEY_SIDE, KEY_SYNC, KEY_OVER, KEY_OFF_GRID };

static const struct argp_option options[] = {
	{ "workload", KEY_WORKLOAD, "NAME", 0, "which, where the session holds several", 0 },
	{ "side", KEY_SIDE, "a|b", 0,
	  "of a session with two sides (rift sweep --against), one only; FILE:a or FILE:b says the "
	  "same, and is how the other sessions take it",
	  0 },
	{ "sync", KEY_SYNC, "KIND", 0, "which, where it was swept with several wait policies", 0 },
	{ "over", KEY_OVER, "SESSION", 0,
	  "also the smallest kernels over that platform: its session of the same workload. Of a "
	  "session with two sides, b is over a without it; of another one with two, FILE:a or "
	  "FILE:b",
	  0 },
	{ "off-grid", KEY_OFF_GRID, "SESSION", 0,
	  "also predict that session's blocks, of the same platform and workload, at other sizes "
	  "and depths",
	  0 },
	{ "json", KEY_JSON, NULL, 0, "one JSON object", 0 },
	{ "help", KEY_HELP, NULL, 0, "this help", 0 },
	{ 0 },
};

struct fit_args {
	const char *session, *workload, *sync, *over, *off_grid;
	int side; /* SIDE_ANY: all */
	bool json, help;
};

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct fit_args *a = state->input;

	switch (key) {
	case KEY_HELP:
		a->help = true;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case KEY_WORKLOAD:
		a->workload = arg;
		return 0;
	case KEY_SIDE:
		return session_side_parse(arg, &a->side);
	case KEY_SYNC:
		a->sync = arg;
		return session_sync_check(arg);
	case KEY_OVER:
		a->over = arg;
		return 0;
	case KEY_OFF_GRID:
		a->off_grid = arg;
		return 0;
	case ARGP_KEY_ARG:
		return take_word(&a->session, 1, arg, "rift fit takes one session");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = take,
	.args_doc = "SESSION",
	.doc = "Fits the model of launches to a session of rift sweep: what a call, a gap between "
	       "kernels and a synchronize cost, in stream, graph and fused mode, with 95 % "
	       "intervals; "
	       "how well it predicts blocks that it has not seen; signs that it does not fit; and, "
	       "within what was swept, the smallest kernels and depths for an overhead of 1, 5, 10 "
	       "and 25 %, and when graphs or fused launches pay.\vExit codes: 0 ok, 3 usage, or a "
	       "file that is no complete session, 5 sessions of different workloads.",
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
		err = complain(EXDEV, "%s=%s: holds nothing of %s", arg->option, arg->word,
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
	const struct session_arg arg = { "--over", a->over, SIDE_ANY };
	int err = read_other(over, &arg, a->sync, s, first);

	return err ? err : fit_make(&over->fit[0], &over->grid[0], 2);
}

/* Figures of the same platform were asked for. */
static int read_off_grid(struct fitted *off_grid, const struct fit_args *a, const struct fitted *s,
			 int first)
{
	const struct session_arg arg = { "--off-grid", a->off_grid, SIDE_ANY };
	int err;

	if (s->fit[0].draw && s->fit[1].draw)
		return complain(EINVAL,
				"--off-grid is of one platform, and %s has two sides: name one, "
				"--side a or --side b",
				s->journal.path);
	err = read_other(off_grid, &arg, a->sync, s, first);
	return err ? err
		   : source_same_device(arg.option, arg.word,
					off_grid->journal.header[off_grid->grid[0].side],
					&s->journal, first);
}

/* ---- output ------------------------------------------------------------------------------- */

static void show(const struct fit_args *a, const struct fit *f, const struct report_options *o,
		 json_t *sides)
{
	struct fit_report r;

	report_make(&r, f, o);
	if (a->json)
		json_array_append_new(sides, report_json(&r));
	else
		report_print(&r, stdout);
	report_release(&r);
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

static void show_sides(const struct fit_args *a, const struct fitted *s, const struct fitted *over,
		       const struct fitted *off_grid)
{
	json_t *sides = json_array();
	struct report_options o = { .off_grid = off_grid ? &off_grid->grid[0] : NULL };
	char name[160];

	for (int side = 0; side < 2; side++) {
		if (!s->fit[side].draw)
			continue;
		choose_over(&o, s, over, side, name, sizeof(name));
		if (!a->json && json_array_size(sides))
			putchar('\n');
		show(a, &s->fit[side], &o, sides);
	}
	if (a->json)
		json_write(json_pack("{s:s, s:s, s:o}", "version", RIFT_VERSION, "command", "fit",
				     "sides", sides),
			   stdout);
	else
		json_decref(sides);
	if (session_is_cpu(&s->journal, s->fit[0].draw ? 0 : 1))
		fprintf(a->json ? stderr : stdout, "%s\n", platform_not_gpu);
}

static int fit_and_show(const struct fit_args *a)
{
	const struct session_arg session = { NULL, a->session, a->side };
	struct fitted s = { 0 }, over = { 0 }, off_grid = { 0 };
	int wanted, err = session_read_any(&s.journal, &session, a->sync, &wanted);
	int first = wanted > 0;

	for (int side = 0; side < 2 && !err; side++)
		if (wanted == SIDE_ANY || side == wanted)
			err = fit_side(&s, side, a->workload, journal_draw_group(&s.journal, side));
	if (!err && a->over)
		err = read_over(&over, a, &s, first);
	if (!err && a->off_grid)
		err = read_off_grid(&off_grid, a, &s, first);
	if (!err)
		show_sides(a, &s, a->over ? &over : NULL, a->off_grid ? &off_grid : NULL);
	release(&s);
	release(&over);
	release(&off_grid);
	return err;
}

int cmd_fit(int argc, char **argv)
{
	struct fit_args a = { .side = SIDE_ANY };
	int err = options_parse(&argp, "`rift fit --help` shows its options", argc, argv, &a);

	if (!err && a.help)
		options_help(&argp, "fit", stdout);
	else if (!err && !a.session)
		err = complain(EINVAL, "rift fit: no session; write rift fit SESSION");
	else if (!err)
		err = fit_and_show(&a);
	return err == -EXDEV ? RIFT_NOT_COMPARABLE : exit_code_of(err);
}
