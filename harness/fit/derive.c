/* derive.c - what a fit says to somebody who has to choose. */
#include "harness/fit/derive.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"

/* ---- what a fit says to somebody who has to choose -------------------------------------- */

const double overheads[OVERHEADS] = { 0.01, 0.05, 0.10, 0.25 };

double launches_of_step(const struct fit *f)
{
	return f->grid->n_sizes ? f->grid->size[0].launches : 1;
}

struct answer answer_bound(const struct fit *f, enum answer_kind kind, double value)
{
	struct answer a = { .kind = kind, .interval = interval_unknown(f->n) };

	a.interval.value = value;
	return a;
}

/* Where the interval is wider than the answer is large, an end of it within the sweep. */
static struct answer narrow_answer(const struct fit *f, struct answer a, double least, double most)
{
	const struct interval *i = &a.interval;

	if (!i->known || i->hi - i->lo <= 2 * i->value)
		return a;
	if (i->hi < most)
		return answer_bound(f, ANSWER_BELOW, i->hi);
	return i->lo > least ? answer_bound(f, ANSWER_LEAST, i->lo)
			     : answer_bound(f, ANSWER_REFUSED, NAN);
}

/* ---- a root along K ----------------------------------------------------------------------- */

/*
 * What is asked: excess(K) > 0 below some K, and not from there on. Over one platform, or two whose
 * draws belong together by number.
 */
struct along_k {
	const struct fit *f, *other; /* other: NULL where there is one platform */
	double (*excess)(const struct along_k *k, const struct model *m, const struct model *other,
			 double kernel_ns);
	enum mode mode, other_mode;
	bool gain; /* of one mode over another: a bound would be no answer */
	double depth, launches, share;
	double least, most; /* K that was swept, ns, above 0 */
};

static struct batch batch_at(const struct along_k *k, enum mode mode, double kernel_ns)
{
	return (struct batch){ mode, k->depth, k->launches, kernel_ns };
}

/* Sizes of this mode that are not empty, in batches of at least this depth. */
static bool is_swept(const struct fit *f, enum mode mode, double depth, double *least, double *most)
{
	*least = INFINITY;
	*most = 0;
	for (int i = 0; i < f->grid->n_points && f->has[mode]; i++) {
		struct batch b = f->grid->point[i].batch;

		b.depth = depth;
		if (b.mode != mode || !(b.kernel_ns > 0) || !fit_covers(f, &b))
			continue;
		*least = fmin(*least, b.kernel_ns);
		*most = fmax(*most, b.kernel_ns);
	}
	return *most > 0;
}

enum { STEPS = 16, HALVINGS = 18 };

/*
 * Steps down from the largest K to the first that exceeds, then halves the step; so the answer
 * holds for all larger K too. Logarithmic. least where none exceeds.
 */
static double root(const struct along_k *k, const struct model *m, const struct model *other)
{
	double step = pow(k->least / k->most, 1.0 / STEPS), good = k->most, bad = k->most;

	for (int i = 0; i <= STEPS; i++) {
		bad = fmax(k->most * pow(step, i), k->least);
		if (k->excess(k, m, other, bad) > 0)
			break;
		good = bad;
		if (i == STEPS)
			return k->least;
	}
	for (int i = 0; i < HALVINGS && good > bad; i++) {
		double middle = sqrt(good * bad);

		if (k->excess(k, m, other, middle) > 0)
			bad = middle;
		else
			good = middle;
	}
	return good;
}

static double root_of_draw(const struct along_k *k, int draw)
{
	return root(k, &k->f->draw[draw], k->other ? &k->other->draw[draw] : NULL);
}

static struct interval root_interval(const struct along_k *k, double value)
{
	double *draws = calloc(BOOTSTRAP_DRAWS, sizeof(*draws));
	const int *first = k->f->first;
	struct interval out;

	CHECK(draws, "memory of draws");
	for (int i = 0; i < BOOTSTRAP_DRAWS; i++)
		draws[i] = !k->other && first[i] < i ? draws[first[i]] : root_of_draw(k, i);
	CHECK(!interval_of_draws(&out, value,
				 k->other && k->other->n < k->f->n ? k->other->n : k->f->n, draws),
	      "draws of a kernel size");
	free(draws);
	return out;
}

/* For models with what is not identified as large as it may be. */
static double open_root(const struct along_k *k, const struct model *m, const struct model *other)
{
	return k->excess(k, m, other, k->most) > 0 ? INFINITY : root(k, m, other);
}

