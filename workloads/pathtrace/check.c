/*
 * check.c - the run against the reference (reference.h): the same paths, in double.
 *
 * Every pixel's counter must be right and its sums possible. Colours are compared on pixels drawn
 * by chance, all of whose paths are walked again. A path that rounding sends around another corner
 * is another path, so the worst hundredth of the pixels, at least one, is let off; the mean of the
 * others must agree the better. In a closed scene no ray may get out.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/philox.h"
#include "workloads/pathtrace/pathtrace.h"

static const double pixel_tolerance = 1e-3, mean_tolerance = 1e-5;

/* Of all rays and one more: between walls that meet, rounding loses about one in 10^8. */
static const double lost_tolerance = 1e-6;

/* Darker pixels count as if they were so bright. */
static const double darkest = 0.05;

/* Pixels that are compared, and their paths, 0.3 s of the reference; never fewer than PIXELS_MIN.
 */
enum { PIXELS_MAX = 1024, PIXELS_MIN = 18, PATHS_MAX = 1 << 18, TAG = 31 };

struct sample {
	double error, got[3], want[3];
	int64_t pixel;
};

struct comparison {
	const struct pathtrace_state *s;
	const struct pt_pixel *pixel;
	struct verdict *v;
	int64_t pixels, samples; /* of the picture; of a pixel */
};

/* In units of what is allowed. NaN is worse than anything. */
static void note(struct comparison *c, double error, const char *what, int64_t pixel)
{
	struct verdict *v = c->v;

	if (error <= v->error)
		return;
	v->error = error >= 0 ? error : INFINITY;
	snprintf(v->worst, sizeof(v->worst), "%s%s", what, pixel < 0 ? "" : " ");
	if (pixel >= 0)
		snprintf(v->worst, sizeof(v->worst), "%s %ld, %ld", what,
			 (long)(pixel % c->s->ref.width), (long)(pixel / c->s->ref.width));
}

static void check_counters(struct comparison *c)
{
	double segments = 0, lost = 0;

	for (int64_t i = 0; i < c->pixels; i++) {
		const struct pt_pixel *p = &c->pixel[i];

		if (p->count != c->samples)
			note(c, INFINITY, "wrong number of samples of pixel", i);
		if (p->segments < p->count || p->segments > p->count * (c->s->ref.bounces + 1ull))
			note(c, INFINITY, "wrong number of segments of pixel", i);
		if (p->sum[0] < 0 || p->sum[1] < 0 || p->sum[2] < 0)
			note(c, INFINITY, "negative light of pixel", i);
		segments += (double)p->segments;
		lost += p->lost;
	}
	note(c, lost / (1 + lost_tolerance * segments), "rays lost", -1);
}

/* ---- colours -------------------------------------------------------------------------------- */

static int64_t choose(const struct comparison *c, int64_t i, int64_t n)
{
	struct philox p;

	if (n == c->pixels || !i)
		return i;
	if (i == n - 1)
		return c->pixels - 1;
	p = philox4x32((uint32_t)i, 0, TAG, 0, c->v->seed);
	return (int64_t)(philox_uniform(p.word[0]) * (double)c->pixels);
}

static int64_t pixels_to_compare(const struct comparison *c)
{
	int64_t n = PATHS_MAX / c->samples;

	n = n > PIXELS_MAX ? PIXELS_MAX : n < PIXELS_MIN ? PIXELS_MIN : n;
	return c->v->full || n > c->pixels ? c->pixels : n;
}

static int compare_pixel(const struct comparison *c, struct sample *s)
{
	const struct pt_pixel *p = &c->pixel[s->pixel];
	struct pt_ref_rays rays = { 0 };
	int err = pathtrace_ref_pixel(&c->s->ref, s->pixel, (uint32_t)c->samples, s->want, &rays);

	s->error = 0;
	for (int k = 0; k < 3; k++) {
		double scale = fmax(darkest, s->want[k]), off;

		s->got[k] = ldexp((double)p->sum[k], -PT_FIXED_BITS) / (double)c->samples;
		off = fabs(s->got[k] - s->want[k]) / scale;
		s->error = off <= s->error ? s->error : off; /* takes NaN */
	}
	return err;
}

/* NaN last. */
static int by_error(const void *a, const void *b)
{
	double x = ((const struct sample *)a)->error, y = ((const struct sample *)b)->error;

	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return (x > y) - (x < y);
}

static void judge(struct comparison *c, struct sample *s, int64_t n)
{
	int64_t spared = n / 100 > 1 ? n / 100 : 1, kept = n > spared ? n - spared : n;
	double got[3] = { 0 }, want[3] = { 0 };

	qsort(s, (size_t)n, sizeof(*s), by_error);
	note(c, s[kept - 1].error / pixel_tolerance, "colour of pixel", s[kept - 1].pixel);
	for (int64_t i = 0; i < n && s[i].error <= pixel_tolerance; i++)
		for (int k = 0; k < 3; k++) {
			got[k] += s[i].got[k];
			want[k] += s[i].want[k];
		}
	for (int k = 0; k < 3; k++)
		note(c, fabs(got[k] - want[k]) / fmax(want[k], darkest) / mean_tolerance,
		     "mean colour", -1);
}

static int compare_colours(struct comparison *c)
{
	int64_t n = pixels_to_compare(c);
	struct sample *s;
	int err = 0;

	CHECK(n > 0, "%ld pixels", (long)n);
	s = calloc((size_t)n, sizeof(*s));
	if (!s)
		return complain(ENOMEM, "no host memory to compare %ld pixels", (long)n);
	for (int64_t i = 0; i < n && !err; i++) {
		s[i].pixel = choose(c, i, n);
		err = interrupted() ? -EINTR : compare_pixel(c, &s[i]);
	}
	if (!err)
		judge(c, s, n);
	free(s);
	c->v->compared = n;
	return err;
}

int pathtrace_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct pathtrace_opts *o = opts;
	const struct pathtrace_state *s = state;
	struct pt_pixel *pixel = pathtrace_read(s);
	struct comparison c = {
		.s = s,
		.pixel = pixel,
		.v = v,
		.pixels = o->width * o->height,
		.samples = steps * o->samples,
	};
	int err = pixel ? 0 : -ENOMEM;

	v->compared = 0;
	v->total = c.pixels;
	v->error = steps > 0 ? 0 : NAN;
	v->tolerance = 1;
	v->measure =
		"largest of: colour of a pixel off by 1e-3, mean colour off by 1e-5, 1e-6 of the "
		"rays lost";
	if (steps <= 0)
		snprintf(v->worst, sizeof(v->worst), "no step, so nothing to compare");
	if (!err && steps > 0) {
		check_counters(&c);
		err = compare_colours(&c);
	}
	free(pixel);
	v->passed = !err && v->error <= v->tolerance;
	return err;
}
