/* price.c - what a workload that was measured on platform A would cost on platform B. */
#include "harness/fit/price.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/measure/wait.h"
#include "harness/measure/model.h"
#include "harness/measure/plan_record.h"
#include "harness/record/recorded.h"
#include "harness/stats/stats.h"
#include "workloads/workload.h"

/* ---- on B --------------------------------------------------------------------------------- */

/* The same point, by its key, measured on B; NaN: not there. */
static double measured_ns(const struct price_request *r, int point)
{
	const struct grid *g = r->measured;
	const char *key = r->work->j->plan.point[r->work->point[point].point].key;

	for (int i = 0; g && i < g->n_points; i++)
		if (!strcmp(g->j->plan.point[g->point[i].point].key, key))
			return g->point[i].total_ns;
	return NAN;
}

/* Does B's session have it, without a good result of each process? */
static bool failed_on_b(const struct price_request *r, int point)
{
	const struct grid *g = r->measured;
	const char *key = r->work->j->plan.point[r->work->point[point].point].key;

	if (!g || isfinite(measured_ns(r, point)))
		return false;
	for (int i = 0; i < g->j->plan.n_points; i++)
		if (!strcmp(g->j->plan.point[i].key, key))
			return true;
	return false;
}

/* The block by the sizes that B swept: nominal ones, where these are durations. */
static struct batch as_swept(const struct price_request *r, const struct batch *b, int size)
{
	const double *v = r->b->model.v;
	struct batch out = *b;

	if (r->b->grid->nominal && r->work->nominal)
		out.kernel_ns = r->work->size[size].kernel_ns;
	else if (r->b->grid->nominal)
		out.kernel_ns = fmax((b->kernel_ns - v[MODEL_E]) / v[MODEL_CLOCK], 0);
	return out;
}

/* A's block as measured, and what the model has for B beyond what it has for A. */
static struct interval beyond_measured(const struct price_request *r, const struct price_job *job,
				       double measured_ns)
{
	double *a = calloc(BOOTSTRAP_DRAWS, sizeof(*a)), *b = calloc(BOOTSTRAP_DRAWS, sizeof(*b));
	struct interval out = interval_unknown(r->b->n);
	double value = measured_ns + price_recursion(&r->b->model, job, true) -
		       price_recursion(&r->a->model, job, false);

	CHECK(a && b, "memory of %d draws", BOOTSTRAP_DRAWS);
	fit_interval(r->a, price_total_a, job, a);
	fit_interval(r->b, price_total_b, job, b);
	for (int i = 0; i < BOOTSTRAP_DRAWS; i++)
		b[i] = measured_ns + b[i] - a[i];
	if (interval_of_draws(&out, value, r->b->n, b))
		out = interval_unknown(r->b->n);
	out.value = value;
	free(a);
	free(b);
	return out;
}

/* B's price, less that with A's copies. */
static double copies_ns(const struct price_request *r, const struct price_job *job)
{
	struct price_job own = *job;

	own.on_b.submit_ns = job->on_a.submit_ns;
	own.on_b.device_ns = job->on_a.device_ns;
	own.on_b.first_ns = job->on_a.first_ns;
	return price_recursion(&r->b->model, job, true) - price_recursion(&r->b->model, &own, true);
}

static bool starts_from_measured(const struct price_request *r, enum mode mode)
{
	return r->from_measured && r->a && r->a->has[mode];
}

static void price_point(struct priced *p, const struct price_request *r, int i)
{
	const struct grid_point *at = &r->work->point[i];
	const struct price_job job = price_job_of(r, i);
	struct batch swept;

	*p = (struct priced){ .point = i, .a_ns = at->total_ns, .b_ns = measured_ns(r, i) };
	p->b_failed = failed_on_b(r, i);
	p->seen = price_seen(r, &job, i);
	p->total_ns = interval_unknown(r->b->n);
	p->known = job.known;
	if (!p->known)
		return;
	swept = as_swept(r, &job.batch, at->size);
	p->covered = fit_covers(r->b, &swept);
	if (starts_from_measured(r, at->batch.mode)) {
		p->total_ns = beyond_measured(r, &job, at->total_ns);
		p->known = p->total_ns.value > 0;
	} else {
		p->total_ns = fit_interval(r->b, price_total_b, &job, NULL);
		p->total_ns.value = price_recursion(&r->b->model, &job, true);
	}
	p->copies_ns = copies_ns(r, &job);
	p->in_turn = p->known && job.on_b.in_turn;
	p->doubtful =
		p->known && !p->in_turn && fabs(p->copies_ns) > COPIES_DOUBTFUL * p->total_ns.value;
}

