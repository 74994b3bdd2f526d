/* validate.c - rift validate SESSION...: do launches alone predict these workloads? */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/env/platform.h"
#include "harness/fit/source.h"
#include "harness/fit/validate.h"
#include "harness/record/recorded.h"

enum { KEY_HELP = 'h', KEY_JSON = 256, KEY_ON, KEY_SYNC, KEY_SIDE };
enum { SESSIONS_MAX = 16, WORKS_MAX = 64 };

static const struct argp_option options[] = {
	{ "on", KEY_ON, "SESSION", 0,
	  "the session of launches that all parameters are from (default: the first SESSION)", 0 },
	{ "side", KEY_SIDE, "a|b", 0,
	  "which of each SESSION, where they have two (rift sweep --against); one alone, or that "
	  "of "
	  "--on: FILE:a or FILE:b",
	  0 },
	{ "sync", KEY_SYNC, "KIND", 0,
	  "which, of all sessions, where one was swept with several wait policies", 0 },
	{ "json", KEY_JSON, NULL, 0, "one JSON object", 0 },
	{ "help", KEY_HELP, NULL, 0, "this help", 0 },
	{ 0 },
};

struct validate_args {
	const char *session[SESSIONS_MAX], *on, *sync;
	int n, side;
	bool json, help;
};

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct validate_args *a = state->input;
	int err;

	switch (key) {
	case KEY_HELP:
		a->help = true;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case KEY_ON:
		a->on = arg;
		return 0;
	case KEY_SIDE:
		return session_side_parse(arg, &a->side);
	case KEY_SYNC:
		a->sync = arg;
		return session_sync_check(arg);
	case ARGP_KEY_ARG:
		err = take_word(a->session, SESSIONS_MAX, arg,
				"rift validate takes up to 16 sessions");
		a->n += !err;
		return err;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = take,
	.args_doc = "SESSION... [--on SESSION]",
	.doc = "Predicts every block of workloads that were swept from what launches cost on the "
	       "same platform and from how long the workload's own kernels take, and says how far "
	       "off that is. The first session has to hold the workload launch, or --on names one "
	       "that does. Blocks that the kernels' time was measured in are left out.\vExit "
	       "codes: 0 ok, whether accepted or not, 3 usage, or a file that is no complete "
	       "session, 5 sessions of different devices.",
};

/* ---- sessions ----------------------------------------------------------------------------- */

struct validating {
	const struct validate_args *args;
	struct source launches;
	struct journal journal[SESSIONS_MAX];
	const struct journal *of; /* whose workloads are taken ... */
	int side;		  /* ... of this side */
	struct grid grid[WORKS_MAX];
	struct work_validation work[WORKS_MAX];
	int n;
};

static int add_workload(const char *name, void *arg)
{
	struct validating *v = arg;
	struct grid *g = &v->grid[v->n];
	int err = 0;

	if (!strcmp(name, v->launches.grid.workload->name))
		return 0;
	if (v->n == WORKS_MAX)
		return complain(
			EINVAL,
			"rift validate takes up to %d workloads of all sessions: name fewer",
			(int)WORKS_MAX);
	err = grid_make(g, v->of, v->side, name);
	if (err)
		grid_release(g);
	else
		validate_work(&v->work[v->n++], g, &v->launches.fit);
	return err;
}

static int add_session(struct validating *v, int i)
{
	const struct validate_args *a = v->args;
	const struct journal *on = &v->launches.journal;
	const struct session_arg arg = { NULL, a->session[i], a->side };
	int err = session_read_side(&v->journal[i], &arg, a->sync, &v->side);

	if (!err)
		err = source_same_device("session", a->session[i], v->journal[i].header[v->side],
					 on, v->launches.grid.side);
	v->of = &v->journal[i];
	return err ? err : source_each_workload(v->of, add_workload, v);
}

static void show(const struct validating *v)
{
	bool cpu = session_is_cpu(&v->launches.journal, v->launches.grid.side);

	if (v->args->json)
		json_write(works_json(v->work, v->n, &v->launches.fit), stdout);
	else
		works_print(v->work, v->n, &v->launches.fit, stdout);
	if (cpu)
		fprintf(v->args->json ? stderr : stdout, "%s\n", platform_not_gpu);
}

static int validate(const struct validate_args *a)
{
	const struct session_arg on = { a->on ? "--on" : NULL, a->on ? a->on : a->session[0],
					a->on ? SIDE_ANY : a->side };
	struct validating *v = calloc(1, sizeof(*v));
	int err;

	CHECK(v, "memory of %d sessions", a->n);
	v->args = a;
	err = source_platform(&v->launches, &on, a->sync, 0);
	if (!err && !v->launches.grid.nominal)
		err = complain(EINVAL,
			       "%s holds no launches, which predict the others: --on SESSION names "
			       "a session of the workload launch",
			       on.word);
	for (int i = 0; i < a->n && !err; i++)
		err = add_session(v, i);
	if (!err && !v->n)
		err = complain(EINVAL,
			       "there is no workload but %s in these sessions: nothing to "
			       "predict",
			       v->launches.grid.workload->name);
	if (!err)
		show(v);
	for (int i = 0; i < v->n; i++) {
		work_validation_release(&v->work[i]);
		grid_release(&v->grid[i]);
	}
	for (int i = 0; i < a->n; i++)
		journal_release(&v->journal[i]);
	source_release(&v->launches);
	free(v);
	return err;
}

int cmd_validate(int argc, char **argv)
{
	struct validate_args a = { .side = SIDE_ANY };
	int err = options_parse(&argp, "`rift validate --help` shows its options", argc, argv, &a);

	if (!err && a.help)
		options_help(&argp, "validate", stdout);
	else if (!err && !a.n)
		err = complain(EINVAL, "rift validate: no session; write rift validate SESSION... "
				       "--on SESSION");
	else if (!err)
		err = validate(&a);
	return err == -EXDEV ? RIFT_NOT_COMPARABLE : exit_code_of(err);
}
