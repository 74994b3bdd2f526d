/* fit_text.c - the table of `rift fit`: what was fitted, how well it predicts, what looks odd. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/measure/submit.h"
#include "harness/model/report.h"
#include "harness/record/plan_record.h"
#include "harness/record/recorded.h"

/* ---- what it is about --------------------------------------------------------------------- */

static void print_subject(const struct fit *f, FILE *out)
{
	const struct grid *g = f->grid;
	char platform[160];

	session_platform(g->j, g->side, platform, sizeof(platform));
	row(out, "fit", "%s%s%s, %s, side %s, n = %d processes", g->workload->name,
	    *g->others ? " " : "", g->others, platform, journal_side_name(g->side), f->n);
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
	row(out, "grid", "%s; %s %g to %g; depth %ld to %ld; %d points, %d of them in the fit%s",
	    modes, g->axis->name, g->size[0].value, g->size[g->n_sizes - 1].value,
	    (long)g->depth[0], (long)g->depth[g->n_depths - 1], g->n_points, f->used,
	    f->corner ? ", others too near the corner K + g = p" : "");
	if (g->failed)
		row(out, "", "%d more have no result in some process", g->failed);
	if (g->left_out)
		row(out, "", "%d more have other parameters", g->left_out);
	row(out, "K",
	    g->nominal ? "nominal: what %s says"
		       : "measured: the slope of a block's time "
			 "over launches, of the two deepest "
			 "blocks of each size",
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

static const struct interval *known(const struct fit *f, enum model_param which)
{
	const struct fit_param *p = &f->param[which];

	return p->identified && p->interval.known ? &p->interval : NULL;
}

/* Is p more than the call? Then something stands behind it. */
static void print_stage(const struct fit *f, FILE *out)
{
	const struct interval *c = known(f, MODEL_C), *p = known(f, MODEL_P),
			      *g = known(f, MODEL_G);
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

static void print_validation(const char *title, const struct grid *g, const struct validation *v,
			     FILE *out)
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
	if (v->outside)
		fprintf(out, "  %d more lie outside what was swept\n", v->outside);
	fprintf(out,
		"  %s: a median of at most %.0f %% and a 95th percentile of at most %.0f %% are "
		"asked for\n",
		v->accepted ? "accepted" : "NOT accepted", 100 * ERROR_MEDIAN_MAX,
		100 * ERROR_P95_MAX);
}

static void print_signs(const struct fit_report *r, FILE *out)
{
	fprintf(out, "\nwarning signs%s\n", r->n_signs ? "" : ": none");
	for (int i = 0; i < r->n_signs; i++)
		row_of(out, 14, r->sign[i].name, r->sign[i].text);
}

void report_print(const struct fit_report *r, FILE *out)
{
	const struct fit *f = r->fit;

	print_subject(f, out);
	print_grid(f, out);
	print_params(f, out);
	print_stage(f, out);
	print_validation(
		"held out: each half of the grid (a checkerboard) predicted from the other, "
		"|error|",
		f->grid, &r->held_out, out);
	if (r->options.off_grid)
		print_validation("off the grid, |error|", r->options.off_grid, &r->off_grid, out);
	print_signs(r, out);
	answers_print(r, out);
}
