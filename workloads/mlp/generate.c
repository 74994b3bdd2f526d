/*
 * generate.c - images that look like handwritten digits: strokes under a random affine map, a pen
 * of random width with soft edges, noise. Any image by itself, from its number and the seed.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/philox.h"
#include "workloads/mlp/data.h"

enum {
	TAG = 5,	 /* of the streams of random numbers */
	NOISE_BLOCK = 2, /* the first two hold what the image is drawn by */
	NOISE_MOST = 24, /* grey levels of 255 */
	CHECK_EVERY = 4096,
};

/* Pixels, or degrees. The unit square is mapped to as many pixels as MNIST's digits fill. */
static const double box = 20, centre = 14, shift_most = 2, turn_most = 12;
static const double scale_least = 0.85, scale_most = 1.15, shear_most = 0.15;
static const double pen_least = 1.5, pen_most = 3, edge = 1;

struct strokes {
	int n[MLP_CLASSES];
	struct mlp_segment piece[MLP_CLASSES][MLP_SEGMENTS_MAX];
};

struct recipe {
	int digit;
	float xx, xy, yx, yy, x, y; /* affine map from the unit square to pixels */
	float radius;		    /* of the pen */
};

static double uniform_between(uint32_t word, double low, double high)
{
	return low + (high - low) * philox_uniform(word);
}

/* Shear, then scale, turn and shift. */
static struct recipe draw_recipe(uint32_t image, uint32_t set, uint64_t seed)
{
	struct philox a = philox4x32(image, 0, TAG, set, seed);
	struct philox b = philox4x32(image, 1, TAG, set, seed);
	double turn =
		uniform_between(a.word[3], -turn_most, turn_most) * (3.14159265358979323846 / 180);
	double size = box * uniform_between(b.word[0], scale_least, scale_most);
	double shear = uniform_between(b.word[1], -shear_most, shear_most);
	double c = size * cos(turn), s = size * sin(turn);
	struct recipe r = {
		.digit = (int)((uint64_t)a.word[0] * MLP_CLASSES >> 32),
		.xx = (float)c,
		.xy = (float)(c * shear - s),
		.yx = (float)s,
		.yy = (float)(s * shear + c),
		.radius = (float)(uniform_between(b.word[2], pen_least, pen_most) / 2),
	};

	r.x = (float)(centre + uniform_between(a.word[1], -shift_most, shift_most)) -
	      (r.xx + r.xy) / 2;
	r.y = (float)(centre + uniform_between(a.word[2], -shift_most, shift_most)) -
	      (r.yx + r.yy) / 2;
	return r;
}

static int least_pixel(float a, float b, float reach)
{
	return (int)fmaxf(floorf(fminf(a, b) - reach), 0);
}

static int last_pixel(float a, float b, float reach)
{
	return (int)fminf(ceilf(fmaxf(a, b) + reach), MLP_SIDE - 1);
}

/* Squares of distances from the stroke, where they are less than what is there. */
static void draw_piece(const struct mlp_segment *s, float reach, float near[MLP_PIXELS])
{
	float dx = s->x1 - s->x0, dy = s->y1 - s->y0;
	float per_length = 1 / fmaxf(dx * dx + dy * dy, 1e-12f);
	int right = last_pixel(s->x0, s->x1, reach), bottom = last_pixel(s->y0, s->y1, reach);
	int left = least_pixel(s->x0, s->x1, reach), top = least_pixel(s->y0, s->y1, reach);

	for (int row = top; row <= bottom; row++)
		for (int col = left; col <= right; col++) {
			float x = (float)col + 0.5f - s->x0, y = (float)row + 0.5f - s->y0;
			float t = (x * dx + y * dy) * per_length, far;

			t = t < 0 ? 0 : t > 1 ? 1 : t;
			x -= t * dx;
			y -= t * dy;
			far = x * x + y * y;
			if (far < near[row * MLP_SIDE + col])
				near[row * MLP_SIDE + col] = far;
		}
}

static struct mlp_segment move_segment(const struct recipe *r, const struct mlp_segment *s)
{
	return (struct mlp_segment){
		r->xx * s->x0 + r->xy * s->y0 + r->x,
		r->yx * s->x0 + r->yy * s->y0 + r->y,
		r->xx * s->x1 + r->xy * s->y1 + r->x,
		r->yx * s->x1 + r->yy * s->y1 + r->y,
	};
}

/* Grey levels: 255 to within half an edge of the pen's rim, from there falling to 0. */
static int ink_level(float near, float reach)
{
	float v = (reach - sqrtf(near)) * (float)(255 / edge) + 0.5f;

	return v > 255 ? 255 : (int)v;
}

/* Noise is uniform, from a byte of random numbers for each pixel; below 0 and above 255 is cut. */
static void set_pixels(const float near[MLP_PIXELS], float reach, uint32_t image, uint32_t set,
		       uint64_t seed, uint8_t pixel[MLP_PIXELS])
{
	for (int i = 0; i < MLP_PIXELS; i += 16) {
		struct philox r =
			philox4x32(image, (uint32_t)(NOISE_BLOCK + i / 16), TAG, set, seed);

		for (int j = 0; j < 16; j++) {
			int byte = (int)(r.word[j / 4] >> 8 * (j % 4) & 255);
			int v = (byte - 127) * NOISE_MOST / 128;

			if (near[i + j] < reach * reach)
				v += ink_level(near[i + j], reach);
			v = v < 0 ? 0 : v;
			pixel[i + j] = (uint8_t)(v > 255 ? 255 : v);
		}
	}
}

static void draw_image(const struct strokes *strokes, uint32_t image, uint32_t set, uint64_t seed,
		       uint8_t *pixel, uint8_t *label)
{
	struct recipe r = draw_recipe(image, set, seed);
	float near[MLP_PIXELS], reach = r.radius + (float)edge / 2;

	for (int i = 0; i < MLP_PIXELS; i++)
		near[i] = reach * reach;
	for (int i = 0; i < strokes->n[r.digit]; i++) {
		struct mlp_segment s = move_segment(&r, &strokes->piece[r.digit][i]);

		draw_piece(&s, reach, near);
	}
	set_pixels(near, reach, image, set, seed, pixel);
	*label = (uint8_t)r.digit;
}

int mlp_generate(struct mlp_images *im, int64_t n, uint32_t set, uint64_t seed)
{
	uint8_t *pixel = malloc((size_t)n * MLP_PIXELS), *label = malloc((size_t)n);
	struct strokes strokes = { 0 };

	CHECK(pixel && label, "%ld images", (long)n);
	*im = (struct mlp_images){ n, pixel, label };
	for (int d = 0; d < MLP_CLASSES; d++)
		strokes.n[d] = mlp_strokes(d, strokes.piece[d]);
	for (int64_t i = 0; i < n; i++) {
		if (i % CHECK_EVERY == 0 && interrupted())
			return -EINTR;
		draw_image(&strokes, (uint32_t)i, set, seed, pixel + i * MLP_PIXELS, &label[i]);
	}
	return 0;
}
