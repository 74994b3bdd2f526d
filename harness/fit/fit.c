/* fit.c - the model's parameters, their intervals, and which of them the data hold. */
#include "harness/fit/fit.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/text.h"
#include "harness/fit/fit_part.h"
#include "harness/fit/fit_parts.h"
#include "harness/stats/stats.h"
#include "workloads/workload.h"

/* ---- which parameters the data hold, and why not the others ----------------------------- */

static void not_known(struct fit *f, enum model_param which, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void not_known(struct fit *f, enum model_param which, const char *fmt, ...)
{
	struct fit_param *p = &f->param[which];
	va_list args;

	p->identified = false;
	p->most = NAN;
	va_start(args, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, args);
	va_end(args);
}

/* ---- what no part fits -------------------------------------------------------------------- */

/*
 * How large a pace may be that others hide. p is not above the least of kK + g, as no kernel waits
 * for it; g not above what p leaves beside the longest kernel.
 */
static double most_hidden(const struct fit *f, enum model_param which)
{
	const double *v = f->model.v;
	double least = INFINITY;

	for (int i = 0; i < f->grid->n_points; i++) {
		const struct batch *b = &f->grid->point[i].batch;
		double ns = b->kernel_ns > 0 ? v[MODEL_CLOCK] * b->kernel_ns + v[MODEL_E] : 0;

		if (b->mode == MODE_STREAM && b->depth * b->launches >= 2)
			least = fmin(least,
				     which == MODEL_P ? ns + v[MODEL_G] : fmax(v[MODEL_P] - ns, 0));
	}
	return least;
}

static void hidden(struct fit *f, enum model_param which, const char *why)
{
	double most = most_hidden(f, which);

	not_known(f, which, why, text_time(most).s);
	f->param[which].most = most;
}

static void missing_stream(struct fit *f, enum model_param which)
{
	if (!f->has[MODE_STREAM])
		not_known(f, which, "stream mode was not swept, or at one depth only");
	else if (which == MODEL_P)
		hidden(f, which,
		       "hidden: every kernel outlasts it, so it is at most %s; sweep "
		       "smaller kernels");
	else if (which == MODEL_G)
		hidden(f, which,
		       "too few kernels in a row outlast p, which hides it: at most %s; "
		       "sweep larger kernels in larger batches");
	else if (which == MODEL_W)
		not_known(f, which, "no sample is slowed by a full queue");
	else
		not_known(f, which, "no launches of one size at 3 depths within half a queue");
}

static void missing_clock(struct fit *f)
{
	if (!f->grid->nominal)
		not_known(f, MODEL_CLOCK, "1: K is measured");
	else
		not_known(f, MODEL_CLOCK,
			  "taken to be 1: it takes 3 sizes that the device sets "
			  "the pace of, the largest 4 times the smallest");
}

static void missing_e(struct fit *f)
{
	if (!f->grid->nominal)
		not_known(f, MODEL_E, "0: K is measured");
	else
		not_known(f, MODEL_E,
			  "taken to be 0: empty kernels are in line with the others, or "
			  "none were swept");
}

static void missing_graph(struct fit *f, enum model_param which)
{
	if (!f->has[MODE_GRAPH])
		not_known(f, which, "graph mode was not swept, or at one depth only");
	else if (which == MODEL_GRAPH_G)
		not_known(f, which, "part of K, which is measured in graphs");
	else if (which == MODEL_GRAPH_GG)
		not_known(f, which, "fewer than 3 samples hold several graphs; sweep deeper");
	else
		not_known(f, which, "no graphs of one size at 3 depths of one launch");
}

static void set_missing(struct fit *f, enum model_param which)
{
	switch (which) {
	case MODEL_CLOCK:
		missing_clock(f);
		return;
	case MODEL_E:
		missing_e(f);
		return;
	case MODEL_Q:
		not_known(f, which, "no launch waited: more than 4096 fit, or the probe failed");
		return;
	case MODEL_FUSED_Z:
	case MODEL_FUSED_PHI:
	case MODEL_FUSED_B:
	case MODEL_FUSED_B0:
		not_known(f, which, "%s",
			  !f->has[MODE_FUSED] ? "fused mode was not swept, or at one depth only"
			  : which == MODEL_FUSED_B0 ? "no empty kernels were swept"
						    : "only empty kernels were swept");
		return;
	default:
		if (model_param_rows[which].mode == MODE_GRAPH)
			missing_graph(f, which);
		else
			missing_stream(f, which);
	}
}

/* ---- what a part fits --------------------------------------------------------------------- */

/* A gap near 0 is known when it is known beside what one launch costs. */
static double least_step(const struct fit *f, enum model_param which)
{
	double z = f->model.v[model_param_rows[which].mode == MODE_GRAPH   ? MODEL_GRAPH_Z
			      : model_param_rows[which].mode == MODE_FUSED ? MODEL_FUSED_Z
									   : MODEL_Z];

	return which == MODEL_CLOCK || which == MODEL_FUSED_PHI ? 0 : 0.1 * z;
}

static struct text param_value(enum model_param which, double value)
{
	return model_param_rows[which].unit[0] == 'n' ? text_time(value) : text_real(value);
}

/* Says how large it may be. */
static void leave_open(struct fit *f, struct fit_part *part, const struct fit_data *d,
		       enum model_param which, const char *why)
{
	double most = part_most(part, d, &f->model, which, least_step(f, which));

	not_known(f, which, "%s: %s%s", why, isfinite(most) ? "at most " : "nothing bounds it",
		  isfinite(most) ? param_value(which, most).s : "");
	f->param[which].most = most;
}

static void judge_param(struct fit *f, const struct fit_parts *parts, struct fit_part *part,
			const struct fit_data *d, enum model_param which)
{
	f->param[which] = (struct fit_param){ .identified = true, .most = NAN };
	if (which == MODEL_G && grid_is_of_streams(f->grid))
		not_known(f, which, "part of K, which is measured in streams");
	else if (parts_is_single(parts, which))
		leave_open(f, part, d, which, "a single sample says it");
	else if (which == MODEL_P && f->model.v[MODEL_P] < (1 - CORNER_SHARE) * f->model.v[MODEL_C])
		leave_open(f, part, d, which, "less than a launch call, so another wait hides it");
	else if (!part_holds(part, d, &f->model, which, least_step(f, which)))
		leave_open(f, part, d, which,
			   "the samples leave it open by half of its value and more");
}

/*
 * What is not known makes blocks no longer than this. Calls of graphs and what follows them are
 * known as a sum, and so are fused units and their gaps.
 */
static struct model most_of(const struct fit *f)
{
	static const enum model_param open[] = { MODEL_Z,	MODEL_P,       MODEL_G,
						 MODEL_W,	MODEL_GRAPH_Z, MODEL_GRAPH_G,
						 MODEL_GRAPH_GG };
	static const double beyond = 1e15; /* ns, of what nothing bounds */
	struct model m = f->model;

	for (size_t i = 0; i < sizeof(open) / sizeof(*open); i++)
		if (!isnan(f->param[open[i]].most))
			m.v[open[i]] = fmin(f->param[open[i]].most, beyond);
	return m;
}

/* Fills in identified and why of every parameter. */
static void fit_identify(struct fit *f, struct fit_parts *parts, const struct fit_data *d)
{
	for (int i = 0; i < MODEL_PARAMS; i++) {
		enum model_param which = (enum model_param)i;
		struct fit_part *part = parts_find(parts, which);

		if (which == MODEL_Q && isfinite(f->model.v[MODEL_Q]))
			f->param[i] = (struct fit_param){ .identified = true, .most = NAN };
		else if (part)
			judge_param(f, parts, part, d, which);
		else
			set_missing(f, which);
	}
	f->most = most_of(f);
}

/* ---- draws -------------------------------------------------------------------------------- */

static double *new_array(size_t n)
{
	double *p = calloc(n + 1, sizeof(*p));

	CHECK(p, "memory of %zu numbers", n);
	return p;
}

/*
 * Draws that take the same processes have the same fit; of 5 processes there are 126 different
 * ones. A table of the first of each, by what they take.
 */
enum { SEEN = 4 * 4096 }; /* a power of two, well above the draws */

struct seen {
	int first[SEEN]; /* draw + 1; 0: free */
};

static int first_alike(struct seen *s, const struct resamples *r, int draw)
{
	const uint16_t *times = &r->times[(size_t)draw * (size_t)r->n];
	size_t bytes = (size_t)r->n * sizeof(*times);
	uint32_t at = 2166136261u; /* FNV-1a */

	for (int i = 0; i < r->n; i++)
		at = (at ^ times[i]) * 16777619u;
	for (at %= SEEN; s->first[at]; at = (at + 1) % SEEN)
		if (!memcmp(times, &r->times[(size_t)(s->first[at] - 1) * (size_t)r->n], bytes))
			return s->first[at] - 1;
	s->first[at] = draw + 1;
	return draw;
}

/* With 10 processes nearly all draws differ: 5000 fits, which threads share. None depends on
 * another.
 */
enum { REFIT_THREADS_MAX = 16 };

struct refit {
	pthread_t thread;
	struct fit *fit;
	struct fit_parts parts;
	const struct fit_draws *draws;
	int from, every;
	bool runs; /* in a thread of its own */
};

static void *refit(void *arg)
{
	struct refit *r = arg;
	struct fit *f = r->fit;
	struct fit_data d;

	fit_data_of(&d, f->grid);
	for (int draw = r->from; draw < BOOTSTRAP_DRAWS; draw += r->every) {
		if (f->first[draw] != draw)
			continue;
		fit_draws_take(r->draws, f->grid, draw, &d);
		f->draw[draw] = f->model;
		parts_refit(&r->parts, &d, &f->draw[draw]);
	}
	fit_data_release(&d);
	return NULL;
}

static int refit_threads(void)
{
	cpu_set_t allowed;
	int n = sched_getaffinity(0, sizeof(allowed), &allowed) ? 1 : CPU_COUNT(&allowed);

	return n < REFIT_THREADS_MAX ? n : REFIT_THREADS_MAX;
}

/* This thread does the first part, and those for which there is no thread. */
static void refit_all(struct fit *f, const struct fit_parts *parts, const struct fit_draws *m)
{
	struct refit part[REFIT_THREADS_MAX];
	int n = refit_threads();

	for (int i = n - 1; i >= 0; i--) {
		part[i] = (struct refit){ .fit = f, .draws = m, .from = i, .every = n };
		parts_copy(&part[i].parts, parts);
		part[i].runs = i && !pthread_create(&part[i].thread, NULL, refit, &part[i]);
		if (!part[i].runs)
			refit(&part[i]);
	}
	for (int i = 0; i < n; i++) {
		if (part[i].runs)
			pthread_join(part[i].thread, NULL);
		parts_release(&part[i].parts);
	}
}

static void refit_draws(struct fit *f, struct fit_parts *parts, const struct fit_draws *m)
{
	struct seen *seen = calloc(1, sizeof(*seen));

	CHECK(seen, "memory of draws");
	for (int draw = 0; draw < BOOTSTRAP_DRAWS; draw++)
		f->first[draw] = first_alike(seen, &m->resamples, draw);
	free(seen);
	refit_all(f, parts, m);
	for (int draw = 0; draw < BOOTSTRAP_DRAWS; draw++)
		f->draw[draw] = f->draw[f->first[draw]];
}

/* ---- parameters --------------------------------------------------------------------------- */

static void set_interval(struct fit *f, enum model_param which)
{
	struct fit_param *p = &f->param[which];

	p->interval = interval_unknown(f->n);
	if (!p->identified)
		return;
	p->interval.value = f->model.v[which];
	if (which == MODEL_Q) /* of a probe in each process, and no matter of draws */
		return;
	p->draws = new_array(BOOTSTRAP_DRAWS);
	for (int i = 0; i < BOOTSTRAP_DRAWS; i++)
		p->draws[i] = f->draw[i].v[which];
	CHECK(!interval_of_draws(&p->interval, f->model.v[which], f->n, p->draws), "draws of %s",
	      model_param_rows[which].name);
}

/* Median of |measured / model - 1| over the points that were used. */
static double residual_of(struct fit *f, const struct fit_parts *parts)
{
	double *r = new_array((size_t)f->grid->n_points), median;
	int n = 0;

	for (int i = PART_GRAPH; i < PARTS; i++)
		for (int k = 0; k < parts->part[i].n; k++) {
			const struct grid_point *p = &f->grid->point[parts->part[i].at[k]];

			r[n++] = fabs(p->total_ns / model_total_ns(&f->model, &p->batch) - 1);
		}
	f->used = n;
	sort_doubles(r, n);
	median = quantile_of_sorted(r, n, 0.5);
	free(r);
	return median;
}

static int fit_all(struct fit *f, struct fit_parts *parts, const struct fit_data *d,
		   const struct fit_draws *m)
{
	parts_fit(parts, f->grid, NULL, d, &f->model);
	memcpy(f->has, parts->has, sizeof(f->has));
	f->corner = parts->part[PART_STREAM].bounds;
	if (!f->has[MODE_STREAM] && !f->has[MODE_GRAPH] && !f->has[MODE_FUSED])
		return complain(
			EINVAL,
			"%s: too few points for a fit of %s: it needs 3 of one mode, at 2 depths",
			f->grid->j->path ? f->grid->j->path : "the session",
			f->grid->workload->name);
	/* as the draws are: what the two ways of minimising differ by may be more than an interval
	 */
	parts_refit(parts, d, &f->model);
	fit_identify(f, parts, d);
	if (m)
		refit_draws(f, parts, m);
	for (int i = 0; i < MODEL_PARAMS && m; i++)
		set_interval(f, (enum model_param)i);
	f->residual = residual_of(f, parts);
	return 0;
}

static int make_with(struct fit *f, const struct fit_draws *m)
{
	struct fit_parts parts = { 0 };
	struct fit_data d = { 0 };
	int err;

	fit_data_of(&d, f->grid);
	err = fit_all(f, &parts, &d, m);
	parts_release(&parts);
	fit_data_release(&d);
	return err;
}

int fit_make(struct fit *out, const struct grid *grid, uint32_t group)
{
	struct fit_draws m;
	int err;

	*out = (struct fit){ .grid = grid, .n = grid->processes };
	out->draw = calloc(BOOTSTRAP_DRAWS, sizeof(*out->draw));
	out->first = calloc(BOOTSTRAP_DRAWS, sizeof(*out->first));
	CHECK(out->draw && out->first, "memory of draws");
	err = fit_draws_init(&m, grid, group);
	if (!err)
		err = make_with(out, &m);
	fit_draws_release(&m);
	return err;
}

int fit_make_values(struct fit *out, const struct grid *grid)
{
	*out = (struct fit){ .grid = grid, .n = grid->processes };
	return make_with(out, NULL);
}

void fit_release(struct fit *f)
{
	for (int i = 0; i < MODEL_PARAMS; i++)
		free(f->param[i].draws);
	free(f->draw);
	free(f->first);
	*f = (struct fit){ 0 };
}

/* ---- what is computed from a fit ---------------------------------------------------------- */

struct interval fit_interval(const struct fit *f, fit_function *of, const void *arg, double *draws)
{
	double *own = draws ? NULL : new_array(BOOTSTRAP_DRAWS), value = of(&f->model, arg);
	struct interval out = interval_unknown(f->n);

	draws = draws ? draws : own;
	for (int i = 0; i < BOOTSTRAP_DRAWS; i++)
		draws[i] = f->first[i] < i ? draws[f->first[i]] : of(&f->draw[i], arg);
	if (interval_of_draws(&out, value, f->n, draws))
		out = interval_unknown(f->n);
	out.value = value;
	free(own);
	return out;
}

static double total_of(const struct model *m, const void *arg)
{
	return model_total_ns(m, arg);
}

struct interval fit_total_ns(const struct fit *f, const struct batch *b)
{
	return f->has[b->mode] ? fit_interval(f, total_of, b, NULL) : interval_unknown(f->n);
}

/* The swept values next to one: of the depths of a mode, or of its kernels. NAN: all. */
struct reach {
	double least, most;
};

static struct reach reach_of(const struct fit *f, enum mode mode, double value, bool depths)
{
	struct reach r = { -INFINITY, INFINITY };

	for (int i = 0; i < f->grid->n_points && !isnan(value); i++) {
		const struct batch *b = &f->grid->point[i].batch;
		double x = depths ? b->depth : b->kernel_ns;

		if (b->mode == mode && x <= value)
			r.least = fmax(r.least, x);
		if (b->mode == mode && x >= value)
			r.most = fmin(r.most, x);
	}
	return r;
}

double fit_error(const struct fit *f, enum mode mode, double kernel_ns, double depth)
{
	struct reach k = reach_of(f, mode, kernel_ns, false), d = reach_of(f, mode, depth, true);
	double worst = NAN;

	for (int i = 0; i < f->grid->n_points; i++) {
		const struct grid_point *p = &f->grid->point[i];
		const struct batch *b = &p->batch;

		if (b->mode == mode && b->kernel_ns >= k.least && b->kernel_ns <= k.most &&
		    b->depth >= d.least && b->depth <= d.most)
			worst = fmax(worst, fabs(model_total_ns(&f->model, b) / p->total_ns - 1));
	}
	return worst;
}

bool fit_holds(const struct fit *f, enum mode mode, double kernel_ns, double depth)
{
	return f->has[mode] && fit_error(f, mode, kernel_ns, depth) <= FIT_ERROR_MAX;
}

bool fit_covers(const struct fit *f, const struct batch *b)
{
	double n = b->depth * b->launches;
	bool smaller = false, smaller_batch = false, beyond = false;

	for (int i = 0; i < f->grid->n_points; i++) {
		const struct batch *p = &f->grid->point[i].batch;

		if (p->mode != b->mode)
			continue;
		smaller |= p->kernel_ns <= b->kernel_ns;
		smaller_batch |= p->depth * p->launches <= n;
		beyond |= p->kernel_ns >= b->kernel_ns && p->depth * p->launches >= n;
	}
	return f->has[b->mode] && smaller && smaller_batch && beyond;
}
