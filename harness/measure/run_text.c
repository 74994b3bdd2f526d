/* run_text.c - the results of `rift run`, for machines and for people. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/platform/in_force.h"
#include "harness/measure/run.h"
#include "harness/stats/stats.h"

/* ---- the results of `rift run` for machines; units are in the names --------------------- */

static void set_field(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static json_t *params_json(const struct params *p)
{
	json_t *o = json_object();

	for (const struct param *row = p->rows; row->name; row++)
		set_field(o, row->name, param_json(row, p->opts));
	return o;
}

static json_t *check_json(const struct run *r)
{
	const struct verdict *v = &r->verdict;
	json_t *o = json_object();

	set_field(o, "passed", json_boolean(r->passed));
	set_field(o, "error", json_number(v->error));
	/* null has a reason */
	set_field(o, "error_text",
		  isnan(v->error)   ? json_string("nan")
		  : isinf(v->error) ? json_string("inf")
				    : json_null());
	set_field(o, "tolerance", json_number(v->tolerance));
	set_field(o, "measure", json_text(v->measure));
	set_field(o, "compared", json_integer(v->compared));
	set_field(o, "total", json_integer(v->total));
	set_field(o, "share", json_number((double)v->compared / (double)v->total));
	set_field(o, "worst", json_text(*v->worst ? v->worst : NULL));
	set_field(o, "steps", json_integer(r->check_steps));
	set_field(o, "full", json_boolean(v->full));
	set_field(o, "seed", json_integer((json_int_t)v->seed));
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

	set_field(o, "launches", json_number(c->launches));
	set_field(o, "flops", json_number(c->flops));
	set_field(o, "bytes_moved", json_number(c->bytes_moved));
	set_field(o, "bytes_transferred", json_number(c->bytes_transferred));
	set_field(o, "copies",
		  json_number(c->to_device.calls + c->to_host.calls + c->within.calls));
	set_field(o, "allocations", json_number(c->allocations));
	set_field(o, "evaluations", json_number(c->evaluations));
	set_field(o, "evaluation", json_text(c->evaluation));
	set_field(o, "formula", json_text(c->formula));
	return o;
}

json_t *run_report_json(const struct report *report)
{
	json_t *array = json_array();

	for (int i = 0; i < report->n && i < REPORT_ROWS_MAX; i++) {
		const struct report_row *row = &report->row[i];
		json_t *o = json_object();

		set_field(o, "name", json_text(row->name));
		set_field(o, "unit", json_text(row->unit));
		set_field(o, "value", *row->text ? json_null() : json_number(row->value));
		set_field(o, "n", row->n ? json_integer(row->n) : json_null());
		set_field(o, "text",
			  *row->text		  ? json_text(row->text)
			  : !isfinite(row->value) ? json_string(isnan(row->value) ? "nan" : "inf")
						  : json_null());
		json_array_append_new(array, o);
	}
	return array;
}

static void set_kernel(json_t *o, const struct kernel_time *k)
{
	set_field(o, "kernel_ns", json_number(k->ns));
	set_field(o, "kernel_ns_source", json_text(k->unknown ? k->unknown : k->source));
	set_field(o, "kernel_steps", json_integer(k->steps));
	set_field(o, "block_ends_ns", json_number(k->ends_ns));
}

static json_t *startup_json(const struct startup *c)
{
	json_t *o = json_object();

	set_field(o, "start_ns", json_number(c->start_ns));
	set_field(o, "setup_ns", json_number(c->setup_ns));
	set_field(o, "block_ns", json_number(c->block_ns));
	return o;
}

static void set_measured(json_t *o, const struct run *r)
{
	struct stats step = stats_of(r->blocks.total_ns, r->blocks.n, (double)r->depth);
	bool graph = r->mode == MODE_GRAPH;

	set_field(o, "mode", json_string(mode_name(r->mode)));
	set_field(o, "depth", json_integer(r->depth));
	set_field(o, "depth_cut_from",
		  r->depth_cut_from ? json_integer(r->depth_cut_from) : json_null());
	set_field(o, "graph_steps", graph ? json_integer(r->graph_steps) : json_null());
	set_field(o, "graph_rest_steps", graph ? json_integer(r->rest_steps) : json_null());
	set_field(o, "check", check_json(r));
	set_field(o, "steps", json_integer(r->depth * r->blocks.n));
	set_field(o, "step_ns", series_json(r->blocks.total_ns, r));
	set_field(o, "submit_ns", series_json(r->blocks.enq_ns, r));
	set_field(o, "evaluation_ns", json_number(step.median / r->cost.evaluations));
	set_field(o, "launches_per_step", json_number(r->cost.launches));
	set_kernel(o, &r->kernel);
	set_field(o, "non_kernel_share", json_number(r->overhead.share));
	set_field(o, "meaning", json_text(r->overhead.meaning));
	set_field(o, "startup", startup_json(&r->startup));
	set_field(o, "blocks",
		  json_pack("{s:I, s:o, s:o}", "n", (json_int_t)r->blocks.n, "t_enq_ns",
			    raw_json(r->blocks.enq_ns, r->blocks.n), "t_total_ns",
			    raw_json(r->blocks.total_ns, r->blocks.n)));
	set_field(o, "warmup",
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

	set_field(o, "workload", json_string(r->workload->name));
	set_field(o, "device", platform_device_json(&r->platform));
	set_field(o, "platform", whole_platform_json(r));
	set_field(o, "params", params_json(r->params));
	set_field(o, "action", json_boolean(r->limits.action));
	set_field(o, "sync", json_string(sync_names[r->instance.sync]));
	if (!r->limits.action)
		set_measured(o, r);
	set_field(o, "cost", cost_json(&r->cost));
	set_field(o, "report", run_report_json(&r->report));
	set_field(o, "picture", picture_json(&r->picture));
	return o;
}

/* ---- the table of `rift run` ------------------------------------------------------------ */

/* printf() shows the sign of a NaN, which means nothing: -nan. */
static double without_sign_of_nan(double v)
{
	return isnan(v) ? fabs(v) : v;
}

static void print_device(const struct platform *p, FILE *out)
{
	int rt = p->runtime_version, dr = p->driver_version;
	char layers[LAYERS_TEXT];
	const json_t *layer;
	size_t i;

	if (p->is_gpu)
		row(out, "device", "%s, compute %d.%d, %d SMs, %s; runtime %d.%d, driver %d.%d",
		    p->device, p->cc_major, p->cc_minor, p->sms,
		    text_bytes((double)p->memory_bytes).s, rt / 1000, rt % 1000 / 10, dr / 1000,
		    dr % 1000 / 10);
	else
		row(out, "device", "%s; runtime %d.%d: these are not GPU figures", p->device,
		    rt / 1000, rt % 1000 / 10);
	if (!json_array_size(p->layers))
		return;
	layers_text(p->layers, layers, sizeof(layers));
	row(out, "under", "%s", layers);
	json_array_foreach(p->layers, i, layer)
	{
		const char *detail = json_get_text(layer, "detail");

		if (*detail)
			row(out, "", "%s: %s", json_get_text(layer, "name"), detail);
	}
}

static void print_host(const struct platform *p, FILE *out)
{
	const char *hypervisor = virt_word(&p->virt, VIRT_HYPERVISOR);
	const char *container = virt_word(&p->virt, VIRT_CONTAINER);
	struct text cpus = { "unknown number of" };

	if (fact_known(&p->host.cpus))
		cpus = text_int(p->host.cpus.number, 0);
	row(out, "host", "%s, %s logical CPUs, Linux %s%s%s%s%s%s%s",
	    fact_or(&p->host.cpu_model, "CPU unknown"), cpus.s, fact_or(&p->host.kernel, "unknown"),
	    hypervisor ? ", hypervisor: " : "", hypervisor ? hypervisor : "",
	    virt_word(&p->virt, VIRT_WSL) ? ", WSL" : "",
	    virt_word(&p->virt, VIRT_SANDBOX) ? ", gVisor" : "", container ? ", container: " : "",
	    container ? container : "");
}

/* "dt=0.1 ms (*)": one parameter, unbreakable; the unit only where the name does not say it. */
static void put_param(FILE *line, const struct param *row, const char *value, bool changed)
{
	char item[640];

	snprintf(item, sizeof(item), "%s=%s%s%s", row->name, value,
		 strcmp(row->unit, row->name) ? param_unit(row).s : "", changed ? " (*)" : "");
	for (char *c = item; *c; c++) /* a file name may hold anything */
		fputc(*c == ' ' ? HARD_BLANK : iscntrl((unsigned char)*c) ? '?' : *c, line);
}

/* Every parameter that has a value, those that are not the default marked; or only those. */
static void print_params(const struct params *p, bool verbose, FILE *out)
{
	char *text, value[512];
	const char *between = "";
	bool marked = false;
	size_t size;
	FILE *line = open_memstream(&text, &size);

	CHECK(line, "memory for the parameters");
	for (const struct param *r = p->rows; r->name; r++) {
		bool changed = !param_is_default(r, p->opts);

		param_format(r, p->opts, value, sizeof(value));
		if (!*value || (!verbose && !changed))
			continue;
		fputs(between, line);
		put_param(line, r, value, verbose && changed);
		between = ", ";
		marked |= verbose && changed;
	}
	fclose(line);
	if (size || verbose)
		row(out, "parameters", "%s%s", size ? text : "none",
		    marked ? "; (*) not the default" : "");
	free(text);
}

static void print_mode(const struct run *r, FILE *out)
{
	const char *sync = sync_names[r->instance.sync];
	struct counted blocks = counted(r->blocks.n, "sample");

	if (r->mode != MODE_GRAPH)
		row(out, "mode", "%s, depth %ld, %s, sync %s", mode_name(r->mode), (long)r->depth,
		    blocks.s, sync);
	else if (r->rest_steps)
		row(out, "mode", "graph of %s and one of %ld, depth %ld, %s, sync %s",
		    counted(r->graph_steps, "step").s, (long)r->rest_steps, (long)r->depth,
		    blocks.s, sync);
	else
		row(out, "mode", "graph of %s, depth %ld, %s, sync %s",
		    counted(r->graph_steps, "step").s, (long)r->depth, blocks.s, sync);
}

/* The default was meant for a GPU; see depth_that_fits(). */
static void print_depth_cut(const struct run *r, FILE *out)
{
	if (r->depth_cut_from)
		row(out, "",
		    "(not the default depth of %ld, a sample of which would take over 1 s)",
		    (long)r->depth_cut_from);
}

static void print_check(const struct run *r, bool verbose, FILE *out)
{
	const struct verdict *v = &r->verdict;

	if (r->passed && !verbose)
		row(out, "check", "passed: error %.3g, tolerance %.3g", v->error, v->tolerance);
	else
		row(out, "check",
		    "%s: error %.3g, tolerance %.3g (%s); %ld of %ld compared after %s",
		    r->passed ? "passed" : "FAILED", without_sign_of_nan(v->error), v->tolerance,
		    v->measure ? v->measure : "unnamed", (long)v->compared, (long)v->total,
		    counted(r->check_steps, "step").s);
	if (*v->worst && (verbose || !r->passed))
		row(out, "", "worst: %s", v->worst);
}

static void print_series(const char *label, const int64_t *ns, const struct run *r, FILE *out)
{
	struct stats s = stats_of(ns, r->blocks.n, (double)r->depth);

	row(out, label, "median %s, min %s, n = %ld", text_time(s.median).s, text_time(s.min).s,
	    (long)s.n);
}

static void print_evaluations(const struct run *r, FILE *out)
{
	struct stats s = stats_of(r->blocks.total_ns, r->blocks.n, (double)r->depth);
	const struct cost *c = &r->cost;

	if (c->evaluations > 0)
		row(out, "evaluation", "%s per %s, %s/s", text_time(s.median / c->evaluations).s,
		    c->evaluation, text_count(1e9 * c->evaluations / s.median).s);
}

/* Only for steps that copy and launch nothing: otherwise it is no rate of the link. */
static void print_rate(const struct run *r, FILE *out)
{
	struct stats s = stats_of(r->blocks.total_ns, r->blocks.n, (double)r->depth);

	if (r->cost.launches == 0 && r->cost.bytes_transferred > 0)
		row(out, "rate", "%.3g GB/s", r->cost.bytes_transferred / s.median);
	else if (r->cost.moves_only)
		row(out, "rate", "%.3g GB/s, read and written", r->cost.bytes_moved / s.median);
}

static void print_times(const struct run *r, bool verbose, FILE *out)
{
	print_series("time per step", r->blocks.total_ns, r, out);
	print_series("submit per step", r->blocks.enq_ns, r, out);
	print_rate(r, out);
	if (r->kernel.unknown)
		row(out, "kernels per step", "not known: %s", r->kernel.unknown);
	else
		row(out, "kernels per step", "%s (%s)", text_time(r->kernel.ns).s,
		    r->kernel.source);
	if (verbose) {
		row(out, "launches", "%s per step in stream mode", text_real(r->cost.launches).s);
		print_evaluations(r, out);
	}
	if (isnan(r->overhead.share))
		row(out, "non-kernel share", "%s", r->overhead.meaning);
	else
		row(out, "non-kernel share", "%.1f %% of a sample at depth %ld; %s",
		    100 * fmax(0, r->overhead.share), (long)r->depth, r->overhead.meaning);
}

/* Not the overhead of a block but another kind of cost, so nothing adds the two. */
static void print_startup(const struct run *r, FILE *out)
{
	const struct startup *c = &r->startup;
	double total_ns = startup_total_ns(c), kernels_ns = (double)r->depth * r->kernel.ns;

	if (isnan(total_ns))
		return;
	row(out, "startup cost", "%s for one sample: %s to start, %s to set up, %s for the sample",
	    text_time(total_ns).s, text_time(c->start_ns).s, text_time(c->setup_ns).s,
	    text_time(c->block_ns).s);
	if (!r->kernel.unknown)
		row(out, "", "kernels are %.3g %% of that", 100 * kernels_ns / total_ns);
}

static struct text median_text(int64_t n)
{
	struct text t = { "" };

	if (n)
		snprintf(t.s, sizeof(t.s), n == 1 ? ", n = %ld" : ", median of %ld", (long)n);
	return t;
}

/* The rows of an action are a table of their own, with names of any width. */
static int label_width(const struct report *report)
{
	int width = ROW_LABEL;

	for (int i = 0; i < report->n && i < REPORT_ROWS_MAX; i++)
		width = (int)fmax(width, (double)strlen(report->row[i].name));
	return width;
}

static void print_report_row(const struct report_row *line, int width, FILE *out)
{
	bool has_unit = line->unit && *line->unit && strcmp(line->unit, "1");
	char value[240];

	if (*line->text)
		snprintf(value, sizeof(value), "%s", line->text);
	else
		snprintf(value, sizeof(value), "%.6g%s%s%s", without_sign_of_nan(line->value),
			 has_unit ? " " : "", has_unit ? line->unit : "", median_text(line->n).s);
	row_of(out, width, line->name, value);
}

static void print_report(const struct report *report, int width, FILE *out)
{
	for (int i = 0; i < report->n && i < REPORT_ROWS_MAX; i++)
		print_report_row(&report->row[i], width, out);
}

/* Does it name a file that the workload was asked to write? */
static bool names_written_file(const struct report_row *line, const struct params *p)
{
	char path[512];

	for (const struct param *row = p->rows; row->name; row++) {
		if (!row->written)
			continue;
		param_format(row, p->opts, path, sizeof(path));
		if (*path && strstr(line->text, path))
			return true;
	}
	return false;
}

/* What was asked for by name stands in the short table too. */
static void print_written(const struct run *r, FILE *out)
{
	const struct report *report = &r->report;

	for (int i = 0; i < report->n && i < REPORT_ROWS_MAX; i++)
		if (names_written_file(&report->row[i], r->params))
			print_report_row(&report->row[i], ROW_LABEL, out);
}

static void print_picture(const struct picture *picture, FILE *out)
{
	const struct plot *p = &picture->plot;

	if (picture->drawn)
		row(out, "picture", "%s/%s.png, %s.svg", p->folder, p->name, p->name);
	else if (picture->asked)
		row(out, "picture", "not drawn");
	if (picture->written)
		row(out, "", "script: %s/%s.gp", p->folder, p->name);
	for (int i = 0; i < p->files; i++)
		row(out, "", "data: %s/%s", p->folder, p->file[i]);
}

/* An action's report is its result; a measured workload's is beside it. */
static void print_action(const struct run *r, FILE *out)
{
	row(out, "sync", "%s", sync_names[r->instance.sync]);
	print_report(&r->report, label_width(&r->report), out);
}

static void print_measured(const struct run *r, bool verbose, FILE *out)
{
	print_mode(r, out);
	print_depth_cut(r, out);
	print_check(r, verbose, out);
	print_times(r, verbose, out);
	if (verbose) {
		print_startup(r, out);
		print_report(&r->report, ROW_LABEL, out);
	} else {
		print_written(r, out);
		row(out, "more",
		    "--verbose: host, parameters, what was compared, start, figures "
		    "of the workload");
	}
}

void run_print(const struct run *r, bool verbose, FILE *out)
{
	row(out, r->workload->name, "%s", r->workload->summary);
	print_device(&r->platform, out);
	if (verbose)
		print_host(&r->platform, out);
	print_params(r->params, verbose, out);
	if (r->limits.action)
		print_action(r, out);
	else
		print_measured(r, verbose, out);
	print_picture(&r->picture, out);
	if (!r->platform.is_gpu)
		fprintf(out, "%s\n", platform_not_gpu);
}
