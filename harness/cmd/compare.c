/* compare.c - rift compare A B: is B slower than A, and where; of sessions or of two costs files.
 */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/compare/compare.h"
#include "harness/env/platform.h"
#include "harness/probe/costs_compare.h"
#include "harness/record/recorded.h"
#include "workloads/workload.h"

/* ---- the command line ------------------------------------------------------------------- */

struct compare_args {
	const char *file[2];
	int n;
	double margin, session_sd;	 /* shares of 1; NAN: not given */
	const struct workload *workload; /* NULL: all */
	int side;			 /* of --side; SIDE_ANY: not given */
	const char *sync;		 /* wait policy; NULL: not given */
	bool strict, force, self_test, all, json, help;
};

enum {
	KEY_HELP = 'h',
	KEY_MARGIN = 256,
	KEY_SESSION_SD,
	KEY_STRICT,
	KEY_FORCE,
	KEY_SELF_TEST,
	KEY_WORKLOAD,
	KEY_SYNC,
	KEY_ALL,
	KEY_JSON,
	KEY_SIDE
};

static const struct argp_option options[] = {
	{ "margin", KEY_MARGIN, "PERCENT", 0,
	  "differences up to this do not matter (default: 2, of separate sessions 5, of call costs "
	  "10)",
	  0 },
	{ "session-sd", KEY_SESSION_SD, "PERCENT", 0,
	  "standard deviation of what one system differs by from session to session, which "
	  "intervals are widened by (default: 1, of one session 0, of call costs 3)",
	  0 },
	{ "strict", KEY_STRICT, NULL, 0, "single points count for the exit code too", 0 },
	{ "force", KEY_FORCE, NULL, 0, "compare other GPUs and other kinds of --sync too", 0 },
	{ "self-test", KEY_SELF_TEST, NULL, 0,
	  "split the processes of one session in two halves and compare these: nearly nothing may "
	  "differ",
	  0 },
	{ "workload", KEY_WORKLOAD, "NAME", 0, "only the points of this one", 0 },
	{ "side", KEY_SIDE, "a|b", 0,
	  "which of each session, where they have two (rift sweep --against); of one alone: FILE:a "
	  "or FILE:b",
	  0 },
	{ "sync", KEY_SYNC, "KIND", 0,
	  "which, where a session was swept with several wait policies", 0 },
	{ "all", KEY_ALL, NULL, 0, "show every point, not the 20 that differ most", 0 },
	{ "json", KEY_JSON, NULL, 0, "one JSON object with everything", 0 },
	{ "help", KEY_HELP, NULL, 0, "this help", 0 },
	{ 0 },
};

/* "2" or "2%" as 0.02. Less than 0.1 is taken for a share that was meant: 0.02 for 2 %. */
static int take_percent(const char *label, const char *text, double *out)
{
	char *end;
	double percent = strtod(text, &end);

	if (*end == '%')
		end++;
	if (end == text || *end || !(percent == 0 || (percent >= 0.1 && percent <= 100)))
		return complain(EINVAL, "%s=%s: must be a percentage, 0 or 0.1 to 100: 2 is 2 %%",
				label, text_shown(text).s);
	*out = percent / 100;
	return 0;
}

