/* stack.c - rift fit --stack SESSION: where the time of a step goes. */
#include <errno.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/cmd/options.h"
#include "harness/fit/stack.h"
#include "harness/probe/stack_sources.h"

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

	err = grid_make(&grid, &s->journal, s->side, workload);
	r.work = &grid;
	if (!err && !grid.n_points)
		err = complain(EINVAL, "%s: no sample has a good result of every process",
			       workload);
	if (!err && stack_step_of(&grid, 0) != STACK_CALLS && !stack_fit(&r, 0) &&
	    !fit_make_values(&own, &grid))
		r.own = &own;
	if (!err)
		show_stacks(s, &r);
	fit_release(&own);
	grid_release(&grid);
	return err;
}

static int stack_sides(struct stacking *s, int wanted)
{
	const char *one = s->args->workload;
	int err = 0;

	for (s->side = 0; s->side < s->journal.sides && !err; s->side++)
		if (wanted == SIDE_ANY || wanted == s->side)
			err = one ? stack_workload(one, s)
				  : source_each_workload(&s->journal, stack_workload, s);
	return err;
}

int fit_stack(const struct arguments *a)
{
	const struct session_arg session = session_word(a, 0);
	struct stacking s = { .args = a, .grids = json_array() };
	int wanted, err = session_read_any(&s.journal, &session, a->sync, &wanted);

	if (!err)
		err = stack_sources_read(&s.sources, a->from, a->costs, a->sync, &s.journal,
					 wanted);
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
