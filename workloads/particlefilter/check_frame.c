/* check_frame.c - a frame against what the reference makes of the frame before. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "common/interrupt.h"
#include "common/philox.h"
#include "workloads/particlefilter/check.h"
#include "workloads/particlefilter/lcg.h"
#include "workloads/particlefilter/reference.h"
#include "workloads/workload.h"

enum { SAMPLE_STREAM = 3, PIECE = 1 << 16 };

/* ---- verdict ------------------------------------------------------------------------------- */

void particlefilter_differ(struct comparison *c, double off, double may, const char *what,
			   int64_t k)
{
	struct verdict *v = c->verdict;
	double error = off / may;

	if (isnan(v->error) || error <= v->error)
		return;
	v->error = error;
	snprintf(v->worst, sizeof(v->worst), "%s of frame %ld: off by %.2g", what, (long)k, off);
}

/* ---- weights ------------------------------------------------------------------------------- */

static double reference_loglik(struct comparison *c, int64_t k, double x, double y)
{
	const struct pf_rules *r = c->rules;
	int64_t row = particlefilter_ref_pixel(x, r->rounds),
		col = particlefilter_ref_pixel(y, r->rounds);
	bool known = c->cells && row >= 0 && row < r->rows && col >= 0 && col < r->cols;
	double *cell = known ? &c->cells[row * r->cols + col] : NULL;

	if (!known)
		return particlefilter_ref_loglik(r, c->state->video.pixels, k, x, y);
	if (isnan(*cell))
		*cell = particlefilter_ref_loglik(r, c->state->video.pixels, k, x, y);
	return *cell;
}

static void forget_cells(struct comparison *c)
{
	for (int64_t i = 0; c->cells && i < c->rules->rows * c->rules->cols; i++)
		c->cells[i] = NAN;
}

/* The view's weights and their sums by the reference, instead of the device's; its estimate. */
int particlefilter_weigh(struct comparison *c, int64_t k, struct pf_view *v, struct pf_estimate *e)
{
	double sum = 0, squares = 0;

	*e = (struct pf_estimate){ .max = -INFINITY };
	forget_cells(c);
	for (int64_t i = 0; i < v->particles; i++) {
		if (!(i % PIECE) && interrupted())
			return -EINTR;
		v->loglik[i] = reference_loglik(c, k, v->x[i], v->y[i]);
		e->max = v->loglik[i] > e->max ? v->loglik[i] : e->max;
	}
	for (int64_t i = 0; i < v->particles; i++) {
		double w = exp(v->loglik[i] - e->max);

		v->w[i] = w;
		v->c[i] = sum += w;
		squares += w * w;
		e->xe += w * v->x[i];
		e->ye += w * v->y[i];
	}
	for (int64_t i = 0; i < v->particles; i++)
		v->c[i] /= sum;
	e->xe /= sum;
	e->ye /= sum;
	e->ess = sum * sum / squares;
	e->sum = log(sum / (double)v->particles) + e->max;
	return 0;
}

static void compare_estimates(struct comparison *c, int64_t k, const struct pf_estimate *got,
			      const struct pf_estimate *want)
{
	double size = fmax(1, fmax(fabs(want->xe), fabs(want->ye)));

	particlefilter_differ(c, fabs(got->xe - want->xe), c->may.position * size, "row", k);
	particlefilter_differ(c, fabs(got->ye - want->ye), c->may.position * size, "column", k);
	particlefilter_differ(c, fabs(got->ess / want->ess - 1), c->may.share,
			      "effective sample size", k);
	particlefilter_differ(c, fabs(log(got->sum) + got->max - want->sum), c->may.share,
			      "log of weights", k);
}

/* ---- particles ------------------------------------------------------------------------------ */

static void advance_lcg(int32_t *s, int64_t n)
{
	while (n--)
		*s = lcg_next(*s);
}

