/* compare_text.c - a comparison for people and for machines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/compare/compare.h"
#include "harness/compare/format.h"
#include "harness/compare/environment_diff.h"
#include "harness/platform/platform.h"
#include "harness/measure/plan_record.h"
#include "harness/record/environment.h"
#include "harness/stats/interval_json.h"
#include "workloads/workload.h"

/* ---- a comparison for people: the finding, then what it rests on ------------------------ */

enum { PARAMETER_LABEL = 7 };

/* ---- the finding, and of what ------------------------------------------------------------- */

static const char *text_at(const json_t *header, const char *part, const char *name)
{
	const json_t *o = part ? json_object_get(header, part) : header;
	const char *text = json_string_value(json_object_get(o, name));

	return text ? text : "";
}

static void print_compared_side(const struct comparison *c, int k, FILE *out)
{
	static const char *const halves[] = { "", ", first half", ", second half" };
	const struct compared_side *p = c->side[k];
	const json_t *header = side_header(p);
	const char *platform = text_at(header, "virt", "declared_platform");
	char layers[LAYERS_TEXT];

	environment_layers(header, layers);
	row(out, k ? "B" : "A", "%s%s%s%s: %s%s%s, n = %s, begun %s", p->path,
	    p->alone ? "" : ", side ", p->alone ? "" : journal_side_name(p->side), halves[p->half],
	    platform, *platform ? ", " : "", text_at(header, "gpu", "name"),
	    counted(p->n, "process").s, text_at(header, NULL, "start_utc"));
	if (*layers)
		row(out, "", "%s", layers);
}

/* One process on its own is no kind. */
static bool has_kinds(const struct modality *m, int n)
{
	int slow = (int)lround(n * m->mode[1].share);

	return m->bimodal && slow > 1 && n - slow > 1;
}

/* Between two kinds a median says less than it seems, and many more processes are needed. */
static void print_kinds(const struct comparison *c, FILE *out)
{
	for (int i = 0; i < c->pairs.n_workloads; i++)
		for (int k = 0; k < 2; k++) {
			const struct modality *m = &c->workload[i].kinds[k];
			int n = c->side[k]->n, slow = (int)lround(n * m->mode[1].share);

			if (has_kinds(m, n))
				row(out, "two groups",
				    "%s on %c: %d of %d processes take %.3g times as long as the "
				    "others; if its ratio is near the margin, measure more "
				    "processes",
				    c->workload[i].workload->name, 'A' + k, slow, n,
				    m->mode[1].median / m->mode[0].median);
		}
}

static void print_terms(const struct comparison *c, FILE *out)
{
	const struct compare_options *o = &c->options;
	const struct contrast *t = &c->contrast;
	char level[64] = "too few processes for intervals";

	if (t->rank)
		snprintf(level, sizeof(level), "exact %.3g %% intervals over %s", 100 * t->level,
			 t->paired ? "pairs" : "processes");
	row(out, "terms", "margin %.3g %%; %s; %s", 100 * o->margin, level,
	    c->pairs.n_workloads > 1 ? "the mean over workloads decides, and each workload (Holm)"
				     : "the workload decides");
	if (t->tail < JUDGE_LEVEL)
		row(out, "", "the session could end at %.0f interim analyses, which share 5 %%",
		    JUDGE_LEVEL / t->tail);
	if (o->session_sd > 0)
		row(out, "",
		    "separate sessions may be %.3g %% apart by themselves (sd %.3g %% each, "
		    "assumed, not measured), which widens intervals; `rift sweep --against` takes "
		    "both platforms in one session, which needs no such assumption",
		    100 * (t->apart - 1), 100 * o->session_sd);
	print_kinds(c, out);
}

static void print_finding(const struct comparison *c, FILE *out)
{
	char text[1024];

	compare_finding(c, text, sizeof(text));
	fprintf(out, "%s\n", text);
}

