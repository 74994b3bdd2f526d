/* sweep_text.c - what `rift sweep` prints: the plan, and what was measured. */
#include "harness/cmd/sweep_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/measure/run.h"
#include "harness/base/together.h"
#include "harness/measure/choose.h"
#include "harness/measure/estimate.h"
#include "harness/measure/plan_record.h"
#include "harness/record/trust.h"
#include "harness/session/company.h"
#include "harness/session/results.h"
#include "harness/session/stopping.h"
#include "harness/session/visit.h"
#include "harness/session/watch.h"
#include "harness/stats/decide.h"

static void short_time_print(const struct plan *p, const struct omitted *o, FILE *out)
{
	const char *name = design_name(&p->design);
	double limit_s = design_limit_ns(&p->design) / 1e9;
	char takes[16];

	if (o->processes)
		fprintf(out, "rift: --%s: %s per side, not %d, to stay under %.0f s per side\n",
			name, counted(p->design.processes, "process").s,
			p->design.processes + o->processes, limit_s);
	if (o->takes_ns > 0)
		fprintf(out, "rift: --%s: it takes %s, more than %.0f s per side\n", name,
			show_duration(o->takes_ns, takes), limit_s);
	if (o->load > 0 && (o->processes || o->takes_ns > 0))
		fprintf(out, "rift: this machine is busy: load %.1f on %s\n", o->load,
			counted(sysconf(_SC_NPROCESSORS_ONLN), "processor").s);
}

void omitted_print(const struct plan *p, const struct omitted *o, FILE *out)
{
	if (p->refused)
		fprintf(out, "rift: left out: %s that the workload refuses: %s\n",
			counted(p->refused, "point").s, p->refused_why);
	if (o->launches)
		fprintf(out,
			"rift: left out: %s, whose launches would take more than %.0f ms and "
			"cannot be interrupted\n",
			counted(o->launches, "point").s, o->launch_max_ns / 1e6);
	if (o->too_long)
		fprintf(out, "rift: left out: %s, whose samples take more than %d ms\n",
			counted(o->too_long, "point").s, BLOCK_LONGEST_NS / 1000000);
	if (o->apart)
		fprintf(out,
			"rift: measured one side after the other, not alternately, as device "
			"memory is short: %s\n",
			counted(o->apart, "configuration").s);
	if (o->corners)
		fprintf(out,
			"rift: --%s: left out: %s, those of large sizes and depths first, to stay "
			"under %.0f s per side\n",
			design_name(&p->design), counted(o->corners, "point").s,
			design_limit_ns(&p->design) / 1e9);
	short_time_print(p, o, out);
}

/* "12 s", and where the sides differ by more than a tenth "12 s, of side b 80 s". */
static struct text process_text(const struct plan *p, int sides)
{
	double a_ns = predict_process_ns(p, 0), b_ns = predict_process_ns(p, 1);
	bool alike = sides < 2 || fabs(b_ns - a_ns) <= 0.1 * a_ns;
	char a[16], b[16];
	struct text t;

	show_duration(a_ns, a);
	show_duration(b_ns, b);
	snprintf(t.s, sizeof(t.s), "%s%s%s", a, alike ? "" : ", of side b ", alike ? "" : b);
	return t;
}

/* "12.3 us x 40": a block, and how many of them a visit has. */
static struct text block_text(const struct design *d, double block_ns)
{
	bool known = isfinite(block_ns);
	struct text t;

	snprintf(t.s, sizeof(t.s), "%-8.24s x %d", known ? text_time(block_ns).s : "unknown",
		 design_visit_blocks(d, known ? block_ns : 1e9));
	return t;
}

void plan_print(const struct plan *p, int sides, const struct omitted *o, double planning_ns,
		FILE *out)
{
	const struct design *d = &p->design;
	int least = d->sequential ? design_next_interim(d, 0) : d->processes;
	char all[16], most[16], planning[16], point[160], up_to[32] = "";

	omitted_print(p, o, out);
	if (d->sequential)
		snprintf(up_to, sizeof(up_to), " to %d", d->processes);
	fprintf(out, "design            %s: %d%s%s%s, %s of %s, seed %lu\n", design_name(d), least,
		up_to, strchr(counted(d->processes, "process").s, ' '),
		sides == 2 ? " per side, in ABBA order" : "", counted(d->rounds, "round").s,
		counted(p->n_points, "point").s, (unsigned long)d->seed);
	for (int i = 0; i < d->policies; i++)
		fprintf(out, "%s%s%s", i ? ", " : "sync              ", sync_names[d->policy[i]],
			i + 1 < d->policies ? "" : ": one process for each, alternately\n");
	if (d->sequential)
		snprintf(up_to, sizeof(up_to), " to %s",
			 show_duration(planning_ns + predict_session_ns(p, sides), most));
	fprintf(out, "predicted         %s%s, of which planning takes %s and a process %s\n",
		show_duration(planning_ns + predict_processes_ns(p, sides, least), all), up_to,
		show_duration(planning_ns, planning), process_text(p, sides).s);
	for (int i = 0; i < p->n_points; i++) {
		plan_point_text(p, i, point, sizeof(point));
		fprintf(out, "%6d  %-56s sample %s", i + 1, point,
			block_text(d, p->point[i].block_ns[0]).s);
		fprintf(out, sides == 2 ? ", b %s\n" : "\n",
			block_text(d, p->point[i].block_ns[1]).s);
	}
}

