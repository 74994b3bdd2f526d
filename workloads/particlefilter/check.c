/*
 * check.c - the run against the reference (reference.h), frame by frame.
 *
 * The run leaves the ring of estimates and the particles. They must come out again, bit by bit,
 * when the filter goes from the start frame by frame. Frames of that second run are compared one by
 * one: particles and weights of a frame with what the reference makes of the frame before. So a
 * threshold that rounding puts on the other side of a particle is one difference, not a whole
 * other run. Any ancestor within rounding of the threshold is right.
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
#include "workloads/particlefilter/check.h"
#include "workloads/workload.h"

enum { CELLS_MAX = 1 << 24 };

static const double budget_s = 0.2, particle_s = 1.5e-7;

static const struct allowance in_double = { 1e-9, 1e-9, 1e-12 };

/* A coordinate has an ulp of up to 1.2e-7 of it. Seen, of 400,000 particles: 6e-7. */
static const struct allowance in_float = { 1e-5, 1e-4, 2e-6 };

/* ---- frames --------------------------------------------------------------------------------- */

static int read_view(struct comparison *c, int64_t k, struct pf_view *v)
{
	return particlefilter_view_read(&c->state->filter, k, v);
}

static void compare_end(struct comparison *c)
{
	const struct pf_view *a = &c->end, *b = &c->now;
	size_t bytes = (size_t)a->particles * sizeof(double);

	if (memcmp(a->x, b->x, bytes) || memcmp(a->y, b->y, bytes))
		particlefilter_differ(c, INFINITY, 1, "particles: a second run differs; one",
				      c->last);
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
			err = particlefilter_compare_frame(c, k, all);
		else if (!err)
			err = particlefilter_weigh(c, k, &c->now, &(struct pf_estimate){ 0 });
	}
	return err;
}

static void read_ring(const struct comparison *c, struct pf_estimate *ring)
{
	particlefilter_read_ring(&c->state->filter, 0, c->frames, ring);
}

static int compare_rings(struct comparison *c)
{
	struct pf_estimate *again = malloc((size_t)c->frames * sizeof(*again));

	CHECK(again, "%ld frames", (long)c->frames);
	read_ring(c, again);
	for (int64_t i = 0; i < c->frames; i++) {
		if (memcmp(&again[i], &c->ring[i], sizeof(*again)))
			particlefilter_differ(c, INFINITY, 1,
					      "estimate: a second run differs; that", i + 1);
		particlefilter_differ(c, 0 * (again[i].xe + again[i].ye), 1, "estimate", i + 1);
	}
	free(again);
	return 0;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int begin_check(struct comparison *c)
{
	int64_t pixels = c->rules->rows * c->rules->cols, n = c->opts->particles;
	int err = particlefilter_view_init(&c->end, n);

	if (!err)
		err = particlefilter_view_init(&c->before, n);
	if (!err)
		err = particlefilter_view_init(&c->now, n);
	c->ring = malloc((size_t)c->frames * sizeof(*c->ring));
	c->cells = pixels <= CELLS_MAX ? malloc((size_t)pixels * sizeof(*c->cells)) : NULL;
	CHECK(c->ring, "%ld frames", (long)c->frames);
	return err;
}

static void end_check(struct comparison *c)
{
	particlefilter_view_release(&c->end);
	particlefilter_view_release(&c->before);
	particlefilter_view_release(&c->now);
	free(c->ring);
	free(c->cells);
}

static int compare_frames(struct comparison *c)
{
	double particles = (double)c->opts->particles * (double)c->frames;
	bool all = c->verdict->full || particles * particle_s < budget_s ||
		   c->opts->particles <= PF_SAMPLE + 2;
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
	err = steps > 0 ? begin_check(&c) : 0;
	if (!err && steps > 0)
		err = compare_frames(&c);
	end_check(&c);
	v->passed = !err && v->error <= v->tolerance;
	return err;
}
