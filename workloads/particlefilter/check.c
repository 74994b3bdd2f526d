/*
 * check.c - the run against the reference (reference.h), frame by frame.
 *
 * What the run has left, the ring of estimates and the particles, must come out again, bit by bit,
 * when the filter goes from the start frame by frame. Of that second run frames are compared one
 * by one: particles and weights of a frame with what the reference makes of the frame before. So a
 * threshold that rounding puts on the other side of a particle is one difference, not a whole
 * other run: any ancestor within rounding of the threshold will do.
 *
 * All frames and all particles, where that takes under 0.2 s; else the last frame, a sample of its
 * particles, and its estimate, which needs the weights of all.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "common/philox.h"
#include "workloads/particlefilter/lcg.h"
#include "workloads/particlefilter/particlefilter.h"
#include "workloads/particlefilter/reference.h"

enum { SAMPLE = 256, SAMPLE_STREAM = 3, CELLS_MAX = 1 << 24, PIECE = 1 << 16 };

static const double budget_s = 0.2, particle_s = 1.5e-7;

/* What may differ: rounding, fused multiply-add and the device's exp, log and cos. */
struct allowance {
	double position;  /* of a particle or an estimate, of its coordinate if that exceeds 1 */
	double share;	  /* of the sum of weights, of the effective sample size */
	double threshold; /* of 1 */
};

static const struct allowance in_double = { 1e-9, 1e-9, 1e-12 };

/* A coordinate has an ulp of up to 1.2e-7 of it. Seen, of 400,000 particles: 6e-7. */
static const struct allowance in_float = { 1e-5, 1e-4, 2e-6 };

struct comparison {
	const struct particlefilter_opts *opts;
	struct particlefilter_state *state;
	const struct pf_rules *rules;
	struct verdict *verdict;
	struct allowance may;
	int64_t last;		    /* frame after which the run ended */
	int64_t frames;		    /* that the run went through at least once */
	struct pf_estimate *ring;   /* of the run */
	struct pf_view end;	    /* of the run */
	struct pf_view before, now; /* of two frames that follow each other */
	double *cells;		    /* L of the pixels of one frame, NaN: not known yet; or NULL */
};

/* ---- verdict ------------------------------------------------------------------------------- */

static void differ(struct comparison *c, double off, double may, const char *what, int64_t k)
{
	struct verdict *v = c->verdict;
	double error = off / may;

	if (isnan(v->error) || error <= v->error)
		return;
	v->error = error;
	snprintf(v->worst, sizeof(v->worst), "%s of frame %ld: off by %.2g", what, (long)k, off);
}

/* ---- weights ------------------------------------------------------------------------------- */

static double loglik(struct comparison *c, int64_t k, double x, double y)
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

/* The view's weights and their sums by the reference, in place of the device's; its estimate. */
static int weigh(struct comparison *c, int64_t k, struct pf_view *v, struct pf_estimate *e)
{
	double sum = 0, squares = 0;

	*e = (struct pf_estimate){ .max = -INFINITY };
	forget_cells(c);
	for (int64_t i = 0; i < v->particles; i++) {
		if (!(i % PIECE) && interrupted())
			return -EINTR;
		v->loglik[i] = loglik(c, k, v->x[i], v->y[i]);
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

	differ(c, fabs(got->xe - want->xe), c->may.position * size, "row", k);
	differ(c, fabs(got->ye - want->ye), c->may.position * size, "column", k);
	differ(c, fabs(got->ess / want->ess - 1), c->may.share, "effective sample size", k);
	differ(c, fabs(log(got->sum) + got->max - want->sum), c->may.share, "log of weights", k);
}

/* ---- particles ------------------------------------------------------------------------------ */

static void draw(int32_t *s, int64_t n)
{
	while (n--)
		*s = lcg_next(*s);
}

/* Generator i before frame k: four draws a frame, generator 0 a fifth. */
static int32_t lcg_before(const struct pf_rules *r, int64_t i, int64_t k)
{
	int32_t s = i ? lcg_seed(i, r->by_clock, r->clock) : r->lcg_start;

	draw(&s, (k - 1) * (i ? 4 : 5));
	return s;
}

static double offset_of(const struct pf_rules *r, int64_t k)
{
	int32_t s;

	if (!r->lcg)
		return philox_uniform(philox4x32(0, (uint32_t)k, PF_OFFSET, 0, r->seed).word[0]);
	s = lcg_before(r, 0, k);
	draw(&s, 5);
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
static double distance(const struct comparison *c, int64_t k, int64_t j, double x, double y)
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
		best = distance(c, k, j, c->rules->start_row, c->rules->start_col);
		differ(c, best, c->may.position, "a particle", k);
		return;
	}
	first = first_from(&c->before, t - c->may.threshold);
	last = first_from(&c->before, t + c->may.threshold);
	for (int64_t a = first; a <= last; a++) {
		off = distance(c, k, j, c->before.x[a], c->before.y[a]);
		best = isnan(best) || off < best ? off : best;
		if (best <= c->may.position)
			break;
	}
	differ(c, best, c->may.position, "a particle", k);
}

/* Every particle, or the first, the last and one of each of so many equal parts. */
static int compare_particles(struct comparison *c, int64_t k, bool all)
{
	double u = k > 1 ? offset_of(c->rules, k - 1) : 0;
	int64_t n = c->now.particles;

	for (int64_t i = 0; i < n && all; i++) {
		if (!(i % PIECE) && interrupted())
			return -EINTR;
		compare_particle(c, k, i, u);
	}
	if (all)
		return 0;
	compare_particle(c, k, 0, u);
	for (int64_t i = 0; i < SAMPLE; i++) {
		int64_t first = 1 + i * (n - 2) / SAMPLE, next = 1 + (i + 1) * (n - 2) / SAMPLE;
		struct philox r = philox4x32((uint32_t)i, 0, SAMPLE_STREAM, 0, c->verdict->seed);

		compare_particle(c, k, first + r.word[0] % (next - first), u);
	}
	compare_particle(c, k, n - 1, u);
	return 0;
}

