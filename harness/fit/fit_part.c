/* fit_part.c - a fit's tools: the loss, what is fitted to, parameters fitted together. */
#include "harness/fit/fit_part.h"

#include <errno.h>
#include <math.h>
#include <nlopt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/fit/grid.h"

/* ---- the loss --------------------------------------------------------------------------- */

static double huber(double r)
{
	double size = fabs(r);

	return size <= LOSS_KNEE ? r * r / 2 : LOSS_KNEE * (size - LOSS_KNEE / 2);
}

static double huber_sum(const struct loss *l, const double *x)
{
	double sum = 0;

	l->predict(l->arg, x, l->predicted);
	for (int i = 0; i < l->n + l->bounds; i++) {
		double r = l->predicted[i] / l->measured[i] - 1;

		sum += i < l->n || r > 0 ? huber(r) : 0;
	}
	return sum;
}

double loss_at(const struct loss *l, const struct unknown *u, int n)
{
	double x[LOSS_X_MAX] = { 0 };

	for (int i = 0; i < n; i++)
		x[i] = u[i].x;
	return huber_sum(l, x);
}

static double objective(unsigned n, const double *x, double *gradient, void *arg)
{
	(void)n;
	(void)gradient; /* none is asked for by these methods */
	return huber_sum(arg, x);
}

/*
 * Stops where the parameters stand still: by a guess to a share of what matters, as it chooses what
 * is fitted; from near to a millionth, or in a flat valley draws would end where they began, and
 * intervals be too narrow by a third.
 */
static void set_limits(nlopt_opt opt, const struct unknown *u, int n, enum loss_start start)
{
	double lo[LOSS_X_MAX], hi[LOSS_X_MAX], step[LOSS_X_MAX], still[LOSS_X_MAX];
	double share = start == LOSS_NEAR ? 0.1 : 1;

	for (int i = 0; i < n; i++) {
		lo[i] = u[i].lo;
		hi[i] = u[i].hi;
		step[i] = share * u[i].step;
		still[i] = (start == LOSS_NEAR ? 1e-6 : 1e-4) * u[i].step;
	}
	CHECK(nlopt_set_lower_bounds(opt, lo) > 0 && nlopt_set_upper_bounds(opt, hi) > 0 &&
		      nlopt_set_initial_step(opt, step) > 0 && nlopt_set_xtol_abs(opt, still) > 0 &&
		      nlopt_set_ftol_rel(opt, start == LOSS_NEAR ? 1e-12 : 1e-10) > 0 &&
		      nlopt_set_maxeval(opt, 4000) > 0,
	      "%d unknowns", n);
}

double loss_minimise(const struct loss *l, struct unknown *u, int n, enum loss_start start)
{
	double x[LOSS_X_MAX], least, before = loss_at(l, u, n);
	nlopt_opt opt;
	nlopt_result end;

	CHECK(n >= 1 && n <= LOSS_X_MAX, "%d unknowns", n);
	/* BOBYQA takes two unknowns or more */
	opt = nlopt_create(start == LOSS_NEAR && n > 1 ? NLOPT_LN_BOBYQA : NLOPT_LN_SBPLX,
			   (unsigned)n);
	CHECK(opt, "memory of an optimiser");
	set_limits(opt, u, n, start);
	nlopt_set_min_objective(opt, objective, (void *)(uintptr_t)l);
	for (int i = 0; i < n; i++)
		x[i] = fmin(fmax(u[i].x, u[i].lo), u[i].hi);
	end = nlopt_optimize(opt, x, &least);
	nlopt_destroy(opt);
	/* one that was stopped by rounding is as good as it gets; one that failed changes nothing
	 */
	if ((end < 0 && end != NLOPT_ROUNDOFF_LIMITED) || !(least <= before))
		return before;
	for (int i = 0; i < n; i++)
		u[i].x = x[i];
	return least;
}

/* ---- what the parts of a fit are fitted to ---------------------------------------------- */

static double *new_array(size_t n)
{
	double *p = calloc(n + 1, sizeof(*p));

	CHECK(p, "memory of %zu numbers", n);
	return p;
}

/* ---- all processes ------------------------------------------------------------------------ */

static void set_kernels(struct fit_data *d, const struct grid *g)
{
	for (int i = 0; i < g->n_sizes; i++)
		d->kernel_ns[i] =
			g->nominal ? g->size[i].kernel_ns : grid_kernel_ns(g, i, d->total_ns);
}

void fit_data_of(struct fit_data *d, const struct grid *g)
{
	d->total_ns = new_array((size_t)g->n_points);
	d->enq_ns = new_array((size_t)g->n_points);
	d->kernel_ns = new_array((size_t)g->n_sizes);
	for (int i = 0; i < g->n_points; i++) {
		d->total_ns[i] = g->point[i].total_ns;
		d->enq_ns[i] = g->point[i].enq_ns;
	}
	set_kernels(d, g);
}

