/* stack.c - rift stack SESSION: where the time of a step goes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/cmd/options.h"
#include "harness/fit/stack.h"
#include "harness/probe/stack_sources.h"

/* ---- the command line ------------------------------------------------------------------- */

static const struct command_option options[] = {
	{ OPTION_FROM,
	  "one of the workload launch on the same platform, to take gap, submission and sync "
	  "from" },
	{ OPTION_COSTS, "call costs (rift probe --output FILE), to tell transfers from kernels",
	  "card" },
	{ OPTION_ALL, "every block, not a selection" },
	{ OPTION_WORKLOAD, "only this one, where SESSION holds several" },
	{ OPTION_SIDE,
	  "of a session with two sides (rift sweep --against), one only; FILE:a or FILE:b says the "
	  "same, and is how --from takes it" },
	{ OPTION_SYNC, "which, of all sessions, where one was swept with several wait policies" },
	{ OPTION_JSON, "one JSON object: all blocks, parts in ns" },
	{ OPTION_HELP, "this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, EXIT_USUAL },
	{ RIFT_USAGE, "usage, or a file that is no complete session or costs file" },
	{ RIFT_NOT_COMPARABLE, "--from or --costs is of another device" },
	{ 0 },
};

/* ---- sessions ----------------------------------------------------------------------------- */

struct stacking {
	const struct arguments *args;
	struct journal journal;
	struct stack_sources sources;
	int side, shown; /* shown: grids so far */
	json_t *grids;
};

static void show_stacks(struct stacking *s, const struct stack_request *r)
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
		show_stacks(s, &r);
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

static int stack(void *arguments)
{
	const struct arguments *a = arguments;
	const struct session_arg session = session_word(a, 0);
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
		json_write(command_json("stack", "stacks", json_incref(s.grids)), stdout);
	if (!err)
		note_cpu(a, session_is_cpu(&s.journal, wanted > 0));
	json_decref(s.grids);
	stack_sources_release(&s.sources);
	journal_release(&s.journal);
	return err;
}

const struct command command_stack = {
	.name = "stack",
	.usage = "SESSION [--from SESSION]",
	.line = "where the time of a step goes: kernels, gaps, ...",
	.words = "SESSION",
	.doc = "Takes the time of a step of a record of rift sweep apart: kernels, gaps between "
	       "them, submission that they do not hide, the synchronize, transfers, allocations, "
	       "and what none of these explains (other). The lines above the figures say what "
	       "is part of what. `rift plot` draws it.",
	.exits = exits,
	.options = options,
	.takes = "one session",
	.most = 1,
	.missing = "no session; write rift stack FILE",
	.run = stack,
};
