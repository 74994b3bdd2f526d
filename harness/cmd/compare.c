/*
 * compare.c - rift compare A B: is B slower than A, and where; of sessions, of two costs files or
 * of two grids of probes. Of three files or more it is a page (compare_many.c).
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/text.h"
#include "harness/cmd/compare.h"
#include "harness/cmd/time.h"
#include "harness/probe/costs_compare.h"
#include "harness/probe/grid.h"

/* ---- the command line ------------------------------------------------------------------- */

static const struct compare_args defaults = { .margin = NAN, .session_sd = NAN };

#define FIELD(name) offsetof(struct compare_args, name)

static const struct command_option options[] = {
	{ OPTION("margin", "PERCENT", option_percent, FIELD(margin)),
	  "ignore differences up to this (default: 2; separate sessions: 5; call costs: 10; --each "
	  "date: 0.5)" },
	{ OPTION("session-sd", "PERCENT", option_percent, FIELD(session_sd)),
	  "allow for this standard deviation between sessions of one system, which widens the "
	  "intervals (default: 1; one session: 0; call costs: 3)",
	  "between" },
	{ OPTION("each", "date|node", option_each, FIELD(each)),
	  "date: take all sessions, or all in a FOLDER, as one series over time, and find the date "
	  "from which it is slower or faster; node: find the nodes that are slower or faster than "
	  "the others, each named by its --platform" },
	{ OPTION("strict", NULL, option_flag, FIELD(strict)),
	  "let single points, and calls that B lacks, affect the exit code too" },
	{ OPTION("force", NULL, option_flag, FIELD(force)),
	  "compare even if GPUs or --sync policies differ; on a page also if binaries or bases "
	  "differ" },
	{ OPTION("self-test", NULL, option_flag, FIELD(self_test)),
	  "compare two halves of one session's processes, which should hardly differ" },
	{ OPTION("workload", "NAME", option_workload, FIELD(workload)),
	  "compare only this workload's points" },
	{ OPTION_SIDE, "use this side of each session that has two (rift sweep --against); FILE:a "
		       "or FILE:b names a side of one session" },
	{ OPTION_SYNC, "use this wait policy, if a session was swept with several" },
	{ OPTION_ALL, "also show the parameters of both sides and every point" },
	{ OPTION("plot", "DIR", option_folder, FIELD(plot)),
	  "for a page, or with --each: also draw charts in this folder with gnuplot (PNG, SVG, "
	  "data and script): "
	  "which layer hurts which program, each workload, and other costs" },
	{ OPTION_JSON, "print one JSON object with everything" },
	{ OPTION_QUIET, "print no progress and no remarks" },
	{ OPTION_HELP, "show this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, "the same or faster, or a page" },
	{ RIFT_CHECK_FAILED, "slower, or B computes wrong results (--self-test: the halves differ; "
			     "--each: slower from a date on, or a slower node)" },
	{ RIFT_FAILED_POINTS,
	  "inconclusive, or some results are missing, or A's are wrong (a page: "
	  "some are missing or failed their check)" },
	{ RIFT_USAGE, "usage, bad input or, with --plot, no pictures" },
	{ RIFT_NOT_COMPARABLE, EXIT_USUAL },
	{ RIFT_INTERRUPTED, EXIT_USUAL },
	{ 0 },
};

int option_each(void *field, const struct command_option *o, char *text)
{
	if (strcmp(text, "date") != 0 && strcmp(text, "node") != 0)
		return complain(EINVAL, "--%s=%s: must be date or node", o->name,
				text_shown(text).s);
	*(const char **)field = text;
	return 0;
}

/* ---- two costs files, or two grids ------------------------------------------------------- */

static bool both_are(const struct word_list *files, bool (*is)(const char *path))
{
	return files->n == 2 && is(files->word[0]) && is(files->word[1]);
}

static int refuse_options(const struct compare_args *a)
{
	const char *option = a->self_test		 ? "--self-test"
			     : a->workload		 ? "--workload"
			     : a->plot			 ? "--plot"
			     : a->given.side != SIDE_ANY ? "--side"
							 : NULL;

	if (!both_are(&a->given.words, costs_is) && !both_are(&a->given.words, grid_is))
		return complain(EINVAL, "call costs can only be compared with call costs, and a "
					"grid with a grid: rift compare A B");
	if (option)
		return complain(EINVAL, "%s has no effect on call costs", option);
	return 0;
}

static void print_costs(const void *found, FILE *out)
{
	costs_compare_print(found, false, out);
}

static void print_all_costs(const void *found, FILE *out)
{
	costs_compare_print(found, true, out);
}

static json_t *costs_json(const void *found)
{
	return costs_compare_json(found);
}

static struct compare_options costs_options(const struct compare_args *a)
{
	return (struct compare_options){
		.margin = isfinite(a->margin) ? a->margin : COSTS_MARGIN_DEFAULT,
		.session_sd = isfinite(a->session_sd) ? a->session_sd : COSTS_SESSION_SD_DEFAULT,
		.strict = a->strict,
		.force = a->force,
	};
}

/* An exit code, or a negative errno after one line. */
static int show_costs(struct costs_comparison *c, const struct arguments *a)
{
	c->path[0] = a->words.word[0];
	c->path[1] = a->words.word[1];
	show(a, c, a->all ? print_all_costs : print_costs, costs_json);
	note_cpu(a, costs_is_cpu(c->costs[0]) || costs_is_cpu(c->costs[1]));
	return costs_compare_exit_code(c);
}

/* Where both are costs files, or both are grids. */
static int compare_costs(const struct compare_args *a)
{
	const struct compare_options o = costs_options(a);
	struct costs_comparison c = { .n = 0 };
	json_t *costs[2] = { NULL, NULL };
	int err = refuse_options(a);

	for (int k = 0; k < 2 && !err; k++)
		err = (grid_is(a->given.words.word[k]) ? grid_read : costs_read)(
			a->given.words.word[k], &costs[k]);
	if (!err)
		err = costs_compare(&c, costs[0], costs[1], &o);
	if (!err)
		err = show_costs(&c, &a->given);
	costs_compare_release(&c);
	json_decref(costs[0]);
	json_decref(costs[1]);
	return err;
}

/* ---- one comparison --------------------------------------------------------------------- */

struct compare_options compare_options_given(const struct compare_args *a)
{
	return (struct compare_options){
		.margin = a->margin,
		.session_sd = a->session_sd,
		.strict = a->strict,
		.force = a->force,
		.workload = a->workload,
	};
}

static int make(struct compared *c, const struct compare_args *a, bool separate)
{
	struct compare_options o = compare_options_usual(compare_options_given(a), separate);

	return compare(&c->comparison, &c->of[0], &c->of[1], &o);
}

static void release_sides(struct compared *c)
{
	compare_release(&c->comparison);
	side_release(&c->of[0]);
	side_release(&c->of[1]);
}

void compared_release(struct compared *c)
{
	release_sides(c);
	journal_release(&c->session[0]);
	journal_release(&c->session[1]);
}

/* ---- output ----------------------------------------------------------------------------- */

/* One result, or those of a self-test of two sides. */
struct results {
	const struct compared *compared;
	int n;
	bool all; /* points */
};

static void print(const void *found, FILE *out)
{
	const struct results *r = found;

	for (int i = 0; i < r->n; i++) {
		if (i)
			fputc('\n', out);
		compare_print(&r->compared[i].comparison, r->all, out);
	}
}

/* An array where there are two. */
static json_t *json(const void *found)
{
	const struct results *r = found;
	json_t *all;

	if (r->n == 1)
		return compare_json(&r->compared[0].comparison);
	all = json_array();
	for (int i = 0; i < r->n; i++)
		json_array_append_new(all, compare_json(&r->compared[i].comparison));
	return all;
}

static void show_results(const struct compared *r, int n, const struct arguments *a)
{
	show(a, &(struct results){ r, n, a->all }, print, json);
	note_cpu(a, session_is_cpu(&r->of[0].view, 0) || session_is_cpu(&r->of[1].view, 0));
}

static enum exit_code code_of(const struct compared *r, int n, bool self_test)
{
	enum exit_code worst = RIFT_OK;

	for (int i = 0; i < n; i++) {
		enum exit_code code = compare_exit_code(&r[i].comparison);

		if (self_test && r[i].comparison.outcome == OUTCOME_FASTER)
			code = RIFT_CHECK_FAILED;
		if (code == RIFT_CHECK_FAILED || worst == RIFT_OK)
			worst = code;
	}
	return worst;
}

/* ---- what is compared with what ----------------------------------------------------------- */

static int refuse_same(const struct compared *c, const struct compare_args *args)
{
	if (!session_same(&c->session[0], &c->session[1]) || c->side[0] != c->side[1])
		return 0;
	return complain(EINVAL,
			"%s and %s are the same session (%s); give two, or --self-test to compare "
			"halves of one",
			args->given.words.word[0], args->given.words.word[1],
			c->session[0].session_id);
}

/* One side of each of two sessions. */
static int make_two(struct compared *c, const struct compare_args *a)
{
	int err = refuse_same(c, a);

	if (err)
		return err;
	for (int k = 0; k < 2; k++)
		side_init(&c->of[k], &c->session[k], c->session[k].path, c->side[k], HALF_BOTH);
	return make(c, a, !session_same(&c->session[0], &c->session[1]));
}

/* Both sides of one. */
static int make_sides(struct compared *c, const struct compare_args *a)
{
	const struct journal *session = &c->session[0];

	if (c->side[0] != SIDE_ANY)
		return complain(EINVAL,
				"%s%s: give a second session, or sweep --against; --self-test "
				"compares its halves",
				session->path,
				session->sides > 1 ? ": one of its two sides is named"
						   : " has one side");
	for (int k = 0; k < 2; k++)
		side_init(&c->of[k], session, session->path, k, HALF_BOTH);
	return make(c, a, false);
}

int compared_make(struct compared *c, const struct compare_args *a)
{
	return (a->given.words.n > 1 ? make_two : make_sides)(c, a);
}

/* Two halves of each side that is asked for: n results, which own no session. */
static int make_halves(struct compared out[2], const struct compare_args *a,
		       const struct compared *in, int *n)
{
	const struct journal *session = &in->session[0];
	int err = 0;

	if (journal_processes(session) < 2)
		return complain(
			EINVAL,
			"%s: --self-test needs 2 or more processes per side; this session has 1",
			session->path);
	for (int side = 0; side < session->sides && !err; side++) {
		struct compared *c = &out[*n];

		if (in->side[0] != SIDE_ANY && in->side[0] != side)
			continue;
		side_init(&c->of[0], session, session->path, side, HALF_FIRST);
		side_init(&c->of[1], session, session->path, side, HALF_SECOND);
		err = make(c, a, false);
		++*n;
	}
	return err;
}

/* Each of two files has to be one side. */
int compared_read(struct compared *c, const struct compare_args *a)
{
	int err = 0;

	*c = (struct compared){ .session = { JOURNAL_NONE, JOURNAL_NONE } };
	for (int i = 0; i < a->given.words.n && !err; i++) {
		const struct session_arg arg = session_word(&a->given, i);

		err = (a->given.words.n > 1 ? session_read_side : session_read_any)(
			&c->session[i], &arg, a->given.sync, &c->side[i]);
	}
	return err;
}

/* An exit code, or a negative errno after one line. */
static int compare_sessions(const struct compare_args *a)
{
	struct compared halves[2] = { 0 }, c;
	int err = compared_read(&c, a), n = a->self_test ? 0 : 1;

	if (!err)
		err = a->self_test ? make_halves(halves, a, &c, &n) : compared_make(&c, a);
	if (!err) {
		show_results(a->self_test ? halves : &c, n, &a->given);
		err = code_of(a->self_test ? halves : &c, n, a->self_test);
	}
	release_sides(&halves[0]);
	release_sides(&halves[1]);
	compared_release(&c);
	return err;
}

/* One costs file or grid is enough: what else is named must be one too. */
static bool is_about_costs(const struct word_list *files)
{
	bool is = false;

	for (int i = 0; i < files->n; i++)
		is |= costs_is(files->word[i]) || grid_is(files->word[i]);
	return is;
}

static bool is_about_programs(const struct word_list *files)
{
	bool is = false;

	for (int i = 0; i < files->n; i++)
		is |= trial_file_is(files->word[i]);
	return is;
}

/* Its sides were timed in turns: the verdicts anew, with this margin. */
static int compare_timed(const struct compare_args *a)
{
	if (a->given.words.n > 1)
		return complain(EINVAL, "a record of rift time has all its sides: give it alone");
	if (a->plot || a->workload || a->strict || a->force || isfinite(a->session_sd))
		return complain(EINVAL, "of a record of rift time only --margin, --json and "
					"--quiet have an effect; rift plot draws it");
	return trial_show_file(&a->given, a->given.words.word[0], a->margin);
}

static int refuse_plot(void)
{
	return complain(
		EINVAL,
		"--plot needs a page: give the base and two or more sessions, or name a row, as "
		"rift compare BASE NAME=SESSION; rift plot draws one session or two");
}

static int compare_files(void *arguments)
{
	const struct compare_args *a = arguments;
	int err;

	if (a->self_test && a->given.words.n > 1)
		return complain(EINVAL, "--self-test takes one session");
	if (a->each)
		err = strcmp(a->each, "node") ? compare_history(a) : compare_each(a);
	else if (is_about_programs(&a->given.words))
		err = compare_timed(a);
	else if (is_about_costs(&a->given.words))
		err = compare_costs(a);
	else if (compare_is_of_many(a))
		err = compare_many(a);
	else
		err = a->plot ? refuse_plot() : compare_sessions(a);
	/* of another schema or device: a finding here */
	return err == -EPROTONOSUPPORT ? (int)RIFT_NOT_COMPARABLE : err;
}

const struct command command_compare = {
	.name = "compare",
	.usage = "A B | BASE A B...",
	.line = "tell whether B is slower than A, or compare many with a base",
	.words = "A B\nSESSION\nBASE [NAME=]SESSION...\n--each date|node FOLDER|SESSION...",
	.doc = "Says whether B is slower than A, and where. A and B are record files of rift "
	       "sweep, or call costs or grids of rift probe. For one SESSION with two sides (rift "
	       "sweep "
	       "--against), side b is compared with side a; FILE:a and FILE:b name its sides as A "
	       "or B. Three files or more, or a NAME= before one, make a page: which of many "
	       "layers or platforms hurts which program, and what each adds to the BASE's model "
	       "parameters, time per step, copies, allocations and cold starts. On a page, a "
	       "session with two sides is taken as b over a, and its side a must be the base "
	       "platform; any other session is taken over the base. NAME=SESSION names a row.",
	.remarks = "Geometric means decide: one per workload over its points, and one over all "
		   "workloads. Single points and model parameters are informational. A page "
		   "decides nothing: its exit code is 0 whatever its rows show, or 2 if results "
		   "are missing or failed their check; unsupported calls count as neither.",
	.exits = exits,
	.options = options,
	.missing = "no session; write rift compare A B",
	.size = sizeof(struct compare_args),
	.defaults = &defaults,
	.run = compare_files,
};
