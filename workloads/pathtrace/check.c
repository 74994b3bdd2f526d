/*
 * check.c - the run against the reference (reference.h): the same paths, in double.
 *
 * Every pixel's counter must be right and its sums possible; of large pictures that is asked of
 * pieces. Colours are compared on pixels drawn by chance, all of whose paths are walked again. A
 * path that rounding sends around another corner is another path, so the worst hundredth of the
 * pixels, at least one, is let off; the mean of the others must agree the better. In a closed scene
 * no ray may get out.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "common/pieces.h"
#include "workloads/pathtrace/pathtrace.h"
#include "workloads/workload.h"

static const double pixel_tolerance = 1e-3, mean_tolerance = 1e-5;

/* A share of all rays and one more: where walls meet, rounding loses about one in 10^8. */
static const double lost_tolerance = 1e-6;

/* Darker pixels count as if they were so bright. */
static const double darkest = 0.05;

enum {
	PIXELS_MAX = 1024, /* that are compared */
	PIXELS_MIN = 18,   /* however many paths they have */
	COUNTED = 64,	   /* paths, by which is known how many rays all have */
	LOOK = 1 << 20,	   /* pixels whose counters are looked at: 40 MiB, 0.03 s */
	PIECE = 1 << 12,   /* of them in one go */
	USE_COLOURS = 0,   /* of a draw */
	USE_COUNTERS = 1,
};

static const double rays_in_time = 6e5; /* of pixels that are compared: 0.1 s of the reference */

struct sample {
	double error, got[3], want[3];
	int64_t pixel;
};

struct comparison {
	const struct pathtrace_state *s;
	struct verdict *v;
	int64_t pixels, samples; /* of the picture; of a pixel */
};

/* In units of what is allowed. NaN is worse than anything. */
static void note_error(struct comparison *c, double error, const char *what, int64_t pixel)
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

/* n pixels from `at` on, as they are on the device. */
static void fetch_pixels(const struct comparison *c, int64_t at, int64_t n, struct pt_pixel *out)
{
	CUDA(cudaMemcpy(out, c->s->job.pixel + at, (size_t)n * sizeof(*out),
			cudaMemcpyDeviceToHost));
}

static void check_counter(struct comparison *c, const struct pt_pixel *p, int64_t pixel)
{
	if (p->count != c->samples)
		note_error(c, INFINITY, "wrong number of samples of pixel", pixel);
	if (p->segments < p->count || p->segments > p->count * (c->s->ref.bounces + 1ull))
		note_error(c, INFINITY, "wrong number of segments of pixel", pixel);
	if (p->sum[0] < 0 || p->sum[1] < 0 || p->sum[2] < 0)
		note_error(c, INFINITY, "negative light of pixel", pixel);
}

static int check_counters(struct comparison *c)
{
	struct pieces all = pieces_of(c->pixels, PIECE, c->v->full ? c->pixels : LOOK, c->v->seed,
				      0, USE_COUNTERS);
	struct pt_pixel *piece = calloc(PIECE, sizeof(*piece));
	double segments = 0, lost = 0;
	bool stop = false;

	CHECK(piece, "%d pixels", PIECE);
	for (int64_t i = 0; i < all.count && !stop; i++) {
		int64_t at = pieces_at(&all, i), n = pieces_units(&all, i);

		fetch_pixels(c, at, n, piece);
		for (int64_t k = 0; k < n; k++) {
			check_counter(c, &piece[k], at + k);
			segments += (double)piece[k].segments;
			lost += piece[k].lost;
		}
		stop = interrupted();
	}
	free(piece);
	note_error(c, lost / (1 + lost_tolerance * segments), "rays lost", -1);
	return stop ? -EINTR : 0;
}

/* ---- colours -------------------------------------------------------------------------------- */

/* How many depends on scene, bounces and roulette: so many paths of the reference have these. */
static double rays_of_path(const struct comparison *c)
{
	struct pieces some = pieces_of(c->pixels, 1, COUNTED, c->v->seed, 0, USE_COLOURS);
	struct pt_ref_rays rays = { 0 };
	struct pt_ref_path path;

	for (int64_t i = 0; i < some.count; i++) {
		pathtrace_ref_path(&c->s->ref, pieces_at(&some, i), 0, &path);
		pathtrace_ref_count(&rays, &path);
	}
	return (rays.segments + rays.shadows) / rays.paths;
}

