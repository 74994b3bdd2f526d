/* reference.c - disparities by their definition, and by sums that move along. */
#include "workloads/stereo/reference.h"

#include <stdlib.h>
#include <string.h>

#include "common/check.h"

static int32_t clamp_index(int32_t v, int32_t n)
{
	if (v < 0)
		return 0;
	return v >= n ? n - 1 : v;
}

static uint32_t sad(uint32_t a, uint32_t b)
{
	uint32_t sum = 0;

	for (; a | b; a >>= 8, b >>= 8)
		sum += (uint32_t)abs((int)(a & 0xff) - (int)(b & 0xff));
	return sum;
}

/* ---- as defined ------------------------------------------------------------------------- */

static uint32_t window_cost(const struct stereo_pair *p, int32_t x, int32_t y, int32_t d)
{
	int32_t w = p->size.w, h = p->size.h;
	uint32_t cost = 0;

	for (int32_t i = -STEREO_RADIUS; i <= STEREO_RADIUS; i++) {
		const uint32_t *left = p->left + (int64_t)clamp_index(y + i, h) * w;
		const uint32_t *right = p->right + (int64_t)clamp_index(y + i, h) * w;

		for (int32_t j = -STEREO_RADIUS; j <= STEREO_RADIUS; j++)
			cost += sad(left[clamp_index(x + j, w)], right[clamp_index(x + j + d, w)]);
	}
	return cost;
}

int32_t stereo_defined(const struct stereo_pair *p, int32_t x, int32_t y)
{
	uint32_t least = UINT32_MAX;
	int32_t best = p->dmin;

	for (int32_t d = p->dmin; d <= p->dmax; d++) {
		uint32_t cost = window_cost(p, x, y, d);

		if (cost < least) {
			least = cost;
			best = d;
		}
	}
	return best;
}

/* ---- by sums ---------------------------------------------------------------------------- */

static size_t sum_count(const struct stereo_sums *s)
{
	return (size_t)(s->columns + 2 * STEREO_RADIUS) * (size_t)s->n;
}

struct stereo_sums stereo_sums_new(int32_t w, int32_t dmin, int32_t dmax)
{
	struct stereo_sums s = { .w = w, .dmin = dmin, .n = dmax - dmin + 1, .columns = w };

	s.column = calloc(sum_count(&s), sizeof(*s.column));
	CHECK(s.column, "%zu sums", sum_count(&s));
	return s;
}

void stereo_sums_free(struct stereo_sums *s)
{
	free(s->column);
	s->column = NULL;
}

void stereo_sums_clear(struct stereo_sums *s)
{
	memset(s->column, 0, sum_count(s) * sizeof(*s->column));
}

void stereo_sums_row(struct stereo_sums *s, const uint32_t *left, const uint32_t *right, int sign)
{
	uint32_t *sum = s->column;

	for (int32_t x = s->from - STEREO_RADIUS; x < s->from + s->columns + STEREO_RADIUS; x++)
		for (int32_t k = 0; k < s->n; k++)
			*sum++ += (uint32_t)sign * sad(left[clamp_index(x, s->w)],
						       right[clamp_index(x + s->dmin + k, s->w)]);
}

/* Windows of all disparities side by side, one column on at a time. */
void stereo_sums_best(const struct stereo_sums *s, int32_t *out)
{
	uint32_t *window = calloc((size_t)s->n, sizeof(*window));

	CHECK(window, "%d windows", s->n);
	for (int32_t i = 0; i < s->columns + 2 * STEREO_RADIUS; i++) {
		const uint32_t *in = s->column + (int64_t)i * s->n;
		int32_t best = 0;

		for (int32_t k = 0; k < s->n; k++) {
			window[k] += in[k];
			if (i >= STEREO_WINDOW)
				window[k] -= in[k - (int64_t)STEREO_WINDOW * s->n];
			if (window[k] < window[best])
				best = k;
		}
		if (i >= STEREO_WINDOW - 1)
			*out++ = s->dmin + best;
	}
	free(window);
}