/* ---- results ---------------------------------------------------------------------------- */

/* "7.21 us ±1.2%", with a star where it is wide; without an interval the figure alone, "-" for
 * none. */
static void cell_text(const struct interval *c, double most, char *out, size_t size)
{
	double half = interval_half_width(c);

	if (!c->n)
		snprintf(out, size, "-");
	else if (isfinite(half))
		snprintf(out, size, "%s ±%s%%%s", text_time(c->value).s, text_half_width(half, 1).s,
			 half <= most ? "" : "*");
	else
		snprintf(out, size, "%s", text_time(c->value).s);
}

/* The configuration but for its size: what a table is about. */
static void table_text(const struct plan *p, int config, char *out, size_t size)
{
	const struct config *c = &p->config[config];
	size_t used = (size_t)snprintf(out, size, "%s", c->workload->name);
	char value[64];

	for (const struct param *row = c->params.rows; row->name && used < size; row++) {
		if (row->axis || param_is_default(row, c->params.opts))
			continue;
		param_format(row, c->params.opts, value, sizeof(value));
		used += (size_t)snprintf(out + used, size - used, " %s=%s", row->name,
					 text_escaped(value).s);
	}
}

/* The depths of a table, rising; returns how many. */
static int depths_of(const struct results *r, const int *table, int first, int64_t *depth)
{
	const struct plan *p = &r->j->plan;
	int n = 0;

	for (int i = first; i < p->n_points; i++) {
		int64_t d = p->point[i].depth;
		int k = 0;

		if (table[i] != table[first])
			continue;
		while (k < n && depth[k] < d)
			k++;
		if (k < n && depth[k] == d)
			continue;
		memmove(depth + k + 1, depth + k, (size_t)(n - k) * sizeof(*depth));
		depth[k] = d;
		n++;
	}
	return n;
}

/* Padded by what is seen: '±' is two bytes. */
static void print_cell(const char *text, FILE *out)
{
	int extra = strstr(text, "±") ? 1 : 0;

	fprintf(out, " %*s", 16 + extra, text);
}

static void print_row(const struct results *r, int side, int first, int config,
		      const int64_t *depth, int n, FILE *out)
{
	const struct plan *p = &r->j->plan;
	const struct config *c = &p->config[config];
	const struct param *axis = workload_axis(c->workload);
	char text[96];

	param_format(axis, c->params.opts, text, sizeof(text));
	/* what has a size of its own, a file say, has none of the axis */
	fprintf(out, "%8s", param_counts(&c->params, c->workload->needs, axis->name) ? text : "-");
	for (int k = 0; k < n; k++) {
		struct interval at = interval_unknown(0);

		for (int i = 0; i < p->n_points; i++)
			if (p->point[i].config == config && p->point[i].depth == depth[k] &&
			    p->point[i].mode == p->point[first].mode &&
			    p->point[i].sync == p->point[first].sync)
				at = results_interval(r, side, i);
		cell_text(&at, p->design.half_width_max, text, sizeof(text));
		print_cell(text, out);
	}
	fprintf(out, "\n");
}

