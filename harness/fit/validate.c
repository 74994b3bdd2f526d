/* validate.c - does the model predict blocks that it has not seen, and real workloads? */
#include "harness/fit/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/measure/wait.h"
#include "harness/fit/fit_part.h"
#include "harness/fit/fit_parts.h"
#include "harness/measure/plan_record.h"
#include "harness/record/recorded.h"
#include "harness/stats/stats.h"
#include "workloads/workload.h"

/* ---- errors ------------------------------------------------------------------------------- */

/* Errors over the points of one regime; REGIMES: over all points. */
static struct errors errors_of(const struct validation *v, int n_points, enum regime regime)
{
	struct errors e = { .worst_point = -1, .median = NAN, .p95 = NAN, .worst = NAN };
	double *size = calloc((size_t)n_points + 1, sizeof(*size));

	CHECK(size, "memory of %d errors", n_points);
	for (int i = 0; i < n_points; i++) {
		const struct predicted *p = &v->point[i];

		if (isnan(p->error) || (regime != REGIMES && p->regime != regime))
			continue;
		size[e.n++] = fabs(p->error);
		if (e.worst_point < 0 || fabs(p->error) > e.worst) {
			e.worst = fabs(p->error);
			e.worst_point = i;
		}
	}
	if (e.n) {
		sort_doubles(size, e.n);
		e.median = quantile_of_sorted(size, e.n, 0.5);
		e.p95 = quantile_of_sorted(size, e.n, 0.95);
	}
	free(size);
	return e;
}

static void sum_up(struct validation *v, int n_points)
{
	for (int r = 0; r < REGIMES; r++)
		v->regime[r] = errors_of(v, n_points, (enum regime)r);
	v->all = errors_of(v, n_points, REGIMES);
	v->accepted = v->all.median <= ERROR_MEDIAN_MAX && v->all.p95 <= ERROR_P95_MAX;
}

static void begin_validation(struct validation *v, int n_points)
{
	*v = (struct validation){ 0 };
	v->point = calloc((size_t)n_points + 1, sizeof(*v->point));
	CHECK(v->point, "memory of %d points", n_points);
	for (int i = 0; i < n_points; i++)
		v->point[i] = (struct predicted){ NAN, NAN, REGIME_LAUNCH };
}

static void predict(struct predicted *p, const struct model *m, const struct grid_point *at)
{
	p->regime = model_regime(m, &at->batch);
	p->total_ns = model_total_ns(m, &at->batch);
	p->error = at->is_k ? NAN : p->total_ns / at->total_ns - 1;
}

/* ---- held out ----------------------------------------------------------------------------- */

static int depth_index(const struct grid *g, double depth)
{
	int i = 0;

	while (i < g->n_depths && (double)g->depth[i] < depth)
		i++;
	return i;
}

/* Fits to the squares of one colour, and predicts the others. */
static void predict_half(struct validation *v, const struct grid *g, const struct fit_data *d,
			 int colour)
{
	bool *in = calloc((size_t)g->n_points + 1, sizeof(*in));
	struct fit_parts parts;
	struct model m;

	CHECK(in, "memory of %d points", g->n_points);
	for (int i = 0; i < g->n_points; i++)
		in[i] = (g->point[i].size + depth_index(g, g->point[i].batch.depth)) % 2 == colour;
	parts_fit(&parts, g, in, d, &m);
	for (int i = 0; i < g->n_points; i++)
		if (!in[i] && parts.has[g->point[i].batch.mode])
			predict(&v->point[i], &m, &g->point[i]);
	parts_release(&parts);
	free(in);
}

void validate_grid(struct validation *out, const struct grid *g)
{
	struct fit_data d;

	begin_validation(out, g->n_points);
	fit_data_of(&d, g);
	for (int colour = 0; colour < 2; colour++)
		predict_half(out, g, &d, colour);
	fit_data_release(&d);
	sum_up(out, g->n_points);
}

/* ---- off the grid ------------------------------------------------------------------------- */

