/* price_text.c - the output of `rift predict`. */
#include <math.h>
#include <stdio.h>

#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/measure/submit.h"
#include "harness/model/price_text.h"
#include "harness/record/plan_record.h"
#include "harness/record/recorded.h"

/* ---- for people --------------------------------------------------------------------------- */

static void print_subject(const struct price_request *r, FILE *out)
{
	const struct grid *g = r->work;
	char a[160], b[160];

	session_platform(g->j, g->side, a, sizeof(a));
	session_platform(r->b->grid->j, r->b->grid->side, b, sizeof(b));
	row(out, "predict", "%s%s%s, measured on A, %s, as on B, %s", g->workload->name,
	    *g->others ? " " : "", g->others, a, b);
	row(out, "parameters", "of %s on B, n = %d processes, side %s of %s",
	    r->b->grid->workload->name, r->b->n, journal_side_name(r->b->grid->side),
	    text_shown(r->b->grid->j->path).s);
	row(out, "assumed",
	    "%g launch%s a step, all alike, each as long on B as on A: the device time of a launch "
	    "in the largest graphs, A's gap between nodes %s; a host that does nothing else",
	    g->size[0].launches, g->size[0].launches > 1 ? "es" : "",
	    r->a ? "taken out" : "included (--from takes it out)");
}

static void print_row(const struct price_request *r, const struct priced *p, FILE *out)
{
	const struct grid_point *at = &r->work->point[p->point];
	double steps = at->batch.depth, half = interval_half_width(&p->total_ns);
	char interval[32] = "";

	if (isfinite(half))
		snprintf(interval, sizeof(interval), "±%.1f %%", 100 * half);
	fprintf(out, "  %-7s %8g %6.0f %10s %10s %-*s %7.3f", mode_name(at->batch.mode),
		r->work->size[at->size].value, steps, text_time(p->a_ns / steps).s,
		text_time(p->total_ns.value / steps).s, 8 + (*interval != '\0'), interval,
		p->total_ns.value / p->a_ns);
	if (isfinite(p->b_ns))
		fprintf(out, " %10s %+7.1f %%", text_time(p->b_ns / steps).s,
			100 * (p->total_ns.value / p->b_ns - 1));
	fprintf(out, "%s\n", p->covered ? "" : "  outside");
}

void prices_print(const struct prices *p, const struct price_request *r, FILE *out)
{
	print_subject(r, out);
	fprintf(out, "\ntime per step\n  %-7s %8s %6s %10s %10s %8s %7s%s\n", "mode",
		r->work->axis->name, "depth", "on A", "on B", "", "B/A",
		r->measured ? "  B measured    error" : "");
	for (int i = 0; i < p->n; i++)
		if (p->priced[i].known)
			print_row(r, &p->priced[i], out);
	if (p->n_known < p->n)
		fprintf(out,
			"  %d blocks are left out: B's session lacks their mode, or A's a second "
			"depth\n",
			p->n - p->n_known);
	if (r->measured && p->compared)
		fprintf(out,
			"\npredicted against measured on B: |error| median %.2f %%, 95 %% of "
			"blocks "
			"within %.2f %%,\nworst %.2f %%, n = %d blocks\n",
			100 * p->median, 100 * p->p95, 100 * p->worst, p->compared);
	else if (r->measured)
		fprintf(out, "\nnone of these blocks was measured on B\n");
	fprintf(out,
		"± is half of the 95 %% interval that B's parameters leave; outside: of what was "
		"swept on B.\n");
}

/* ---- for machines ------------------------------------------------------------------------- */

static json_t *row_json(const struct price_request *r, const struct priced *p)
{
	const struct grid_point *at = &r->work->point[p->point];

	return json_pack("{s:o, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:o}", "axes",
			 plan_axes_json(&r->work->j->plan, at->point), "key",
			 r->work->j->plan.point[at->point].key, "known", p->known, "covered",
			 p->covered, "a_total_ns", json_number(p->a_ns), "b_total_ns",
			 json_number(p->known ? p->total_ns.value : NAN), "b_lo_ns",
			 json_number(p->total_ns.lo), "b_hi_ns", json_number(p->total_ns.hi),
			 "b_measured_ns", json_number(p->b_ns));
}

json_t *prices_json(const struct prices *p, const struct price_request *r)
{
	json_t *rows = json_array();
	char a[160], b[160];

	session_platform(r->work->j, r->work->side, a, sizeof(a));
	session_platform(r->b->grid->j, r->b->grid->side, b, sizeof(b));
	for (int i = 0; i < p->n; i++)
		json_array_append_new(rows, row_json(r, &p->priced[i]));
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:o, s:{s:i, s:o, s:o, s:o}}",
			 "workload", r->work->workload->name, "parameters_set", r->work->others,
			 "side", journal_side_name(r->work->side), "platform_a", json_text(a),
			 "platform_b", json_text(b), "parameters_session",
			 json_text(r->b->grid->j->path), "parameters_side",
			 journal_side_name(r->b->grid->side), "blocks", rows, "errors", "n",
			 p->compared, "median", json_number(p->median), "p95", json_number(p->p95),
			 "worst", json_number(p->worst));
}
