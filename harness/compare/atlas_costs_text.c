/* atlas_costs_text.c - copies, memory and cold starts of an atlas, for people and for machines. */
#include <math.h>
#include <string.h>

#include "harness/compare/atlas_impl.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/measure/plan_record.h"
#include "harness/stats/interval_json.h"

/* ---- columns ---------------------------------------------------------------------------- */

/* The base where it has the figure, else the first that does; NULL: none. */
static const struct atlas_entry *first_with(const struct atlas *a, int which)
{
	if (a->base.cost[which].pair)
		return &a->base;
	for (int i = 0; i < a->n; i++)
		if (a->entry[i].cost[which].pair)
			return &a->entry[i];
	return NULL;
}

/* Has any row a figure, or a reason? */
static bool is_wanted(const struct atlas *a, int which)
{
	bool wanted = a->base.cost[which].state != ATLAS_NOTHING ||
		      isfinite(a->base.cost[which].own[PAIR_A].value);

	for (int i = 0; i < a->n; i++)
		wanted |= a->entry[i].cost[which].state != ATLAS_NOTHING;
	return wanted;
}

static void point_text(const struct atlas_entry *e, int which, char *out, size_t size)
{
	plan_point_text(&e->c.side[PAIR_A]->view.plan, e->cost[which].pair->at[PAIR_A], out, size);
}

/* "copy to the device, 4 B" */
static struct text column_name(const struct atlas *a, int which)
{
	const struct atlas_entry *e = first_with(a, which);
	struct text t;

	snprintf(t.s, sizeof(t.s), "%s", atlas_cost_names[which]);
	if (e)
		snprintf(t.s + strlen(t.s), sizeof(t.s) - strlen(t.s), ", %.20s",
			 text_bytes(e->cost[which].bytes).s);
	return t;
}

/* ---- cells ------------------------------------------------------------------------------ */

static struct figure figure_of(const struct interval *i, int which, bool resolved, bool is_signed)
{
	return atlas_is_rate(which) ? atlas_rate_text(i, resolved, is_signed)
				    : atlas_time_text(i, resolved, is_signed);
}

static struct figure cell_text(const struct atlas_cost *cost, int which, bool is_base)
{
	if (cost->state == ATLAS_NOT_SUPPORTED)
		return (struct figure){ "not supported" };
	if (is_base && isfinite(cost->own[PAIR_A].value))
		return figure_of(&cost->own[PAIR_A], which, true, false);
	if (cost->state == ATLAS_NOTHING)
		return (struct figure){ "-" };
	return figure_of(&cost->of, which, cost->state == ATLAS_KNOWN, true);
}

/* ---- the table -------------------------------------------------------------------------- */

/* columns: numbers of costs; of an odd number of them the last one stands alone, -1 beside it. */
static void print_entry(const struct atlas *a, const struct atlas_entry *e, const int *columns,
			FILE *out)
{
	bool is_base = e == &a->base;
	struct figure text[ATLAS_COLUMNS] = { { "" } };
	int n[ATLAS_COLUMNS] = { 0 };

	for (int i = 0; i < ATLAS_COLUMNS && columns[i] >= 0; i++) {
		const struct atlas_cost *cost = &e->cost[columns[i]];

		text[i] = cell_text(cost, columns[i], is_base);
		n[i] = is_base ? cost->own[PAIR_A].n : cost->of.n;
	}
	atlas_print_cells(is_base ? "base" : e->name, (const char *[]){ text[0].s, text[1].s },
			  atlas_n_text(n).s, out);
}

static void print_table(const struct atlas *a, const int *columns, FILE *out)
{
	struct text name[ATLAS_COLUMNS] = { { "" } };

	for (int i = 0; i < ATLAS_COLUMNS && columns[i] >= 0; i++)
		name[i] = column_name(a, columns[i]);
	fputc('\n', out);
	atlas_print_cells("", (const char *[]){ name[0].s, name[1].s }, "n", out);
	print_entry(a, &a->base, columns, out);
	for (int i = 0; i < a->n; i++)
		print_entry(a, &a->entry[i], columns, out);
}

/* Which points they are of, and what a start is. */
static void print_legend(const struct atlas *a, const int *columns, int n, FILE *out)
{
	char text[1024], point[160];
	size_t used = 0;

	for (int i = 0; i < n && used < sizeof(text); i++) {
		const struct atlas_entry *e = first_with(a, columns[i]);

		snprintf(point, sizeof(point),
			 "from the command of a process to a device that answers");
		if (e)
			point_text(e, columns[i], point, sizeof(point));
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s: %s",
					 i ? "; " : "", atlas_cost_names[columns[i]], point);
	}
	row_of(out, 1, "", text);
}

void atlas_print_costs(const struct atlas *a, FILE *out)
{
	int column[ATLAS_COSTS + 1], n = 0;

	for (int i = 0; i < ATLAS_COSTS; i++)
		if (is_wanted(a, i))
			column[n++] = i;
	column[n] = -1;
	if (!n)
		return;
	fprintf(out, "\ncopies, memory, cold start: what each adds to the base (95 %%)");
	for (int i = 0; i < n; i += ATLAS_COLUMNS)
		print_table(a, column + i, out);
	print_legend(a, column, n, out);
}

/* ---- notes ------------------------------------------------------------------------------ */

void atlas_note_costs(const struct atlas *a, const struct atlas_entry *e, FILE *out)
{
	char is[160], of[160], text[ATLAS_NAME + 384];

	for (int i = 0; i < ATLAS_COSTS; i++) {
		const struct atlas_entry *first = first_with(a, i);

		if (!first || !e->cost[i].pair)
			continue;
		point_text(first, i, of, sizeof(of));
		point_text(e, i, is, sizeof(is));
		if (!strcmp(is, of))
			continue;
		snprintf(text, sizeof(text), "%s: %s of %s in place of %s", e->name,
			 atlas_cost_names[i], is, of);
		row_of(out, 1, "", text);
	}
}

/* ---- for machines ----------------------------------------------------------------------- */

static json_t *cost_json(const struct atlas_entry *e, int which)
{
	const struct atlas_cost *cost = &e->cost[which];
	json_t *axes =
		cost->pair ? plan_axes_json(&e->c.side[PAIR_A]->view.plan, cost->pair->at[PAIR_A])
			   : json_null();

	return json_pack("{s:s, s:s, s:o}", "name", atlas_cost_names[which], "unit",
			 atlas_is_rate(which) ? "bytes/s" : "ns", "axes", axes);
}

json_t *atlas_costs_json(const struct atlas_entry *e)
{
	json_t *all = json_array();

	for (int i = 0; i < ATLAS_COSTS; i++) {
		const struct atlas_cost *cost = &e->cost[i];
		json_t *o = cost_json(e, i);

		json_object_set_new(o, "state", json_string(atlas_state_names[cost->state]));
		json_object_set_new(o, "difference", interval_json(&cost->of));
		json_object_set_new(o, "a", interval_json(&cost->own[PAIR_A]));
		json_object_set_new(o, "b", interval_json(&cost->own[PAIR_B]));
		json_array_append_new(all, o);
	}
	return all;
}

json_t *atlas_base_costs_json(const struct atlas_entry *e)
{
	json_t *all = json_array(), *own;

	for (int i = 0; i < ATLAS_COSTS; i++) {
		own = interval_json(&e->cost[i].own[PAIR_A]);
		json_object_update_new(own, cost_json(e, i));
		json_array_append_new(all, own);
	}
	return all;
}
