/* atlas_text.c - an atlas for people and for machines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/compare/atlas_impl.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/compare/format.h"
#include "harness/measure/plan_record.h"
#include "harness/record/environment.h"
#include "harness/record/recorded.h"
#include "harness/stats/interval_json.h"
#include "workloads/workload.h"

enum { COLUMNS = ATLAS_COLUMNS, NAME_COLUMN = 26, CELL_COLUMN = 33 };

/* ---- cells ------------------------------------------------------------------------------ */

/* The unit of the largest of a value and its interval, and three digits of that. */
struct scale {
	double unit;
	int decimals;
	const char *name;
};

/* Four units, each a thousand times the one before; the smallest is 1. */
static struct scale scale_of(const struct interval *i, const char *const names[4])
{
	double most = fabs(i->value);
	struct scale s = { 1, 0, names[0] };

	if (i->known)
		most = fmax(most, fmax(fabs(i->lo), fabs(i->hi)));
	for (int k = 1; k < 4 && most >= 999.5 * s.unit; k++)
		s = (struct scale){ 1e3 * s.unit, 0, names[k] };
	most /= s.unit;
	s.decimals = most >= 99.95 ? 0 : most >= 9.995 ? 1 : 2;
	return s;
}

static struct figure scaled_text(const struct interval *i, const char *const names[4],
				 bool resolved, bool is_signed)
{
	const struct scale s = scale_of(i, names);
	struct figure f, within = { "no interval" };

	if (i->known)
		snprintf(within.s, sizeof(within.s), "%.*f to %.*f %s", s.decimals, i->lo / s.unit,
			 s.decimals, i->hi / s.unit, s.name);
	if (!resolved)
		snprintf(f.s, sizeof(f.s), "not resolved (%.100s)", within.s);
	else
		snprintf(f.s, sizeof(f.s), "%s%.*f %s (%.100s)",
			 is_signed && i->value > 0 ? "+" : "", s.decimals, i->value / s.unit,
			 s.name, within.s);
	return f;
}

struct figure atlas_time_text(const struct interval *i, bool resolved, bool is_signed)
{
	static const char *const names[] = { "ns", "us", "ms", "s" };

	return scaled_text(i, names, resolved, is_signed);
}

struct figure atlas_rate_text(const struct interval *i, bool resolved, bool is_signed)
{
	static const char *const names[] = { "B/s", "kB/s", "MB/s", "GB/s" };

	return scaled_text(i, names, resolved, is_signed);
}

static struct figure ratio_text(const struct interval *i, bool resolved)
{
	struct figure f;

	if (resolved)
		return figure_ratio(i);
	snprintf(f.s, sizeof(f.s), "not resolved (%.3f to %.3f)", i->lo, i->hi);
	return f;
}

static struct figure cell_text(const struct atlas_cell *cell)
{
	bool resolved = cell->state == ATLAS_KNOWN;
	struct figure words = { "-" };

	if (cell->state != ATLAS_NOTHING)
		snprintf(words.s, sizeof(words.s), "%s", atlas_state_names[cell->state]);
	if (cell->state == ATLAS_WRONG)
		snprintf(words.s, sizeof(words.s), "wrong in %d of %d", cell->wrong,
			 cell->processes);
	if (cell->state < ATLAS_NOT_RESOLVED)
		return words;
	return cell->point ? ratio_text(&cell->of, resolved)
			   : atlas_time_text(&cell->of, resolved, true);
}

/* The base's own value. */
static struct figure base_text(const struct atlas_cell *cell)
{
	const struct interval *i = cell->point	     ? &cell->point->step_ns[PAIR_A]
				   : cell->parameter ? &cell->parameter->of[PAIR_A]
						     : NULL;

	if (cell->state == ATLAS_NOT_SUPPORTED || cell->state == ATLAS_WRONG)
		return cell_text(cell);
	if (!i || !isfinite(i->value))
		return (struct figure){ "-" };
	return atlas_time_text(i, true, false);
}

/* ---- tables ----------------------------------------------------------------------------- */

/* What a table has in its columns: two parameters, or two depths. */
struct table {
	const struct atlas *a;
	const struct workload *w;
	bool of_steps;
	int first; /* of the parameters or depths */
};

static struct atlas_cell cell_of(const struct table *t, const struct atlas_entry *e, int column)
{
	int which = t->first + column;