void fit_data_release(struct fit_data *d)
{
	free(d->total_ns);
	free(d->enq_ns);
	free(d->kernel_ns);
}

/* ---- draws -------------------------------------------------------------------------------- */

/* What a point takes in each draw: the median of its values, or what grid_pair() says; a: side a's.
 */
static bool medians_of_draws(const struct fit_draws *m, const double *value, const double *a,
			     double *out)
{
	int n = m->resamples.n;
	double *ratio, *of_a, of_all;
	bool done;

	if (!a)
		return !resamples_medians(&m->resamples, value, out, &of_all);
	ratio = new_array((size_t)n);
	of_a = new_array(BOOTSTRAP_DRAWS);
	for (int i = 0; i < n; i++)
		ratio[i] = value[i] / a[i];
	done = !resamples_medians(&m->resamples, ratio, out, &of_all) &&
	       !resamples_medians(&m->resamples, a, of_a, &of_all);
	for (int d = 0; d < BOOTSTRAP_DRAWS && done; d++)
		out[d] *= of_a[d];
	free(ratio);
	free(of_a);
	return done;
}

int fit_draws_init(struct fit_draws *m, const struct grid *g, uint32_t group)
{
	size_t draws = BOOTSTRAP_DRAWS;

	*m = (struct fit_draws){ .total = new_array(draws * (size_t)g->n_points),
				 .enq = new_array(draws * (size_t)g->n_points) };
	if (resamples_init(&m->resamples, g->processes, g->j->plan.design.seed, group))
		return complain(EINVAL, "%d processes: the bootstrap takes 1 to %d", g->processes,
				(int)BOOTSTRAP_N_MAX);
	for (int i = 0; i < g->n_points; i++) {
		const struct grid_point *p = &g->point[i];
		const struct grid_point *a = g->beside ? &g->beside->point[i] : NULL;
		size_t at = draws * (size_t)i;

		CHECK(medians_of_draws(m, p->total, a ? a->total : NULL, &m->total[at]) &&
			      medians_of_draws(m, p->enq, a ? a->enq : NULL, &m->enq[at]),
		      "values of point %d", p->point);
	}
	return 0;
}

void fit_draws_release(struct fit_draws *m)
{
	resamples_release(&m->resamples);
	free(m->total);
	free(m->enq);
}

void fit_draws_take(const struct fit_draws *m, const struct grid *g, int draw, struct fit_data *d)
{
	for (int i = 0; i < g->n_points; i++) {
		size_t at = (size_t)BOOTSTRAP_DRAWS * (size_t)i + (size_t)draw;

		d->total_ns[i] = m->total[at];
		d->enq_ns[i] = m->enq[at];
	}
	set_kernels(d, g);
}

/* ---- fits that were made before ----------------------------------------------------------- */

/*
 * Medians of draws are few different values, and points go together: of 5 processes most draws ask
 * for a fit that an earlier one has made. More than these are not kept.
 */
enum { MEMO_MAX = 512, MEMO_PLACES = 4 * MEMO_MAX };

/* A row a fit: its key is all that the fit depends on, compared bit by bit. */
struct fit_memo {
	size_t width; /* numbers of a key */
	double *key, *now;
	struct model found[MEMO_MAX];
	int row[MEMO_PLACES]; /* row + 1, at the place of its key or the next free one; 0: free */
	int n;
};

static struct fit_memo *memo_new(size_t width)
{
	struct fit_memo *memo = calloc(1, sizeof(*memo));

	CHECK(memo, "memory of fits");
	memo->width = width;
	memo->key = new_array(MEMO_MAX * width);
	memo->now = new_array(width);
	return memo;
}

static void memo_free(struct fit_memo *memo)
{
	if (!memo)
		return;
	free(memo->key);
	free(memo->now);
	free(memo);
}

/* FNV-1a by words, folded, as the low bits of many numbers are 0. */
static size_t memo_place(const struct fit_memo *memo)
{
	uint64_t hash = UINT64_C(14695981039346656037), word;

	for (size_t i = 0; i < memo->width; i++) {
		memcpy(&word, &memo->now[i], sizeof(word));
		hash = (hash ^ word ^ word >> 32) * UINT64_C(1099511628211);
	}
	return (size_t)((hash ^ hash >> 32) % MEMO_PLACES);
}

/* The place of the key at hand: its row's, or a free one. */
static int *memo_find(struct fit_memo *memo)
{
	size_t at = memo_place(memo);

	for (; memo->row[at]; at = (at + 1) % MEMO_PLACES)
		if (!memcmp(&memo->key[(size_t)(memo->row[at] - 1) * memo->width], memo->now,
			    memo->width * sizeof(*memo->now)))
			break;
	return &memo->row[at];
}

