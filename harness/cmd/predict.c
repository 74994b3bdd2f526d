/* predict.c - rift predict SESSION --on SESSION: a workload of platform A, priced on B. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "harness/cmd/options.h"
#include "harness/fit/price.h"
#include "harness/fit/source.h"

/* ---- the command line ------------------------------------------------------------------- */

struct predict_args {
	struct arguments given;
	const char *measured;
};

static const struct command_option options[] = {
	{ OPTION_ON,
	  "a session of platform B, to take its parameters from: best of the workload launch" },
	{ OPTION_FROM,
	  "one of platform A, best of the workload launch: a block on B is then what it "
	  "took on A, plus what launches cost more on B (default: SESSION's own, where "
	  "it holds launch)" },
	{ OPTION("measured", "SESSION", option_text, offsetof(struct predict_args, measured)),
	  "the same workload measured on B, to hold the prediction against" },
	{ OPTION_SIDE, "which of SESSION, where it has two (rift sweep --against); of the others, "
		       "as of this one, FILE:a or FILE:b" },
	{ OPTION_WORKLOAD, "which, where SESSION holds several" },
	{ OPTION_SYNC, "which, of all sessions, where one was swept with several wait policies" },
	{ OPTION_JSON, "one JSON object" },
	{ OPTION_HELP, "this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_USAGE, "usage, or a file that is no complete session" },
	{ RIFT_NOT_COMPARABLE, "--measured is of another workload" },
	{ 0 },
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

/* What was asked, and what comes of it. */
struct predicted {
	const struct price_request *request;
	struct prices prices;
};

static void print(const void *found, FILE *out)
{
	const struct predicted *p = found;

	prices_print(&p->prices, p->request, out);
}

static json_t *json(const void *found)
{
	const struct predicted *p = found;

	return prices_json(&p->prices, p->request);
}

static void price(const struct arguments *a, const struct price_request *r)
{
	struct predicted p = { .request = r };

	price_make(&p.prices, r);
	show(a, &p, print, json);
	prices_release(&p.prices);
	note_cpu(a, session_is_cpu(r->work->j, r->work->side));
}

/* What is measured on B. Held against itself, blocks that say K are no test: r->measured tells. */
static int read_measured(struct source *measured, const struct predict_args *a,
			 struct price_request *r)
{
	const struct session_arg arg = session_option("--measured", a->measured);
	int err = source_grid(measured, &arg, a->given.workload, a->given.sync);

	if (err)
		return err;
	r->measured = source_same(r->work, &measured->grid) ? r->work : &measured->grid;
	return same_workload(r->work, &measured->grid, a->measured);
}

static int predict_work(const struct predict_args *a)
{
	const struct arguments *given = &a->given;
	const struct session_arg session = session_word(given, 0);
	const struct session_arg b = session_option("--on", given->on);
	const struct session_arg gap = session_option("--from", given->from);
	struct source work = { 0 }, on = { 0 }, from = { 0 }, measured = { 0 };
	struct price_request r = { .work = &work.grid, .b = &on.fit };
	int err = source_grid(&work, &session, given->workload, given->sync);

	/* groups of draws: A 0, B 1 */
	if (!err)
		err = source_platform(&on, &b, given->sync, 1);
	if (!err && given->from)
		err = source_platform(&from, &gap, given->sync, 0);
	else if (!err && work.grid.nominal) /* its own blocks tell what A adds to a kernel */
		err = fit_make(&work.fit, &work.grid, 0);
	else if (!err && source_has_launch(&work.journal))
		err = source_platform(&from, &session, given->sync, 0);
	r.a = from.grid.j ? &from.fit : !err && work.grid.nominal ? &work.fit : NULL;
	/* on A itself that would be what was measured, and no test of the model */
	r.from_measured = !err && from.grid.j && from.grid.nominal && !work.grid.nominal &&
			  !source_same(&from.grid, &on.grid);
	if (!err && a->measured)
		err = read_measured(&measured, a, &r);
	if (!err)
		price(given, &r);
	source_release(&work);
	source_release(&on);
	source_release(&from);
	source_release(&measured);
	return err;
}

#define WRITE "write rift predict SESSION --on SESSION, the latter of the platform to predict for"

static int predict(void *arguments)
{
	const struct predict_args *a = arguments;

	return a->given.on ? predict_work(a) : complain(EINVAL, "rift predict: no --on; " WRITE);
}

const struct command command_predict = {
	.name = "predict",
	.usage = "SESSION --on SESSION",
	.line = "a workload of one platform, priced on another",
	.words = "SESSION --on SESSION",
	.doc = "Says what the blocks of a workload that was swept on platform A would take on "
	       "platform B, of which another session tells what launches cost. Kernels are taken "
	       "to "
	       "last as long on both. In a session with two sides, side b priced by what launches "
	       "cost there, and held against what was measured there: rift predict FILE:a --on "
	       "FILE:b --measured FILE:b.",
	.exits = exits,
	.options = options,
	.takes = "one session",
	.most = 1,
	.missing = "no session; " WRITE,
	.size = sizeof(struct predict_args),
	.run = predict,
};