	return t->of_steps ? atlas_step(t->a, e, t->w, which) : atlas_parameter(e, t->w, which);
}

struct text atlas_n_text(const int n[ATLAS_COLUMNS])
{
	struct text t = { "-" };
	int least = 0;

	for (int i = 0; i < ATLAS_COLUMNS; i++)
		if (n[i] && (!least || n[i] < least))
			least = n[i];
	if (least)
		snprintf(t.s, sizeof(t.s), "%d", least);
	return t;
}

void atlas_print_cells(const char *name, const char *const text[ATLAS_COLUMNS], const char *n,
		       FILE *out)
{
	const struct text_line safe = text_escaped(name);

	if (strlen(safe.s) > NAME_COLUMN)
		fprintf(out, "  %s\n", safe.s);
	fprintf(out, "  %-*s %-*s %-*s %3s\n", NAME_COLUMN,
		strlen(safe.s) > NAME_COLUMN ? "" : safe.s, CELL_COLUMN, text[0], CELL_COLUMN,
		text[1], n);
}

static void print_entry(const struct table *t, const struct atlas_entry *e, FILE *out)
{
	bool is_base = e == &t->a->base;
	struct figure text[COLUMNS];
	int n[COLUMNS];

	for (int i = 0; i < COLUMNS; i++) {
		const struct atlas_cell cell = cell_of(t, e, i);

		n[i] = cell.of.n;
		text[i] = is_base ? base_text(&cell) : cell_text(&cell);
	}
	atlas_print_cells(is_base ? "base" : e->name, (const char *[]){ text[0].s, text[1].s },
			  atlas_n_text(n).s, out);
}

static struct text column_name(const struct table *t, int column)
{
	const struct atlas_cell cell = cell_of(t, &t->a->base, column);
	const struct plan *plan = &t->a->base.session.plan;
	struct text name = { "" };

	if (!t->of_steps)
		snprintf(name.s, sizeof(name.s), "%s",
			 model_param_rows[atlas_parameters[t->first + column]].name);
	else if (cell.point)
		snprintf(name.s, sizeof(name.s), "depth %ld",
			 (long)plan->point[cell.point->pair->at[PAIR_A]].depth);
	return name;
}

static bool is_empty(const struct table *t, const struct atlas_entry *e)
{
	for (int i = 0; i < COLUMNS; i++)
		if (cell_of(t, e, i).state != ATLAS_NOTHING)
			return false;
	return true;
}

/* Has any row a figure, or a reason? */
static bool is_wanted(const struct table *t)
{
	bool wanted = !is_empty(t, &t->a->base);

	for (int i = 0; i < t->a->n; i++)
		wanted |= !is_empty(t, &t->a->entry[i]);
	return wanted;
}

static void print_table(const struct table *t, FILE *out)
{
	if (!is_wanted(t))
		return;
	fputc('\n', out);
	atlas_print_cells("", (const char *[]){ column_name(t, 0).s, column_name(t, 1).s }, "n",
			  out);
	print_entry(t, &t->a->base, out);
	for (int i = 0; i < t->a->n; i++)
		if (atlas_has(&t->a->entry[i], t->w))
			print_entry(t, &t->a->entry[i], out);
}

/* What the names of the parameters stand for; some go on with "...". */
static void print_names(FILE *out)
{
	char text[512];
	size_t used = 0;

	for (int i = 0; i < ATLAS_PARAMETERS && used < sizeof(text); i++) {
		const struct model_param_row *row = &model_param_rows[atlas_parameters[i]];
		const char *end = strstr(row->what, " ...");

		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%s: %.*s", i ? "; " : "", row->name,
			end ? (int)(end - row->what) : (int)strlen(row->what), row->what);
	}
	row_of(out, 1, "", text);
}

static bool has_parameters(const struct atlas *a, const struct workload *w)
{
	for (int i = 0; i < a->base.c.parameters.n; i++)
		if (a->base.c.parameters.row[i].workload == w)
			return true;
	return false;
}

/* Is it the first of those with parameters? Their names are told once. */
static bool is_first(const struct atlas *a, const struct workload *w)
{
	int i = 0;

	while (!has_parameters(a, atlas_workload(a, i)))
		i++;
	return atlas_workload(a, i) == w;
}

