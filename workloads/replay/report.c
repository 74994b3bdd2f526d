/* report.c - rows of `rift run`: which program it is that is played, and what a step has. */
#include <math.h>
#include <stdio.h>

#include "workloads/replay/replay.h"
#include "workloads/workload.h"

static struct report_row *add(struct report *out, const char *name, const char *unit, double value)
{
	struct report_row *row = &out->row[out->n++];

	*row = (struct report_row){ .name = name, .unit = unit, .value = value };
	return row;
}

static void add_program(const struct replay_plan *p, struct report *out)
{
	struct report_row *row = add(out, "program", "", 0);

	if (p->built_in)
		snprintf(row->text, sizeof(row->text),
			 "none: a pattern of two copies and two kernels; trace=FILE plays one that "
			 "`rift profile` has recorded");
	else
		snprintf(row->text, sizeof(row->text), "%s",
			 *p->program ? p->program : "one whose trace does not name it");
	if (p->has_no_end) {
		row = add(out, "trace", "", 0);
		snprintf(row->text, sizeof(row->text),
			 "has no end: its program was killed, or still runs, or the file was cut");
	}
	row = add(out, "step", "", 0);
	if (p->built_in)
		snprintf(row->text, sizeof(row->text), "the pattern");
	else if (p->whole)
		snprintf(row->text, sizeof(row->text), "all of the trace");
	else
		snprintf(row->text, sizeof(row->text),
			 "a period, the mean of the %ld that the trace has", (long)p->repeats);
}

static void add_counts(const struct replay_plan *p, struct report *out)
{
	static const struct {
		const char *name;
		enum replay_kind kind;
	} rows[] = {
		{ "kernels", ACT_KERNEL }, { "graphs", ACT_GRAPH },	 { "copies", ACT_COPY },
		{ "memsets", ACT_MEMSET }, { "allocations", ACT_ALLOC },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (p->number[rows[i].kind])
			add(out, rows[i].name, "a step", (double)p->number[rows[i].kind]);
	add(out, "host gaps", "us", p->host_ns / 1e3);
	if (p->slept_ns > 0)
		add(out, "of these slept", "us", p->slept_ns / 1e3);
}

/* What the trace says of the program, for comparing with the time of a step. */
static void add_times(const struct replay_plan *p, struct report *out)
{
	struct report_row *row;

	if (p->built_in)
		return;
	add(out, "recorded", "us", p->recorded_ns / 1e3);
	if (!isnan(p->program_ns))
		add(out, "without the recorder", "us", p->program_ns / 1e3);
	if (p->threads <= 1)
		return;
	row = add(out, "threads", "", 0);
	snprintf(row->text, sizeof(row->text),
		 "calls of %d, made by one in the order of their starts", p->threads);
}

int replay_report(const void *opts, void *state, struct report *out)
{
	const struct replay_state *s = state;

	(void)opts;
	add_program(&s->plan, out);
	add_counts(&s->plan, out);
	add_times(&s->plan, out);
	return 0;
}
