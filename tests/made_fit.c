/* made_fit.c - the grid and the fit of a made-up session. */
#include "tests/made_fit.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

void made_grid(struct made *m, const struct fake_session *s)
{
	fake_session_journal(s, &m->journal);
	cr_assert(zero(int, grid_make(&m->grid, &m->journal, 0, NULL)), "grid");
}

void made_fit(struct made *m, const struct fake_session *s)
{
	made_grid(m, s);
	cr_assert(zero(int, fit_make(&m->fit, &m->grid, 0)), "fit");
}

void made_release(struct made *m)
{
	fit_release(&m->fit);
	grid_release(&m->grid);
	journal_release(&m->journal);
}

struct fake_session few_processes(double noise)
{
	struct fake_session s = fake_session();

	s.processes = 5;
	s.noise = noise;
	return s;
}
