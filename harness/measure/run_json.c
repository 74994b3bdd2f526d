/* run_json.c - the results of `rift run` for machines; units are in the names. */
#include <math.h>
#include <string.h>

#include "harness/base/json.h"
#include "harness/measure/run.h"
#include "harness/stats/stats.h"

static void set(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static json_t *params_json(const struct params *p)
{
	json_t *o = json_object();

	for (const struct param *row = p->rows; row->name; row++)
		set(o, row->name, param_json(row, p->opts));
	return o;
}

static json_t *check_json(const struct run *r)
{
	const struct verdict *v = &r->verdict;
	json_t *o = json_object();

	set(o, "passed", json_boolean(r->passed));
	set(o, "error", json_number(v->error));
	/* null has a reason */
	set(o, "error_text",
	    isnan(v->error)   ? json_string("nan")
	    : isinf(v->error) ? json_string("inf")
			      : json_null());
	set(o, "tolerance", json_number(v->tolerance));
	set(o, "measure", json_text(v->measure));
	set(o, "compared", json_integer(v->compared));
	set(o, "total", json_integer(v->total));
	set(o, "share", json_number((double)v->compared / (double)v->total));
	set(o, "worst", json_text(*v->worst ? v->worst : NULL));
	set(o, "steps", json_integer(r->check_steps));
	set(o, "full", json_boolean(v->full));
	set(o, "seed", json_integer((json_int_t)v->seed));
	return o;
}

static json_t *series_json(const int64_t *ns, const struct run *r)
{
	struct stats s = stats_of(ns, r->blocks.n, (double)r->depth);

	return json_pack("{s:o, s:o, s:I}", "median", json_number(s.median), "min",
			 json_number(s.min), "n", (json_int_t)s.n);
}

/* Raw block times, so that statistics can be redone. */
static json_t *raw_json(const int64_t *ns, int64_t n)
{
	json_t *array = json_array();

	for (int64_t i = 0; i < n; i++)
		json_array_append_new(array, json_integer(ns[i]));
	return array;
}

static json_t *cost_json(const struct cost *c)
{
	json_t *o = json_object();

	set(o, "launches", json_number(c->launches));
	set(o, "flops", json_number(c->flops));
	set(o, "bytes_moved", json_number(c->bytes_moved));
	set(o, "bytes_transferred", json_number(c->bytes_transferred));
	set(o, "evaluations", json_number(c->evaluations));
	set(o, "evaluation", json_text(c->evaluation));
	set(o, "formula", json_text(c->formula));
	return o;
}

json_t *run_report_json(const struct report *report)
{
	json_t *array = json_array();

	for (int i = 0; i < report->n && i < REPORT_ROWS_MAX; i++) {
		const struct report_row *row = &report->row[i];
		json_t *o = json_object();

		set(o, "name", json_text(row->name));
		set(o, "unit", json_text(row->unit));
		set(o, "value", *row->text ? json_null() : json_number(row->value));
		set(o, "n", row->n ? json_integer(row->n) : json_null());
		set(o, "text",
		    *row->text		    ? json_text(row->text)
		    : !isfinite(row->value) ? json_string(isnan(row->value) ? "nan" : "inf")
					    : json_null());
		json_array_append_new(array, o);
	}
	return array;
}

static void set_kernel(json_t *o, const struct kernel_time *k)
{
	set(o, "kernel_ns", json_number(k->ns));
	set(o, "kernel_ns_source", json_text(k->unknown ? k->unknown : k->source));
	set(o, "kernel_steps", json_integer(k->steps));
	set(o, "block_ends_ns", json_number(k->ends_ns));
}

static json_t *cold_json(const struct cold *c)
{
	json_t *o = json_object();

	set(o, "start_ns", json_number(c->start_ns));
	set(o, "setup_ns", json_number(c->setup_ns));
	set(o, "block_ns", json_number(c->block_ns));
	return o;
}

static void set_measured(json_t *o, const struct run *r)
{
	struct stats step = stats_of(r->blocks.total_ns, r->blocks.n, (double)r->depth);
	bool graph = r->mode == MODE_GRAPH;

	set(o, "mode", json_string(mode_name(r->mode)));
	set(o, "depth", json_integer(r->depth));
	set(o, "depth_cut_from", r->depth_cut_from ? json_integer(r->depth_cut_from) : json_null());
	set(o, "graph_steps", graph ? json_integer(r->graph_steps) : json_null());
	set(o, "graph_rest_steps", graph ? json_integer(r->rest_steps) : json_null());
	set(o, "check", check_json(r));
	set(o, "steps", json_integer(r->depth * r->blocks.n));
	set(o, "step_ns", series_json(r->blocks.total_ns, r));
	set(o, "submit_ns", series_json(r->blocks.enq_ns, r));
	set(o, "evaluation_ns", json_number(step.median / r->cost.evaluations));
	set(o, "launches_per_step", json_number(r->cost.launches));
	set_kernel(o, &r->kernel);
	set(o, "overhead_share", json_number(r->overhead.share));
	set(o, "meaning", json_text(r->overhead.meaning));
	set(o, "cold", cold_json(&r->cold));
	set(o, "blocks",
	    json_pack("{s:I, s:o, s:o}", "n", (json_int_t)r->blocks.n, "t_enq_ns",
		      raw_json(r->blocks.enq_ns, r->blocks.n), "t_total_ns",
		      raw_json(r->blocks.total_ns, r->blocks.n)));
	set(o, "warmup",
	    json_pack("{s:I, s:I, s:s}", "blocks", (json_int_t)r->warmup.blocks, "elapsed_ns",
		      (json_int_t)r->warmup.elapsed_ns, "ended_by", r->warmup.ended_by));
}

/* What only records need is asked for now, after the measurement, and not kept. */
static json_t *whole_platform_json(const struct run *r)
{
	struct platform p = r->platform;
	json_t *o;

	platform_details(&p);
	o = platform_json(&p);
	libraries_release(&p.libraries);
	return o;
}

json_t *run_json(const struct run *r)
{
	json_t *o = json_object();

	set(o, "workload", json_string(r->workload->name));
	set(o, "device", platform_device_json(&r->platform));
	set(o, "platform", whole_platform_json(r));
	set(o, "params", params_json(r->params));
	set(o, "action", json_boolean(r->limits.action));
	set(o, "sync", json_string(sync_names[r->subject.sync]));
	if (!r->limits.action)
		set_measured(o, r);
	set(o, "cost", cost_json(&r->cost));
	set(o, "report", run_report_json(&r->report));
	set(o, "picture", picture_json(&r->picture));
	return o;
}