/* ---- parameters --------------------------------------------------------------------------- */

/* Q has no draws, and so no verdict. */
static const char *verdict_text(const struct compared_parameter *p)
{
	return isfinite(p->difference.value) ? verdict_names[p->judged.verdict] : "";
}

static void print_identified(const struct compared_parameter *p, FILE *out)
{
	const char *said = verdict_text(p);

	fprintf(out, "  %-5s %10s %10s  %-34s %-*s%s\n", p->row->name,
		figure_value(p->of[PAIR_A].value, p->is_ns).s,
		figure_value(p->of[PAIR_B].value, p->is_ns).s,
		figure_difference(&p->difference, p->is_ns).s, *said ? 26 : 0,
		figure_ratio(&p->ratio).s, said);
}

static void print_unidentified(const struct compared_parameter *p, FILE *out)
{
	bool alike = !strcmp(p->why[PAIR_A], p->why[PAIR_B]);
	char label[16], text[sizeof(p->why[0]) + 32];

	snprintf(label, sizeof(label), "  %s", p->row->name);
	for (int k = 0; k < (alike ? 1 : 2); k++) {
		const char *side = alike ? "A, B" : k ? "B" : "A";

		if (*p->why[k])
			snprintf(text, sizeof(text), "%s: %s", side, p->why[k]);
		else
			snprintf(text, sizeof(text), "%s: %s", side,
				 figure_value(p->of[k].value, p->is_ns).s);
		row_of(out, PARAMETER_LABEL, label, text);
		*label = '\0';
	}
}

/* What the names of those in the table stand for. */
static void print_names(const struct comparison *c, const struct workload *w, FILE *out)
{
	const char *comma = "";
	size_t size;
	char *text;
	FILE *line = open_memstream(&text, &size);

	CHECK(line, "memory of a line");
	for (int i = 0; i < c->parameters.n; i++) {
		const struct compared_parameter *p = &c->parameters.row[i];

		if (p->workload != w || !p->identified)
			continue;
		fprintf(line, "%s%s: %s", comma, p->row->name, p->row->what);
		comma = "; ";
	}
	CHECK(!fclose(line), "memory of a line");
	row_of(out, 1, "", text);
	free(text);
}

/* Those that both sides' points tell, or the others, under one heading. */
static void print_rows(const struct comparison *c, const struct workload *w, bool identified,
		       FILE *out)
{
	bool first = true;

	for (int i = 0; i < c->parameters.n; i++) {
		const struct compared_parameter *p = &c->parameters.row[i];

		if (p->workload != w || p->identified != identified)
			continue;
		if (first && !identified)
			fprintf(out, "  not identified:\n");
		first = false;
		(identified ? print_identified : print_unidentified)(p, out);
	}
}

static void print_parameters(const struct comparison *c, int number, FILE *out)
{
	const struct modelled *m = &c->parameters.modelled[number];

	fprintf(out, "\nparameters of %s, as rift fit finds them in points that both sides have\n",
		m->workload->name);
	if (!m->is) {
		fprintf(out, "  none: %s\n", text_escaped(m->why_not).s);
		return;
	}
	fprintf(out, "  %-5s %10s %10s  %-34s %s\n", "", "A", "B", "B - A (95 %)", "B / A (95 %)");
	print_rows(c, m->workload, true, out);
	print_names(c, m->workload, out);
	print_rows(c, m->workload, false, out);
	fprintf(out, "  the verdict does not depend on parameters (intervals corrected by "
		     "Benjamini-Hochberg)\n");
	fprintf(out, "  the model is off by %.1f %% on A, %.1f %% on B (median over its points)\n",
		100 * m->residual[PAIR_A], 100 * m->residual[PAIR_B]);
}

/* ---- workloads and points ----------------------------------------------------------------- */

