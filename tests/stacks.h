/* stacks.h - made-up sessions taken apart, and what their parts are held against. */
#ifndef RIFT_TESTS_STACKS_H
#define RIFT_TESTS_STACKS_H

#include "harness/fit/stack.h"
#include "tests/made_fit.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

/* Without noise, of the quick grid. */
static inline struct fake_session quiet(void)
{
	struct fake_session s = fake_session();

	s.processes = 5;
	s.noise = 0;
	s.quick = true;
	return s;
}

/* ---- expectations ------------------------------------------------------------------------- */

static inline const struct stack *find_stack(const struct grid *g, const struct stack *all,
					     enum mode mode, double size, int64_t depth)
{
	for (int i = 0; i < g->n_points; i++)
		if (g->point[i].batch.mode == mode && g->size[g->point[i].size].value == size &&
		    (int64_t)g->point[i].batch.depth == depth)
			return &all[i];
	cr_assert(false, "%d %g %ld was swept", mode, size, (long)depth);
	return NULL;
}

/* NAN: there is no such part. Known ones to 1 % of the block. */
static inline void expect(const struct stack *s, const double want[STACK_OTHER])
{
	for (int k = 0; k < STACK_OTHER; k++) {
		cr_assert(eq(int, isnan(s->part_ns[k]), isnan(want[k])), "%s: %g of %g",
			  stack_names[k], s->part_ns[k], s->total_ns);
		if (!isnan(want[k]))
			cr_assert(epsilon_eq(dbl, s->part_ns[k], want[k], 0.01 * s->total_ns),
				  "%s: %g, not %g, of %g", stack_names[k], s->part_ns[k], want[k],
				  s->total_ns);
	}
	cr_assert(le(dbl, fabs(s->part_ns[STACK_OTHER]), 0.01 * s->total_ns), "other: %g of %g",
		  s->part_ns[STACK_OTHER], s->total_ns);
}

static inline void adds_up(const struct grid *g, const struct stack *all)
{
	for (int i = 0; i < g->n_points; i++) {
		double sum = 0;

		for (int k = 0; k < STACK_PARTS; k++)
			sum += isnan(all[i].part_ns[k]) ? 0 : all[i].part_ns[k];
		cr_assert(epsilon_eq(dbl, sum, all[i].total_ns, 1e-6 * all[i].total_ns),
			  "point %d: %g of %g", i, sum, all[i].total_ns);
	}
}

static inline bool has_note(const struct stack_request *r, const struct stack *all,
			    const char *what)
{
	struct stack_notes notes;

	stack_notes(&notes, r, all);
	for (int i = 0; i < notes.n; i++)
		if (strstr(notes.text[i], what))
			return true;
	return false;
}

#endif
