/* report.c - all that `rift fit` says of one side of a session. */
#include "harness/model/report.h"

void report_make(struct fit_report *r, const struct fit *f, const struct report_options *o)
{
	*r = (struct fit_report){ .fit = f, .options = *o };
	validate_grid(&r->held_out, f->grid);
	if (o->off_grid)
		validate_off_grid(&r->off_grid, f, o->off_grid);
	r->n_signs = signs_of(f, r->sign);
}

void report_release(struct fit_report *r)
{
	validation_release(&r->held_out);
	validation_release(&r->off_grid);
}
