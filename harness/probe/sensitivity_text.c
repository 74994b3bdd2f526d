/* sensitivity_text.c - a sensitivity for people and for machines. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "harness/base/json.h"
#include "common/plural.h"
#include "harness/base/text.h"
#include "harness/measure/wait.h"
#include "harness/probe/sensitivity_costs.h"
#include "workloads/workload.h"

/* Eight columns and a name in 100 characters. */
enum { NAME_COLUMN = 12, COLUMN = 11 };

/* ---- the plan ----------------------------------------------------------------------------- */

/* "sync, copy": costs that no step has. */
static void put_left_out(const struct sensitivity *s, FILE *out)
{
	const char *between = "; not part of a step: ";

	for (int i = 0; i < s->n; i++)
		if (!s->cost[i].in_step) {
			fprintf(out, "%s%s", between, s->cost[i].row->name);
			between = ", ";
		}
}

void sensitivity_plan_print(const struct sensitivity *s, FILE *out)
{
	fprintf(out, "%s: native and %d under the layer, %s each: about %s", s->workload->name,
		s->cells - 1, counted(s->turns, "process").s,
		text_time(sensitivity_plan_s(s) * 1e9).s);
	put_left_out(s, out);
	fputc('\n', out);
}

static json_t *words_json(const struct sensitivity *s)
{
	json_t *words = json_array();

	for (const char *const *word = s->request->words; *word; word++)
		json_array_append_new(words, json_text(*word));
	return words;
}

static json_t *head_json(const struct sensitivity *s)
{
	const struct step_figures *f = &s->first.step;

	return json_pack("{s:s, s:s, s:s, s:o, s:s, s:b, s:s, s:s, s:f, s:i, s:i, s:f}", "version",
			 RIFT_VERSION, "command", "sweep", "workload", s->workload->name, "words",
			 words_json(s), "layer", s->layer, "is_model", 1, "device", s->first.device,
			 "mode", mode_name(f->mode), "depth", f->depth, "runs", s->cells * s->turns,
			 "processes", s->turns, "predicted_s", sensitivity_plan_s(s));
}

static json_t *plan_cost_json(const struct sensitivity_cost *c)
{
	json_t *values = json_array();

	for (int i = 0; i < c->n; i++)
		json_array_append_new(values, json_number(c->value[i]));
	return json_pack("{s:s, s:s, s:b, s:o}", "name", c->row->name, "unit", c->row->unit,
			 "in_step", c->in_step, "values", values);
}

json_t *sensitivity_plan_json(const struct sensitivity *s)
{
	json_t *o = head_json(s), *costs = json_array();

	for (int i = 0; i < s->n; i++)
		json_array_append_new(costs, plan_cost_json(&s->cost[i]));
	json_object_set_new(o, "costs", costs);
	return o;
}

/* ---- cells -------------------------------------------------------------------------------- */

/* Three digits, without an exponent below a million. */
static struct text ratio_text(double ratio)
{
	struct text t = { "-" };
	int decimals = ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0;

	if (isfinite(ratio))
		snprintf(t.s, sizeof(t.s), ratio < 1e6 ? "%.*f" : "%.*g",
			 ratio < 1e6 ? decimals : 3, ratio);
	return t;
}

static struct text measured_text(const struct sensitivity *s, const struct sensitivity_cost *c,
				 int i)
{
	const struct sensitivity_cell *cell = &s->cell[c->cell[i]];
	struct text failed = { "failed" };

	return cell->failed ? failed : ratio_text(c->ratio[i]);
}

/* "1.02-1.05" */
static struct text range_text(const struct sensitivity *s, const struct sensitivity_cost *c, int i)
{
	const struct sensitivity_cell *cell = &s->cell[c->cell[i]];
	double native_ns = s->cell[0].step_ns;
	struct text t = { "-" };

	if (isfinite(cell->step_ns) && isfinite(native_ns))
		snprintf(t.s, sizeof(t.s), "%.30s-%.30s", ratio_text(cell->lo_ns / native_ns).s,
			 ratio_text(cell->hi_ns / native_ns).s);
	return t;
}

static struct text model_text(const struct sensitivity *s, const struct sensitivity_cost *c, int i)
{
	(void)s;
	return ratio_text(c->predicted[i]);
}

static struct text value_text(const struct sensitivity *s, const struct sensitivity_cost *c, int i)
{
	struct text t;

	(void)s;
	snprintf(t.s, sizeof(t.s), "%.40s %.20s", text_real(c->value[i]).s, c->row->unit);
	return t;
}

/* ---- tables ------------------------------------------------------------------------------- */

typedef struct text cell_of(const struct sensitivity *s, const struct sensitivity_cost *c, int i);

