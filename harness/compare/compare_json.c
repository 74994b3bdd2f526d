/* compare_json.c - a comparison for machines. */
#include <math.h>

#include "harness/base/json.h"
#include "harness/compare/compare.h"
#include "harness/compare/figures.h"
#include "harness/record/plan_record.h"

/* {value, lo, hi, n}: null where not known. */
static json_t *interval_json(const struct interval *i)
{
	return json_pack("{s:o, s:o, s:o, s:i}", "value", json_number(i->value), "lo",
			 json_number(i->lo), "hi", json_number(i->hi), "n", i->n);
}

/* The p-values as corrected; null where nothing was judged. */
static void add_judged(json_t *o, const struct judged *j)
{
	json_object_set_new(o, "verdict", json_string(verdict_names[j->verdict]));
	json_object_set_new(o, "verdict_alone", json_string(verdict_names[j->alone]));
	json_object_set_new(o, "p_slower", j->known ? json_number(j->p_slower) : json_null());
	json_object_set_new(o, "p_faster", j->known ? json_number(j->p_faster) : json_null());
}

static json_t *party_json(const struct party *p)
{
	static const char *const halves[] = { NULL, "first", "second" };
	const json_t *header = party_header(p);
	const json_t *virt = json_object_get(header, "virt"), *gpu = json_object_get(header, "gpu");
	json_t *o = json_pack("{s:o, s:s, s:s, s:o, s:i, s:i, s:o}", "file", json_text(p->path),
			      "session_id", p->view.session_id, "side", journal_side_name(p->side),
			      "half", json_text(halves[p->half]), "processes", p->n, "failed",
			      p->failed, "canary_ns", json_number(p->canary_ns));

	json_object_set(o, "gpu", json_object_get(gpu, "name"));
	json_object_set(o, "declared_platform", json_object_get(virt, "declared_platform"));
	json_object_set(o, "start_utc", json_object_get(header, "start_utc"));
	return o;
}

static json_t *parameter_json(const struct compared_parameter *p)
{
	json_t *o = json_pack(
		"{s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o}", "workload", p->workload->name,
		"name", p->row->name, "symbol", p->row->symbol, "unit", p->row->unit, "decides",
		p->decides, "a", interval_json(&p->of[PAIR_A]), "b", interval_json(&p->of[PAIR_B]),
		"difference", interval_json(&p->difference), "ratio", interval_json(&p->ratio));

	for (int k = 0; k < 2; k++)
		json_object_set_new(o, k ? "why_not_b" : "why_not_a",
				    *p->why[k] ? json_text(p->why[k]) : json_null());
	add_judged(o, &p->judged);
	return o;
}

static json_t *workload_json(const struct comparison *c, int i)
{
	const struct compared_workload *w = &c->workload[i];
	const struct modelled *m = &c->parameters.modelled[i];
	json_t *o = json_pack("{s:s, s:i, s:i, s:o, s:o}", "workload", w->workload->name, "points",
			      w->points, "left_out", w->left_out, "ratio", interval_json(&w->ratio),
			      "why_no_model", m->is ? json_null() : json_text(m->why_not));

	add_judged(o, &w->judged);
	return o;
}

static json_t *point_json(const struct comparison *c, const struct compared_point *p)
{
	const struct plan *plan = &c->party[PAIR_A]->view.plan;
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

	for (int v = 0; v <= VERDICT_OPEN; v++)
		json_object_set_new(o, verdict_names[v], json_integer(c->count[v]));
	json_object_set_new(o, "open_by_correction", json_integer(c->alone));
	return o;
}

static json_t *terms_json(const struct comparison *c)
{
	return json_pack("{s:f, s:f, s:b, s:b, s:f, s:i}", "margin", c->options.margin,
			 "between_sd", c->options.between, "strict", c->options.strict, "forced",
			 c->options.force, "level", JUDGE_LEVEL, "tests", c->tests);
}

json_t *compare_json(const struct comparison *c)
{
	json_t *parameters = json_array(), *workloads = json_array(), *points = json_array();
	char finding[1024];

	figure_finding(c, finding, sizeof(finding));
	for (int i = 0; i < c->parameters.n; i++)
		json_array_append_new(parameters, parameter_json(&c->parameters.row[i]));
	for (int i = 0; i < c->pairs.n_workloads; i++)
		json_array_append_new(workloads, workload_json(c, i));
	for (int i = 0; i < c->pairs.n; i++)
		json_array_append_new(points, point_json(c, &c->point[i]));
	return json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:O, s:O, s:o, s:o, s:o, s:o}", "verdict",
			 outcome_names[c->outcome], "finding", finding, "exit_code",
			 (int)compare_exit_code(c), "terms", terms_json(c), "a",
			 party_json(c->party[PAIR_A]), "b", party_json(c->party[PAIR_B]),
			 "environment", c->surroundings, "warnings", c->warnings, "parameters",
			 parameters, "workloads", workloads, "counts", counts_json(c), "points",
			 points);
}
