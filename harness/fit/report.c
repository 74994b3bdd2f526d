/* report.c - all that `rift fit` says of one side of a session. */
#include "harness/fit/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/measure/wait.h"
#include "harness/measure/plan_record.h"
#include "harness/record/recorded.h"
#include "harness/stats/interval_json.h"
#include "workloads/workload.h"

/* ---- all that `rift fit` says of one side of a session ---------------------------------- */

void report_make(struct fit_report *r, const struct fit *f, const struct report_options *o)
{
	*r = (struct fit_report){ .fit = f, .options = *o };
	validate_grid(&r->held_out, f->grid);
	validate_off_grid(&r->itself, f, f->grid);
	r->held_out.accepted &= r->itself.accepted;
	if (o->off_grid)
		validate_off_grid(&r->off_grid, f, o->off_grid);
	r->n_diagnostics = diagnostics_find(f, r->diagnostic);
}

void report_release(struct fit_report *r)
{
	validation_release(&r->held_out);
	validation_release(&r->itself);
	validation_release(&r->off_grid);
}

/* ---- what it is about --------------------------------------------------------------------- */

static void print_subject(const struct fit *f, FILE *out)
{
	const struct grid *g = f->grid;
	char platform[160];

	session_platform(g->j, g->side, platform, sizeof(platform));
	row(out, "fit", "%s%s%s, %s, side %s, n = %s", g->workload->name, *g->others ? " " : "",
	    g->others, platform, journal_side_name(g->side), counted(f->n, "process").s);
	row(out, "session", "%s, %s", g->j->session_id, text_shown(g->j->path ? g->j->path : "").s);
}

static void print_grid(const struct fit *f, FILE *out)
{
	const struct grid *g = f->grid;
	const char *comma = "";
	char modes[64] = "";

	for (int mode = 0; mode < MODE_COUNT; mode++) {
		if (!f->has[mode])
			continue;
		snprintf(modes + strlen(modes), sizeof(modes) - strlen(modes), "%s%s", comma,
			 mode_name((enum mode)mode));
		comma = ", ";
	}
	row(out, "grid", "%s; %s %g to %g; depth %ld to %ld; %s, %d of them in the fit%s", modes,
	    g->axis->name, g->size[0].value, g->size[g->n_sizes - 1].value, (long)g->depth[0],
	    (long)g->depth[g->n_depths - 1], counted(g->n_points, "point").s, f->used,
	    f->corner ? ", others as bounds: too near the corner K + g = p" : "");
	if (g->failed)
		row(out, "", "%d more have no result in some process", g->failed);
	if (g->left_out)
		row(out, "", "%d more have other parameters", g->left_out);
	row(out, "K",
	    g->nominal ? "nominal: what %s says"
		       : "measured: the slope of a sample's time "
			 "over launches, of the two deepest "
			 "samples of each size",
	    g->axis->name);
}

/* ---- parameters --------------------------------------------------------------------------- */

enum { PARAM_LABEL = 6 };

static struct text value_text(enum model_param which, double value)
{
	struct text t;

	if (!strcmp(model_param_rows[which].unit, "ns"))
		return text_time(value);
	snprintf(t.s, sizeof(t.s), which == MODEL_Q ? "%.0f" : "%.4f", value);
	return t;
}

static void print_param(const struct fit *f, enum model_param which, FILE *out)
{
	const struct fit_param *p = &f->param[which];
	char interval[160] = "", label[16], why[sizeof(p->why) + 32];

	if (!p->identified) {
		snprintf(label, sizeof(label), "  %s", model_param_rows[which].name);
		snprintf(why, sizeof(why), "not identified: %s", p->why);
		row_of(out, PARAM_LABEL, label, why);
		return;
	}
	if (p->interval.known)
		snprintf(interval, sizeof(interval), "%s to %s",
			 value_text(which, p->interval.lo).s, value_text(which, p->interval.hi).s);
	fprintf(out, "  %-4s %-8s %-20s %s\n", model_param_rows[which].name,
		value_text(which, p->interval.value).s, interval, model_param_rows[which].what);
}