static struct price_errors errors_of(double *error, int n)
{
	sort_doubles(error, n);
	return (struct price_errors){ .n = n,
				      .median = quantile_of_sorted(error, n, 0.5),
				      .p95 = quantile_of_sorted(error, n, 0.95),
				      .worst = quantile_of_sorted(error, n, 1) };
}

/* itself: predictions are compared with the same blocks that gave the kernels' times. */
static void compare_prices(struct prices *p, bool itself)
{
	double *all = calloc((size_t)p->n + 1, sizeof(*all));
	double *sure = calloc((size_t)p->n + 1, sizeof(*sure));
	int n_all = 0, n_sure = 0;

	CHECK(all && sure, "memory of %d prices", p->n);
	for (int i = 0; i < p->n; i++) {
		const struct priced *at = &p->priced[i];

		p->n_known += at->known;
		p->n_doubtful += at->doubtful;
		if (!at->known || !isfinite(at->b_ns) || (itself && at->seen))
			continue;
		all[n_all++] = fabs(at->total_ns.value / at->b_ns - 1);
		if (!at->doubtful)
			sure[n_sure++] = all[n_all - 1];
	}
	p->all = errors_of(all, n_all);
	p->sure = errors_of(sure, n_sure);
	free(all);
	free(sure);
}

void price_make(struct prices *out, const struct price_request *r)
{
	*out = (struct prices){ .n = r->work->n_points };
	out->priced = calloc((size_t)out->n + 1, sizeof(*out->priced));
	CHECK(out->priced, "memory of %d prices", out->n);
	for (int i = 0; i < out->n; i++)
		price_point(&out->priced[i], r, i);
	compare_prices(out, r->measured == r->work);
}

void prices_release(struct prices *p)
{
	free(p->priced);
	*p = (struct prices){ 0 };
}

/* The first device that prices are of and that A's blocks are not; NULL: there is none. */
static const char *other_device(const struct price_request *r)
{
	const char *own = session_device(r->work->j, r->work->side);
	const struct fit *prices[] = { r->b, r->a };

	for (size_t i = 0; i < sizeof(prices) / sizeof(*prices); i++) {
		const struct grid *g = prices[i] ? prices[i]->grid : NULL;
		const char *other = g ? session_device(g->j, g->side) : "";

		if (*own && *other && strcmp(own, other) != 0)
			return other;
	}
	return NULL;
}

/* ---- for people --------------------------------------------------------------------------- */

static void print_subject(const struct price_request *r, FILE *out)
{
	const struct grid *g = r->work;
	char a[160], b[160];

	session_platform(g->j, g->side, a, sizeof(a));
	session_platform(r->b->grid->j, r->b->grid->side, b, sizeof(b));
	row(out, "predict", "%s%s%s, measured on A, %s, as on B, %s", g->workload->name,
	    *g->others ? " " : "", g->others, a, b);
	row(out, "parameters", "of %s on B, n = %s, side %s of %s", r->b->grid->workload->name,
	    counted(r->b->n, "process").s, journal_side_name(r->b->grid->side),
	    text_shown(r->b->grid->j->path).s);
	row(out, "assumed",
	    "%g launch%s a step, all alike, each as long on B as on A: the device time of a launch "
	    "in the largest graphs, A's gap between nodes %s; a host that does nothing else",
	    g->size[0].launches, g->size[0].launches > 1 ? "es" : "",
	    r->a ? "taken out" : "included (--from takes it out)");
	if (r->from_measured)
		row(out, "start",
		    "a sample as measured on A, plus what launches cost on B, less what "
		    "they cost on A (side %s of %s)",
		    journal_side_name(r->a->grid->side), text_shown(r->a->grid->j->path).s);
}

/* That of the first block: all have the same copies, or the same for their size. */
static enum step_copying copying(const struct price_request *r)
{
	const struct grid *g = r->work;

	return g->n_points
		       ? copying_of_step(r->copies_a, r->copies_b, &g->j->step[g->point[0].point])
		       : STEP_COPIES_NOTHING;
}

static int count_in_turn(const struct prices *p)
{
	int n = 0;

	for (int i = 0; i < p->n; i++)
		n += p->priced[i].in_turn;
	return n;
}

static bool knows_turns(const struct copy_paces *p)
{
	return p->turns[MODE_STREAM].n || p->turns[MODE_GRAPH].n;
}

