/* compare_text.c - a comparison for people: the finding, then what it rests on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/compare/between.h"
#include "harness/compare/compare.h"
#include "harness/compare/figures.h"
#include "harness/platform.h"
#include "harness/row.h"

enum { POINTS_SHOWN = 20, VALUE_SHOWN = 34 };

/* ---- the finding, and of what ------------------------------------------------------------- */

static const char *text_at(const json_t *header, const char *part, const char *name)
{
	const json_t *o = part ? json_object_get(header, part) : header;
	const char *text = json_string_value(json_object_get(o, name));

	return text ? text : "";
}

static void print_party(const struct comparison *c, int k, FILE *out)
{
	static const char *const halves[] = { "", ", first half", ", second half" };
	const struct party *p = c->party[k];
	const json_t *header = party_header(p);
	const char *platform = text_at(header, "virt", "declared_platform");

	row(out, k ? "B" : "A", "%s%s%s%s: %s%s%s, n = %d processes, begun %s", p->path,
	    p->alone ? "" : ", side ", p->alone ? "" : journal_side_name(p->side), halves[p->half],
	    platform, *platform ? ", " : "", text_at(header, "gpu", "name"), p->n,
	    text_at(header, NULL, "start_utc"));
	if (p->failed)
		row(out, "", "%d of its %d results are missing or failed their check", p->failed,
		    p->n * p->view.plan.n_points);
}

static void print_terms(const struct comparison *c, FILE *out)
{
	const struct compare_options *o = &c->options;
	bool halves = c->party[PAIR_A]->half != HALF_BOTH;
	int needed = judge_processes_needed(c->tests);
	int n = c->party[PAIR_A]->n < c->party[PAIR_B]->n ? c->party[PAIR_A]->n
							  : c->party[PAIR_B]->n;

	row(out, "terms",
	    "margin %.3g %%; 95 %% intervals over processes; tests that decide: %d (Holm, 5 %% for "
	    "each direction)",
	    100 * o->margin, c->tests);
	if (o->between > 0)
		row(out, "",
		    "separate sessions: intervals hold %.3g %% (sd) a session for what differs "
		    "between sessions of one system. It is assumed, not measured; `rift sweep "
		    "--against` takes both platforms in one session, and needs it not",
		    100 * o->between);
	if (n < needed)
		row(out, "",
		    "n = %d is too few: among so many tests a verdict takes %d processes a side "
		    "(rift sweep --processes %d)",
		    n, needed, halves ? 2 * needed : needed);
}

static void print_finding(const struct comparison *c, FILE *out)
{
	char text[1024];

	figure_finding(c, text, sizeof(text));
	fprintf(out, "%s\n", text);
}

/* ---- surroundings ----------------------------------------------------------------------- */

/* A value as it fits into a column. */
static void shown(const json_t *v, char out[VALUE_SHOWN + 1])
{
	char *text = json_is_string(v) ? strdup(json_string_value(v))
		     : v	       ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY)
				       : strdup("missing");

	CHECK(text, "memory of a value");
	snprintf(out, VALUE_SHOWN + 1, "%s", text);
	if (strlen(text) > VALUE_SHOWN)
		memcpy(out + VALUE_SHOWN - 3, "...", 3);
	free(text);
}

static void print_surroundings(const struct comparison *c, FILE *out)
{
	char a[VALUE_SHOWN + 1], b[VALUE_SHOWN + 1];
	const json_t *o;
	size_t i, n = json_array_size(c->surroundings);

	fprintf(out, "\nenvironment: %zu field%s differ%s\n", n, n == 1 ? "" : "s",
		n == 1 ? "s" : "");
	if (n)
		fprintf(out, "  %-26s %-*s  %s\n", "", VALUE_SHOWN, "A", "B");
	json_array_foreach(c->surroundings, i, o)
	{
		shown(json_object_get(o, "a"), a);
		shown(json_object_get(o, "b"), b);
		fprintf(out, "  %-26s %-*s  %s\n", text_at(o, NULL, "field"), VALUE_SHOWN, a, b);
	}
	json_array_foreach(c->warnings, i, o)
	{
		row(out, "  warning", "%s", json_string_value(o));
	}
}

/* ---- parameters --------------------------------------------------------------------------- */

/* Q has no draws, and so no verdict. */
static const char *said_of(const struct compared_parameter *p)
{
	if (p->decides)
		return verdict_names[p->judged.verdict];
	return isfinite(p->difference.value) ? verdict_names[p->judged.alone] : "";
}

static void print_identified(const struct compared_parameter *p, FILE *out)
{
	fprintf(out, "  %-5s %10s %10s  %-34s %-25s %-6s  %s%s\n", p->row->name,
		figure_value(p->of[PAIR_A].value, p->is_ns).s,
		figure_value(p->of[PAIR_B].value, p->is_ns).s,
		figure_difference(&p->difference, p->is_ns).s, figure_ratio(&p->ratio).s,
		said_of(p), p->decides ? "" : "(informs) ", p->row->what);
}

static void print_parameter(const struct compared_parameter *p, FILE *out)
{
	const char *label = p->row->name;

	if (p->identified) {
		print_identified(p, out);
		return;
	}
	if (!strcmp(p->why[PAIR_A], p->why[PAIR_B])) {
		fprintf(out, "  %-5s A, B: not identified: %s\n", label, p->why[PAIR_A]);
		return;
	}
	for (int k = 0; k < 2; k++) {
		fprintf(out, "  %-5s %s: ", label, k ? "B" : "A");
		if (*p->why[k])
			fprintf(out, "not identified: %s\n", p->why[k]);
		else
			fprintf(out, "%s\n", figure_value(p->of[k].value, p->is_ns).s);
		label = "";
	}
}