/* ---- frames --------------------------------------------------------------------------------- */

static int read_view(struct comparison *c, int64_t k, struct pf_view *v)
{
	return particlefilter_view_read(&c->state->filter, k, v);
}

/* Frame k, c->now, after c->before. */
static int compare_frame(struct comparison *c, int64_t k, bool all)
{
	struct pf_estimate want;
	int err = compare_particles(c, k, all);

	if (!err)
		err = weigh(c, k, &c->now, &want);
	if (err)
		return err;
	compare_estimates(c, k, &c->now.estimate, &want);
	differ(c, fabs(c->now.estimate.u - offset_of(c->rules, k)), 1e-15, "offset", k);
	return 0;
}

static void compare_end(struct comparison *c)
{
	const struct pf_view *a = &c->end, *b = &c->now;
	size_t bytes = (size_t)a->particles * sizeof(double);

	if (memcmp(a->x, b->x, bytes) || memcmp(a->y, b->y, bytes))
		differ(c, INFINITY, 1, "particles: a second run differs; one", c->last);
}

static bool is_compared(const struct comparison *c, int64_t k, bool all)
{
	return all || k == c->last;
}

/* Frames from the start; the views of those that are compared, and of the ones before them. */
static int go_again(struct comparison *c, bool all)
{
	const struct pf_filter *f = &c->state->filter;
	struct pf_view old;
	int err = particlefilter_reset(c->opts, c->state, NULL);

	for (int64_t k = 1; k <= c->frames && !err; k++) {
		bool needed = is_compared(c, k, all) || is_compared(c, k + 1, all);

		particlefilter_frame(f, NULL);
		if (interrupted())
			return -EINTR;
		if (!needed)
			continue;
		old = c->before;
		c->before = c->now;
		c->now = old;
		err = read_view(c, k, &c->now);
		if (!err && k == c->last)
			compare_end(c);
		if (!err && is_compared(c, k, all))
			err = compare_frame(c, k, all);
		else if (!err)
			err = weigh(c, k, &c->now, &(struct pf_estimate){ 0 });
	}
	return err;
}

static void read_ring(const struct comparison *c, struct pf_estimate *ring)
{
	CUDA(cudaMemcpy(ring, c->state->filter.ring, (size_t)c->frames * sizeof(*ring),
			cudaMemcpyDeviceToHost));
}

static int compare_rings(struct comparison *c)
{
	struct pf_estimate *again = malloc((size_t)c->frames * sizeof(*again));

	CHECK(again, "%ld frames", (long)c->frames);
	read_ring(c, again);
	for (int64_t i = 0; i < c->frames; i++) {
		if (memcmp(&again[i], &c->ring[i], sizeof(*again)))
			differ(c, INFINITY, 1, "estimate: a second run differs; that", i + 1);
		differ(c, 0 * (again[i].xe + again[i].ye), 1, "estimate", i + 1);
	}
	free(again);
	return 0;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int begin(struct comparison *c)
{
	int64_t pixels = c->rules->rows * c->rules->cols, n = c->opts->particles;
	int err = particlefilter_view_begin(&c->end, n);

	if (!err)
		err = particlefilter_view_begin(&c->before, n);
	if (!err)
		err = particlefilter_view_begin(&c->now, n);
	c->ring = malloc((size_t)c->frames * sizeof(*c->ring));
	c->cells = pixels <= CELLS_MAX ? malloc((size_t)pixels * sizeof(*c->cells)) : NULL;
	CHECK(c->ring, "%ld frames", (long)c->frames);
	return err;
}

static void end(struct comparison *c)
{
	particlefilter_view_free(&c->end);
	particlefilter_view_free(&c->before);
	particlefilter_view_free(&c->now);
	free(c->ring);
	free(c->cells);
}

static int compare(struct comparison *c)
{
	double particles = (double)c->opts->particles * (double)c->frames;
	bool all = c->verdict->full || particles * particle_s < budget_s ||
		   c->opts->particles <= SAMPLE + 2;
	int err = read_view(c, c->last, &c->end);

	c->verdict->total = c->opts->particles * c->frames;
	if (err)
		return err;
	read_ring(c, c->ring);
	err = go_again(c, all);
	return err ? err : compare_rings(c);
}

int particlefilter_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct particlefilter_opts *o = opts;
	struct particlefilter_state *s = state;
	const struct pf_rules *rules = &s->rules;
	int64_t span = rules->frames - 1;
	struct comparison c = {
		.opts = o,
		.state = s,
		.rules = rules,
		.verdict = v,
		.may = o->precision == PF_FLOAT ? in_float : in_double,
		.last = steps > 0 ? (steps - 1) % span + 1 : 0,
		.frames = steps < span ? steps : span,
	};
	int err;

	v->compared = v->total = 0;
	v->error = steps > 0 ? 0 : NAN;
	if (steps <= 0)
		snprintf(v->worst, sizeof(v->worst), "no step, so nothing to compare");
	v->tolerance = 1;
	v->measure = "largest difference of a particle or an estimate, in units of what is allowed";
	err = steps > 0 ? begin(&c) : 0;
	if (!err && steps > 0)
		err = compare(&c);
	end(&c);
	v->passed = !err && v->error <= v->tolerance;
	return err;
}
