/* stack_text.c - the output of `rift stack`. */
#include "harness/model/stack_text.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/measure/submit.h"
#include "harness/record/plan_record.h"
#include "harness/record/recorded.h"

/* ---- for people --------------------------------------------------------------------------- */

static void print_subject(const struct stack_request *r, const struct stack *stack, FILE *out)
{
	const struct grid *g = r->work;
	struct stack_notes notes;
	char platform[160];

	session_platform(g->j, g->side, platform, sizeof(platform));
	row(out, "stack", "%s%s%s, %s, side %s, n = %d processes", g->workload->name,
	    *g->others ? " " : "", g->others, platform, journal_side_name(g->side), g->processes);
	stack_notes(&notes, r, stack);
	for (int i = 0; i < notes.n; i++)
		row(out, i ? "" : "parts", "%s", notes.text[i]);
}

/* Widths. */
static const int column[STACK_PARTS] = { 7, 7, 12, 7, 10, 12, 7 };

static void print_stack(const struct grid *g, const struct stack *s, FILE *out)
{
	const struct grid_point *at = &g->point[s->point];
	double size = g->size[at->size].value;

	fprintf(out, "  %-6s %9s %6.0f %9s", mode_name(at->batch.mode),
		g->nominal ? text_real(size).s : text_int((int64_t)size, 1).s, at->batch.depth,
		text_time(s->total_ns / at->batch.depth).s);
	for (int k = 0; k < STACK_PARTS; k++) {
		double share = stack_share(s, (enum stack_part)k);

		if (isnan(share))
			fprintf(out, "%*s", column[k], "-");
		else /* no -0.0 */
			fprintf(out, "%*.1f", column[k], round(1000 * share) / 10 + 0.0);
	}
	fputc('\n', out);
}

void stacks_print(const struct stack_request *r, const struct stack *stack, bool all, FILE *out)
{
	const struct grid *g = r->work;
	bool *in = calloc((size_t)g->n_points + 1, sizeof(*in));
	int shown;

	CHECK(in, "memory of %d blocks", g->n_points);
	shown = stacks_select(g, in);
	print_subject(r, stack, out);
	fprintf(out, "\n%35s  shares of it, in %%\n  %-6s %9s %6s %9s", "time per step", "mode",
		g->axis->name, "depth", "total");
	for (int k = 0; k < STACK_PARTS; k++)
		fprintf(out, "%*s", column[k], stack_names[k]);
	fputc('\n', out);
	for (int i = 0; i < g->n_points; i++)
		if (all || in[i])
			print_stack(g, &stack[i], out);
	if (!all && shown < g->n_points)
		fprintf(out,
			"  of each mode the smallest, middle and largest size at its least and "
			"greatest depth; --all shows %d more\n",
			g->n_points - shown);
	fprintf(out, "-: there is no such part, or it is not known and part of another one.\n");
	free(in);
}

/* ---- for machines ------------------------------------------------------------------------- */

static json_t *stack_json(const struct grid *g, const struct stack *s)
{
	const struct grid_point *at = &g->point[s->point];
	json_t *parts = json_object();

	for (int k = 0; k < STACK_PARTS; k++)
		json_object_set_new(parts, stack_names[k], json_number(s->part_ns[k]));
	return json_pack("{s:o, s:s, s:o, s:o}", "axes", plan_axes_json(&g->j->plan, at->point),
			 "key", g->j->plan.point[at->point].key, "total_ns",
			 json_number(s->total_ns), "parts_ns", parts);
}

json_t *stacks_json(const struct stack_request *r, const struct stack *stack)
{
	const struct grid *g = r->work;
	json_t *blocks = json_array(), *texts = json_array();
	struct stack_notes notes;
	char platform[160];

	session_platform(g->j, g->side, platform, sizeof(platform));
	stack_notes(&notes, r, stack);
	for (int i = 0; i < notes.n; i++)
		json_array_append_new(texts, json_text(notes.text[i]));
	for (int i = 0; i < g->n_points; i++)
		json_array_append_new(blocks, stack_json(g, &stack[i]));
	return json_pack("{s:s, s:s, s:o, s:s, s:i, s:o, s:o}", "workload", g->workload->name,
			 "parameters_set", g->others, "platform", json_text(platform), "side",
			 journal_side_name(g->side), "processes", g->processes, "notes", texts,
			 "blocks", blocks);
}
