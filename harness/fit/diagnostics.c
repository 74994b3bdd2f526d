/* diagnostics.c - effects that show that the model is wrong for a platform, or the measurement for
 * the model.
 */
#include "harness/fit/diagnostics.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/base/text.h"
#include "harness/fit/fit_parts.h"
#include "harness/measure/submit.h"
#include "harness/stats/stats.h"

struct diagnostics {
	struct diagnostic *out;
	int n;
};

static void add_diagnostic(struct diagnostics *s, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void add_diagnostic(struct diagnostics *s, const char *name, const char *fmt, ...)
{
	struct diagnostic *diagnostic = &s->out[s->n];
	va_list args;

	if (s->n == DIAGNOSTICS_MAX)
		return;
	s->n++;
	diagnostic->name = name;
	va_start(args, fmt);
	vsnprintf(diagnostic->text, sizeof(diagnostic->text), fmt, args);
	va_end(args);
}

/* ---- effects ------------------------------------------------------------------------------ */

static double beyond(const struct batch *b, double at)
{
	return fmax(0, b->depth * b->launches - at);
}

static double flushes(const struct batch *b, double at)
{
	return floor((b->depth * b->launches - 1) / at);
}

static double after_first(const struct batch *b, double at)
{
	return b->depth * b->launches > at;
}

/* In thousandths of the kernels' time for each doubling of launches. */
static double with_depth(const struct batch *b, double at)
{
	double n = b->depth * b->launches;

	(void)at;
	return 1e-3 * n * b->kernel_ns * log2(n);
}

enum { WINDOW, BATCHING, FIRST, DEPTH, EFFECTS };

static double (*const effects[EFFECTS])(const struct batch *b, double at) = {
	[WINDOW] = beyond,
	[BATCHING] = flushes,
	[FIRST] = after_first,
	[DEPTH] = with_depth,
};

struct effect {
	double loss; /* as a share of that without it */
	double at, cost_ns;
	double most; /* of T that it makes, at most */
};

/*
 * Is there anything to see at so many launches? Points on both sides, or the effect is an intercept
 * or a slope that the model has. One that grows with depth has no place; one is as good as another.
 */
static bool has_both_sides(const struct fit_part *s, int kind, double at)
{
	int with = 0;

	if (at < 2 && kind != FIRST && kind != DEPTH)
		return false;
	if (kind == DEPTH && at > (double)s->grid->depth[0] * s->grid->size[0].launches)
		return false;

	for (int i = 0; i < s->n; i++)
		with += effects[kind](&s->grid->point[s->at[i]].batch, at) > 0;
	return with >= 3 && s->n - with >= 3;
}

static double largest_share(const struct fit_part *s, const struct fit_data *d, int kind,
			    const struct effect *e)
{
	double most = 0;

	for (int i = 0; i < s->n; i++)
		most = fmax(most, e->cost_ns *
					  effects[kind](&s->grid->point[s->at[i]].batch, e->at) /
					  d->total_ns[s->at[i]]);
	return most;
}

/* The place of this kind of effect that explains most. */
static struct effect best_effect(struct fit_parts *parts, const struct fit_data *d,
				 const struct model *m, int kind)
{
	struct fit_part *s = &parts->part[PART_STREAM];
	const struct grid *g = s->grid;
	struct effect best = { .loss = INFINITY };
	struct model without_m = *m;
	double without = part_fit(s, d, &without_m, LOSS_GUESS);

	for (int i = 0; i + 1 < g->n_depths; i++) {
		double at = (double)g->depth[i] * g->size[0].launches;
		struct model with_m = without_m;
		double loss;

		if (!has_both_sides(s, kind, at))
			continue;
		s->effect = effects[kind];
		s->effect_at = at;
		loss = part_fit(s, d, &with_m, LOSS_GUESS) / fmax(without, 1e-12);
		if (loss < best.loss)
			best = (struct effect){ .loss = loss, .at = at, .cost_ns = s->effect_ns };
		s->effect = NULL;
	}
	best.most = largest_share(s, d, kind, &best);
	return best;
}

static bool all_powers_of_two(const struct grid *g)
{
	for (int i = 0; i < g->n_depths; i++)
		if (g->depth[i] & (g->depth[i] - 1))
			return false;
	return true;
}

static void add_effect(struct diagnostics *s, const struct grid *g, int kind,
		       const struct effect *e)
{
	double launches = e->at;

	if (kind == FIRST)
		add_diagnostic(s, "first calls",
			       "samples of up to %g launches are faster than the line by %s",
			       launches, text_time(e->cost_ns).s);
	else if (kind == DEPTH)
		add_diagnostic(
			s, "depth",
			"device-bound samples take %.1f %% longer for each doubling of launches at "
			"equal "
			"kernel time: clocks fall, or launches slow each other down",
			e->cost_ns / 10);
	else if (kind == WINDOW)
		add_diagnostic(s, "window", "beyond %g launches each costs %s more%s", launches,
			       text_time(e->cost_ns).s,
			       all_powers_of_two(g)
				       ? ": something holds no more, or sends that many at a time "
					 "(depths that are no powers of two would tell)"
				       : ": something holds no more");
	else
		add_diagnostic(s, "batching",
			       "every %g launches cost %s more: they are sent at a time", launches,
			       text_time(e->cost_ns).s);
}

/* Prints only the effect that explains most, as effects overlap. False: none explains enough. */
static bool find_effects(struct diagnostics *s, const struct fit *f)
{
	struct effect found[EFFECTS];
	struct fit_parts parts;
	struct fit_data d;
	struct model m;
	int best = -1;

	fit_data_of(&d, f->grid);
	parts_fit(&parts, f->grid, NULL, &d, &m);
	for (int kind = 0; kind < EFFECTS && parts.part[PART_STREAM].n; kind++) {
		if (kind == BATCHING && all_powers_of_two(f->grid))
			continue;
		found[kind] = best_effect(&parts, &d, &m, kind);
		if (found[kind].loss <= DIAGNOSTIC_LOSS && found[kind].most >= DIAGNOSTIC_EFFECT &&
		    (best < 0 || found[kind].loss < found[best].loss))
			best = kind;
	}
	if (best >= 0)
		add_effect(s, f->grid, best, &found[best]);
	parts_release(&parts);
	fit_data_release(&d);
	return best >= 0;
}

/* ---- residuals ---------------------------------------------------------------------------- */

static double residual(const struct fit *f, int i)
{
	const struct grid_point *p = &f->grid->point[i];

	return p->total_ns / model_total_ns(&f->model, &p->batch) - 1;
}

static bool is_regime(const struct fit *f, int i, enum regime regime)
{
	const struct batch *b = &f->grid->point[i].batch;

	return b->mode == MODE_STREAM && b->depth * b->launches >= 2 && b->kernel_ns > 0 &&
	       model_regime(&f->model, b) == regime;
}

static void find_corner(struct diagnostics *s, const struct fit *f)
{
	static const double matters = 0.05;
	double *r = calloc((size_t)f->grid->n_points + 1, sizeof(*r)), median;
	int n = 0;

	CHECK(r, "memory of %d points", f->grid->n_points);
	for (int i = 0; i < f->grid->n_points; i++)
		if (is_regime(f, i, REGIME_CORNER))
			r[n++] = residual(f, i);
	sort_doubles(r, n);
	median = quantile_of_sorted(r, n, 0.5);
	free(r);
	if (n >= 3 && median > matters)
		add_diagnostic(s, "corner",
			       "where K + g is near p, samples take %.0f %% longer than predicted "
			       "(median of "
			       "%d "
			       "points): launches vary, and the slower of two sets the pace",
			       100 * median, n);
}

/* ---- blocks that the fit contradicts ------------------------------------------------------ */

static void find_off(struct diagnostics *s, const struct fit *f)
{
	for (int mode = 0; mode < MODE_COUNT; mode++) {
		double off = fit_error(f, (enum mode)mode, NAN, NAN);

		if (f->has[mode] && off > FIT_ERROR_MAX)
			add_diagnostic(s, "off",
				       "the fit is up to %.0f %% off the samples of %s mode: it "
				       "says nothing of those that it is over %.0f %% off",
				       100 * off, mode_name((enum mode)mode), 100 * FIT_ERROR_MAX);
	}
}

/* ---- clocks ------------------------------------------------------------------------------- */

static void find_drift(struct diagnostics *s, const struct fit *f)
{
	static const double matters = 0.01;
	double drift = f->grid->j->drift_most[f->grid->side];

	if (fabs(drift) > matters)
		add_diagnostic(s, "clocks", "in one process the canary drifted by %+.1f %%",
			       100 * drift);
}

static void find_clock(struct diagnostics *s, const struct fit *f)
{
	static const double matters = 0.02;
	double clock = f->model.v[MODEL_CLOCK];

	if (f->param[MODEL_CLOCK].identified && fabs(clock - 1) > matters)
		add_diagnostic(s, "clocks",
			       "kernels last %.3f times their nominal duration: the device is off "
			       "the clock "
			       "that "
			       "it states, or busy with other work",
			       clock);
}

int diagnostics_find(const struct fit *f, struct diagnostic out[DIAGNOSTICS_MAX])
{
	struct diagnostics s = { .out = out };
	int n;

	find_drift(&s, f);
	/* where an effect is missing from the model, what was fitted without it says nothing more
	 */
	if (find_effects(&s, f))
		return s.n;
	n = s.n;
	find_corner(&s, f);
	if (s.n == n)
		find_off(&s, f);
	find_clock(&s, f);
	return s.n;
}
