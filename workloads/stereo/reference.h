/*
 * reference.h - disparities on the host, twice: as they are defined, and by sums that move along,
 * for images for which that takes too long.
 */
#ifndef RIFT_STEREO_REFERENCE_H
#define RIFT_STEREO_REFERENCE_H

#include "workloads/stereo/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Two images of one size and the range of disparities. */
struct stereo_pair {
	struct stereo_size size;
	const uint32_t *left, *right;
	int32_t dmin, dmax;
};

/* The least disparity of those with the least cost, by all 17 x 17 differences of each. */
int32_t stereo_defined(const struct stereo_pair *p, int32_t x, int32_t y);

/*
 * Sums of some rows, for each of `columns` columns from `from` on (8 more on each side) and each
 * disparity. w: pixels of a row.
 */
struct stereo_sums {
	int32_t w, dmin, n, from, columns;
	uint32_t *column; /* of from + x, dmin + k: column[(x + 8) * n + k] */
};

/* Has all columns; a caller may choose fewer. To be freed by stereo_sums_free(). */
struct stereo_sums stereo_sums_new(int32_t w, int32_t dmin, int32_t dmax);
void stereo_sums_free(struct stereo_sums *s);

void stereo_sums_clear(struct stereo_sums *s);

/*
 * A row of the two images comes in (sign 1) or is taken off (-1). Pixels are asked for up to 8
 * beside the columns, and in the right one moved by disparities.
 */
void stereo_sums_row(struct stereo_sums *s, const uint32_t *left, const uint32_t *right, int sign);

/* The disparities of the columns of a row, whose 17 rows are in the sums. */
void stereo_sums_best(const struct stereo_sums *s, int32_t *out);

#ifdef __cplusplus
}
#endif
#endif