/* "transfer bytes=4 stream": what the steps of the table are of. */
static void steps_text(const struct atlas *a, const struct workload *w, char *out, size_t size)
{
	const struct atlas_cell cell = atlas_step(a, &a->base, w, 0);
	char *end;

	*out = '\0';
	if (!cell.point)
		return;
	plan_point_text(&a->base.session.plan, cell.point->pair->at[PAIR_A], out, size);
	end = strstr(out, " depth ");
	if (end)
		*end = '\0';
}

static void print_workload(const struct atlas *a, const struct workload *w, FILE *out)
{
	struct table t = { .a = a, .w = w };
	char of[160];

	if (has_parameters(a, w)) {
		fprintf(out, "\n%s: what each adds to the parameters of the base (95 %%)", w->name);
		for (t.first = 0; t.first < ATLAS_PARAMETERS; t.first += COLUMNS)
			print_table(&t, out);
		if (is_first(a, w))
			print_names(out);
	}
	steps_text(a, w, of, sizeof(of));
	fprintf(out, "\n%s: time of a step over the base's (95 %%)", of);
	t.first = 0;
	t.of_steps = true;
	print_table(&t, out);
}

/* ---- what stands beside them ------------------------------------------------------------ */

static void print_side(const char *label, const struct atlas_entry *e, FILE *out)
{
	const struct compared_side *side = &e->side[PAIR_B];
	const json_t *header = side_header(side);
	const char *device = json_get_text(json_object_get(header, "gpu"), "name");
	char layers[LAYERS_TEXT];

	environment_layers(header, layers);
	row(out, label, "%s%s%s: %s%s%s, n = %s, begun %s", side->path,
	    side->alone ? "" : ", side ", side->alone ? "" : journal_side_name(side->side), device,
	    *layers ? ", " : "", layers, counted(side->n, "process").s,
	    json_get_text(header, "start_utc"));
}

static void print_source(const char *label, const struct atlas_entry *e, FILE *out)
{
	const struct compared_side *side = &e->side[PAIR_B];
	char text[ATLAS_NAME + LAYERS_TEXT + 512], layers[LAYERS_TEXT];
	bool under;

	environment_layers(side_header(side), layers);
	under = *layers && !strstr(layers, e->name); /* more than the name says */
	snprintf(text, sizeof(text), "%s: %.400s%s%s, n = %d, over %s%s%s", e->name, side->path,
		 side->alone ? "" : ", side ", side->alone ? "" : journal_side_name(side->side),
		 side->n, e->own_base ? "side a of the same session" : "the base",
		 under ? "; " : "", under ? layers : "");
	row_of(out, ROW_LABEL, label, text);
}

static void print_terms(const struct atlas *a, FILE *out)
{
	bool model = false;
	double sd = 0;

	for (int i = 0; i < a->n; i++) {
		sd = fmax(sd, a->entry[i].c.options.session_sd);
		model |= a->entry[i].is_model;
	}
	row(out, "terms",
	    "intervals over processes, 95 %%, of times exact (90 to 98 %%, as n allows); not "
	    "resolved: the interval holds no difference; -: not identified, or not swept");
	if (sd > 0)
		row(out, "",
		    "%s intervals hold %.3g %% (sd) a session for what differs between sessions of "
		    "one system; it is assumed",
		    isfinite(a->options.session_sd) ? "--session-sd:"
						    : "over the base: separate sessions, whose",
		    100 * sd);
	if (model)
		row(out, "", "model: the layer imitates the costs of another one");
}

/* ---- notes ------------------------------------------------------------------------------ */

/* A step's time of other points than the base's. */
static void note_points(const struct atlas *a, const struct atlas_entry *e, FILE *out)
{
	const struct workload *w;

	for (int i = 0; (w = atlas_workload(a, i)); i++)
		for (int k = 0; k < ATLAS_DEPTHS; k++) {
			const struct atlas_cell base = atlas_step(a, &a->base, w, k);
			const struct atlas_cell cell = atlas_step(a, e, w, k);
			const struct plan *plan = &e->c.side[PAIR_A]->view.plan;
			char is[160], of[160], text[ATLAS_NAME + 384];

			if (!base.point || !cell.point)
				continue;
			plan_point_text(&a->base.session.plan, base.point->pair->at[PAIR_A], of,
					sizeof(of));
			plan_point_text(plan, cell.point->pair->at[PAIR_A], is, sizeof(is));
			if (!strcmp(is, of))
				continue;
			snprintf(text, sizeof(text), "%s: %s in place of %s", e->name, is, of);
			row_of(out, 1, "", text);
		}
}