/* Those that differ first, and of them the one that differs most. */
static int worst_first(const void *x, const void *y)
{
	const struct compared_workload *a = *(const struct compared_workload *const *)x;
	const struct compared_workload *b = *(const struct compared_workload *const *)y;
	double of_a = isfinite(a->ratio.value) ? a->ratio.value : -1;
	double of_b = isfinite(b->ratio.value) ? b->ratio.value : -1;

	return (of_a < of_b) - (of_a > of_b);
}

static void print_workload(const struct compared_workload *w, FILE *out)
{
	fprintf(out, "  %-15s %-34s %-13s %s", w->workload->name, figure_ratio(&w->ratio).s,
		verdict_names[w->judged.verdict], counted(w->points, "point").s);
	if (w->left_out)
		fprintf(out, "; %d left out, some process lacks them", w->left_out);
	fprintf(out, "\n");
}

const struct compared_workload **compare_worst_first(const struct comparison *c)
{
	int n = c->pairs.n_workloads;
	const struct compared_workload **sorted = calloc((size_t)n + 1, sizeof(*sorted));

	CHECK(sorted, "memory of %d workloads", n);
	for (int i = 0; i < n; i++)
		sorted[i] = &c->workload[i];
	qsort(sorted, (size_t)n, sizeof(struct compared_workload *), worst_first);
	return sorted;
}

static void print_workloads(const struct comparison *c, FILE *out)
{
	const struct compared_workload **sorted = compare_worst_first(c);

	fprintf(out, "\n  %-15s %s\n", "workload", "B / A, time per step (mean over points)");
	for (int i = 0; i < c->pairs.n_workloads; i++)
		print_workload(sorted[i], out);
	fprintf(out, "\n");
	free(sorted);
}

static double point_size(const struct compared_point *p)
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

	int order = differs_b - differs_a;

	if (!order)
		order = (point_size(a) < point_size(b)) - (point_size(a) > point_size(b));
	return order ? order : a->pair->at[PAIR_A] - b->pair->at[PAIR_A];
}

static void print_point(const struct comparison *c, const struct compared_point *p, FILE *out)
{
	char text[160];

	plan_point_text(&c->side[PAIR_A]->view.plan, p->pair->at[PAIR_A], text, sizeof(text));
	fprintf(out, "  %-6s %10s %10s  %-25s %s\n", verdict_names[p->judged.verdict],
		figure_value(p->step_ns[PAIR_A].value, true).s,
		figure_value(p->step_ns[PAIR_B].value, true).s, figure_ratio(&p->ratio).s, text);
}

static void print_point_rows(const struct comparison *c, FILE *out)
{
	const struct compared_point **sorted = calloc((size_t)c->pairs.n + 1, sizeof(*sorted));

	CHECK(sorted, "memory of %d points", c->pairs.n);
	for (int i = 0; i < c->pairs.n; i++)
		sorted[i] = &c->point[i];
	qsort(sorted, (size_t)c->pairs.n, sizeof(struct compared_point *), by_size);
	fprintf(out, "  %-6s %10s %10s  %s\n", "", "A", "B", "B / A");
	for (int i = 0; i < c->pairs.n; i++)
		print_point(c, sorted[i], out);
	free(sorted);
}

/* "3 slower, 0 faster, 0 same, 0 inconclusive of 3" */
static void say_counts(const struct comparison *c, char *out, size_t size)
{
	snprintf(out, size, "%d slower, %d faster, %d same, %d inconclusive of %d",
		 c->count[VERDICT_SLOWER], c->count[VERDICT_FASTER], c->count[VERDICT_SAME],
		 c->count[VERDICT_INCONCLUSIVE], c->pairs.n - c->left_out);
}

static void print_points(const struct comparison *c, FILE *out)
{
	char counts[160];

	say_counts(c, counts, sizeof(counts));
	fprintf(out, "\npoints, time per step: %s\n", counts);
	print_point_rows(c, out);
	if (c->alone)
		fprintf(out,
			"  %d of the inconclusive points are beyond the margin on their own, which "
			"proves nothing among so many (Benjamini-Hochberg)\n",
			c->alone);
	if (!c->options.strict)
		fprintf(out,
			"  the verdict does not depend on single points, except with --strict\n");
}