static void print_table(const struct results *r, const int *table, int side, int first, FILE *out)
{
	const struct journal *j = r->j;
	const struct plan *p = &j->plan;
	const struct config *c = &p->config[p->point[first].config];
	int64_t *depth = calloc((size_t)p->n_points + 1, sizeof(*depth));
	char title[512];
	int n, last = -1;

	CHECK(depth, "memory of %d depths", p->n_points);
	n = depths_of(r, table, first, depth);
	table_text(p, p->point[first].config, title, sizeof(title));
	fprintf(out, "\n%s, %s mode", title, mode_name(p->point[first].mode));
	if (p->design.policies)
		fprintf(out, ", sync %s", sync_names[p->point[first].sync]);
	if (j->sides == 2)
		fprintf(out, ", side %s", journal_side_name(side));
	fprintf(out, ": time per step by %s (down) and depth (across)\n",
		workload_axis(c->workload)->name);
	fprintf(out, "%8s", "");
	for (int k = 0; k < n; k++)
		fprintf(out, " %16ld", (long)depth[k]);
	fprintf(out, "\n");
	for (int i = first; i < p->n_points; i++) {
		if (table[i] != table[first] || p->point[i].config == last)
			continue;
		last = p->point[i].config;
		print_row(r, side, first, last, depth, n, out);
	}
	free(depth);
}

/* Which table each point is in: the number of its first point. */
static int *tables(const struct plan *p)
{
	int *table = calloc((size_t)p->n_points + 1, sizeof(*table));
	char(*title)[512] = calloc((size_t)p->n_configs + 1, sizeof(*title));

	CHECK(table && title, "memory of %d points", p->n_points);
	for (int i = 0; i < p->n_configs; i++)
		table_text(p, i, title[i], sizeof(title[i]));
	for (int i = 0; i < p->n_points; i++) {
		const struct plan_point *at = &p->point[i];
		int k = 0;

		while (p->point[k].mode != at->mode || p->point[k].sync != at->sync ||
		       (p->point[k].config != at->config &&
			strcmp(title[p->point[k].config], title[at->config])))
			k++;
		table[i] = k;
	}
	free(title);
	return table;
}

static bool is_alone(const struct plan *p, const int *table, int point)
{
	int n = 0;

	for (int i = 0; i < p->n_points; i++)
		n += table[i] == table[point];
	return n == 1;
}

/* Tables of one point, as those around the centre are, in one list. */
static void print_alone(const struct results *r, const int *table, FILE *out)
{
	const struct plan *p = &r->j->plan;
	char text[160];
	bool any = false;

	for (int i = 0; i < p->n_points; i++) {
		if (!is_alone(p, table, i))
			continue;
		if (!any)
			fprintf(out, "\ntime per step of single points%s\n",
				r->j->sides == 2 ? ", sides a and b" : "");
		any = true;
		for (int side = 0; side < r->j->sides; side++) {
			struct interval c = results_interval(r, side, i);

			cell_text(&c, p->design.half_width_max, text, sizeof(text));
			print_cell(text, out);
		}
		plan_point_text(p, i, text, sizeof(text));
		fprintf(out, "  %s\n", text);
	}
}

static void print_legend(const struct results *r, FILE *out)
{
	fprintf(out, "median of n = %s%s; ±: half of its 95 %% interval over processes",
		counted(r->processes, "process").s, r->j->sides == 2 ? " a side" : "");
	if (r->processes < BOOTSTRAP_N_MIN)
		fprintf(out, ", which takes 5 or more\n");
	else
		fprintf(out, ", *: wide, more than %.0f %%\n",
			100 * r->j->plan.design.half_width_max);
}

/* A canary that ends a process so much longer or shorter than it began is worth a word. */
static const double drift_said = 0.01;
/* The host, whose clock and caches are anybody's, may drift more. */
static const double host_drift_said = 0.05;

static bool is_same_refusal(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "call"), json_object_get(b, "call")) &&
	       json_equal(json_object_get(a, "name"), json_object_get(b, "name"));
}

/* How many points from this one on are refused alike; 0: one before it is. */
static int count_alike(const struct journal *j, int side, int point)
{
	const json_t *error = journal_refusal(j, side * j->plan.design.processes, point);
	int n = 0;

	for (int i = 0; i < j->plan.n_points; i++) {
		const json_t *other = journal_refusal(j, side * j->plan.design.processes, i);

		/* one that does not say which call it was is like no other, but counts itself */
		if (!other || (i != point && !is_same_refusal(error, other)))
			continue;
		if (i < point)
			return 0;
		n++;
	}
	return n;
}

static void print_refusal(const struct journal *j, int side, int point, int n, FILE *out)
{
	const json_t *error = journal_refusal(j, side * j->plan.design.processes, point);
	const char *call = json_string_value(json_object_get(error, "call"));
	const char *name = json_string_value(json_object_get(error, "name"));
	char text[160];

	plan_point_text(&j->plan, point, text, sizeof(text));
	fprintf(out, "%s%s: %s", j->sides == 2 ? (side ? "side b: " : "side a: ") : "", text,
		n > 1 ? "" : "not supported here: ");
	if (n > 1)
		fprintf(out,
			"this and %s are not supported here: ", counted(n - 1, "other point").s);
	fprintf(out, "%s: ", text_shown(call ? call : "?").s);
	fprintf(out, "%s\n", text_shown(name ? name : "?").s);
}