static void memo_keep(struct fit_memo *memo, int *row, const struct model *found)
{
	if (memo->n == MEMO_MAX)
		return;
	memcpy(&memo->key[(size_t)memo->n * memo->width], memo->now,
	       memo->width * sizeof(*memo->now));
	memo->found[memo->n++] = *found;
	*row = memo->n;
}

/* ---- parameters that are fitted together ------------------------------------------------ */

void part_init(struct fit_part *p, const struct grid *g)
{
	size_t n = (size_t)g->n_points;

	*p = (struct fit_part){ .grid = g };
	p->at = calloc(n + 1, sizeof(*p->at));
	p->measured = calloc(n + 1, sizeof(*p->measured));
	p->predicted = calloc(n + 1, sizeof(*p->predicted));
	p->batch = calloc(n + 1, sizeof(*p->batch));
	CHECK(p->at && p->measured && p->predicted && p->batch, "memory of %zu points", n);
}

void part_copy(struct fit_part *out, const struct fit_part *p)
{
	struct fit_part own;

	part_init(&own, p->grid);
	memcpy(own.at, p->at, (size_t)(p->n + p->bounds) * sizeof(*p->at));
	*out = *p;
	out->at = own.at;
	out->measured = own.measured;
	out->predicted = own.predicted;
	out->batch = own.batch;
	out->memo = NULL;
}

void part_release(struct fit_part *p)
{
	free(p->at);
	free(p->measured);
	free(p->predicted);
	free(p->batch);
	memo_free(p->memo);
	*p = (struct fit_part){ 0 };
}

void part_take(struct fit_part *p, int i)
{
	p->at[p->n++] = i;
}

/* ---- prediction --------------------------------------------------------------------------- */

struct task {
	const struct fit_part *part;
	const struct fit_data *data;
	const struct model *fixed;
};

static struct model model_with(const struct task *t, const double *x)
{
	struct model m = *t->fixed;

	for (int i = 0; i < t->part->n_free; i++)
		m.v[t->part->free[i]] = x[i];
	return m;
}

static void predict(const void *arg, const double *x, double *out)
{
	const struct task *t = arg;
	const struct fit_part *p = t->part;
	const struct model m = model_with(t, x);
	double offset = p->offset ? x[p->n_free] : 0;
	double cost_ns = p->effect ? x[p->n_free + p->offset] : 0;

	for (int i = 0; i < p->n + p->bounds; i++) {
		const struct batch *b = &p->batch[i].batch;

		out[i] = offset + (p->enqueue ? model_enqueue_ns(&m, b)
					      : model_total_of_shape(&m, b, &p->batch[i].shape));
		if (p->effect)
			out[i] += cost_ns * p->effect(b, p->effect_at);
	}
}

/* ---- unknowns ----------------------------------------------------------------------------- */

/* Where K is measured in graphs, a gap is what it is beyond theirs: it may be negative. */
static double gap_least(const struct grid *g)
{
	return g->nominal ? 0 : -0.5 * g->size[0].kernel_ns;
}

/* The smallest that is not empty. */
static double least_kernel(const struct grid *g)
{
	for (int i = 0; i < g->n_sizes; i++)
		if (g->size[i].kernel_ns > 0)
			return g->size[i].kernel_ns;
	return 0;
}

static struct unknown unknown_of(const struct grid *g, const struct model *m,
				 enum model_param which)
{
	double x = m->v[which];

	switch (which) {
	case MODEL_CLOCK:
	case MODEL_FUSED_PHI:
		return (struct unknown){ x, 0.25, 4, 0.05 };
	case MODEL_E:
		return (struct unknown){ x, -0.5 * least_kernel(g), HUGE_VAL,
					 fmax(0.2 * fabs(x), 100) };
	case MODEL_G:
	case MODEL_GRAPH_G:
	case MODEL_FUSED_B:
	case MODEL_FUSED_B0:
		return (struct unknown){ x, gap_least(g), HUGE_VAL, fmax(0.2 * fabs(x), 100) };
	default:
		return (struct unknown){ x, 0, HUGE_VAL, fmax(0.2 * x, 100) };
	}
}

static int unknowns(const struct fit_part *p, const struct model *m, struct unknown *u)
{
	for (int i = 0; i < p->n_free; i++)
		u[i] = unknown_of(p->grid, m, p->free[i]);
	if (p->offset)
		u[p->n_free] = (struct unknown){ 0, -HUGE_VAL, HUGE_VAL, 1000 };
	if (p->effect)
		u[p->n_free + p->offset] = (struct unknown){ 0, 0, HUGE_VAL, 1000 };
	return p->n_free + p->offset + (p->effect != NULL);
}

/* ---- fit ---------------------------------------------------------------------------------- */

