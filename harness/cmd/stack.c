/* stack.c - rift stack SESSION: where the time of a step goes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/env/platform.h"
#include "harness/fit/stack.h"
#include "harness/probe/stack_sources.h"
#include "harness/record/recorded.h"

enum {
	KEY_HELP = 'h',
	KEY_JSON = 256,
	KEY_FROM,
	KEY_COSTS,
	KEY_ALL,
	KEY_WORKLOAD,
	KEY_SYNC,
	KEY_SIDE
};

static const struct argp_option options[] = {
	{ "from", KEY_FROM, "SESSION", 0,
	  "one of the workload launch on the same platform, to take gap, submission and sync from",
	  0 },
	{ "costs", KEY_COSTS, "FILE", 0,
	  "call costs (rift probe --output FILE), to tell transfers from kernels", 0 },
	{ "card", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0 },
	{ "all", KEY_ALL, NULL, 0, "every block, not a selection", 0 },
	{ "workload", KEY_WORKLOAD, "NAME", 0, "only this one, where SESSION holds several", 0 },
	{ "side", KEY_SIDE, "a|b", 0,
	  "of a session with two sides (rift sweep --against), one only; FILE:a or FILE:b says the "
	  "same, and is how --from takes it",
	  0 },
	{ "sync", KEY_SYNC, "KIND", 0,
	  "which, of all sessions, where one was swept with several wait policies", 0 },
	{ "json", KEY_JSON, NULL, 0, "one JSON object: all blocks, parts in ns", 0 },
	{ "help", KEY_HELP, NULL, 0, "this help", 0 },
	{ 0 },
};

struct stack_args {
	const char *session, *from, *costs, *workload, *sync;
	int side; /* SIDE_ANY: all */
	bool all, json, help;
};

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct stack_args *a = state->input;

	switch (key) {
	case KEY_HELP:
		a->help = true;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case KEY_ALL:
		a->all = true;
		return 0;
	case KEY_FROM:
		a->from = arg;
		return 0;
	case KEY_COSTS:
		a->costs = arg;
		return 0;
	case KEY_WORKLOAD:
		a->workload = arg;
		return 0;
	case KEY_SIDE:
		return session_side_parse(arg, &a->side);
	case KEY_SYNC:
		a->sync = arg;
		return session_sync_check(arg);
	case ARGP_KEY_ARG:
		return take_word(&a->session, 1, arg, "rift stack takes one session");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = take,
	.args_doc = "SESSION",
	.doc = "Takes the time of a step of a record of rift sweep apart: kernels, gaps between "
	       "them, submission that they do not hide, the synchronize, transfers, allocations, "
	       "and what none of these explains (other). The lines above the figures say what "
	       "is part of what. `rift plot` draws it.\vExit codes: 0 ok, 3 usage, or a file that "
	       "is no complete session or costs file, 5 --from or --costs is of another device.",
};

/* ---- sessions ----------------------------------------------------------------------------- */

struct stacking {
	const struct stack_args *args;
	struct journal journal;
	struct stack_sources sources;
	int side, shown; /* shown: grids so far */
	json_t *grids;
};

static void show(struct stacking *s, const struct stack_request *r)
{
	struct stack *stack = stacks_make(r);

	if (s->args->json)
		json_array_append_new(s->grids, stacks_json(r, stack));
	else {
		if (s->shown++)
			putchar('\n');
		stacks_print(r, stack, s->args->all, stdout);
	}
	free(stack);
}

/* One fit of its own where it is needed; without it all is other, and a line has said why. */
static int stack_workload(const char *workload, void *arg)
{
	struct stacking *s = arg;
	struct stack_request r = { .from = s->sources.from, .costs = s->sources.costs };
	struct grid grid;
	struct fit own = { 0 };
	int err;

	if (s->args->workload && strcmp(workload, s->args->workload))
		return 0;
	err = grid_make(&grid, &s->journal, s->side, workload);
	r.work = &grid;
	if (!err && !grid.n_points)
		err = complain(EINVAL, "%s: no block has a good result of every process", workload);
	if (!err && stack_step_of(&grid, 0) != STACK_CALLS && !stack_fit(&r, 0) &&
	    !fit_make(&own, &grid, 0))
		r.own = &own;
	if (!err)
		show(s, &r);
	fit_release(&own);
	grid_release(&grid);
	return err;
}

static int name_is_there(const struct stacking *s)
{
	struct grid grid;
	int err = 0;

	if (s->args->workload) {
		err = grid_make(&grid, &s->journal, 0, s->args->workload);
		grid_release(&grid);
	}
	return err;
}

static int stack_sides(struct stacking *s, int wanted)
{
	int err = 0;

	for (s->side = 0; s->side < s->journal.sides && !err; s->side++)
		if (wanted == SIDE_ANY || wanted == s->side)
			err = source_each_workload(&s->journal, stack_workload, s);
	return err;
}

static int stack(const struct stack_args *a)
{
	const struct session_arg session = { NULL, a->session, a->side };
	struct stacking s = { .args = a, .grids = json_array() };
	int wanted, err = session_read_any(&s.journal, &session, a->sync, &wanted);

	if (!err)
		err = stack_sources_read(&s.sources, a->from, a->costs, a->sync, &s.journal,
					 wanted);
	if (!err)
		err = name_is_there(&s);
	if (!err)
		err = stack_sides(&s, wanted);
	if (!err && a->json)
		json_write(json_pack("{s:s, s:s, s:O}", "version", RIFT_VERSION, "command", "stack",
				     "stacks", s.grids),
			   stdout);
	if (!err && session_is_cpu(&s.journal, wanted > 0))
		fprintf(a->json ? stderr : stdout, "%s\n", platform_not_gpu);
	json_decref(s.grids);
	stack_sources_release(&s.sources);
	journal_release(&s.journal);
	return err;
}

int cmd_stack(int argc, char **argv)
{
	struct stack_args a = { .side = SIDE_ANY };
	int err = options_parse(&argp, "`rift stack --help` shows its options", argc, argv, &a);

	if (!err && a.help)
		options_help(&argp, "stack", stdout);
	else if (!err && !a.session)
		err = complain(EINVAL, "rift stack: no session; write rift stack FILE");
	else if (!err)
		err = stack(&a);
	return err == -EXDEV ? RIFT_NOT_COMPARABLE : exit_code_of(err);
}