static error_t take_file(struct compare_args *a, const char *file)
{
	int err = take_word(a->file, 2, file, "rift compare takes two sessions");

	a->n += !err;
	return err;
}

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct compare_args *a = state->input;

	switch (key) {
	case KEY_HELP:
		a->help = true;
		return 0;
	case KEY_MARGIN:
		return take_percent("--margin", arg, &a->margin);
	case KEY_SESSION_SD:
		return take_percent("--session-sd", arg, &a->session_sd);
	case KEY_STRICT:
		a->strict = true;
		return 0;
	case KEY_FORCE:
		a->force = true;
		return 0;
	case KEY_SELF_TEST:
		a->self_test = true;
		return 0;
	case KEY_WORKLOAD:
		a->workload = workload_find(arg);
		return a->workload ? 0 : -EINVAL;
	case KEY_SYNC:
		a->sync = arg;
		return session_sync_check(arg);
	case KEY_SIDE:
		return session_side_parse(arg, &a->side);
	case KEY_ALL:
		a->all = true;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		return take_file(a, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Its input is a struct compare_args. */
static const struct argp compare_argp = {
	.options = options,
	.parser = take,
	.args_doc = "A B\nSESSION",
	.doc = "Says whether B is slower than A, and where. A and B are record files of rift "
	       "sweep, or call costs of rift probe; one SESSION with two sides (rift sweep "
	       "--against) "
	       "is "
	       "compared side b over side a; FILE:a and FILE:b are its sides as A or B."
	       "\vThe geometric mean of each workload's points and the parameters of the model "
	       "decide. Exit codes: 0 the same or faster, 1 slower (--self-test: the halves "
	       "differ), 2 inconclusive, or some results are missing or failed their check, 3 "
	       "usage or bad "
	       "input, 5 not comparable.",
};

/* ---- two costs files --------------------------------------------------------------------- */

static int refuse_options(const struct compare_args *a)
{
	if (a->n != 2 || !costs_is(a->file[0]) || !costs_is(a->file[1]))
		return complain(EINVAL,
				"call costs are compared with other call costs: rift compare A B");
	if (a->self_test || a->workload || a->side != SIDE_ANY)
		return complain(EINVAL, "%s has no effect on call costs",
				a->self_test  ? "--self-test"
				: a->workload ? "--workload"
					      : "--side");
	return 0;
}

static void print(const struct costs_comparison *c, const struct compare_args *a)
{
	if (a->json)
		json_write(costs_compare_json(c), stdout);
	else
		costs_compare_print(c, a->all, stdout);
	if (costs_is_cpu(c->costs[0]) || costs_is_cpu(c->costs[1]))
		fprintf(a->json ? stderr : stdout, "%s\n", platform_not_gpu);
}

/* Where both are costs files. */
static int costs_compare_files(const struct compare_args *a, enum exit_code *code)
{
	struct compare_options o = {
		.margin = isfinite(a->margin) ? a->margin : COSTS_MARGIN_DEFAULT,
		.session_sd = isfinite(a->session_sd) ? a->session_sd : COSTS_SESSION_SD_DEFAULT,
		.strict = a->strict,
		.force = a->force,
	};
	struct costs_comparison c = { .n = 0 };
	json_t *costs[2] = { NULL, NULL };
	int err = refuse_options(a);

	for (int k = 0; k < 2 && !err; k++)
		err = costs_read(a->file[k], &costs[k]);
	if (!err)
		err = costs_compare(&c, costs[0], costs[1], &o);
	if (!err) {
		c.path[0] = a->file[0];
		c.path[1] = a->file[1];
		print(&c, a);
		*code = costs_compare_exit_code(&c);
	}
	costs_compare_release(&c);
	json_decref(costs[0]);
	json_decref(costs[1]);
	return err;
}

/* ---- one comparison --------------------------------------------------------------------- */

struct result {
	struct compared_side side[2];
	struct comparison comparison;
	int err;
};

static struct compare_options options_of(const struct compare_args *a, bool separate)
{
	return (struct compare_options){
		.margin = isfinite(a->margin) ? a->margin
			  : separate	      ? BETWEEN_MARGIN_DEFAULT
					      : MARGIN_DEFAULT,
		.session_sd = isfinite(a->session_sd) ? a->session_sd
			      : separate	      ? BETWEEN_DEFAULT
						      : 0,
		.strict = a->strict,
		.force = a->force,
		.workload = a->workload,
	};
}

static void result_make(struct result *r, const struct compare_args *a, bool separate)
{
	struct compare_options o = options_of(a, separate);

	r->err = compare(&r->comparison, &r->side[0], &r->side[1], &o);
}

static void result_release(struct result *r)
{
	compare_release(&r->comparison);
	side_release(&r->side[0]);
	side_release(&r->side[1]);
}

/* ---- output ----------------------------------------------------------------------------- */

/* Of a self-test of two sides, two results, in an array. */
static void print_results(const struct result *r, int n, const struct compare_args *a)
{
	json_t *all = json_array();
	bool cpu = session_is_cpu(&r->side[0].view, 0) || session_is_cpu(&r->side[1].view, 0);

	for (int i = 0; i < n; i++) {
		if (a->json) {
			json_array_append_new(all, compare_json(&r[i].comparison));
			continue;
		}
		if (i)
			fputc('\n', stdout);
		compare_print(&r[i].comparison, a->all, stdout);
	}
	if (a->json)
		json_write(n == 1 ? json_incref(json_array_get(all, 0)) : json_incref(all), stdout);
	if (cpu)
		fprintf(a->json ? stderr : stdout, "%s\n", platform_not_gpu);
	json_decref(all);
}

static enum exit_code code_of(const struct result *r, int n, bool self_test)
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

/* The sessions that are named, and which side of each: SIDE_ANY: both. */
struct read {
	struct journal session[2];
	int side[2];
};

static int refuse_same(const struct read *in, const struct compare_args *args)
{
	if (!session_same(&in->session[0], &in->session[1]) || in->side[0] != in->side[1])
		return 0;
	return complain(EINVAL,
			"%s and %s are one session (%s); --self-test compares halves of one",
			args->file[0], args->file[1], in->session[0].session_id);
}

/* One side of each of two sessions, or both sides of one. */
static int make_two(struct result *r, const struct compare_args *a, const struct read *in)
{
	int err = refuse_same(in, a);

	if (err)
		return err;
	for (int k = 0; k < 2; k++)
		side_init(&r->side[k], &in->session[k], in->session[k].path, in->side[k],
			  HALF_BOTH);
	result_make(r, a, !session_same(&in->session[0], &in->session[1]));
	return r->err;
}

static int make_sides(struct result *r, const struct compare_args *a, const struct read *in)
{
	const struct journal *session = &in->session[0];

	if (in->side[0] != SIDE_ANY)
		return complain(EINVAL,
				"%s%s: give a second session, or sweep --against; --self-test "
				"compares its halves",
				session->path,
				session->sides > 1 ? ": one of its two sides is named"
						   : " has one side");
	for (int k = 0; k < 2; k++)
		side_init(&r->side[k], session, session->path, k, HALF_BOTH);
	result_make(r, a, false);
	return r->err;
}

/* Two halves of each side that is asked for. */
static int make_halves(struct result *r, const struct compare_args *a, const struct read *in,
		       int *n)
{
	const struct journal *session = &in->session[0];
	int err = 0;

	if (journal_processes(session) < 2)
		return complain(EINVAL, "%s has one process a side: that has no halves",
				session->path);
	for (int side = 0; side < session->sides && !err; side++) {
		struct result *of = &r[*n];

		if (in->side[0] != SIDE_ANY && in->side[0] != side)
			continue;
		side_init(&of->side[0], session, session->path, side, HALF_FIRST);
		side_init(&of->side[1], session, session->path, side, HALF_SECOND);
		result_make(of, a, false);
		err = of->err;
		++*n;
	}
	return err;
}

/* Of two files each has to be one side. */
static int read_files(struct read *in, const struct compare_args *a)
{
	int err = 0;

	for (int i = 0; i < a->n && !err; i++) {
		const struct session_arg arg = { NULL, a->file[i], a->side };

		err = (a->n > 1 ? session_read_side : session_read_any)(&in->session[i], &arg,
									a->sync, &in->side[i]);
	}
	return err;
}

static int compare_files(const struct compare_args *a, enum exit_code *code)
{
	struct result r[2] = { 0 };
	struct read in = { .session = { { .part.fd = -1, .visits.fd = -1 },
					{ .part.fd = -1, .visits.fd = -1 } } };
	int err = read_files(&in, a), n = a->self_test ? 0 : 1;

	if (!err)
		err = a->self_test ? make_halves(r, a, &in, &n)
		      : a->n == 2  ? make_two(r, a, &in)
				   : make_sides(r, a, &in);
	if (!err) {
		print_results(r, n, a);
		*code = code_of(r, n, a->self_test);
	}
	result_release(&r[0]);
	result_release(&r[1]);
	journal_release(&in.session[0]);
	journal_release(&in.session[1]);
	return err;
}

/* One costs file is enough: what else is named must be one too. */
static bool is_about_costs(const struct compare_args *a)
{
	bool is = false;

	for (int i = 0; i < a->n; i++)
		is |= costs_is(a->file[i]);
	return is;
}

static int refuse_arguments(const struct compare_args *a)
{
	if (!a->n)
		return complain(EINVAL, "rift compare: no session; write rift compare A B");
	if (a->self_test && a->n == 2)
		return complain(EINVAL, "--self-test takes one session");
	return 0;
}

int cmd_compare(int argc, char **argv)
{
	struct compare_args a = { .margin = NAN, .session_sd = NAN, .side = SIDE_ANY };
	enum exit_code code = RIFT_OK;
	int err = options_parse(&compare_argp, "`rift compare --help` shows its options", argc,
				argv, &a);

	if (!err && a.help) {
		options_help(&compare_argp, "compare", stdout);
		return RIFT_OK;
	}
	if (!err)
		err = refuse_arguments(&a);
	if (!err)
		err = is_about_costs(&a) ? costs_compare_files(&a, &code)
					 : compare_files(&a, &code);
	if (err == -EPROTONOSUPPORT)
		return RIFT_NOT_COMPARABLE;
	return err ? exit_code_of(err) : code;
}