static void print_params(const struct fit *f, FILE *out)
{
	fprintf(out, "\nparameters%s\n",
		f->n >= BOOTSTRAP_N_MIN ? ", with 95 % intervals over processes"
					: " (intervals take 5 processes or more)");
	for (int i = 0; i < MODEL_PARAMS; i++)
		print_param(f, (enum model_param)i, out);
}

/* ---- what they say ------------------------------------------------------------------------ */

static const struct interval *known_interval(const struct fit *f, enum model_param which)
{
	const struct fit_param *p = &f->param[which];

	return p->identified && p->interval.known ? &p->interval : NULL;
}

/* Is p more than the call? Then there is a submission proxy. */
static void print_stage(const struct fit *f, FILE *out)
{
	const struct interval *c = known_interval(f, MODEL_C), *p = known_interval(f, MODEL_P),
			      *g = known_interval(f, MODEL_G);
	double hides_ns;

	if (!c || !p)
		return;
	if (p->lo > c->hi)
		row(out, "pace",
		    "p is %s more than c: a stage behind the launch call sets the pace",
		    text_time(p->value - c->value).s);
	else
		row(out, "pace",
		    "p is c within their intervals: the launch call on the host sets it");
	hides_ns = g ? (p->value - g->value - f->model.v[MODEL_E]) / f->model.v[MODEL_CLOCK] : NAN;
	if (hides_ns > 0)
		row(out, "", "kernels of %s and more hide it: there K + g sets the pace",
		    text_time(hides_ns).s);
}

/* ---- validation --------------------------------------------------------------------------- */

static void print_errors(const struct grid *g, const char *name, const struct errors *e, FILE *out)
{
	char worst[160] = "";

	if (!e->n)
		return;
	plan_point_text(&g->j->plan, g->point[e->worst_point].point, worst, sizeof(worst));
	fprintf(out, "  %-14s %5d %8.2f %% %8.2f %% %8.2f %%  %s\n", name, e->n, 100 * e->median,
		100 * e->p95, 100 * e->worst, worst);
}

/* itself: errors of the fit to all of g; NULL: it is of another grid. */
static void print_validation(const char *title, const struct grid *g, const struct validation *v,
			     const struct validation *itself, FILE *out)
{
	fprintf(out, "\n%s\n", title);
	if (!v->all.n) {
		fprintf(out, "  no points to predict, or too few to predict them from\n");
		return;
	}
	fprintf(out, "  %-14s %5s %10s %10s %10s\n", "regime", "n", "median", "95 %", "worst");
	for (int r = 0; r < REGIMES; r++)
		print_errors(g, regime_names[r], &v->regime[r], out);
	print_errors(g, "all", &v->all, out);
	if (itself)
		print_errors(g, "not held out", &itself->all, out);
	if (v->outside)
		fprintf(out, "  %d more lie outside what was swept\n", v->outside);
	fprintf(out,
		"  %s: a median of at most %.0f %% and a 95th percentile of at most %.0f %% are "
		"asked for\n",
		v->accepted ? "accepted" : "NOT accepted", 100 * ERROR_MEDIAN_MAX,
		100 * ERROR_P95_MAX);
}

static void print_diagnostics(const struct fit_report *r, FILE *out)
{
	fprintf(out, "\ndiagnostics%s\n", r->n_diagnostics ? "" : ": none");
	for (int i = 0; i < r->n_diagnostics; i++)
		row_of(out, 14, r->diagnostic[i].name, r->diagnostic[i].text);
}

/* ---- the answer in a line ----------------------------------------------------------------- */

static const double answer_share = 0.05;

/* "181 us (172 us to 190 us)", "more than 50.0 us"; "": not known. */
static struct text needed_text(const struct answer *a)
{
	static const char *const words[] = { [ANSWER_VALUE] = "",
					     [ANSWER_BELOW] = "at most ",
					     [ANSWER_ABOVE] = "more than ",
					     [ANSWER_LEAST] = "at least " };
	struct text s = { "" };