/* Why a parameter that the base identifies has no difference. */
static const char *why_not(const struct atlas_entry *e, const struct workload *w,
			   const struct atlas_cell *cell)
{
	const struct compared_parameter *p = cell->parameter;

	if (p)
		return *p->why[PAIR_B] ? p->why[PAIR_B] : p->why[PAIR_A];
	for (int i = 0; i < e->c.pairs.n_workloads; i++)
		if (e->c.parameters.modelled[i].workload == w &&
		    *e->c.parameters.modelled[i].why_not)
			return e->c.parameters.modelled[i].why_not;
	return "too few points of its mode";
}

static void note_parameters(const struct atlas *a, const struct atlas_entry *e, FILE *out)
{
	const struct workload *w;
	char text[ATLAS_NAME + 384];

	for (int i = 0; (w = atlas_workload(a, i)); i++)
		for (int k = 0; k < ATLAS_PARAMETERS && atlas_has(e, w); k++) {
			const struct atlas_cell base = atlas_parameter(&a->base, w, k);
			const struct atlas_cell cell = atlas_parameter(e, w, k);

			if (cell.state != ATLAS_NOTHING || base.state == ATLAS_NOTHING)
				continue;
			snprintf(text, sizeof(text), "%s: %s of %s is not identified: %s", e->name,
				 model_param_rows[atlas_parameters[k]].name, w->name,
				 why_not(e, w, &cell));
			row_of(out, 1, "", text);
		}
}

static bool is_same_call(const json_t *x, const json_t *y)
{
	return !strcmp(json_get_text(x, "call"), json_get_text(y, "call")) &&
	       !strcmp(json_get_text(x, "name"), json_get_text(y, "name"));
}

/* How many points of a side lack this call, from this one on; 0: one before it does. */
static int count_alike(const struct journal *view, int point)
{
	const json_t *error = journal_refusal(view, 0, point);
	int n = 0;

	for (int i = 0; i < view->plan.n_points; i++) {
		const json_t *other = journal_refusal(view, 0, i);

		if (!other || !is_same_call(error, other))
			continue;
		if (i < point)
			return 0;
		n++;
	}
	return n;
}

static void note_side(const char *name, const struct journal *view, FILE *out)
{
	for (int i = 0; i < view->plan.n_points; i++) {
		const json_t *error = journal_refusal(view, 0, i);
		int n = error ? count_alike(view, i) : 0;
		char point[160], text[1024];

		if (!n)
			continue;
		plan_point_text(&view->plan, i, point, sizeof(point));
		snprintf(text, sizeof(text), "%s: not supported here: %.200s: %.100s: %s", name,
			 json_get_text(error, "call"), json_get_text(error, "name"), point);
		if (n > 1)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), " and %d more",
				 n - 1);
		row_of(out, 1, "", text);
	}
}

/* Two sides of one session differ by what was put between them; separate ones by anything. */
static void note_environment(const struct atlas_entry *e, FILE *out)
{
	size_t i, n = json_array_size(e->c.environment_diff), used;
	const json_t *row;
	char text[ATLAS_NAME + 512];

	if (!n)
		return;
	used = (size_t)snprintf(text, sizeof(text), "%s: differs in", e->name);
	json_array_foreach(e->c.environment_diff, i, row)
	{
		if (used > ATLAS_NAME + 256)
			break;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %.60s", i ? "," : "",
					 json_get_text(row, "field"));
	}
	if (i < n)
		snprintf(text + used, sizeof(text) - used, " and %zu more", n - i);
	row_of(out, 1, "", text);
}

static void note_entry(const struct atlas *a, const struct atlas_entry *e, FILE *out)
{
	const char *name = e == &a->base ? "base" : e->name;
	const json_t *warning;
	char text[ATLAS_NAME + 512];
	size_t i;

	if (*e->not_comparable) {
		snprintf(text, sizeof(text), "%s: not comparable, by --force all the same: %s",
			 name, e->not_comparable);
		row_of(out, 1, "", text);
	}
	if (e->own_base)
		note_side("base", &e->side[PAIR_A].view, out);
	note_side(name, &e->side[PAIR_B].view, out);
	if (atlas_failed(e)) {
		snprintf(text, sizeof(text), "%s: %s missing or without a passed check: left out",
			 name, counted(atlas_failed(e), "result").s);
		row_of(out, 1, "", text);
	}
	json_array_foreach(e->c.warnings, i, warning)
	{
		snprintf(text, sizeof(text), "%s: %.400s", name, json_string_value(warning));
		row_of(out, 1, "", text);
	}
	if (e == &a->base)
		return;
	if (!e->own_base)
		note_environment(e, out);
	note_points(a, e, out);
	atlas_note_costs(a, e, out);
	note_parameters(a, e, out);
}

