/* video.c - the synthetic video of the particle filter. */
#include "workloads/particlefilter/video.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/philox.h"
#include "workloads/particlefilter/lcg.h"

enum { RADIUS = 5, OBJECT = 228, BACKGROUND = 100 };
static const double noise_levels = 5, two_pi = 6.283185307179586;

void particlefilter_truth(int64_t rows, int64_t cols, bool wraps, int64_t k, int64_t *row,
			  int64_t *col)
{
	int64_t moved = k > 0 ? k - 1 : 0;

	*row = rows / 2 - 2 * moved;
	*col = cols / 2 + moved;
	if (wraps)
		*row = *row < 0 ? -*row : *row;
}

/* ---- the object ------------------------------------------------------------------------- */

static void draw_disk(struct pf_video *v, int64_t frame, int64_t row, int64_t col)
{
	uint8_t *pixels = v->pixels + frame * v->rows * v->cols;

	for (int64_t r = row - RADIUS; r <= row + RADIUS; r++)
		for (int64_t c = col - RADIUS; c <= col + RADIUS; c++) {
			bool inside = r >= 0 && r < v->rows && c >= 0 && c < v->cols;
			int64_t dr = r - row, dc = c - col;

			if (inside && dr * dr + dc * dc < RADIUS * RADIUS)
				pixels[r * v->cols + c] = OBJECT;
		}
}

/*
 * As the original does: a position in storage, frame index fastest, is not checked row by row and
 * column by column, and one beyond the end becomes position 0. In frame 0 its mark would be
 * written beyond the end, in a video that is much wider than high: here there is none then.
 */
static void draw_as_original(struct pf_video *v, int64_t k)
{
	int64_t all = v->rows * v->cols * v->frames, row, col, at;

	particlefilter_truth(v->rows, v->cols, true, k, &row, &col);
	if (!k) {
		row = v->cols / 2;
		col = v->rows / 2;
	}
	at = (row * v->cols + col) * v->frames + k;
	if (at >= all && !k)
		return;
	at = at >= all ? 0 : at;
	draw_disk(v, at % v->frames, at / v->frames / v->cols, at / v->frames % v->cols);
}

static void draw_objects(const struct pf_scene *s, struct pf_video *v)
{
	int64_t row, col;

	for (int64_t i = 0; i < v->rows * v->cols * v->frames; i++)
		v->pixels[i] = BACKGROUND;
	for (int64_t k = 0; k < v->frames; k++) {
		if (s->wraps) {
			draw_as_original(v, k);
			continue;
		}
		particlefilter_truth(v->rows, v->cols, false, k, &row, &col);
		draw_disk(v, k, row, col);
	}
}

/* ---- noise ------------------------------------------------------------------------------ */

/* Fractions are dropped, so it is narrower than a Gaussian of 5 levels: 4.62. */
static uint8_t noisy(uint8_t level, double u, double v)
{
	double z = sqrt(-2 * log(u)) * cos(two_pi * v);

	return (uint8_t)(level + (int)(noise_levels * z));
}

/* Storage order of the original: frames fastest. */
static int add_noise(struct pf_scene *s, struct pf_video *v)
{
	int64_t at = 0, plane = v->rows * v->cols;

	for (int64_t i = 0; i < plane; i++) {
		if (interrupted())
			return -EINTR;
		for (int64_t k = 0; k < v->frames; k++, at++) {
			uint8_t *p = &v->pixels[k * plane + i];
			int32_t first, second;

			if (s->lcg_noise) {
				first = lcg_next(s->lcg_start);
				second = s->lcg_start = lcg_next(first);
				*p = noisy(*p, lcg_uniform(first), lcg_uniform(second));
			} else {
				struct philox w = philox4x32((uint32_t)at, (uint32_t)(at >> 32),
							     PF_NOISE, 0, s->seed);

				*p = noisy(*p, philox_uniform(w.word[0]),
					   philox_uniform(w.word[1]));
			}
		}
	}
	return 0;
}

int particlefilter_video_make(struct pf_scene *s, struct pf_video *v)
{
	*v = (struct pf_video){ s->rows, s->cols, s->frames, NULL };
	v->pixels = malloc((size_t)(v->rows * v->cols * v->frames));
	if (!v->pixels)
		return complain(ENOMEM,
				"rows=%ld cols=%ld frames=%ld: no host memory for the video",
				(long)v->rows, (long)v->cols, (long)v->frames);
	draw_objects(s, v);
	return s->noise ? add_noise(s, v) : 0;
}

void particlefilter_video_free(struct pf_video *v)
{
	free(v->pixels);
	v->pixels = NULL;
}
