/* derive_depth.c - how deep blocks must be. */
#include <math.h>

#include "harness/model/derive.h"

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

/* However deep: is the pace alone too slow? */
static bool never(const struct along_depth *d, const struct model *m)
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
	if (overhead_at(&d, &f->model, d.most) > share)
		return answer_bound(f, never(&d, &f->model) ? ANSWER_NEVER : ANSWER_ABOVE, d.most);
	if (overhead_at(&d, &f->model, d.least) <= share)
		return answer_bound(f, ANSWER_BELOW, d.least);
	a.interval = fit_interval(f, least_depth, &d, NULL);
	a.cut = a.interval.known && a.interval.hi >= d.most;
	return a;
}
