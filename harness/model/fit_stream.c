/* parts_fit_stream.c - Z, p, g and W from stream blocks. */
#include <math.h>

#include "harness/model/fit_choose.h"

/* ---- stream ------------------------------------------------------------------------------- */

/* All but those within this share of the corner; where that leaves too few, all. */
static void take_stream(struct fit_parts *p, const bool *in, const struct model *m, double share)
{
	struct fit_part *s = &p->part[PART_STREAM];
	const struct grid *g = s->grid;
	int n = 0;

	p->corner = p->bound[0] = p->bound[1] = 0;
	part_take_mode(s, in, MODE_STREAM);
	for (int i = 0; i < s->n; i++) {
		const struct batch *b = &g->point[s->at[i]].batch;
		enum regime r = model_regime(m, b);
		bool single = b->depth * b->launches < 2; /* no pace in it */

		if (r != REGIME_WINDOW && !single && model_corner_distance(m, b) <= share) {
			p->corner++;
			continue;
		}
		p->bound[0] += !single && r == REGIME_LAUNCH;
		p->bound[1] += !single && r == REGIME_DEVICE;
		s->at[n++] = s->at[i];
	}
	if (n >= POINTS_MIN)
		s->n = n;
	else
		p->corner = 0;
}

static void free_stream(struct fit_parts *p, const struct model *m)
{
	struct fit_part *s = &p->part[PART_STREAM];

	part_set_free(s, 1, (enum model_param[]){ MODEL_Z });
	if (p->bound[0] >= POINTS_MIN || p->bound[1] < POINTS_MIN)
		s->free[s->n_free++] = MODEL_P;
	if (p->bound[1] >= POINTS_MIN)
		s->free[s->n_free++] = MODEL_G;
	if (!p->part[PART_GRAPH].n && part_says_clock(s, m))
		s->free[s->n_free++] = MODEL_CLOCK;
}

/* Z from the shallowest block of the smallest kernels; p and g where the caller says. */
static struct model stream_start(const struct fit_part *s, const struct fit_data *d,
				 const struct model *m, double p, double g)
{
	struct model start = *m;

	start.v[MODEL_P] = p;
	start.v[MODEL_G] = g;
	start.v[MODEL_Z] = part_least_beside_kernel(s, d);
	return start;
}

/* The least time per launch in deep blocks: no pace is faster. */
static double best_pace(const struct fit_part *s, const struct fit_data *d)
{
	double best = INFINITY;

	for (int i = 0; i < s->n; i++) {
		const struct batch *b = &s->grid->point[s->at[i]].batch;

		best = fmin(best, d->total_ns[s->at[i]] / (b->depth * b->launches));
	}
	return best;
}

static void fit_from_starts(struct fit_parts *p, const struct fit_data *d, struct model *m)
{
	static const double shares[][2] = { { 1, 0.1 }, { 0.5, 0.5 }, { 0.9, 0.9 }, { 2, 0.1 } };
	struct fit_part *s = &p->part[PART_STREAM];
	double pace = best_pace(s, d), least = INFINITY;
	const struct model before = *m;

	part_set_free(s, 3, (enum model_param[]){ MODEL_Z, MODEL_P, MODEL_G });
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		struct model at =
			stream_start(s, d, &before, shares[i][0] * pace, shares[i][1] * pace);
		double loss = part_fit(s, d, &at, LOSS_GUESS);

		if (loss < least) {
			least = loss;
			*m = at;
		}
	}
}

/*
 * What a full queue's round trip would have to be for each block; the least of all, as blocks whose
 * kernels outlast it are slow for another reason.
 */
static double window_start(const struct fit_part *s, const struct fit_data *d,
			   const struct model *m)
{
	double least = INFINITY, q = m->v[MODEL_Q];

	for (int i = 0; i < s->n; i++) {
		struct batch b = s->grid->point[s->at[i]].batch;
		double n = b.depth * b.launches;

		if (n < 2 * q) /* too near to tell a slope */
			continue;
		b.depth = q / b.launches;
		least = fmin(least, q * (d->total_ns[s->at[i]] - model_total_ns(m, &b)) / (n - q) -
					    m->v[MODEL_CLOCK] * b.kernel_ns);
	}
	return isfinite(least) ? fmax(least, 0) : 0;
}