void refusals_print(const struct journal *j, FILE *out)
{
	for (int side = 0; side < j->sides; side++)
		for (int i = 0; i < j->plan.n_points; i++) {
			int n = journal_refusal(j, side * j->plan.design.processes, i)
					? count_alike(j, side, i)
					: 0;

			if (n)
				print_refusal(j, side, i, n, out);
		}
}

/* The company of the other side, where it makes a difference or is why there is none. */
static void print_company(const struct journal *j, FILE *out)
{
	const struct design *d = &j->plan.design;

	for (int side = 0; side < j->sides; side++) {
		struct company c = company_of(j, side);

		if (design_gave_pairs_up(d) && isfinite(d->company[side]))
			fprintf(out,
				"processes ran one at a time: next to the other side's, those of "
				"side %s took %.3g times as long\n",
				journal_side_name(side), d->company[side]);
		else if (c.differs)
			fprintf(out,
				"next to a process of the other side, side %s takes %.3g times as "
				"long as alone (n = %d); --apart runs one at a time\n",
				journal_side_name(side), c.ratio, c.n);
	}
}

/* So much longer than with nothing set up is worth a line; and so many times as long. */
static const double held_said_ns = 50e3, held_said_times = 1.5;

static void print_held(const struct journal *j, FILE *out)
{
	for (int side = 0; side < j->sides; side++) {
		const struct held *h = &j->held[side];
		char config[160] = "a configuration";

		if (!(h->set_up_ns > held_said_times * h->before_ns + held_said_ns))
			continue;
		for (int i = 0; i < j->plan.n_points; i++)
			if (!strcmp(j->plan.point[i].key, h->key))
				plan_point_text(&j->plan, i, config, sizeof(config));
		fprintf(out,
			"%s%s%sa launch and a synchronize take %s with %s set up, %s with nothing: "
			"what a process holds costs time\n",
			j->sides == 2 ? "side " : "", j->sides == 2 ? journal_side_name(side) : "",
			j->sides == 2 ? ": " : "", text_time(h->set_up_ns).s, config,
			text_time(h->before_ns).s);
	}
}

/* How precisely a layer did what it does is part of each result under it. */
static void print_layers(const struct journal *j, FILE *out)
{
	const json_t *layer;
	size_t i;

	for (int side = 0; side < j->sides; side++) {
		bool two = j->sides == 2;

		json_array_foreach(j->layers[side], i, layer)
		{
			fprintf(out, "%s%s%sunder %s, in the last process: %s\n",
				two ? "side " : "", two ? journal_side_name(side) : "",
				two ? ": " : "", text_shown(json_get_text(layer, "name")).s,
				text_escaped(json_get_text(layer, "detail")).s);
		}
	}
}

void distrust_print(const struct journal *j, FILE *out)
{
	char why[TRUST_TEXT];

	if (*session_distrust(j, why))
		fprintf(out, "cannot be trusted: %s\n", why);
}

void quality_print(const struct journal *j, FILE *out)
{
	const double *of = j->drift_most, most = fabs(of[1]) > fabs(of[0]) ? of[1] : of[0];
	struct trust trust = trust_of(j);

	fprintf(out, "%d of %d results are noisy", trust.noisy, trust.results);
	if (fabs(most) > drift_said)
		fprintf(out, "; in one process the canary drifted by %+.1f %%", 100 * most);
	if (j->host_ns[1] > (1 + host_drift_said) * j->host_ns[0] && j->host_ns[0] > 0)
		fprintf(out, "; the host itself was up to %.0f %% slower at times",
			100 * (j->host_ns[1] / j->host_ns[0] - 1));
	fprintf(out, "\n");
	print_layers(j, out);
	print_held(j, out);
	print_company(j, out);
}

void results_print(const struct journal *j, FILE *out)
{
	const struct plan *p = &j->plan;
	int *table = tables(p);
	struct results r;

	results_init(&r, j, journal_processes(j));
	print_legend(&r, out);
	for (int i = 0; i < p->n_points; i++) {
		bool shown = table[i] != i || is_alone(p, table, i);

		for (int side = 0; side < j->sides && !shown; side++)
			print_table(&r, table, side, i, out);
	}
	print_alone(&r, table, out);
	bimodal_print(&r, out);
	if (j->sides == 2)
		sides_print(&r, out);
	results_release(&r);
	free(table);
}
