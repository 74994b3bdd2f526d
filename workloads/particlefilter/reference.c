/* reference.c - the particle filter in plain C. */
#include "workloads/particlefilter/reference.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/philox.h"
#include "workloads/particlefilter/lcg.h"

static const double noise_scale = 50, two_pi = 6.283185307179586;

/* ---- motion ----------------------------------------------------------------------------- */

static double normal(double u, double v)
{
	return sqrt(-2 * log(u)) * cos(two_pi * v);
}

static double lcg_draw(int32_t *s)
{
	*s = lcg_next(*s);
	return lcg_uniform(*s);
}

static double lcg_normal(int32_t *s)
{
	double u = lcg_draw(s), v = lcg_draw(s);

	return normal(u, v);
}

void particlefilter_ref_move(const struct pf_rules *rules, int64_t i, int64_t k, int32_t *lcg,
			     double *x, double *y)
{
	double z[2];

	if (lcg) {
		z[0] = lcg_normal(lcg);
		z[1] = lcg_normal(lcg);
	} else {
		struct philox w = philox4x32((uint32_t)i, (uint32_t)k, PF_MOTION, 0, rules->seed);

		z[0] = normal(philox_uniform(w.word[0]), philox_uniform(w.word[1]));
		z[1] = normal(philox_uniform(w.word[2]), philox_uniform(w.word[3]));
	}
	*x = *x + rules->drift_row + rules->spread_row * z[0];
	*y = *y + rules->drift_col + rules->spread_col * z[1];
}

/* ---- likelihood ------------------------------------------------------------------------- */

/* Positions far outside any frame, infinite ones and NaN have one pixel, far outside. */
int64_t particlefilter_ref_pixel(double t, bool rounds)
{
	const double far = 1e9;

	if (!(fabs(t) < far))
		return -(int64_t)far;
	return (int64_t)(rounds ? floor(t + 0.5) : trunc(t));
}

static int grey(const struct pf_rules *rules, const uint8_t *video, int64_t r, int64_t c, int64_t k)
{
	int64_t rows = rules->rows, cols = rules->cols, frames = rules->frames, q;

	if (!rules->wraps) {
		if (r < 0 || r >= rows || c < 0 || c >= cols)
			return rules->background;
		return video[(k * rows + r) * cols + c];
	}
	/* the original's storage, frame index fastest, mirrored at 0 as one number */
	q = (r * cols + c) * frames + k;
	q = q < 0 ? -q : q;
	q = q >= rows * cols * frames ? 0 : q;
	return video[q % frames * rows * cols + q / frames];
}

double particlefilter_ref_loglik(const struct pf_rules *rules, const uint8_t *video, int64_t k,
				 double x, double y)
{
	int64_t row = particlefilter_ref_pixel(x, rules->rounds),
		col = particlefilter_ref_pixel(y, rules->rounds);
	int64_t radius = rules->radius, sum = 0;
	int pixels = 0;

	for (int64_t dr = -radius; dr <= radius; dr++)
		for (int64_t dc = -radius; dc <= radius; dc++) {
			int level, off_object, off_background;

			if (dr * dr + dc * dc >= radius * radius)
				continue;
			level = grey(rules, video, row + dr, col + dc, k);
			off_object = level - rules->object;
			off_background = level - rules->background;
			sum += off_background * off_background - off_object * off_object;
			pixels++;
		}
	return (double)sum / noise_scale / pixels;
}

/* ---- a frame ---------------------------------------------------------------------------- */

static void move_and_weigh(struct pf_reference *r, int64_t k)
{
	for (int64_t i = 0; i < r->particles; i++) {
		double x = r->resampled_x[i], y = r->resampled_y[i];

		particlefilter_ref_move(&r->rules, i, k, r->rules.lcg ? &r->lcg[i] : NULL, &x, &y);
		r->x[i] = x;
		r->y[i] = y;
		r->loglik[i] = particlefilter_ref_loglik(&r->rules, r->video, k, x, y);
	}
}

/*
 * Weights relative to the largest: with a contrast of the user's own their sum would overflow.
 * The sum itself is told as the original has it.
 */
static void normalise(struct pf_reference *r)
{
	double most = -INFINITY, sum = 0, squares = 0;

	for (int64_t i = 0; i < r->particles; i++)
		most = r->loglik[i] > most ? r->loglik[i] : most;
	for (int64_t i = 0; i < r->particles; i++) {
		r->w[i] = exp(r->loglik[i] - most);
		sum += r->w[i];
	}
	r->xe = r->ye = 0;
	for (int64_t i = 0; i < r->particles; i++) {
		r->w[i] /= sum;
		squares += r->w[i] * r->w[i];
		r->xe += r->x[i] * r->w[i];
		r->ye += r->y[i] * r->w[i];
		r->c[i] = r->w[i] + (i ? r->c[i - 1] : 0);
	}
	r->sum = sum * exp(most) / (double)r->particles;
	r->ess = 1 / squares;
}

static double frame_offset(struct pf_reference *r, int64_t k)
{
	if (r->rules.lcg)
		return lcg_draw(&r->lcg[0]);
	return philox_uniform(philox4x32(0, (uint32_t)k, PF_OFFSET, 0, r->rules.seed).word[0]);
}

/* Thresholds and running sums both ascend: one pass. */
static void resample(struct pf_reference *r, int64_t k)
{
	double n = (double)r->particles;
	int64_t a = 0;

	r->u1 = frame_offset(r, k) / n;
	for (int64_t j = 0; j < r->particles; j++) {
		while (a < r->particles - 1 && !(r->c[a] >= r->u1 + (double)j / n))
			a++;
		r->ancestor[j] = (int32_t)a;
		r->resampled_x[j] = r->x[a];
		r->resampled_y[j] = r->y[a];
	}
}

void particlefilter_ref_frame(struct pf_reference *r, int64_t k)
{
	CHECK(k >= 1 && k < r->rules.frames, "frame %ld", (long)k);
	move_and_weigh(r, k);
	normalise(r);
	resample(r, k);
}

/* ---- memory ----------------------------------------------------------------------------- */

int particlefilter_ref_init(struct pf_reference *r, const struct pf_rules *rules,
			    const uint8_t *video, int64_t particles)
{
	size_t n = (size_t)particles;
	double *all = malloc(7 * n * sizeof(*all));

	*r = (struct pf_reference){ .rules = *rules, .video = video, .particles = particles };
	r->x = all;
	r->ancestor = malloc(n * sizeof(*r->ancestor));
	r->lcg = malloc(n * sizeof(*r->lcg));
	if (!all || !r->ancestor || !r->lcg) {
		particlefilter_ref_release(r);
		return complain(ENOMEM, "particles=%ld: no host memory for the reference",
				(long)particles);
	}
	r->y = all + n;
	r->loglik = all + 2 * n;
	r->w = all + 3 * n;
	r->c = all + 4 * n;
	r->resampled_x = all + 5 * n;
	r->resampled_y = all + 6 * n;
	for (int64_t i = 0; i < particles; i++) {
		r->resampled_x[i] = rules->start_row;
		r->resampled_y[i] = rules->start_col;
		r->lcg[i] = i ? lcg_seed(i, rules->by_clock, rules->clock) : rules->lcg_start;
	}
	return 0;
}

void particlefilter_ref_release(struct pf_reference *r)
{
	free(r->x);
	free(r->ancestor);
	free(r->lcg);
	*r = (struct pf_reference){ 0 };
}