	if (a->kind <= ANSWER_LEAST)
		snprintf(s.s, sizeof(s.s), "%s%.20s", words[a->kind],
			 text_time(a->interval.value).s);
	if (a->kind == ANSWER_VALUE && a->interval.known)
		snprintf(s.s + strlen(s.s), sizeof(s.s) - strlen(s.s), " (%.20s to %.20s)",
			 text_time(a->interval.lo).s, text_time(a->interval.hi).s);
	return s;
}

/* The depth nearest to 16 from below, as users queue some launches before they wait; 1: none. */
static int64_t usual_batch(const struct grid *g)
{
	int64_t batch = 1;

	for (int i = 0; i < g->n_depths; i++)
		if (g->depth[i] <= 16 && g->depth[i] > batch)
			batch = g->depth[i];
	return batch;
}

/*
 * "181 us (170 us to 190 us) for 5 % overhead if the program waits for each, 44.1 us (...) if it
 * waits once per 16"
 */
static bool say_mode(const struct fit *f, enum mode mode, bool is_first, FILE *out)
{
	int64_t batch = usual_batch(f->grid);
	const struct answer one = smallest_kernel_over_ideal(f, mode, 1, answer_share);
	const struct answer many = smallest_kernel_over_ideal(f, mode, (double)batch, answer_share);
	const struct text each = needed_text(&one), queued = needed_text(&many);

	if (!*each.s)
		return false;
	fprintf(out,
		is_first ? "Kernels need %s for %.0f %% overhead if the program waits for each one"
			 : "; as graphs %s",
		each.s, 100 * answer_share);
	if (batch > 1 && *queued.s)
		fprintf(out, is_first ? ", and %s if it waits once per %ld" : " and %s", queued.s,
			(long)batch);
	return true;
}

void answer_line_print(const struct fit *f, FILE *out)
{
	bool streams = f->grid->n_depths && say_mode(f, MODE_STREAM, true, out);

	if (!streams)
		fprintf(out,
			"How long kernels must be is not known: these points do not tell what a "
			"launch costs in streams");
	else
		say_mode(f, MODE_GRAPH, false, out);
	if (streams && f->n >= BOOTSTRAP_N_MIN)
		fprintf(out, "; 95 %% intervals, n = %d", f->n);
	fprintf(out, "\n");
}

void report_print(const struct fit_report *r, FILE *out)
{
	const struct fit *f = r->fit;

	answer_line_print(f, out);
	print_subject(f, out);
	print_grid(f, out);
	print_params(f, out);
	print_stage(f, out);
	print_validation(
		"held out: each half of the grid (a checkerboard) predicted from the other, "
		"|error|",
		f->grid, &r->held_out, &r->itself, out);
	if (r->options.off_grid)
		print_validation("off the grid, |error|", r->options.off_grid, &r->off_grid, NULL,
				 out);
	print_diagnostics(r, out);
	answers_print(r, out);
}

/* ---- the answers of `rift fit` as tables ------------------------------------------------ */

enum { CELL = 18, PAY_CELL = 16, TIMES_CELL = 8 };

/* Right-aligned by characters, some of which (± and its like) have several bytes. */
static void print_cell(const char *cell, int width, FILE *out)
{
	for (const char *c = cell; *c; c++)
		width += (*c & 0xc0) == 0x80;
	fprintf(out, "%*s", width, cell);
}

/* A bound, or what is said in place of a value. */
static void bound_text(const struct answer *a, const char *value, char *cell, size_t size)
{
	static const char *const words[] = {
		[ANSWER_BELOW] = "≤",	  [ANSWER_ABOVE] = ">",	  [ANSWER_LEAST] = "≥",
		[ANSWER_NEVER] = "never", [ANSWER_UNKNOWN] = "-", [ANSWER_REFUSED] = "?"
	};
	bool is_bound = a->kind >= ANSWER_BELOW && a->kind <= ANSWER_LEAST;

	snprintf(cell, size, "%s%s", words[a->kind], is_bound ? value : "");
}

