/* made_fit.c - the grid and the fit of a made-up session. */
#include "tests/made_fit.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

#include "harness/fit/price.h"
#include "workloads/workload.h"
#include "tests/golden.h"

/* What an optimiser finds may differ in more digits from machine to machine. */
static double shown(enum model_param which, double v)
{
	double parts = strcmp(model_param_rows[which].unit, "ns") ? 1000 : 1;

	return isfinite(v) ? round(v * parts) / parts + 0.0 : v;
}

/* Per cent: of the logarithm, so that a step is 1 % of any time; 0: none, or not known. */
static int per_cent(double ns)
{
	return fabs(ns) > 100 ? (int)lround(100 * copysign(log(fabs(ns)), ns)) : 0;
}

void made_say_fit(const struct fit *f)
{
	static char text[8192];
	FILE *out = fmemopen(text, sizeof(text), "w");

	fprintf(out, "fit: n %d, used %d, corner %d, modes %d %d %d, off %.1f %%\n", f->n, f->used,
		f->corner, f->has[MODE_STREAM], f->has[MODE_GRAPH], f->has[MODE_FUSED],
		100 * f->residual);
	for (int i = 0; i < MODEL_PARAMS; i++) {
		const struct fit_param *p = &f->param[i];
		const struct interval *in = &p->interval;

		fprintf(out, "%s ", model_param_rows[i].name);
		if (p->identified)
			fprintf(out, "%.3g [%.3g %.3g]\n", shown(i, in->value), shown(i, in->lo),
				shown(i, in->hi));
		else
			fprintf(out, "%.3g, used %.3g %.3g: %s\n", shown(i, p->most),
				shown(i, f->model.v[i]), shown(i, f->most.v[i]), p->why);
	}
	fclose(out);
	golden_said(text);
}

void made_say_prices(const struct prices *p)
{
	json_t *o = json_array();

	for (int i = 0; i < p->n; i++) {
		const struct priced *at = &p->priced[i];

		json_array_append_new(o, json_pack("{s:b, s:b, s:b, s:b, s:b, s:b}", "known",
						   at->known, "covered", at->covered, "seen",
						   at->seen, "in_turn", at->in_turn, "doubtful",
						   at->doubtful, "failed", at->b_failed));
		if (at->known)
			json_array_append_new(o,
					      json_pack("{s:i, s:i, s:i}", "total",
							per_cent(at->total_ns.value), "wide",
							per_cent(at->total_ns.hi - at->total_ns.lo),
							"copies", per_cent(at->copies_ns)));
	}
	json_array_append_new(o,
			      json_pack("{s:i, s:i, s:i, s:i}", "n_known", p->n_known, "n_doubtful",
					p->n_doubtful, "all", p->all.n, "sure", p->sure.n));
	json_array_append_new(o, json_pack("{s:i, s:i}", "median", per_cent(1e6 * p->sure.median),
					   "worst", per_cent(1e6 * p->sure.worst)));
	golden_said_sums(o);
}

void made_grid(struct made *m, const struct fake_session *s)
{
	fake_session_journal(s, &m->journal);
	cr_assert(zero(int, grid_make(&m->grid, &m->journal, 0, NULL)), "grid");
}

void made_fit(struct made *m, const struct fake_session *s)
{
	made_grid(m, s);
	cr_assert(zero(int, fit_make(&m->fit, &m->grid, 0)), "fit");
}

void made_release(struct made *m)
{
	fit_release(&m->fit);
	grid_release(&m->grid);
	journal_release(&m->journal);
}

struct fake_session few_processes(double noise)
{
	struct fake_session s = fake_session();

	s.processes = 5;
	s.noise = noise;
	return s;
}