static void print_parameters(const struct comparison *c, int number, FILE *out)
{
	const struct modelled *m = &c->parameters.modelled[number];

	fprintf(out, "\nparameters of %s: what rift fit finds in points that both have, n = %d and %d\n",
		m->workload->name, c->party[PAIR_A]->n, c->party[PAIR_B]->n);
	if (!m->is) {
		fprintf(out, "  none: %s\n", m->why_not);
		return;
	}
	fprintf(out, "  %-5s %10s %10s  %-34s %s\n", "", "A", "B", "B - A (95 %)", "B / A (95 %)");
	for (int i = 0; i < c->parameters.n; i++)
		if (c->parameters.row[i].workload == m->workload)
			print_parameter(&c->parameters.row[i], out);
	fprintf(out, "  the model is off by %.1f %% on A, %.1f %% on B (median over its points)\n",
		100 * m->residual[PAIR_A], 100 * m->residual[PAIR_B]);
}

/* ---- workloads and points ----------------------------------------------------------------- */

static void print_workloads(const struct comparison *c, FILE *out)
{
	fprintf(out, "\nworkloads: geometric mean of B / A over points, time per step (95 %%)\n");
	for (int i = 0; i < c->pairs.n_workloads; i++) {
		const struct compared_workload *w = &c->workload[i];

		fprintf(out, "  %-15s %-34s %-6s  %d points", w->workload->name,
			figure_ratio(&w->ratio).s, verdict_names[w->judged.verdict], w->points);
		if (w->left_out)
			fprintf(out, "; %d left out, some process lacks them", w->left_out);
		fprintf(out, "\n");
	}
}

static double size_of(const struct compared_point *p)
{
	return isfinite(p->ratio.value) ? fabs(log(p->ratio.value)) : -1;
}

/* Those that differ first, then by size; all are in the order of the plan otherwise. */
static int by_size(const void *x, const void *y)
{
	const struct compared_point *a = *(const struct compared_point *const *)x;
	const struct compared_point *b = *(const struct compared_point *const *)y;
	bool differs_a = a->judged.verdict == VERDICT_SLOWER || a->judged.verdict == VERDICT_FASTER;
	bool differs_b = b->judged.verdict == VERDICT_SLOWER || b->judged.verdict == VERDICT_FASTER;

	if (differs_a != differs_b)
		return differs_a ? -1 : 1;
	if (size_of(a) != size_of(b))
		return size_of(a) > size_of(b) ? -1 : 1;
	return a->pair->at[PAIR_A] - b->pair->at[PAIR_A];
}

static void print_point(const struct comparison *c, const struct compared_point *p, FILE *out)
{
	char text[160];

	plan_point_text(&c->party[PAIR_A]->view.plan, p->pair->at[PAIR_A], text, sizeof(text));
	fprintf(out, "  %-6s %10s %10s  %-25s %s\n", verdict_names[p->judged.verdict],
		figure_value(p->step_ns[PAIR_A].value, true).s,
		figure_value(p->step_ns[PAIR_B].value, true).s, figure_ratio(&p->ratio).s, text);
}

static void print_point_rows(const struct comparison *c, bool all, FILE *out)
{
	const struct compared_point **sorted = calloc((size_t)c->pairs.n + 1, sizeof(*sorted));
	int differ = c->count[VERDICT_SLOWER] + c->count[VERDICT_FASTER];
	int shown_n = all ? c->pairs.n : differ < POINTS_SHOWN ? differ : POINTS_SHOWN;

	CHECK(sorted, "memory of %d points", c->pairs.n);
	for (int i = 0; i < c->pairs.n; i++)
		sorted[i] = &c->point[i];
	qsort(sorted, (size_t)c->pairs.n, sizeof(struct compared_point *), by_size);
	if (shown_n)
		fprintf(out, "  %-6s %10s %10s  %s\n", "", "A", "B", "B / A (95 %)");
	for (int i = 0; i < shown_n; i++)
		print_point(c, sorted[i], out);
	if (shown_n < differ)
		fprintf(out, "  and %d more that differ: --all shows every point\n",
			differ - shown_n);
	free(sorted);
}

static void print_points(const struct comparison *c, bool all, FILE *out)
{
	fprintf(out, "\npoints, time per step: %d slower, %d faster, %d same, %d open, of %d\n",
		c->count[VERDICT_SLOWER], c->count[VERDICT_FASTER], c->count[VERDICT_SAME],
		c->count[VERDICT_OPEN], c->pairs.n - c->left_out);
	print_point_rows(c, all, out);
	if (c->alone)
		fprintf(out,
			"  %d of the open ones are beyond the margin by themselves; among so many "
			"points that proves nothing (Benjamini-Hochberg)\n",
			c->alone);
	if (c->left_out)
		fprintf(out, "  left out: %d points that some process has no good result of\n",
			c->left_out);
	if (c->pairs.only[PAIR_A] || c->pairs.only[PAIR_B])
		fprintf(out, "  left out: %d points that only A has, %d that only B has\n",
			c->pairs.only[PAIR_A], c->pairs.only[PAIR_B]);
	if (!c->options.strict)
		fprintf(out, "  single points inform; with --strict they count\n");
}

void compare_print(const struct comparison *c, bool all, FILE *out)
{
	print_finding(c, out);
	print_party(c, PAIR_A, out);
	print_party(c, PAIR_B, out);
	print_terms(c, out);
	print_surroundings(c, out);
	for (int i = 0; i < c->pairs.n_workloads; i++)
		print_parameters(c, i, out);
	print_workloads(c, out);
	print_points(c, all, out);
}