/* "16.5 us ±1.2 %", "16.5 us ±>1.2 %", "≤2.00 us", ">50.0 us", "-" */
static void put_kernel(const struct answer *a, int width, FILE *out)
{
	double half = interval_half_width(&a->interval);
	const struct text value = text_time(a->interval.value);
	char cell[192];

	if (a->kind != ANSWER_VALUE)
		bound_text(a, value.s, cell, sizeof(cell));
	else if (isfinite(half))
		snprintf(cell, sizeof(cell), "%s ±%s%s %%", value.s, a->cut && half <= 1 ? ">" : "",
			 text_half_width(half, 1).s);
	else
		snprintf(cell, sizeof(cell), "%s", value.s);
	print_cell(cell, width, out);
}

/* "10", "10 (9 to 12)", "10 (9 to ≥16)", "≤1", "never" */
static void put_depth(const struct answer *a, FILE *out)
{
	const struct interval *i = &a->interval;
	char cell[96], value[32];

	snprintf(value, sizeof(value), "%.0f", i->value);
	if (a->kind != ANSWER_VALUE)
		bound_text(a, value, cell, sizeof(cell));
	else if (i->known && i->lo < i->hi)
		snprintf(cell, sizeof(cell), "%s (%.0f to %s%.0f)", value, i->lo, a->cut ? "≥" : "",
			 i->hi);
	else
		snprintf(cell, sizeof(cell), "%s", value);
	print_cell(cell, CELL, out);
}

static void put_overheads(const char *corner, FILE *out)
{
	fprintf(out, "  %8s", corner);
	for (int i = 0; i < OVERHEADS; i++)
		fprintf(out, "%*.0f %%", CELL - 2, 100 * overheads[i]);
	fputc('\n', out);
}

/* ---- smallest kernels --------------------------------------------------------------------- */

static void print_over_ideal(const struct fit *f, enum mode mode, FILE *out)
{
	fprintf(out,
		"\nsmallest K by depth, %s mode, for an overhead over the kernels' own time of\n",
		mode_name(mode));
	put_overheads("depth", out);
	for (int i = 0; i < f->grid->n_depths; i++) {
		fprintf(out, "  %8ld", (long)f->grid->depth[i]);
		for (int k = 0; k < OVERHEADS; k++) {
			const struct answer a = smallest_kernel_over_ideal(
				f, mode, (double)f->grid->depth[i], overheads[k]);

			put_kernel(&a, CELL, out);
		}
		fputc('\n', out);
	}
}

static void print_over_platform(const struct fit_report *r, enum mode mode, FILE *out)
{
	const struct fit *f = r->fit;

	fprintf(out, "\nsmallest K by depth, %s mode, for an overhead over %s of\n",
		mode_name(mode), r->options.over_name);
	put_overheads("depth", out);
	for (int i = 0; i < f->grid->n_depths; i++) {
		fprintf(out, "  %8ld", (long)f->grid->depth[i]);
		for (int k = 0; k < OVERHEADS; k++) {
			const struct answer a = smallest_kernel_over(
				f, r->options.over, mode, (double)f->grid->depth[i], overheads[k]);

			put_kernel(&a, CELL, out);
		}
		fputc('\n', out);
	}
}

/* ---- depth and modes ---------------------------------------------------------------------- */

static void print_depths(const struct fit *f, enum mode mode, FILE *out)
{
	fprintf(out,
		"\nsmallest depth by K, %s mode, for an overhead over the kernels' own time of\n",
		mode_name(mode));
	put_overheads("K", out);
	for (int i = 0; i < f->grid->n_sizes; i++) {
		double kernel_ns = f->grid->size[i].kernel_ns;

		if (!(kernel_ns > 0))
			continue;
		fprintf(out, "  %8s", text_time(kernel_ns).s);
		for (int k = 0; k < OVERHEADS; k++) {
			const struct answer a = depth_needed(f, mode, kernel_ns, overheads[k]);

			put_depth(&a, out);
		}
		fputc('\n', out);
	}
}