static struct loss make_loss(struct fit_part *p, const struct task *t)
{
	const double *from = p->enqueue ? t->data->enq_ns : t->data->total_ns;

	for (int i = 0; i < p->n + p->bounds; i++) {
		const struct grid_point *point = &p->grid->point[p->at[i]];
		struct fitted *b = &p->batch[i];

		p->measured[i] = from[p->at[i]];
		b->batch = point->batch;
		b->batch.kernel_ns = t->data->kernel_ns[point->size];
		if (b->batch.mode == MODE_GRAPH)
			b->shape = graph_shape_of(&b->batch);
	}
	return (struct loss){ .n = p->n,
			      .bounds = p->bounds,
			      .measured = p->measured,
			      .predicted = p->predicted,
			      .predict = predict,
			      .arg = t };
}

double part_fit(struct fit_part *p, const struct fit_data *d, struct model *m,
		enum loss_start start)
{
	const struct task t = { p, d, m };
	const struct loss l = make_loss(p, &t);
	struct unknown u[LOSS_X_MAX];
	int n = unknowns(p, m, u);
	double loss;

	if (!p->n || !p->n_free)
		return 0;
	loss = loss_minimise(&l, u, n, start);
	for (int i = 0; i < p->n_free; i++)
		m->v[p->free[i]] = u[i].x;
	if (p->effect)
		p->effect_ns = u[n - 1].x;
	return loss;
}

static size_t key_width(const struct fit_part *p)
{
	return 1 + MODEL_PARAMS + (size_t)p->grid->n_sizes + (size_t)(p->n + p->bounds);
}

/* How much is free, the model to start from, the kernels, and what the points take. */
static void make_key(const struct fit_part *p, const struct fit_data *d, const struct model *m,
		     double *key)
{
	const double *from = p->enqueue ? d->enq_ns : d->total_ns;

	*key++ = p->n_free;
	memcpy(key, m->v, sizeof(m->v));
	key += MODEL_PARAMS;
	memcpy(key, d->kernel_ns, (size_t)p->grid->n_sizes * sizeof(*key));
	key += p->grid->n_sizes;
	for (int i = 0; i < p->n + p->bounds; i++)
		key[i] = from[p->at[i]];
}

void part_refit(struct fit_part *p, const struct fit_data *d, struct model *m)
{
	int *row;

	if (!p->n || !p->n_free)
		return;
	if (!p->memo)
		p->memo = memo_new(key_width(p));
	CHECK(p->memo->width == key_width(p), "other points than the first fit's");
	make_key(p, d, m, p->memo->now);
	row = memo_find(p->memo);
	if (*row) {
		*m = p->memo->found[*row - 1];
		return;
	}
	part_fit(p, d, m, LOSS_NEAR);
	memo_keep(p->memo, row, m);
}

/* By how much the loss is above the least, in units of what noise gives, where one is held at x. */
static double rise_at(struct fit_part *p, const struct fit_data *d, const struct model *m,
		      enum model_param which, double x)
{
	const struct task t = { p, d, m };
	const struct loss l = make_loss(p, &t);
	struct unknown u[LOSS_X_MAX];
	int n = unknowns(p, m, u), spare = p->n - n > 1 ? p->n - n : 1;
	double least, held;

	least = loss_minimise(&l, u, n, LOSS_GUESS);
	for (int i = 0; i < p->n_free; i++)
		if (p->free[i] == which) {
			u[i].x = u[i].lo = u[i].hi = fmax(x, u[i].lo);
		}
	held = loss_minimise(&l, u, n, LOSS_GUESS);
	/* residuals of a millionth: rounding, no noise */
	return (held - least) / fmax(least / spare, 1e-12);
}

static const double chi2_95 = 3.84; /* of one degree of freedom */

bool part_holds(struct fit_part *p, const struct fit_data *d, const struct model *m,
		enum model_param which, double least)
{
	double x = m->v[which], step = fmax(0.5 * fabs(x), least);

	if (rise_at(p, d, m, which, x + step) < chi2_95)
		return false;
	return x - step < 0 || rise_at(p, d, m, which, x - step) >= chi2_95;
}

double part_most(struct fit_part *p, const struct fit_data *d, const struct model *m,
		 enum model_param which, double least)
{
	enum { DOUBLINGS = 16, HALVINGS = 6 };
	double in = m->v[which], step = fmax(0.5 * fabs(in), least);
	int i = 0;

	for (; i < DOUBLINGS && rise_at(p, d, m, which, in + step) < chi2_95; i++) {
		in += step;
		step *= 2;
	}
	if (i == DOUBLINGS)
		return INFINITY;
	for (i = 0; i < HALVINGS; i++) {
		step /= 2;
		if (rise_at(p, d, m, which, in + step) < chi2_95)
			in += step;
	}
	return in + step;
}