/* Blocks of more launches than the queue holds that are slower than the model without W has them.
 */
static int count_slowed(const struct fit_part *s, const struct fit_data *d, const struct model *m)
{
	static const double slowed = 1.05;
	int n = 0;

	for (int i = 0; i < s->n; i++) {
		const struct batch *b = &s->grid->point[s->at[i]].batch;

		n += b->depth * b->launches > m->v[MODEL_Q] &&
		     d->total_ns[s->at[i]] > slowed * model_total_ns(m, b);
	}
	return n;
}

/* The model of the blocks that fit the queue. */
static struct model fit_below_queue(const struct fit_part *s, const struct fit_data *d,
				    const struct model *m)
{
	struct model below = *m;
	struct fit_part part;

	part_init(&part, s->grid);
	part_set_free(&part, s->n_free, s->free);
	for (int i = 0; i < s->n; i++) {
		const struct batch *b = &s->grid->point[s->at[i]].batch;

		if (b->depth * b->launches <= m->v[MODEL_Q])
			part_take(&part, s->at[i]);
	}
	if (part_is_enough(&part))
		part_fit(&part, d, &below, LOSS_GUESS);
	part_release(&part);
	return below;
}

/* Is there a slope above Q that W explains? Else it stays out. */
static bool try_window(struct fit_parts *p, const struct fit_data *d, struct model *m)
{
	static const double share_left = 0.5;
	struct fit_part *s = &p->part[PART_STREAM];
	const struct model without = *m;
	struct model below;
	double loss;

	if (!isfinite(m->v[MODEL_Q]))
		return false;
	below = fit_below_queue(s, d, m);
	if (count_slowed(s, d, &below) < POINTS_MIN)
		return false;
	loss = part_fit(s, d, m, LOSS_GUESS);
	*m = below;
	m->v[MODEL_W] = window_start(s, d, m);
	s->free[s->n_free++] = MODEL_W;
	if (part_fit(s, d, m, LOSS_GUESS) < share_left * loss)
		return true;
	s->n_free--;
	*m = without;
	return false;
}

/*
 * Which points are in the corner is known once p and g are. From wide to narrow: blocks of the
 * corner that are taken for launch-bound ones make p too large, by which they then are.
 */
static void settle_stream(struct fit_parts *p, const bool *in, const struct fit_data *d,
			  struct model *m, bool window)
{
	static const double shares[] = { 2 * CORNER_SHARE, 1.3 * CORNER_SHARE, CORNER_SHARE };
	struct fit_part *s = &p->part[PART_STREAM];

	for (int pass = 0; pass < 3; pass++) {
		take_stream(p, in, m, shares[pass]);
		free_stream(p, m);
		if (window)
			s->free[s->n_free++] = MODEL_W;
		part_fit(s, d, m, LOSS_GUESS);
	}
}

void parts_fit_stream(struct fit_parts *p, const bool *in, const struct fit_data *d,
		      struct model *m)
{
	struct fit_part *s = &p->part[PART_STREAM];

	part_take_mode(s, in, MODE_STREAM);
	p->has[MODE_STREAM] = part_is_enough(s);
	if (!p->has[MODE_STREAM]) {
		s->n = 0;
		return;
	}
	fit_from_starts(p, d, m);
	settle_stream(p, in, d, m, false);
	if (try_window(p, d, m))
		settle_stream(p, in, d, m, true);
	if (!p->part[PART_GRAPH].n)
		part_try_e(s, d, m);
	if (!part_is_free(
		    s, MODEL_P)) /* hidden: no faster than the call, and it makes no difference */
		m->v[MODEL_P] = m->v[MODEL_C];
	if (!part_is_free(s, MODEL_G))
		m->v[MODEL_G] = 0;
}