static const struct {
	enum mode mode, other;
	const char *title;
} pairs[] = { { MODE_STREAM, MODE_GRAPH, "graph/stream" },
	      { MODE_STREAM, MODE_FUSED, "fused/stream" },
	      { MODE_GRAPH, MODE_FUSED, "fused/graph" } };

enum { PAIRS = 3 };

/* Up to which K, and how many times faster at the smallest. */
static void put_pair(const struct fit *f, int pair, double depth, FILE *out)
{
	static const double matters = 0.05;
	enum mode mode = pairs[pair].mode, other = pairs[pair].other;
	const struct answer k = largest_kernel_gain(f, mode, other, depth, matters);
	const struct answer gain = mode_gain(f, mode, other, f->grid->size[0].kernel_ns, depth);
	char times[32] = "-";

	if (k.kind == ANSWER_BELOW || k.kind == ANSWER_ABOVE)
		print_cell(k.kind == ANSWER_BELOW ? "none" : "all", PAY_CELL, out);
	else
		put_kernel(&k, PAY_CELL, out);
	if (gain.kind == ANSWER_VALUE && isfinite(gain.interval.value))
		snprintf(times, sizeof(times), "%.3g", gain.interval.value);
	else if (gain.kind == ANSWER_REFUSED)
		snprintf(times, sizeof(times), "?");
	print_cell(times, TIMES_CELL, out);
}

static void print_pays(const struct fit *f, FILE *out)
{
	fprintf(out,
		"\nup to which K one mode is 5 %% faster than another, by depth (none or all of "
		"those "
		"swept), and\nhow many times faster it is at the smallest, K = %s\n  %8s",
		text_time(f->grid->size[0].kernel_ns).s, "depth");
	for (int i = 0; i < PAIRS; i++)
		fprintf(out, "%*s%*s", PAY_CELL, pairs[i].title, TIMES_CELL, "times");
	fputc('\n', out);
	for (int d = 0; d < f->grid->n_depths; d++) {
		fprintf(out, "  %8ld", (long)f->grid->depth[d]);
		for (int i = 0; i < PAIRS; i++)
			put_pair(f, i, (double)f->grid->depth[d], out);
		fputc('\n', out);
	}
}

void answers_print(const struct fit_report *r, FILE *out)
{
	const struct fit *f = r->fit;

	for (int mode = 0; mode <= MODE_GRAPH; mode++)
		if (f->has[mode])
			print_over_ideal(f, (enum mode)mode, out);
	for (int mode = 0; mode <= MODE_GRAPH; mode++)
		if (f->has[mode] && r->options.over && r->options.over->has[mode])
			print_over_platform(r, (enum mode)mode, out);
	for (int mode = 0; mode <= MODE_GRAPH; mode++)
		if (f->has[mode])
			print_depths(f, (enum mode)mode, out);
	if (f->has[MODE_STREAM] && (f->has[MODE_GRAPH] || f->has[MODE_FUSED]))
		print_pays(f, out);
	fprintf(out,
		"\n± is half of the 95 %% interval, ±> of one that ends where the sweep did. ≤: no "
		"more than this, as all\nthat was swept will do or the samples say no more; ≥: no "
		"less; >: nothing that was swept will do;\nnever: no depth is enough, enlarge or "
		"fuse; -: not swept; ?: the fit is over %.0f %% off samples of this\nrow, or they "
		"leave it open. What making a graph costs, sweeps do not time: it is in no "
		"answer.\n",
		100 * FIT_ERROR_MAX);
}

/* ---- what `rift fit` says, for machines ------------------------------------------------- */

/* ---- parameters --------------------------------------------------------------------------- */