static void print_notes(const struct atlas *a, FILE *out)
{
	size_t size;
	char *text;
	FILE *notes = open_memstream(&text, &size);

	CHECK(notes, "memory of notes");
	note_entry(a, &a->base, notes);
	for (int i = 0; i < a->n; i++)
		note_entry(a, &a->entry[i], notes);
	CHECK(!fclose(notes), "memory of notes");
	if (*text)
		fprintf(out, "\nnotes (B: what is named, A: its base)\n%s", text);
	free(text);
}

void atlas_print(const struct atlas *a, FILE *out)
{
	const struct workload *w;

	print_side("base", &a->base, out);
	for (int i = 0; i < a->n; i++)
		print_source(i ? "" : "sessions", &a->entry[i], out);
	print_terms(a, out);
	atlas_print_programs(a, out);
	for (int i = 0; (w = atlas_workload(a, i)); i++)
		print_workload(a, w, out);
	atlas_print_costs(a, out);
	print_notes(a, out);
}

/* ---- for machines ----------------------------------------------------------------------- */

static json_t *cell_json(const struct atlas_cell *cell)
{
	json_t *o = json_pack("{s:s, s:o}", "state", atlas_state_names[cell->state], "verdict",
			      cell->judged ? json_string(verdict_names[cell->judged->verdict])
					   : json_null());

	json_object_set_new(o, cell->point ? "ratio" : "difference", interval_json(&cell->of));
	if (cell->parameter && !cell->parameter->identified)
		for (int k = 0; k < 2; k++)
			json_object_set_new(o, k ? "why_not_b" : "why_not_a",
					    *cell->parameter->why[k]
						    ? json_text(cell->parameter->why[k])
						    : json_null());
	return o;
}

/* The base's own values are side a's. */
static json_t *parameter_json(const struct atlas_entry *e, const struct workload *w, int which)
{
	const struct atlas_cell cell = atlas_parameter(e, w, which);
	json_t *o = cell_json(&cell);

	json_object_set_new(o, "name", json_string(model_param_rows[atlas_parameters[which]].name));
	for (int k = 0; k < 2 && cell.parameter; k++)
		json_object_set_new(o, k ? "b" : "a", interval_json(&cell.parameter->of[k]));
	return o;
}

static json_t *step_json(const struct atlas *a, const struct atlas_entry *e,
			 const struct workload *w, int which)
{
	const struct atlas_cell cell = atlas_step(a, e, w, which);
	json_t *o = cell_json(&cell);

	json_object_set_new(o, "asked_depth", json_integer(atlas_depths[which]));
	json_object_set_new(o, "axes",
			    cell.point ? plan_axes_json(&e->c.side[PAIR_A]->view.plan,
							cell.point->pair->at[PAIR_A])
				       : json_null());
	for (int k = 0; k < 2 && cell.point; k++)
		json_object_set_new(o, k ? "b_step_ns" : "a_step_ns",
				    interval_json(&cell.point->step_ns[k]));
	return o;
}

static json_t *workload_json(const struct atlas *a, const struct atlas_entry *e,
			     const struct workload *w)
{
	json_t *parameters = json_array(), *steps = json_array();

	for (int i = 0; i < ATLAS_PARAMETERS; i++)
		json_array_append_new(parameters, parameter_json(e, w, i));
	for (int i = 0; i < ATLAS_DEPTHS; i++)
		json_array_append_new(steps, step_json(a, e, w, i));
	return json_pack("{s:s, s:o, s:o}", "workload", w->name, "parameters", parameters, "steps",
			 steps);
}

/* Points that a side lacks a call for. */
static void add_unsupported(json_t *all, const struct compared_side *p)
{
	for (int i = 0; i < p->view.plan.n_points; i++) {
		const json_t *error = journal_refusal(&p->view, 0, i);

		if (error)
			json_array_append_new(all,
					      json_pack("{s:s, s:o, s:s, s:s}", "side",
							journal_side_name(p->side), "axes",
							plan_axes_json(&p->view.plan, i), "call",
							json_get_text(error, "call"), "error",
							json_get_text(error, "name")));
	}
}

