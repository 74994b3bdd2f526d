/* report.c - what `rift run` prints about the kernels. */
#include "workloads/launch/launch.h"

#include <stdio.h>

#include "common/cuda_check.h"
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

/* Figures of block 0 of the first stream. Rows are labelled as means where they are not medians. */
static void report_spin(const struct launch_state *s, struct report *out)
{
	unsigned long long shortest;
	struct launch_slot slot;

	CUDA(cudaMemcpy(&slot, s->config.slot, sizeof(slot), cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(&shortest, s->config.shortest, sizeof(shortest), cudaMemcpyDeviceToHost));
	add_row(out, "spin asked for", "cycles", (double)s->config.cycles);
	if (!slot.runs)
		return;
	add_row(out, "shortest spin", "cycles", (double)shortest);
	add_row(out, "mean spin", "cycles", (double)slot.cycles / (double)slot.runs);
}

int launch_report(const void *opts, void *state, struct report *out)
{
	const struct launch_opts *o = opts;
	struct launch_state *s = state;
	enum launch_body body = launch_effective_body(o);

	launch_report_held(&s->held, o, out);
	if (o->probe)
		return launch_probe(o, s, out);
	add_row(out, "blocks a launch", "1", s->config.blocks);
	add_row(out, "cycles per us", "1", s->cycles_per_us);
	if (body == LAUNCH_SPIN)
		report_spin(s, out);
	if (body == LAUNCH_WORK) {
		add_row(out, "chain", "multiply-adds", s->config.chain);
		add_row(out, "cycles per link", "1", s->cycles_per_fma);
	}
	return 0;
}