static struct answer open_answer(const struct along_k *k, double value, double bound)
{
	if (fabs(bound / value - 1) <= FIT_ERROR_MAX)
		return answer_bound(k->f, ANSWER_VALUE, value);
	if (k->other || k->gain || !isfinite(bound))
		return answer_bound(k->f, ANSWER_REFUSED, NAN);
	return answer_bound(k->f, ANSWER_BELOW, bound);
}

static struct answer root_answer(const struct along_k *k)
{
	const struct model *m = &k->f->model, *other = k->other ? &k->other->model : NULL;
	double value = root(k, m, other);
	struct answer a = open_answer(k, value, open_root(k, &k->f->most, other));

	if (k->excess(k, m, other, k->most) > 0)
		return answer_bound(k->f, ANSWER_ABOVE, k->most);
	if (a.kind == ANSWER_VALUE && other)
		a = open_answer(k, value, open_root(k, m, &k->other->most));
	if (a.kind != ANSWER_VALUE)
		return a;
	if (!(value > k->least))
		return answer_bound(k->f, ANSWER_BELOW, k->least);
	a.interval = root_interval(k, value);
	a.cut = a.interval.known && (a.interval.lo <= k->least || a.interval.hi >= k->most);
	return k->gain ? a : narrow_answer(k->f, a, k->least, k->most);
}

/* ---- smallest kernels --------------------------------------------------------------------- */

static double over_ideal(const struct along_k *k, const struct model *m, const struct model *other,
			 double kernel_ns)
{
	const struct batch b = batch_at(k, k->mode, kernel_ns);

	(void)other;
	return model_total_ns(m, &b) - (1 + k->share) * model_ideal_ns(m, &b);
}

static double over_platform(const struct along_k *k, const struct model *m,
			    const struct model *other, double kernel_ns)
{
	const struct batch b = batch_at(k, k->mode, kernel_ns);

	return model_total_ns(m, &b) - (1 + k->share) * model_total_ns(other, &b);
}

/* Within the sizes that both were swept at: k's fit in its mode, and another. */
static struct answer answer_within_both(struct along_k *k, const struct fit *f, enum mode mode)
{
	double least, most;

	if (!is_swept(k->f, k->mode, k->depth, &k->least, &k->most) ||
	    !is_swept(f, mode, k->depth, &least, &most))
		return answer_bound(k->f, ANSWER_UNKNOWN, NAN);
	if (!fit_holds(k->f, k->mode, NAN, k->depth) || !fit_holds(f, mode, NAN, k->depth))
		return answer_bound(k->f, ANSWER_REFUSED, NAN);
	k->least = fmax(k->least, least);
	k->most = fmin(k->most, most);
	return k->least < k->most ? root_answer(k) : answer_bound(k->f, ANSWER_UNKNOWN, NAN);
}

struct answer smallest_kernel_over_ideal(const struct fit *f, enum mode mode, double depth,
					 double share)
{
	struct along_k k = { .f = f,
			     .excess = over_ideal,
			     .mode = mode,
			     .depth = depth,
			     .launches = launches_of_step(f),
			     .share = share };

	if (!is_swept(f, mode, depth, &k.least, &k.most))
		return answer_bound(f, ANSWER_UNKNOWN, NAN);
	if (!fit_holds(f, mode, NAN, depth))
		return answer_bound(f, ANSWER_REFUSED, NAN);
	return root_answer(&k);
}

struct answer smallest_kernel_over(const struct fit *b, const struct fit *a, enum mode mode,
				   double depth, double share)
{
	struct along_k k = { .f = b,
			     .other = a,
			     .excess = over_platform,
			     .mode = mode,
			     .depth = depth,
			     .launches = launches_of_step(b),
			     .share = share };

	return answer_within_both(&k, a, mode);
}

/* ---- modes -------------------------------------------------------------------------------- */

struct two_modes {
	struct batch batch, other;
};

static double gain(const struct model *m, const void *arg)
{
	const struct two_modes *t = arg;

	return model_total_ns(m, &t->batch) / model_total_ns(m, &t->other);
}

struct answer mode_gain(const struct fit *f, enum mode mode, enum mode other, double kernel_ns,
			double depth)
{
	const double launches = launches_of_step(f);
	const struct two_modes t = { { mode, depth, launches, kernel_ns },
				     { other, depth, launches, kernel_ns } };
	struct answer a = { .interval = interval_unknown(f->n) };

	if (!fit_covers(f, &t.batch) || !fit_covers(f, &t.other))
		return answer_bound(f, ANSWER_UNKNOWN, NAN);
	if (!fit_holds(f, mode, kernel_ns, depth) || !fit_holds(f, other, kernel_ns, depth))
		return answer_bound(f, ANSWER_REFUSED, NAN);
	a.interval = fit_interval(f, gain, &t, NULL);
	return a;
}