/* The first and the last are among them. */
static struct pieces pixels_to_compare(const struct comparison *c)
{
	double n = rays_in_time / ((double)c->samples * rays_of_path(c));

	n = fmax(PIXELS_MIN, fmin(n, PIXELS_MAX));
	return pieces_of(c->pixels, 1, c->v->full ? c->pixels : (int64_t)n, c->v->seed, 0,
			 USE_COLOURS);
}

static int compare_pixel(const struct comparison *c, struct sample *s)
{
	struct pt_pixel p;
	struct pt_ref_rays rays = { 0 };
	int err = pathtrace_ref_pixel(&c->s->ref, s->pixel, (uint32_t)c->samples, s->want, &rays);

	fetch_pixels(c, s->pixel, 1, &p);
	s->error = 0;
	for (int k = 0; k < 3; k++) {
		double scale = fmax(darkest, s->want[k]), off;

		s->got[k] = ldexp((double)p.sum[k], -PT_FIXED_BITS) / (double)c->samples;
		off = fabs(s->got[k] - s->want[k]) / scale;
		s->error = off <= s->error ? s->error : off; /* takes NaN */
	}
	return err;
}

/* NaN last. */
static int compare_errors(const void *a, const void *b)
{
	double x = ((const struct sample *)a)->error, y = ((const struct sample *)b)->error;

	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return (x > y) - (x < y);
}

static void judge_colours(struct comparison *c, struct sample *s, int64_t n)
{
	int64_t spared = n / 100 > 1 ? n / 100 : 1, kept = n > spared ? n - spared : n;
	double got[3] = { 0 }, want[3] = { 0 };

	qsort(s, (size_t)n, sizeof(*s), compare_errors);
	note_error(c, s[kept - 1].error / pixel_tolerance, "colour of pixel", s[kept - 1].pixel);
	for (int64_t i = 0; i < n && s[i].error <= pixel_tolerance; i++)
		for (int k = 0; k < 3; k++) {
			got[k] += s[i].got[k];
			want[k] += s[i].want[k];
		}
	for (int k = 0; k < 3; k++)
		note_error(c, fabs(got[k] - want[k]) / fmax(want[k], darkest) / mean_tolerance,
			   "mean colour", -1);
}

static int compare_colours(struct comparison *c)
{
	struct pieces pixels = pixels_to_compare(c);
	int64_t n = pixels.count;
	struct sample *s;
	int err = 0;

	CHECK(n > 0, "%ld pixels", (long)n);
	s = calloc((size_t)n, sizeof(*s));
	if (!s)
		return complain(ENOMEM, "no host memory to compare %ld pixels", (long)n);
	for (int64_t i = 0; i < n && !err; i++) {
		s[i].pixel = pieces_at(&pixels, i);
		err = interrupted() ? -EINTR : compare_pixel(c, &s[i]);
	}
	if (!err)
		judge_colours(c, s, n);
	free(s);
	c->v->compared = n;
	return err;
}

int pathtrace_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct pathtrace_opts *o = opts;
	const struct pathtrace_state *s = state;
	struct comparison c = {
		.s = s,
		.v = v,
		.pixels = o->width * o->height,
		.samples = steps * o->samples,
	};
	int err = 0;

	v->compared = 0;
	v->total = c.pixels;
	v->error = steps > 0 ? 0 : NAN;
	v->tolerance = 1;
	v->measure =
		"largest of: colour of a pixel off by 1e-3, mean colour off by 1e-5, 1e-6 of the "
		"rays lost";
	if (steps <= 0)
		snprintf(v->worst, sizeof(v->worst), "no step, so nothing to compare");
	if (steps > 0) {
		err = check_counters(&c);
		err = err ? err : compare_colours(&c);
	}
	v->passed = !err && v->error <= v->tolerance;
	return err;
}