void validate_off_grid(struct validation *out, const struct fit *f, const struct grid *other)
{
	begin_validation(out, other->n_points);
	for (int i = 0; i < other->n_points; i++) {
		if (fit_covers(f, &other->point[i].batch))
			predict(&out->point[i], &f->model, &other->point[i]);
		else
			out->outside++;
	}
	sum_up(out, other->n_points);
}

void validation_release(struct validation *v)
{
	free(v->point);
	*v = (struct validation){ 0 };
}

/* ---- does what launches cost predict real workloads? ------------------------------------ */

static struct errors no_errors(void)
{
	return (struct errors){ .worst_point = -1, .median = NAN, .p95 = NAN, .worst = NAN };
}

/* Sorts the n errors. */
static void take_quantiles(struct errors *e, double *size, int n)
{
	*e = (struct errors){ .worst_point = e->worst_point, .n = n };
	sort_doubles(size, n);
	e->median = quantile_of_sorted(size, n, 0.5);
	e->p95 = quantile_of_sorted(size, n, 0.95);
	e->worst = quantile_of_sorted(size, n, 1);
}

static double relative_error(const struct priced *p)
{
	return fabs(p->total_ns.value / p->b_ns - 1);
}

/* mode MODE_COUNT: of all. size gets the errors, sorted. */
static struct errors work_errors(const struct prices *p, const struct grid *g, int mode,
				 bool covered, double *size)
{
	struct errors e = no_errors();
	double worst = -1;
	int n = 0;

	for (int i = 0; i < p->n; i++) {
		const struct priced *at = &p->priced[i];

		if (!at->known || at->seen || at->covered != covered ||
		    (mode != MODE_COUNT && (int)g->point[at->point].batch.mode != mode))
			continue;
		size[n++] = relative_error(at);
		if (relative_error(at) > worst) {
			worst = relative_error(at);
			e.worst_point = at->point;
		}
	}
	if (n)
		take_quantiles(&e, size, n);
	return e;
}

void validate_work(struct work_validation *out, const struct grid *work, const struct fit *launches)
{
	const struct price_request r = {
		.work = work, .a = launches, .b = launches, .measured = work
	};
	struct prices p;

	*out = (struct work_validation){ .work = work };
	out->error = calloc((size_t)work->n_points + 1, sizeof(*out->error));
	CHECK(out->error, "memory of %d errors", work->n_points);
	price_make(&p, &r);
	for (int mode = 0; mode < MODE_COUNT; mode++)
		out->mode[mode] = work_errors(&p, work, mode, true, out->error);
	out->outside = work_errors(&p, work, MODE_COUNT, false, out->error);
	out->all = work_errors(&p, work, MODE_COUNT, true, out->error); /* last: error[] is of it */
	for (int i = 0; i < p.n; i++) {
		out->unknown += !p.priced[i].known;
		out->seen += p.priced[i].known && p.priced[i].seen;
	}
	out->accepted = out->all.median <= ERROR_MEDIAN_MAX && out->all.p95 <= ERROR_P95_MAX;
	prices_release(&p);
}

struct errors validate_all_work(const struct work_validation *v, int n)
{
	struct errors e = no_errors();
	double *all;
	int count = 0;

	for (int i = 0; i < n; i++)
		count += v[i].all.n;
	if (!count)
		return e;
	all = calloc((size_t)count, sizeof(*all));
	CHECK(all, "memory of %d errors", count);
	count = 0;
	for (int i = 0; i < n; i++) {
		memcpy(all + count, v[i].error, (size_t)v[i].all.n * sizeof(*all));
		count += v[i].all.n;
	}
	take_quantiles(&e, all, count);
	free(all);
	return e;
}

void work_validation_release(struct work_validation *v)
{
	free(v->error);
	*v = (struct work_validation){ 0 };
}

/* ---- for people --------------------------------------------------------------------------- */