static double gain_left(const struct along_k *k, const struct model *m, const struct model *other,
			double kernel_ns)
{
	const struct batch b = batch_at(k, k->mode, kernel_ns);
	const struct batch o = batch_at(k, k->other_mode, kernel_ns);

	(void)other;
	return model_total_ns(m, &b) - (1 + k->share) * model_total_ns(m, &o);
}

struct answer largest_kernel_gain(const struct fit *f, enum mode mode, enum mode other,
				  double depth, double share)
{
	struct along_k k = { .f = f,
			     .excess = gain_left,
			     .mode = mode,
			     .other_mode = other,
			     .gain = true,
			     .depth = depth,
			     .launches = launches_of_step(f),
			     .share = share };

	return answer_within_both(&k, f, other);
}

/* ---- how deep blocks must be ------------------------------------------------------------ */

struct along_depth {
	struct batch batch;
	double share;
	double least, most; /* depths that were swept at this K */
};

static double overhead_at(const struct along_depth *d, const struct model *m, double depth)
{
	struct batch b = d->batch;

	b.depth = depth;
	return model_total_ns(m, &b) / model_ideal_ns(m, &b) - 1;
}

/* Whole depths; graphs by powers of two, which a block is captured in. */
static double least_depth(const struct model *m, const void *arg)
{
	const struct along_depth *d = arg;
	double good = d->most, bad = d->least;

	if (overhead_at(d, m, good) > d->share || overhead_at(d, m, bad) <= d->share)
		return overhead_at(d, m, bad) <= d->share ? bad : good;
	if (d->batch.mode == MODE_GRAPH) {
		while (good / 2 >= d->least && overhead_at(d, m, good / 2) <= d->share)
			good /= 2;
		return good;
	}
	while (good - bad > 1) {
		double middle = floor((good + bad) / 2);

		if (overhead_at(d, m, middle) <= d->share)
			good = middle;
		else
			bad = middle;
	}
	return good;
}

/* Is the pace alone too slow, at any depth? */
static bool is_never_enough(const struct along_depth *d, const struct model *m)
{
	double far = 1 << 20;
	struct batch b = d->batch, c = d->batch;

	b.depth = far;
	c.depth = 2 * far;
	return (model_total_ns(m, &c) - model_total_ns(m, &b)) /
			       (model_ideal_ns(m, &c) - model_ideal_ns(m, &b)) -
		       1 >
	       d->share;
}

struct answer depth_needed(const struct fit *f, enum mode mode, double kernel_ns, double share)
{
	struct along_depth d = { .batch = { mode, 1, launches_of_step(f), kernel_ns },
				 .share = share,
				 .least = INFINITY };
	struct answer a = { .interval = interval_unknown(f->n) };

	for (int i = 0; i < f->grid->n_depths; i++) {
		d.batch.depth = (double)f->grid->depth[i];
		if (!fit_covers(f, &d.batch))
			continue;
		d.least = fmin(d.least, d.batch.depth);
		d.most = fmax(d.most, d.batch.depth);
	}
	if (!(d.most >= d.least) || !(kernel_ns > 0))
		return answer_bound(f, ANSWER_UNKNOWN, NAN);
	if (!fit_holds(f, mode, kernel_ns, NAN))
		return answer_bound(f, ANSWER_REFUSED, NAN);
	if (overhead_at(&d, &f->model, d.most) > share)
		return answer_bound(f, is_never_enough(&d, &f->model) ? ANSWER_NEVER : ANSWER_ABOVE,
				    d.most);
	if (least_depth(&f->most, &d) > (1 + FIT_ERROR_MAX) * least_depth(&f->model, &d))
		return overhead_at(&d, &f->most, d.most) > share
			       ? answer_bound(f, ANSWER_REFUSED, NAN)
			       : answer_bound(f, ANSWER_BELOW, least_depth(&f->most, &d));
	if (overhead_at(&d, &f->model, d.least) <= share)
		return answer_bound(f, ANSWER_BELOW, d.least);
	a.interval = fit_interval(f, least_depth, &d, NULL);
	a.cut = a.interval.known && a.interval.hi >= d.most;
	return narrow_answer(f, a, d.least, d.most);
}