static json_t *unsupported_json(const struct atlas_entry *e)
{
	json_t *all = json_array();

	for (int k = e->own_base ? PAIR_A : PAIR_B; k <= PAIR_B; k++)
		add_unsupported(all, &e->side[k]);
	return all;
}

/* What an entry is of, without figures. */
static json_t *source_json(const struct atlas_entry *e)
{
	const struct compared_side *side = &e->side[PAIR_B];
	const json_t *header = side_header(side);
	json_t *o = json_pack("{s:o, s:o, s:s, s:b, s:i, s:i, s:o}", "name", json_text(e->name),
			      "file", json_text(side->path), "side", journal_side_name(side->side),
			      "model", e->is_model, "processes", side->n, "failed", atlas_failed(e),
			      "not_supported", unsupported_json(e));

	json_object_set(o, "gpu", json_object_get(json_object_get(header, "gpu"), "name"));
	json_object_set(o, "layers", json_object_get(header, "layers"));
	json_object_set(o, "start_utc", json_object_get(header, "start_utc"));
	return o;
}

static json_t *entry_json(const struct atlas *a, const struct atlas_entry *e)
{
	json_t *o = source_json(e), *workloads = json_array();
	const struct workload *w;

	for (int i = 0; (w = atlas_workload(a, i)); i++)
		if (atlas_has(e, w))
			json_array_append_new(workloads, workload_json(a, e, w));
	json_object_set_new(o, "own_base", json_boolean(e->own_base));
	json_object_set_new(o, "not_comparable",
			    *e->not_comparable ? json_text(e->not_comparable) : json_null());
	json_object_set_new(o, "workloads", workloads);
	json_object_set_new(o, "costs", atlas_costs_json(e));
	json_object_set_new(o, "comparison", compare_json(&e->c));
	return o;
}

/* The base's own values. */
static json_t *base_workload_json(const struct atlas *a, const struct workload *w)
{
	const struct interval none = interval_unknown(0);
	json_t *parameters = json_array(), *steps = json_array();

	for (int i = 0; i < ATLAS_PARAMETERS; i++) {
		const struct atlas_cell cell = atlas_parameter(&a->base, w, i);
		const struct compared_parameter *p = cell.parameter;
		json_t *o = interval_json(p ? &p->of[PAIR_A] : &none);

		json_object_set_new(o, "name",
				    json_string(model_param_rows[atlas_parameters[i]].name));
		json_object_set_new(o, "why_not",
				    p && *p->why[PAIR_A] ? json_text(p->why[PAIR_A]) : json_null());
		json_array_append_new(parameters, o);
	}
	for (int i = 0; i < ATLAS_DEPTHS; i++) {
		const struct atlas_cell cell = atlas_step(a, &a->base, w, i);
		json_t *o = interval_json(cell.point ? &cell.point->step_ns[PAIR_A] : &none);

		json_object_set_new(o, "asked_depth", json_integer(atlas_depths[i]));
		json_object_set_new(o, "axes",
				    cell.point ? plan_axes_json(&a->base.session.plan,
								cell.point->pair->at[PAIR_A])
					       : json_null());
		json_array_append_new(steps, o);
	}
	return json_pack("{s:s, s:o, s:o}", "workload", w->name, "parameters", parameters, "steps",
			 steps);
}

static json_t *base_json(const struct atlas *a)
{
	json_t *o = source_json(&a->base), *workloads = json_array();
	const struct workload *w;

	for (int i = 0; (w = atlas_workload(a, i)); i++)
		json_array_append_new(workloads, base_workload_json(a, w));
	json_object_set_new(o, "workloads", workloads);
	json_object_set_new(o, "costs", atlas_base_costs_json(&a->base));
	return o;
}

json_t *atlas_json(const struct atlas *a)
{
	json_t *sessions = json_array();

	for (int i = 0; i < a->n; i++)
		json_array_append_new(sessions, entry_json(a, &a->entry[i]));
	return json_pack("{s:s, s:s, s:i, s:o, s:o}", "version", RIFT_VERSION, "command", "compare",
			 "exit_code", (int)atlas_exit_code(a), "base", base_json(a), "sessions",
			 sessions);
}
