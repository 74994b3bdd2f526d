/* report.c - probe=yes: what each call takes at one length, and by itself and per node. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "workloads/graph/measure.h"

enum { LENGTHS = 4 };

struct probe {
	struct graph_state *s;
	struct report *out;
	int n; /* lengths, the last one the option's */
	struct measure_length length[LENGTHS];
};

static struct report_row *next_row(struct probe *p, const char *name, const char *what)
{
	struct report *out = p->out;
	char *text = (*p->s->names)[out->n];

	CHECK(out->n < REPORT_ROWS_MAX, "%s", name);
	snprintf(text, sizeof((*p->s->names)[0]), "%s%s", name, what);
	out->row[out->n] = (struct report_row){ .name = text, .unit = "" };
	return &out->row[out->n++];
}

static void add_values(struct probe *p, const struct graph_opts *o)
{
	const struct measure_length *m = &p->length[p->n - 1];

	for (int q = 0; q < MEASURE_QUANTITIES; q++) {
		struct report_row *row;

		if (!graph_has(o, (enum measure_quantity)q))
			continue;
		row = next_row(p, graph_quantities[q].name, "");
		if (m->why[q]) {
			snprintf(row->text, sizeof(row->text), "%s", m->why[q]);
			continue;
		}
		row->unit = graph_quantities[q].unit;
		row->value = m->value[q];
		row->n = m->n[q];
	}
}

static void add_number(struct probe *p, const char *name, const char *what, const char *unit,
		       double value)
{
	struct report_row *row = next_row(p, name, what);

	row->unit = unit;
	row->value = value;
}

/* What does not depend on the length has no such parts. */
static bool has_parts(int q)
{
	return q != MEASURE_PARAMS && q != MEASURE_FIRST_CHAIN && q != MEASURE_LAST_CHAIN;
}

static void add_fits(struct probe *p)
{
	for (int q = 0; q < MEASURE_QUANTITIES; q++) {
		struct line l = graph_measure_fit(p->length, p->n, (enum measure_quantity)q);

		if (!has_parts(q) || !isfinite(l.slope))
			continue;
		add_number(p, graph_quantities[q].name, ", fixed", graph_quantities[q].unit,
			   l.fixed);
		add_number(p, graph_quantities[q].name, ", a node", graph_quantities[q].unit,
			   l.slope);
	}
}

static int measure_lengths(const struct graph_opts *o, struct probe *p)
{
	const int64_t lengths[LENGTHS] = { 10, 100, 1025, o->length };
	struct measure_plan plan;
	bool alone = o->probe == GRAPH_ONE;
	int err = 0;

	graph_measure_init(&plan, o->probe != GRAPH_YES);
	for (int i = alone ? LENGTHS - 1 : 0; i < LENGTHS && !err; i++) {
		struct graph_opts of_length = *o;

		if (i < LENGTHS - 1 && lengths[i] == o->length)
			continue; /* comes last */
		of_length.length = lengths[i];
		err = graph_measure(&plan, &of_length, &p->length[p->n++]);
	}
	graph_measure_release(&plan);
	return err;
}

static int probe(const struct graph_opts *o, struct graph_state *s, struct report *out)
{
	struct probe *p = calloc(1, sizeof(*p));
	int err;

	s->names = calloc(1, sizeof(*s->names));
	CHECK(p && s->names, "memory of a probe");
	p->s = s;
	p->out = out;
	err = measure_lengths(o, p);
	if (!err) {
		add_number(p, "nodes", "", "1", (double)p->length[p->n - 1].nodes);
		add_values(p, o);
		add_fits(p);
	}
	free(p);
	return err;
}

int graph_report(const void *opts, void *state, struct report *out)
{
	const struct graph_opts *o = opts;

	return o->probe ? probe(o, state, out) : 0;
}