/* Generator i before frame k: four draws a frame, generator 0 a fifth. */
static int32_t lcg_before(const struct pf_rules *r, int64_t i, int64_t k)
{
	int32_t s = i ? lcg_seed(i, r->by_clock, r->clock) : r->lcg_start;

	advance_lcg(&s, (k - 1) * (i ? 4 : 5));
	return s;
}

static double frame_offset(const struct pf_rules *r, int64_t k)
{
	int32_t s;

	if (!r->lcg)
		return philox_uniform(philox4x32(0, (uint32_t)k, PF_OFFSET, 0, r->seed).word[0]);
	s = lcg_before(r, 0, k);
	advance_lcg(&s, 5);
	return lcg_uniform(s);
}

static int64_t first_from(const struct pf_view *v, double t)
{
	int64_t low = 0, high = v->particles - 1;

	while (low < high) {
		int64_t middle = (low + high) / 2;

		if (v->c[middle] >= t)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* How far particle j of frame k is from where its ancestor at (x, y) leads it. */
static double particle_distance(const struct comparison *c, int64_t k, int64_t j, double x,
				double y)
{
	int32_t lcg = c->rules->lcg ? lcg_before(c->rules, j, k) : 0;
	double off_x, off_y;

	particlefilter_ref_move(c->rules, j, k, c->rules->lcg ? &lcg : NULL, &x, &y);
	off_x = fabs(x - c->now.x[j]) / fmax(1, fabs(x));
	off_y = fabs(y - c->now.y[j]) / fmax(1, fabs(y));
	return off_x <= off_y ? off_y : off_x; /* off_x where it is NaN */
}

static void compare_particle(struct comparison *c, int64_t k, int64_t j, double u)
{
	double t = (u + (double)j) / (double)c->now.particles, best = NAN, off;
	int64_t first, last;

	c->verdict->compared++;
	if (k == 1) {
		best = particle_distance(c, k, j, c->rules->start_row, c->rules->start_col);
		particlefilter_differ(c, best, c->may.position, "a particle", k);
		return;
	}
	first = first_from(&c->before, t - c->may.threshold);
	last = first_from(&c->before, t + c->may.threshold);
	for (int64_t a = first; a <= last; a++) {
		off = particle_distance(c, k, j, c->before.x[a], c->before.y[a]);
		best = isnan(best) || off < best ? off : best;
		if (best <= c->may.position)
			break;
	}
	particlefilter_differ(c, best, c->may.position, "a particle", k);
}

/* Every particle, or the first, the last and one of each of so many equal parts. */
static int compare_particles(struct comparison *c, int64_t k, bool all)
{
	double u = k > 1 ? frame_offset(c->rules, k - 1) : 0;
	int64_t n = c->now.particles;

	for (int64_t i = 0; i < n && all; i++) {
		if (!(i % PIECE) && interrupted())
			return -EINTR;
		compare_particle(c, k, i, u);
	}
	if (all)
		return 0;
	compare_particle(c, k, 0, u);
	for (int64_t i = 0; i < PF_SAMPLE; i++) {
		int64_t first = 1 + i * (n - 2) / PF_SAMPLE,
			next = 1 + (i + 1) * (n - 2) / PF_SAMPLE;
		struct philox r = philox4x32((uint32_t)i, 0, SAMPLE_STREAM, 0, c->verdict->seed);

		compare_particle(c, k, first + r.word[0] % (next - first), u);
	}
	compare_particle(c, k, n - 1, u);
	return 0;
}

/* ---- a frame -------------------------------------------------------------------------------- */

/* Frame k, c->now, after c->before. */
int particlefilter_compare_frame(struct comparison *c, int64_t k, bool all)
{
	struct pf_estimate want;
	int err = compare_particles(c, k, all);

	if (!err)
		err = particlefilter_weigh(c, k, &c->now, &want);
	if (err)
		return err;
	compare_estimates(c, k, &c->now.estimate, &want);
	particlefilter_differ(c, fabs(c->now.estimate.u - frame_offset(c->rules, k)), 1e-15,
			      "offset", k);
	return 0;
}