static void print_left_out(const struct comparison *c, FILE *out)
{
	if (c->left_out)
		row(out, "left out", "%s without a good result of every process",
		    counted(c->left_out, "point").s);
	if (c->pairs.only[PAIR_A] || c->pairs.only[PAIR_B])
		row(out, "left out", "%s that only A has, %d that only B has",
		    counted(c->pairs.only[PAIR_A], "point").s, c->pairs.only[PAIR_B]);
}

static void print_more(const struct comparison *c, FILE *out)
{
	char counts[160];

	say_counts(c, counts, sizeof(counts));
	row(out, "more", "--all: parameters and points (%s)", counts);
}

void compare_print(const struct comparison *c, bool all, FILE *out)
{
	print_finding(c, out);
	print_workloads(c, out);
	print_compared_side(c, PAIR_A, out);
	print_compared_side(c, PAIR_B, out);
	environment_diff_print(c->environment_diff, c->warnings, out);
	print_terms(c, out);
	print_left_out(c, out);
	if (!all) {
		print_more(c, out);
		return;
	}
	for (int i = 0; i < c->pairs.n_workloads; i++)
		print_parameters(c, i, out);
	print_points(c, out);
}

/* ---- a comparison for machines ---------------------------------------------------------- */

/* The p-values as corrected; null where nothing was judged. */
static void add_judged(json_t *o, const struct judged *j)
{
	json_object_set_new(o, "verdict", json_string(verdict_names[j->verdict]));
	json_object_set_new(o, "verdict_alone", json_string(verdict_names[j->alone]));
	json_object_set_new(o, "p_slower", j->known ? json_number(j->p_slower) : json_null());
	json_object_set_new(o, "p_faster", j->known ? json_number(j->p_faster) : json_null());
}

static json_t *side_json(const struct compared_side *p)
{
	static const char *const halves[] = { NULL, "first", "second" };
	const json_t *header = side_header(p);
	const json_t *virt = json_object_get(header, "virt"), *gpu = json_object_get(header, "gpu");
	json_t *o = json_pack("{s:o, s:s, s:s, s:o, s:i, s:i, s:o}", "file", json_text(p->path),
			      "session_id", p->view.session_id, "side", journal_side_name(p->side),
			      "half", json_text(halves[p->half]), "processes", p->n, "failed",
			      p->failed, "canary_ns", json_number(p->canary_ns));

	json_object_set(o, "gpu", json_object_get(gpu, "name"));
	json_object_set(o, "declared_platform", json_object_get(virt, "declared_platform"));
	json_object_set(o, "start_utc", json_object_get(header, "start_utc"));
	json_object_set(o, "layers", json_object_get(header, "layers"));
	return o;
}

static json_t *parameter_json(const struct compared_parameter *p)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "workload",
			      p->workload->name, "name", p->row->name, "symbol", p->row->symbol,
			      "unit", p->row->unit, "a", interval_json(&p->of[PAIR_A]), "b",
			      interval_json(&p->of[PAIR_B]), "difference",
			      interval_json(&p->difference), "ratio", interval_json(&p->ratio));

	for (int k = 0; k < 2; k++)
		json_object_set_new(o, k ? "why_not_b" : "why_not_a",
				    *p->why[k] ? json_text(p->why[k]) : json_null());
	add_judged(o, &p->judged);
	return o;
}

static json_t *mean_json(const struct compared_workload *w)
{
	json_t *o = json_pack("{s:o, s:i, s:i, s:o, s:b}", "workload",
			      w->workload ? json_text(w->workload->name) : json_null(), "points",
			      w->points, "left_out", w->left_out, "ratio", interval_json(&w->ratio),
			      "two_kinds",
			      has_kinds(&w->kinds[PAIR_A], w->ratio.n) ||
				      has_kinds(&w->kinds[PAIR_B], w->ratio.n));

	add_judged(o, &w->judged);
	return o;
}

