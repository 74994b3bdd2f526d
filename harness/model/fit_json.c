/* fit_json.c - what `rift fit` says, for machines. */
#include <math.h>

#include "harness/base/json.h"
#include "harness/measure/submit.h"
#include "harness/model/report.h"
#include "harness/record/plan_record.h"
#include "harness/record/recorded.h"

/* {"value": ..., "lo": ..., "hi": ..., "n": ...}: what is not known is null. */
static json_t *interval_json(const struct interval *i)
{
	return json_pack("{s:o, s:o, s:o, s:i}", "value", json_number(i->value), "lo",
			 json_number(i->lo), "hi", json_number(i->hi), "n", i->n);
}

/* ---- parameters --------------------------------------------------------------------------- */

static json_t *param_object(const struct fit *f, enum model_param which)
{
	const struct fit_param *p = &f->param[which];
	json_t *o = interval_json(&p->interval);

	json_object_set_new(o, "identified", json_boolean(p->identified));
	json_object_set_new(o, "why_not", json_text(p->identified ? NULL : p->why));
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

static json_t *signs_json(const struct fit_report *r)
{
	json_t *a = json_array();

	for (int i = 0; i < r->n_signs; i++)
		json_array_append_new(a, json_pack("{s:s, s:s}", "name", r->sign[i].name, "text",
						   r->sign[i].text));
	return a;
}

/* ---- answers ------------------------------------------------------------------------------ */

static json_t *answer_json(const struct answer *a)
{
	static const char *const kinds[] = { "value", "below", "above", "never", "not swept" };
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
		      validation_json(g, &r->held_out), "signs", signs_json(r), "answers",
		      answers_json(r));
	if (r->options.off_grid)
		json_object_set_new(o, "off_grid",
				    validation_json(r->options.off_grid, &r->off_grid));
	return o;
}