static void put_line(const struct sensitivity *s, const struct sensitivity_cost *c,
		     const char *name, cell_of *text, FILE *out)
{
	fprintf(out, "  %-*s", NAME_COLUMN - 2, name);
	for (int i = 0; i < c->n; i++)
		fprintf(out, "%-*s", i + 1 < c->n ? COLUMN : 0, text(s, c, i).s);
	fputc('\n', out);
}

static bool same_columns(const struct sensitivity_cost *a, const struct sensitivity_cost *b)
{
	return !strcmp(a->row->unit, b->row->unit) && a->n == b->n &&
	       !memcmp(a->value, b->value, (size_t)a->n * sizeof(*a->value));
}

static void put_ratios(const struct sensitivity *s, FILE *out)
{
	const struct sensitivity_cost *before = NULL;

	fputs("\ntime of a step over native: median, least and most of the processes; what the "
	      "model says\n",
	      out);
	for (int i = 0; i < s->n; i++) {
		const struct sensitivity_cost *c = &s->cost[i];

		if (!c->in_step)
			continue;
		if (!before || !same_columns(before, c))
			put_line(s, c, "", value_text, out);
		before = c;
		put_line(s, c, c->row->name, measured_text, out);
		if (s->turns > 1)
			put_line(s, c, "  from-to", range_text, out);
		put_line(s, c, "  model", model_text, out);
	}
	for (int i = 0; i < s->n; i++)
		if (!s->cost[i].in_step)
			fprintf(out, "  %-*snot part of a step: no line\n", NAME_COLUMN - 2,
				s->cost[i].row->name);
}

/* "3.2 us", "> 100 us": never reached; "< 1 us": reached before. With rates less is more. */
struct text frontier_text(const struct param *row, const struct frontier *f)
{
	bool is_rate = sensitivity_is_rate(row);
	struct text t = { "-" };

	if (f->state == FRONTIER_AT)
		snprintf(t.s, sizeof(t.s), "%.3g %.20s", f->value, row->unit);
	else if (f->state == FRONTIER_BEFORE && f->value == 0)
		snprintf(t.s, sizeof(t.s), "the layer alone");
	else if (f->state != FRONTIER_UNKNOWN)
		snprintf(t.s, sizeof(t.s), "%s %.40s %.20s",
			 is_rate == (f->state == FRONTIER_BEFORE) ? ">" : "<",
			 text_real(f->value).s, row->unit);
	return t;
}

static void put_frontiers(const struct sensitivity *s, FILE *out)
{
	fprintf(out, "\n%-*s%-18s%-18s%-18s%s\n", NAME_COLUMN, "longer by", "5 %", "5 %, model",
		"25 %", "25 %, model");
	for (int i = 0; i < s->n; i++) {
		const struct sensitivity_cost *c = &s->cost[i];

		if (!c->in_step)
			continue;
		fprintf(out, "  %-*s%-18s%-18s%-18s%s\n", NAME_COLUMN - 2, c->row->name,
			frontier_text(c->row, &c->measured[0]).s,
			frontier_text(c->row, &c->model[0]).s,
			frontier_text(c->row, &c->measured[1]).s,
			frontier_text(c->row, &c->model[1]).s);
		if (s->source->rows)
			fprintf(out, "    %-*s%-36s%s\n", NAME_COLUMN - 4, "alone",
				frontier_text(c->row, &c->alone[0]).s,
				frontier_text(c->row, &c->alone[1]).s);
	}
}

/* Each that failed, once a platform. */
static void put_failures(const struct sensitivity *s, FILE *out)
{
	for (int i = 0; i < s->cells; i++)
		for (int k = 0; k < s->turns && s->cell[i].failed; k++) {
			const struct run_process *p = &s->cell[i].run[k];

			if (!p->exit_code)
				continue;
			fprintf(out, "\n%s failed: %s (exit code %d; %d of %d processes)\n",
				*s->cell[i].layer ? s->cell[i].layer : "native",
				*p->why ? p->why : "no word", p->exit_code, s->cell[i].failed,
				s->turns);
			break;
		}
}

