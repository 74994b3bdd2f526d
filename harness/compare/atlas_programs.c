/*
 * atlas_programs.c - which layer hurts which program: a row for each layer, a column for each
 * workload, in one table. plots/programs.gp draws the same.
 */
#include <math.h>
#include <string.h>

#include "harness/compare/atlas_impl.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "workloads/workload.h"

/* ---- cells ------------------------------------------------------------------------------ */

struct text atlas_program_text(const struct atlas_cell *cell)
{
	const double wide = 0.05; /* what might hide a difference that matters */
	struct text t = { "" };
	double r = cell->of.value, half = (cell->of.hi - cell->of.lo) / 2;

	if (cell->state == ATLAS_KNOWN)
		snprintf(t.s, sizeof(t.s), "%.*f", r < 9.95 ? 2 : r < 99.5 ? 1 : 0, r);
	else if (cell->state == ATLAS_NOT_RESOLVED)
		snprintf(t.s, sizeof(t.s), half > wide ? "±%s %%" : "·",
			 text_half_width(half, 0).s);
	else if (cell->state == ATLAS_WRONG)
		snprintf(t.s, sizeof(t.s), "bad %d/%d", cell->wrong, cell->processes);
	else
		snprintf(t.s, sizeof(t.s), "%s", cell->state == ATLAS_NOTHING ? "–" : "no call");
	return t;
}

static void append_count(struct text *t, double n, char what)
{
	size_t used = strlen(t->s);

	if (n > 0)
		snprintf(t->s + used, sizeof(t->s) - used, "%s%.3g%c", used ? " " : "", n, what);
}

struct text atlas_program_kind(const struct atlas *a, const struct workload *w)
{
	const struct atlas_cell base = atlas_step(a, &a->base, w, 0);
	const struct journal *j = &a->base.session;
	const struct cost *c = base.point ? &j->step[base.point->pair->at[PAIR_A]] : NULL;
	struct text t = { "" };

	if (!c || !isfinite(c->launches))
		return t;
	append_count(&t, c->launches, 'k');
	append_count(&t, c->to_device.calls + c->to_host.calls + c->within.calls, 'c');
	append_count(&t, c->allocations, 'a');
	return t;
}

/* ---- the table -------------------------------------------------------------------------- */

enum { PROGRAMS = 4, PROGRAM_COLUMN = 17, NAME_COLUMN = 26 };

/* "2.72, 1.58": at both depths. */
static struct text both_depths(const struct atlas *a, const struct atlas_entry *e,
			       const struct workload *w)
{
	struct text t = { "" };

	for (int i = 0; i < ATLAS_DEPTHS; i++) {
		const struct atlas_cell cell = atlas_step(a, e, w, i);
		size_t used = strlen(t.s);
		struct text one = { "–" };

		if (e != &a->base)
			one = atlas_program_text(&cell);
		else if (cell.point)
			one = text_time(cell.point->step_ns[PAIR_A].value);
		snprintf(t.s + used, sizeof(t.s) - used, "%s%.20s", i ? ", " : "", one.s);
	}
	return t;
}

/* Letters, not bytes, are what a column has. */
static void print_padded(const char *text, int width, FILE *out)
{
	for (const char *c = text; *c; c++)
		width += (*c & 0xc0) == 0x80;
	fprintf(out, "%-*s", width, text);
}

enum row_kind { ROW_NAMES, ROW_KINDS, ROW_TIMES };

static void print_row(const struct atlas *a, const char *name, const struct atlas_entry *e,
		      enum row_kind kind, int first, FILE *out)
{
	const struct text_line safe = text_escaped(name);
	bool apart = strlen(safe.s) > NAME_COLUMN;

	if (apart)
		fprintf(out, "  %s\n", safe.s);
	fprintf(out, "  %-*s ", NAME_COLUMN, apart ? "" : safe.s);
	for (int i = first; i < first + PROGRAMS && atlas_workload(a, i); i++) {
		const struct workload *w = atlas_workload(a, i);
		bool last = i + 1 == first + PROGRAMS || !atlas_workload(a, i + 1);
		struct text t;

		if (kind == ROW_TIMES)
			t = both_depths(a, e, w);
		else if (kind == ROW_KINDS)
			t = atlas_program_kind(a, w);
		else
			snprintf(t.s, sizeof(t.s), "%.40s", w->name);
		print_padded(t.s, last ? 0 : PROGRAM_COLUMN, out);
	}
	fputc('\n', out);
}

void atlas_print_programs(const struct atlas *a, FILE *out)
{
	if (!a->n || !atlas_workload(a, 0) || !atlas_workload(a, 1))
		return;
	fputs("\nwhich layer hurts which program: time of a step over that without it, at depths 1 "
	      "and 64\n",
	      out);
	for (int first = 0; atlas_workload(a, first); first += PROGRAMS) {
		if (first)
			fputc('\n', out);
		print_row(a, "", NULL, ROW_NAMES, first, out);
		print_row(a, "a step", NULL, ROW_KINDS, first, out);
		print_row(a, "base", &a->base, ROW_TIMES, first, out);
		for (int i = 0; i < a->n; i++)
			print_row(a, a->entry[i].name, &a->entry[i], ROW_TIMES, first, out);
	}
	row_of(out, 1, "",
	       "2.72: 2.72 times as long; ·: no difference is shown; ±: none, and the interval is "
	       "so wide; bad: in so many processes results are wrong; –: not swept. 1k 6c: a "
	       "kernel and 6 copies, a: allocations. Depth: steps before a wait; 64: or the "
	       "nearest that was swept. Intervals are below, for each program");
}
