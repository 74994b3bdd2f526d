/* report.c - what `rift run` prints about trees: rates, and how much of the work is of use. */
#include "common/check.h"
#include "workloads/binomial/binomial.h"
#include "workloads/binomial/plan.h"
#include "workloads/workload.h"

static struct report_row *add_row(struct report *r, const char *name, const char *unit,
				  double value)
{
	struct report_row *row = &r->row[r->n];

	CHECK(r->n < REPORT_ROWS_MAX, "%s", name);
	r->n++;
	*row = (struct report_row){ .name = name, .unit = unit, .value = value };
	return row;
}

int binomial_report(const void *opts, void *state, struct report *out)
{
	const struct binomial_opts *o = opts;
	const struct binomial_state *s = state;
	double nodes = (double)o->steps * (double)(o->steps + 1) / 2 * (double)o->options;
	int64_t n;
	double ns = dataset_step_ns(binomial_step, o, state, &n);

	add_row(out, "options", "M/s", (double)o->options / ns * 1e3)->n = n;
	add_row(out, "nodes", "G/s", nodes / ns)->n = n;
	add_row(out, "nodes of use", "%", 100 * binomial_useful(&s->plan));
	add_row(out, "warps of a tree", "warps", s->plan.warps);
	dataset_touched_text(&s->set, add_row(out, "working set", "", 0)->text);
	if (o->set.data == STREAMED_STREAMED)
		dataset_copies_text(&s->set, add_row(out, "copies a step", "", 0)->text);
	return 0;
}