static json_t *param_object(const struct fit *f, enum model_param which)
{
	const struct fit_param *p = &f->param[which];
	json_t *o = interval_json(&p->interval);

	json_object_set_new(o, "identified", json_boolean(p->identified));
	json_object_set_new(o, "why_not", json_text(p->identified ? NULL : p->why));
	json_object_set_new(o, "at_most", json_number(p->most));
	/* what blocks are predicted with, identified or not; null: no limit */
	json_object_set_new(o, "used", json_number(f->model.v[which]));
	return o;
}

static json_t *params_json(const struct fit *f)
{
	json_t *o = json_object();

	for (int i = 0; i < MODEL_PARAMS; i++)
		json_object_set_new(o, model_param_rows[i].symbol,
				    param_object(f, (enum model_param)i));
	return o;
}

/* ---- grid --------------------------------------------------------------------------------- */

static json_t *sizes_json(const struct grid *g)
{
	json_t *a = json_array();

	for (int i = 0; i < g->n_sizes; i++)
		json_array_append_new(a,
				      json_pack("{s:f, s:o, s:f}", g->axis->name, g->size[i].value,
						"kernel_ns", json_number(g->size[i].kernel_ns),
						"launches_per_step", g->size[i].launches));
	return a;
}

static json_t *grid_json(const struct fit *f)
{
	const struct grid *g = f->grid;
	json_t *modes = json_array(), *depths = json_array();

	for (int mode = 0; mode < MODE_COUNT; mode++)
		if (f->has[mode])
			json_array_append_new(modes, json_string(mode_name((enum mode)mode)));
	for (int i = 0; i < g->n_depths; i++)
		json_array_append_new(depths, json_integer(g->depth[i]));
	return json_pack("{s:o, s:o, s:o, s:s, s:i, s:i, s:i, s:i, s:i}", "modes", modes, "depths",
			 depths, "sizes", sizes_json(g), "kernel",
			 g->nominal ? "nominal" : "measured", "points", g->n_points, "used",
			 f->used, "corner", f->corner, "failed", g->failed, "left_out",
			 g->left_out);
}

/* ---- validation --------------------------------------------------------------------------- */

static json_t *errors_json(const struct grid *g, const struct errors *e)
{
	json_t *worst =
		e->n ? plan_axes_json(&g->j->plan, g->point[e->worst_point].point) : json_null();

	return json_pack("{s:i, s:o, s:o, s:o, s:o}", "n", e->n, "median", json_number(e->median),
			 "p95", json_number(e->p95), "worst", json_number(e->worst), "worst_at",
			 worst);
}

static json_t *validation_json(const struct grid *g, const struct validation *v)
{
	json_t *regimes = json_object();

	for (int r = 0; r < REGIMES; r++)
		json_object_set_new(regimes, regime_names[r], errors_json(g, &v->regime[r]));
	return json_pack("{s:b, s:o, s:o, s:i}", "accepted", v->accepted, "all",
			 errors_json(g, &v->all), "regimes", regimes, "outside", v->outside);
}

static json_t *held_out_json(const struct fit_report *r)
{
	json_t *o = validation_json(r->fit->grid, &r->held_out);

	json_object_set_new(o, "not_held_out", errors_json(r->fit->grid, &r->itself.all));
	return o;
}

static json_t *diagnostics_json(const struct fit_report *r)
{
	json_t *a = json_array();

	for (int i = 0; i < r->n_diagnostics; i++)
		json_array_append_new(a, json_pack("{s:s, s:s}", "name", r->diagnostic[i].name,
						   "text", r->diagnostic[i].text));
	return a;
}

/* ---- answers ------------------------------------------------------------------------------ */

static json_t *answer_json(const struct answer *a)
{
	static const char *const kinds[] = {
		[ANSWER_VALUE] = "value",      [ANSWER_BELOW] = "below",
		[ANSWER_ABOVE] = "above",      [ANSWER_LEAST] = "at least",
		[ANSWER_NEVER] = "never",      [ANSWER_UNKNOWN] = "not swept",
		[ANSWER_REFUSED] = "not known"
	};
	json_t *o = interval_json(&a->interval);

	json_object_set_new(o, "answer", json_string(kinds[a->kind]));
	json_object_set_new(o, "interval_cut", json_boolean(a->cut));
	return o;
}

