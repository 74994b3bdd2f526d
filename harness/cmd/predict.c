/* predict.c - rift predict SESSION --on SESSION: a workload of platform A, priced on B. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/env/platform.h"
#include "harness/fit/price.h"
#include "harness/fit/source.h"
#include "harness/record/recorded.h"

enum {
	KEY_HELP = 'h',
	KEY_JSON = 256,
	KEY_ON,
	KEY_FROM,
	KEY_MEASURED,
	KEY_WORKLOAD,
	KEY_SYNC,
	KEY_SIDE
};

static const struct argp_option options[] = {
	{ "on", KEY_ON, "SESSION", 0,
	  "a session of platform B, to take its parameters from: best of the workload launch", 0 },
	{ "from", KEY_FROM, "SESSION", 0,
	  "one of platform A, to take its gap between graph nodes out of what a kernel takes, "
	  "where "
	  "the workload's size is no duration",
	  0 },
	{ "measured", KEY_MEASURED, "SESSION", 0,
	  "the same workload measured on B, to hold the prediction against", 0 },
	{ "side", KEY_SIDE, "a|b", 0,
	  "which of SESSION, where it has two (rift sweep --against); of the others, as of this "
	  "one, "
	  "FILE:a or FILE:b",
	  0 },
	{ "workload", KEY_WORKLOAD, "NAME", 0, "which, where SESSION holds several", 0 },
	{ "sync", KEY_SYNC, "KIND", 0,
	  "which, of all sessions, where one was swept with several wait policies", 0 },
	{ "json", KEY_JSON, NULL, 0, "one JSON object", 0 },
	{ "help", KEY_HELP, NULL, 0, "this help", 0 },
	{ 0 },
};

struct predict_args {
	const char *session, *on, *from, *measured, *workload, *sync;
	int side;
	bool json, help;
};

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct predict_args *a = state->input;

	switch (key) {
	case KEY_HELP:
		a->help = true;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case KEY_SIDE:
		return session_side_parse(arg, &a->side);
	case KEY_ON:
		a->on = arg;
		return 0;
	case KEY_FROM:
		a->from = arg;
		return 0;
	case KEY_MEASURED:
		a->measured = arg;
		return 0;
	case KEY_WORKLOAD:
		a->workload = arg;
		return 0;
	case KEY_SYNC:
		a->sync = arg;
		return session_sync_check(arg);
	case ARGP_KEY_ARG:
		return take_word(&a->session, 1, arg, "rift predict takes one session");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = take,
	.args_doc = "SESSION --on SESSION",
	.doc = "Says what the blocks of a workload that was swept on platform A would take on "
	       "platform "
	       "B, of which another session tells what launches cost. Kernels are taken to last as "
	       "long on both. Of a session with two sides, side b priced by what launches cost "
	       "there, "
	       "and held against what was measured there: rift predict FILE:a --on FILE:b "
	       "--measured "
	       "FILE:b.\vExit codes: 0 ok, 3 usage, or a file that is no complete session, 5 "
	       "--measured is of another workload.",
};

/* ---- sessions ----------------------------------------------------------------------------- */

static int same_workload(const struct grid *work, const struct grid *measured, const char *path)
{
	if (work->workload == measured->workload && !strcmp(work->others, measured->others))
		return 0;
	return complain(EXDEV, "--measured=%s: is of %s%s%s, the session of %s%s%s", path,
			measured->workload->name, *measured->others ? " " : "", measured->others,
			work->workload->name, *work->others ? " " : "", work->others);
}

static void show(const struct predict_args *a, const struct price_request *r)
{
	struct prices p;

	price_make(&p, r);
	if (a->json)
		json_write(prices_json(&p, r), stdout);
	else
		prices_print(&p, r, stdout);
	prices_release(&p);
	if (session_is_cpu(r->work->j, r->work->side))
		fprintf(a->json ? stderr : stdout, "%s\n", platform_not_gpu);
}

static struct session_arg named(const char *option, const char *word)
{
	return (struct session_arg){ option, word, SIDE_ANY };
}

/* What is measured on B. Held against itself, blocks that say K are no test: r->measured tells. */
static int read_measured(struct source *measured, const struct predict_args *a,
			 struct price_request *r)
{
	const struct session_arg arg = named("--measured", a->measured);
	int err = source_grid(measured, &arg, a->workload, a->sync);

	if (err)
		return err;
	r->measured = source_same(r->work, &measured->grid) ? r->work : &measured->grid;
	return same_workload(r->work, &measured->grid, a->measured);
}

static int predict(const struct predict_args *a)
{
	const struct session_arg session = { NULL, a->session, a->side };
	const struct session_arg b = named("--on", a->on), gap = named("--from", a->from);
	struct source work = { 0 }, on = { 0 }, from = { 0 }, measured = { 0 };
	struct price_request r = { .work = &work.grid, .b = &on.fit };
	int err = source_grid(&work, &session, a->workload, a->sync);

	/* groups of draws: A 0, B 1 */
	if (!err)
		err = source_platform(&on, &b, a->sync, 1);
	if (!err && a->from)
		err = source_platform(&from, &gap, a->sync, 0);
	else if (!err && work.grid.nominal) /* its own blocks tell what A adds to a kernel */
		err = fit_make(&work.fit, &work.grid, 0);
	r.a = a->from ? &from.fit : work.grid.nominal ? &work.fit : NULL;
	if (!err && a->measured)
		err = read_measured(&measured, a, &r);
	if (!err)
		show(a, &r);
	source_release(&work);
	source_release(&on);
	source_release(&from);
	source_release(&measured);
	return err;
}

int cmd_predict(int argc, char **argv)
{
	struct predict_args a = { .side = SIDE_ANY };
	int err = options_parse(&argp, "`rift predict --help` shows its options", argc, argv, &a);

	if (!err && a.help)
		options_help(&argp, "predict", stdout);
	else if (!err && (!a.session || !a.on))
		err = complain(EINVAL,
			       "rift predict: no %s; write rift predict SESSION --on SESSION, the "
			       "latter of the platform to predict for",
			       a.session ? "--on" : "session");
	else if (!err)
		err = predict(&a);
	return err == -EXDEV ? RIFT_NOT_COMPARABLE : exit_code_of(err);
}
