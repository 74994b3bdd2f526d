/* report.c - what `rift run` prints about a sort: rates of blocks of its own, and sizes. */
#include "common/check.h"
#include "workloads/radixsort/radixsort.h"
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

int radixsort_report(const void *opts, void *state, struct report *out)
{
	const struct radixsort_opts *o = opts;
	const struct radixsort_state *s = state;
	bool streamed = o->set.data == STREAMED_STREAMED;
	int64_t n;
	double ns = dataset_step_ns(radixsort_step, o, state, &n);
	double bytes = streamed ? (double)dataset_bytes(&s->set.shape) : radixsort_bytes_moved(o);

	add_row(out, "pairs", "G/s", (double)o->pairs / ns)->n = n;
	add_row(out, streamed ? "copied" : "moved", "GB/s", bytes / ns)->n = n;
	dataset_touched_text(&s->set, add_row(out, "working set", "", 0)->text);
	if (streamed)
		dataset_copies_text(&s->set, add_row(out, "copies a step", "", 0)->text);
	return 0;
}
