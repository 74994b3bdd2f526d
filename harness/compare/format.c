/* format.c - what comparisons print of ratios and differences, and the finding. */
#include "harness/compare/format.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- numbers ---------------------------------------------------------------------------- */

static struct text ratio_text(double ratio)
{
	struct text t; /* of no more than 1e60: times are of ns and more */

	snprintf(t.s, sizeof(t.s), "%.*f", fabs(ratio) < 9.9995 ? 3 : 1, ratio);
	return t;
}

struct figure figure_ratio(const struct interval *i)
{
	struct figure t;

	if (!isfinite(i->value))
		snprintf(t.s, sizeof(t.s), "-");
	else if (!i->known)
		snprintf(t.s, sizeof(t.s), "%s (no interval)", ratio_text(i->value).s);
	else
		snprintf(t.s, sizeof(t.s), "%s (%s to %s)", ratio_text(i->value).s,
			 ratio_text(i->lo).s, ratio_text(i->hi).s);
	return t;
}

struct text figure_value(double value, bool is_ns)
{
	struct text t;

	if (is_ns && isfinite(value))
		return text_time(value);
	snprintf(t.s, sizeof(t.s), isfinite(value) ? "%.4g" : "-", value);
	return t;
}

struct figure figure_difference(const struct interval *i, bool is_ns)
{
	const char *plus = i->value > 0 ? "+" : "";
	struct figure t;

	if (!isfinite(i->value))
		snprintf(t.s, sizeof(t.s), "-");
	else if (!i->known)
		snprintf(t.s, sizeof(t.s), "%s%s (no interval)", plus,
			 figure_value(i->value, is_ns).s);
	else
		snprintf(t.s, sizeof(t.s), "%s%s (%s to %s)", plus, figure_value(i->value, is_ns).s,
			 figure_value(i->lo, is_ns).s, figure_value(i->hi, is_ns).s);
	return t;
}

/* ---- the finding ------------------------------------------------------------------------ */

struct line {
	char *text;
	size_t size, used;
	int said, more; /* clauses; those that are left out */
};

enum { CLAUSES = 3 };

static void append_text(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void append_text(struct line *l, const char *fmt, ...)
{
	va_list args;
	int n = 0;

	va_start(args, fmt);
	if (l->used < l->size)
		n = vsnprintf(l->text + l->used, l->size - l->used, fmt, args);
	va_end(args);
	l->used += n > 0 ? (size_t)n : 0;
}

/* Before a clause; false: there are enough of them. */
static bool begin_clause(struct line *l)
{
	if (l->said == CLAUSES) {
		l->more++;
		return false;
	}
	append_text(l, l->said++ ? "; " : "");
	return true;
}

/* "launch takes 1.46 times as long (95 % interval 1.40 to 1.52, 98 points, n = 10)" */
static void add_workload(struct line *l, const struct compared_workload *w)
{
	const struct interval *r = &w->ratio;

	if (!w->points) {
		append_text(l, "%s has no point with a good result of every process",
			    w->workload->name);
		return;
	}
	append_text(l, "%s takes %s times as long (", w->workload->name, ratio_text(r->value).s);
	if (r->known)
		append_text(l, "95 %% interval %s to %s", ratio_text(r->lo).s, ratio_text(r->hi).s);
	else
		append_text(l, "no interval");
	append_text(l, ", %d points, n = %d)", w->points, r->n);
}

/* Is it what the outcome comes from? */
static bool is_decisive(const struct comparison *c, const struct judged *j)
{
	switch (c->outcome) {
	case OUTCOME_SLOWER:
		return j->verdict == VERDICT_SLOWER;
	case OUTCOME_FASTER:
		return j->verdict == VERDICT_FASTER;
	case OUTCOME_INCONCLUSIVE:
		return !j->not_slower;
	default:
		return false;
	}
}

/* Where nothing differs, or it is inconclusive: how far that is known, by workloads. */
static void add_workloads(struct line *l, const struct comparison *c)
{
	bool all = c->outcome != OUTCOME_SLOWER && c->outcome != OUTCOME_FASTER;

	for (int i = 0; i < c->pairs.n_workloads; i++)
		if ((all || is_decisive(c, &c->workload[i].judged)) && begin_clause(l))
			add_workload(l, &c->workload[i]);
}

static void add_parameters(struct line *l, const struct comparison *c)
{
	for (int i = 0; i < c->parameters.n; i++) {
		const struct compared_parameter *p = &c->parameters.row[i];

		if (p->decides && p->judged.known && is_decisive(c, &p->judged) && begin_clause(l))
			append_text(l, "%s%s%s (%s): %s",
				    c->pairs.n_workloads > 1 ? p->workload->name : "",
				    c->pairs.n_workloads > 1 ? ", " : "", p->row->what,
				    p->row->name, figure_difference(&p->difference, p->is_ns).s);
	}
}

static void add_points(struct line *l, const struct comparison *c)
{
	int n = 0;

	for (int i = 0; i < c->pairs.n; i++)
		n += is_decisive(c, &c->point[i].judged);
	if (c->options.strict && n && begin_clause(l))
		append_text(l, "%d of %d points", n, c->pairs.n);
}

static void add_title(struct line *l, const struct comparison *c)
{
	static const char *const titles[] = {
		"B is the same as A within %.3g %%: ",
		"B is slower than A by more than %.3g %%: ",
		"B is faster than A by more than %.3g %%, or the same: ",
		"B is the same as A within %.3g %%, or faster: ",
		"Inconclusive: B may or may not be slower than A by more than %.3g %%: ",
	};

	append_text(l, titles[c->outcome], 100 * c->options.margin);
}

void figure_finding(const struct comparison *c, char *out, size_t size)
{
	struct line l = { .text = out, .size = size };

	add_title(&l, c);
	add_workloads(&l, c);
	add_parameters(&l, c);
	add_points(&l, c);
	if (l.more)
		append_text(&l, "; and %d more", l.more);
}