static void print_copies(const struct prices *p, const struct price_request *r, FILE *out)
{
	int in_turn = count_in_turn(p);
	enum step_copying c = copying(r);

	if (c == STEP_COPIES_KNOWN && in_turn)
		row(out, "copies",
		    "of a step: what they cost more on B is added, by copies in turn with kernels "
		    "in %d of %d samples",
		    in_turn, p->n_known);
	else if (c == STEP_COPIES_KNOWN && knows_turns(r->copies_a) != knows_turns(r->copies_b))
		row(out, "copies",
		    "of a step: what they cost more on B is added, by copies alone: %s's session "
		    "does not say what they take in turn with kernels",
		    knows_turns(r->copies_a) ? "B" : "A");
	else if (c == STEP_COPIES_KNOWN)
		row(out, "copies", "of a step: what they cost more on B is added");
	else if (c == STEP_COPIES_UNKNOWN && r->measured != r->work)
		row(out, "copies",
		    "not predicted: needs the workload transfer as well as launch in both "
		    "sessions, or --costs and --from-costs");
}

static void print_library(const struct price_request *r, FILE *out)
{
	if (r->library)
		row(out, "libraries",
		    "what their calls take longer than launches, %.2f times on B, by products of "
		    "cuBLAS (matmul) in both sessions",
		    *r->library);
}

static void print_confidence(const struct prices *p, const struct price_request *r, FILE *out)
{
	const char *other = other_device(r);

	if (other)
		row(out, "confidence",
		    "low: the session is of %s, the costs are of %s: kernels are assumed to last "
		    "as long on both",
		    text_shown(session_device(r->work->j, r->work->side)).s, text_shown(other).s);
	if (p->n_doubtful)
		row(out, other ? "" : "confidence",
		    "low for %d of %d samples: more than %.0f %% of their time is extra copy cost "
		    "on B, which is known for copies alone, not next to kernels and other copies",
		    p->n_doubtful, p->n_known, 100 * COPIES_DOUBTFUL);
}

static void print_row(const struct price_request *r, const struct priced *p, FILE *out)
{
	const struct grid_point *at = &r->work->point[p->point];
	double steps = at->batch.depth, half = interval_half_width(&p->total_ns);
	char interval[96] = "";

	if (isfinite(half))
		snprintf(interval, sizeof(interval), "±%s %%", text_half_width(half, 1).s);
	fprintf(out, "  %-7s %8g %6.0f %10s %10s %-*s %7.3f", mode_name(at->batch.mode),
		r->work->size[at->size].value, steps, text_time(p->a_ns / steps).s,
		text_time(p->total_ns.value / steps).s, 8 + (*interval != '\0'), interval,
		p->total_ns.value / p->a_ns);
	if (isfinite(p->b_ns))
		fprintf(out, " %10s %+7.1f %%", text_time(p->b_ns / steps).s,
			100 * (p->total_ns.value / p->b_ns - 1));
	else if (r->measured)
		fprintf(out, " %10s %9s", p->b_failed ? "failed" : "", "");
	fputs(p->covered ? "" : "  outside", out);
	if (p->doubtful)
		fprintf(out, "  copies %.0f %%", 100 * p->copies_ns / p->total_ns.value);
	fputc('\n', out);
}

static void print_errors(const struct prices *p, FILE *out)
{
	const struct price_errors *e = &p->all, *sure = &p->sure;

	if (!e->n) {
		fprintf(out, "\nnone of these samples was measured on B\n");
		return;
	}
	fprintf(out,
		"\npredicted against measured on B: |error| median %.2f %%, 95 %% of samples "
		"within %.2f %%,\nworst %.2f %%, n = %s\n",
		100 * e->median, 100 * e->p95, 100 * e->worst, counted(e->n, "sample").s);
	if (sure->n && sure->n < e->n)
		fprintf(out,
			"without those of low confidence: median %.2f %%, 95 %% within %.2f %%, "
			"worst %.2f %%, n = %d\n",
			100 * sure->median, 100 * sure->p95, 100 * sure->worst, sure->n);
}

static bool has_failed(const struct prices *p)
{
	for (int i = 0; i < p->n; i++)
		if (p->priced[i].known && p->priced[i].b_failed)
			return true;
	return false;
}

/* "On B a step takes 1.00 to 1.07 times as long as on A, 1.03 in the median of 19 blocks" */
static void print_summary(const struct prices *p, FILE *out)
{
	double *ratio = calloc((size_t)p->n + 1, sizeof(*ratio)), least = INFINITY, most = 0;
	int n = 0;

	CHECK(ratio, "memory of %d ratios", p->n);
	for (int i = 0; i < p->n; i++) {
		const struct priced *at = &p->priced[i];

		if (!at->known)
			continue;
		ratio[n] = at->total_ns.value / at->a_ns;
		least = fmin(least, ratio[n]);
		most = fmax(most, ratio[n++]);
	}
	if (n)
		fprintf(out,
			"On B a step takes %.2f to %.2f times as long as on A, %.2f in the median "
			"of %s\n",
			least, most, median_of(ratio, n), counted(n, "sample").s);
	free(ratio);
}