static void add_kernels(json_t *rows, const struct fit_report *r, enum mode mode, double depth,
			double share)
{
	struct answer a = smallest_kernel_over_ideal(r->fit, mode, depth, share);
	json_t *o = json_pack("{s:s, s:f, s:f, s:o}", "mode", mode_name(mode), "depth", depth,
			      "overhead", share, "over_ideal_ns", answer_json(&a));

	if (r->options.over) {
		a = smallest_kernel_over(r->fit, r->options.over, mode, depth, share);
		json_object_set_new(o, "over_platform_ns", answer_json(&a));
	}
	json_array_append_new(rows, o);
}

static json_t *kernels_json(const struct fit_report *r)
{
	const struct grid *g = r->fit->grid;
	json_t *rows = json_array();

	for (int mode = 0; mode <= MODE_GRAPH; mode++)
		for (int d = 0; d < g->n_depths && r->fit->has[mode]; d++)
			for (int k = 0; k < OVERHEADS; k++)
				add_kernels(rows, r, (enum mode)mode, (double)g->depth[d],
					    overheads[k]);
	return rows;
}

static json_t *depths_json(const struct fit *f)
{
	json_t *rows = json_array();

	for (int mode = 0; mode <= MODE_GRAPH; mode++)
		for (int i = 0; i < f->grid->n_sizes && f->has[mode]; i++)
			for (int k = 0; k < OVERHEADS; k++) {
				double kernel_ns = f->grid->size[i].kernel_ns;
				const struct answer a =
					depth_needed(f, (enum mode)mode, kernel_ns, overheads[k]);

				json_array_append_new(
					rows, json_pack("{s:s, s:f, s:f, s:o}", "mode",
							mode_name((enum mode)mode), "kernel_ns",
							kernel_ns, "overhead", overheads[k],
							"depth", answer_json(&a)));
			}
	return rows;
}

static json_t *pays_json(const struct fit *f)
{
	static const double matters = 0.05;
	json_t *rows = json_array();

	for (int d = 0; d < f->grid->n_depths; d++)
		for (int mode = MODE_GRAPH; mode <= MODE_FUSED; mode++) {
			double depth = (double)f->grid->depth[d];
			const struct answer k = largest_kernel_gain(f, MODE_STREAM, (enum mode)mode,
								    depth, matters);
			const struct answer gain = mode_gain(f, MODE_STREAM, (enum mode)mode,
							     f->grid->size[0].kernel_ns, depth);

			json_array_append_new(
				rows, json_pack("{s:s, s:f, s:o, s:o}", "mode",
						mode_name((enum mode)mode), "depth", depth,
						"faster_by_5_percent_up_to_ns", answer_json(&k),
						"gain_at_smallest_size", answer_json(&gain)));
		}
	return rows;
}

json_t *answers_json(const struct fit_report *r)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "over", json_text(r->options.over_name),
			 "smallest_kernel", kernels_json(r), "depth_needed", depths_json(r->fit),
			 "other_modes", pays_json(r->fit));
}

/* ---- all ---------------------------------------------------------------------------------- */

json_t *report_json(const struct fit_report *r)
{
	const struct grid *g = r->fit->grid;
	json_t *o;
	char platform[160];

	session_platform(g->j, g->side, platform, sizeof(platform));
	o = json_pack("{s:s, s:o, s:s, s:o, s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o}", "session_id",
		      g->j->session_id, "session", json_text(g->j->path), "side",
		      journal_side_name(g->side), "platform", json_text(platform), "workload",
		      g->workload->name, "parameters_set", g->others, "processes", r->fit->n,
		      "grid", grid_json(r->fit), "parameters", params_json(r->fit), "held_out",
		      held_out_json(r), "diagnostics", diagnostics_json(r), "answers",
		      answers_json(r));
	if (r->options.off_grid)
		json_object_set_new(o, "off_grid",
				    validation_json(r->options.off_grid, &r->off_grid));
	return o;
}