void sensitivity_print(const struct sensitivity *s, FILE *out)
{
	const struct step_figures *f = &s->first.step;
	const struct sensitivity_cell *native = &s->cell[0];

	for (const char *const *word = s->request->words; *word; word++)
		fprintf(out, "%s ", text_escaped(*word).s);
	fprintf(out, "under %s (%s), a cost at a time: %s, %s, depth %.0f, n = %d\n",
		text_escaped(s->layer).s, s->source->imitates, s->first.device, mode_name(f->mode),
		f->depth, s->turns);
	if (isfinite(native->step_ns))
		fprintf(out, "native: %s a step (%s to %s)\n", text_time(native->step_ns).s,
			text_time(native->lo_ns).s, text_time(native->hi_ns).s);
	put_ratios(s, out);
	put_frontiers(s, out);
	put_failures(s, out);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *run_json(const struct run_process *p, int turn)
{
	json_t *o =
		json_pack("{s:i, s:i, s:i, s:f, s:I}", "turn", turn, "place", p->place, "exit_code",
			  p->exit_code, "wall_s", p->wall_s, "blocks", (json_int_t)p->blocks);
	bool counts = !p->exit_code;

	json_object_set_new(o, "error", p->exit_code ? json_text(p->why) : json_null());
	json_object_set_new(o, "step_ns", json_number(counts ? p->step.step_ns : NAN));
	json_object_set_new(o, "submit_ns", json_number(counts ? p->step.submit_ns : NAN));
	json_object_set_new(o, "kernel_ns", json_number(counts ? p->step.kernel_ns : NAN));
	json_object_set_new(o, "block_ends_ns", json_number(counts ? p->step.ends_ns : NAN));
	json_object_set_new(o, "layers", p->layers ? json_incref(p->layers) : json_array());
	return o;
}

static json_t *platform_json(const struct sensitivity *s, const struct sensitivity_cell *c)
{
	json_t *runs = json_array();

	for (int i = 0; i < s->turns; i++)
		json_array_append_new(runs, run_json(&c->run[i], i));
	return json_pack("{s:o, s:b, s:o, s:o, s:o, s:o}", "layer",
			 *c->layer ? json_text(c->layer) : json_null(), "failed", c->failed > 0,
			 "step_ns", json_number(c->step_ns), "least_ns", json_number(c->lo_ns),
			 "most_ns", json_number(c->hi_ns), "runs", runs);
}

static json_t *frontier_json(const struct frontier *f)
{
	static const char *const states[] = { "unknown", "at", "before", "beyond" };

	return json_pack("{s:s, s:o}", "state", states[f->state], "value", json_number(f->value));
}

static json_t *value_json(const struct sensitivity *s, const struct sensitivity_cost *c, int i)
{
	const struct sensitivity_cell *cell = &s->cell[c->cell[i]];
	double native_ns = s->cell[0].step_ns;

	return json_pack("{s:o, s:i, s:b, s:o, s:o, s:o, s:o}", "value", json_number(c->value[i]),
			 "platform", c->cell[i], "failed", cell->failed > 0, "ratio",
			 json_number(c->ratio[i]), "least", json_number(cell->lo_ns / native_ns),
			 "most", json_number(cell->hi_ns / native_ns), "predicted",
			 json_number(c->predicted[i]));
}

static json_t *cost_json(const struct sensitivity *s, const struct sensitivity_cost *c)
{
	json_t *values = json_array(), *frontiers = json_array();

	for (int i = 0; i < c->n && c->in_step; i++)
		json_array_append_new(values, value_json(s, c, i));
	for (int i = 0; i < FRONTIERS && c->in_step; i++)
		json_array_append_new(frontiers,
				      json_pack("{s:f, s:o, s:o, s:o}", "ratio", frontier_ratios[i],
						"measured", frontier_json(&c->measured[i]),
						"predicted", frontier_json(&c->model[i]), "alone",
						frontier_json(&c->alone[i])));
	return json_pack("{s:s, s:s, s:b, s:o, s:o}", "name", c->row->name, "unit", c->row->unit,
			 "in_step", c->in_step, "values", values, "frontiers", frontiers);
}

/* What the model goes by. */
static json_t *figures_json(const struct step_figures *f)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "step_ns", json_number(f->step_ns),
			 "submit_ns", json_number(f->submit_ns), "kernel_ns",
			 json_number(f->kernel_ns), "block_ends_ns", json_number(f->ends_ns),
			 "commands", json_number(step_commands(f)), "copies",
			 json_number(f->copies), "bytes_transferred",
			 json_number(f->bytes_transferred));
}

json_t *sensitivity_json(const struct sensitivity *s)
{
	json_t *o = head_json(s), *platforms = json_array(), *costs = json_array();

	for (int i = 0; i < s->cells; i++)
		json_array_append_new(platforms, platform_json(s, &s->cell[i]));
	for (int i = 0; i < s->n; i++)
		json_array_append_new(costs, cost_json(s, &s->cost[i]));
	json_object_set_new(o, "exit_code", json_integer(sensitivity_exit_code(s)));
	json_object_set_new(o, "native", figures_json(&s->native));
	json_object_set_new(o, "platforms", platforms);
	json_object_set_new(o, "costs", costs);
	return o;
}