void prices_print(const struct prices *p, const struct price_request *r, FILE *out)
{
	print_summary(p, out);
	print_subject(r, out);
	print_copies(p, r, out);
	print_library(r, out);
	print_confidence(p, r, out);
	fprintf(out, "\ntime per step\n  %-7s %8s %6s %10s %10s %8s %7s%s\n", "mode",
		r->work->axis->name, "depth", "on A", "on B", "", "B/A",
		r->measured ? "  B measured    error" : "");
	for (int i = 0; i < p->n; i++)
		if (p->priced[i].known)
			print_row(r, &p->priced[i], out);
	if (p->n_known < p->n)
		fprintf(out,
			"  left out: %s: B's session lacks their mode, or A's a second "
			"depth\n",
			counted(p->n - p->n_known, "sample").s);
	if (r->work->left_out)
		fprintf(out,
			"  not predicted: %s with other parameters; --workload \"%s "
			"PARAMETER=VALUE\" predicts %s\n",
			counted(r->work->left_out, "point").s, r->work->workload->name,
			r->work->left_out == 1 ? "it" : "them");
	if (r->measured)
		print_errors(p, out);
	fprintf(out,
		"± is half of the 95 %% interval that %s parameters leave%s; outside: of what was "
		"swept on B%s%s.\n",
		r->from_measured ? "both platforms'" : "B's",
		count_in_turn(p) ? ",\nwithout that of copies in turn" : "",
		p->n_doubtful ? ";\ncopies: their share of the prediction" : "",
		has_failed(p) ? ";\nfailed: B has no good result of it in each process" : "");
}

/* ---- for machines ------------------------------------------------------------------------- */

static json_t *row_json(const struct price_request *r, const struct priced *p)
{
	const struct grid_point *at = &r->work->point[p->point];

	json_t *o = json_pack("{s:o, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:o}", "axes",
			      plan_axes_json(&r->work->j->plan, at->point), "key",
			      r->work->j->plan.point[at->point].key, "known", p->known, "covered",
			      p->covered, "a_total_ns", json_number(p->a_ns), "b_total_ns",
			      json_number(p->known ? p->total_ns.value : NAN), "b_lo_ns",
			      json_number(p->total_ns.lo), "b_hi_ns", json_number(p->total_ns.hi),
			      "b_measured_ns", json_number(p->b_ns));

	if (p->b_failed)
		json_object_set_new(o, "b_failed", json_true());
	if (p->known && copying(r) == STEP_COPIES_KNOWN) {
		json_object_set_new(o, "b_copies_ns", json_number(p->copies_ns));
		json_object_set_new(o, "low_confidence", json_boolean(p->doubtful));
		if (p->in_turn)
			json_object_set_new(o, "copies_in_turn", json_true());
	}
	return o;
}

static json_t *errors_json(const struct price_errors *e)
{
	return json_pack("{s:i, s:o, s:o, s:o}", "n", e->n, "median", json_number(e->median), "p95",
			 json_number(e->p95), "worst", json_number(e->worst));
}

json_t *prices_json(const struct prices *p, const struct price_request *r)
{
	const char *other = other_device(r);
	json_t *rows = json_array();
	char a[160], b[160];

	session_platform(r->work->j, r->work->side, a, sizeof(a));
	session_platform(r->b->grid->j, r->b->grid->side, b, sizeof(b));
	for (int i = 0; i < p->n; i++)
		json_array_append_new(rows, row_json(r, &p->priced[i]));
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:o*, s:o*, s:o, s:o, s:o*, s:o*}",
			 "workload", r->work->workload->name, "parameters_set", r->work->others,
			 "side", journal_side_name(r->work->side), "platform_a", json_text(a),
			 "platform_b", json_text(b), "parameters_session",
			 json_text(r->b->grid->j->path), "parameters_side",
			 journal_side_name(r->b->grid->side), "from_measured",
			 r->from_measured ? json_true() : NULL, "library_ratio",
			 r->library ? json_real(*r->library) : NULL, "blocks", rows, "errors",
			 errors_json(&p->all), "errors_without_low_confidence",
			 p->n_doubtful ? errors_json(&p->sure) : NULL, "other_device",
			 other ? json_text(other) : NULL);
}