static void print_errors(const char *name, const char *what, const struct errors *e,
			 const struct grid *g, FILE *out)
{
	char worst[160] = "";

	if (!e->n)
		return;
	if (e->worst_point >= 0)
		plan_point_text(&g->j->plan, g->point[e->worst_point].point, worst, sizeof(worst));
	fprintf(out, "  %-15s %-8s %5d %8.2f %% %8.2f %% %8.2f %%  %s\n", name, what, e->n,
		100 * e->median, 100 * e->p95, 100 * e->worst, worst);
}

static void print_work(const struct work_validation *v, FILE *out)
{
	const struct grid *g = v->work;

	for (int mode = 0; mode < MODE_COUNT; mode++)
		print_errors(g->workload->name, mode_name((enum mode)mode), &v->mode[mode], g, out);
	print_errors(g->workload->name, "all", &v->all, g, out);
	print_errors(g->workload->name, "outside", &v->outside, g, out);
	fprintf(out, "  %-15s %s: %d samples gave the values used to predict them and are left out",
		"",
		!v->all.n     ? "nothing to predict"
		: v->accepted ? "accepted"
			      : "NOT accepted",
		v->seen);
	if (v->unknown)
		fprintf(out, ", %d more have a mode that launches were not swept in", v->unknown);
	fputc('\n', out);
}

void works_print(const struct work_validation *v, int n, const struct fit *launches, FILE *out)
{
	const struct grid *g = launches->grid;
	const struct errors all = validate_all_work(v, n);
	char platform[160];

	session_platform(g->j, g->side, platform, sizeof(platform));
	row(out, "validate", "%s, parameters of %s, n = %s, %s%s%s", platform, g->workload->name,
	    counted(launches->n, "process").s, text_shown(g->j->path ? g->j->path : "").s,
	    g->j->sides > 1 ? ", side " : "", g->j->sides > 1 ? journal_side_name(g->side) : "");
	row(out, "predicted",
	    "from these and what the workload's own samples say: the device time of a launch (the "
	    "deepest), what the first step takes beyond others (the shallowest graphs), calls of "
	    "libraries (the shallowest streams)");
	fprintf(out, "\n|predicted / measured - 1| of samples\n  %-15s %-8s %5s %10s %10s %10s\n",
		"workload", "mode", "n", "median", "95 %", "worst");
	for (int i = 0; i < n; i++)
		print_work(&v[i], out);
	if (n > 1)
		print_errors("all workloads", "all", &all, g, out);
	fprintf(out,
		"accepted: a median of at most %.0f %% and a 95th percentile of at most %.0f %%. "
		"outside: of the\nsizes and depths that launches were swept at; not in `all`.\n",
		100 * ERROR_MEDIAN_MAX, 100 * ERROR_P95_MAX);
}

/* ---- for machines ------------------------------------------------------------------------- */

static json_t *errors_json(const struct errors *e)
{
	return json_pack("{s:i, s:o, s:o, s:o}", "n", e->n, "median", json_number(e->median), "p95",
			 json_number(e->p95), "worst", json_number(e->worst));
}

static json_t *work_json(const struct work_validation *v)
{
	json_t *modes = json_object();

	for (int mode = 0; mode < MODE_COUNT; mode++)
		json_object_set_new(modes, mode_name((enum mode)mode), errors_json(&v->mode[mode]));
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:i, s:i, s:b}", "workload",
			 v->work->workload->name, "parameters_set", v->work->others, "modes", modes,
			 "all", errors_json(&v->all), "outside", errors_json(&v->outside), "seen",
			 v->seen, "unknown", v->unknown, "accepted", v->accepted);
}

json_t *works_json(const struct work_validation *v, int n, const struct fit *launches)
{
	const struct errors all = validate_all_work(v, n);
	json_t *works = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(works, work_json(&v[i]));
	return json_pack("{s:s, s:s, s:o, s:s, s:i, s:o, s:o}", "version", RIFT_VERSION, "command",
			 "validate", "parameters_session", json_text(launches->grid->j->path),
			 "parameters_side", journal_side_name(launches->grid->side), "processes",
			 launches->n, "workloads", works, "all", errors_json(&all));
}