static json_t *workload_json(const struct comparison *c, int i)
{
	const struct modelled *m = &c->parameters.modelled[i];
	json_t *o = mean_json(&c->workload[i]);

	json_object_set_new(o, "why_no_model", m->is ? json_null() : json_text(m->why_not));
	return o;
}

static json_t *faults_json(const struct faults *f)
{
	return json_pack("{s:i, s:i, s:i, s:i, s:s}", "results", f->results, "wrong", f->wrong,
			 "lacking", f->lacking, "missing", f->missing, "lacks", f->lacks);
}

static json_t *point_json(const struct comparison *c, const struct compared_point *p)
{
	const struct plan *plan = &c->side[PAIR_A]->view.plan;
	json_t *o =
		json_pack("{s:s, s:o, s:o, s:o, s:o}", "key", plan->point[p->pair->at[PAIR_A]].key,
			  "axes", plan_axes_json(plan, p->pair->at[PAIR_A]), "a_step_ns",
			  interval_json(&p->step_ns[PAIR_A]), "b_step_ns",
			  interval_json(&p->step_ns[PAIR_B]), "ratio", interval_json(&p->ratio));

	add_judged(o, &p->judged);
	return o;
}

static json_t *counts_json(const struct comparison *c)
{
	json_t *o = json_pack("{s:i, s:i, s:i, s:i}", "points", c->pairs.n, "left_out", c->left_out,
			      "only_a", c->pairs.only[PAIR_A], "only_b", c->pairs.only[PAIR_B]);

	for (int v = 0; v <= VERDICT_INCONCLUSIVE; v++)
		json_object_set_new(o, verdict_names[v], json_integer(c->count[v]));
	json_object_set_new(o, "open_by_correction", json_integer(c->alone));
	return o;
}

static json_t *terms_json(const struct comparison *c)
{
	const struct contrast *t = &c->contrast;

	return json_pack("{s:f, s:f, s:f, s:b, s:b, s:b, s:f, s:o, s:i}", "margin",
			 c->options.margin, "session_sd", c->options.session_sd, "apart", t->apart,
			 "strict", c->options.strict, "forced", c->options.force, "paired",
			 t->paired, "tail", t->tail, "interval_level", json_number(t->level),
			 "processes_needed", c->needed);
}

json_t *compare_json(const struct comparison *c)
{
	json_t *parameters = json_array(), *workloads = json_array(), *points = json_array();
	char finding[1024];

	compare_finding(c, finding, sizeof(finding));
	for (int i = 0; i < c->parameters.n; i++)
		json_array_append_new(parameters, parameter_json(&c->parameters.row[i]));
	for (int i = 0; i < c->pairs.n_workloads; i++)
		json_array_append_new(workloads, workload_json(c, i));
	for (int i = 0; i < c->pairs.n; i++)
		json_array_append_new(points, point_json(c, &c->point[i]));
	return json_pack(
		"{s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:O, s:O, s:o, s:o, s:o, "
		"s:o, s:o}",
		"verdict", outcome_name(c->outcome), "verdict_by_time", outcome_name(c->by_time),
		"finding", finding, "exit_code", (int)compare_exit_code(c), "terms", terms_json(c),
		"a", side_json(c->side[PAIR_A]), "b", side_json(c->side[PAIR_B]), "faults_a",
		faults_json(&c->faults[PAIR_A]), "faults_b", faults_json(&c->faults[PAIR_B]),
		"environment", c->environment_diff, "warnings", c->warnings, "parameters",
		parameters, "mean", mean_json(&c->whole), "workloads", workloads, "counts",
		counts_json(c), "points", points);
}
