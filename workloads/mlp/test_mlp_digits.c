/* test_mlp_digits.c - drawn digits: what they depend on, where they stand, and the sheet of them.
 */
/* sanitizers: one thread */
#include "tests/plain.h"

#include <zlib.h>

#include "workloads/mlp/test_mlp.h"

TestSuite(small_mlp_digits, .timeout = 300);

static struct mlp_images draw(int64_t n, uint32_t set, uint64_t seed)
{
	struct mlp_images im;

	cr_assert(!mlp_generate(&im, n, set, seed), "drawn");
	return im;
}

Test(small_mlp_digits, an_image_depends_on_its_number_and_the_seed)
{
	struct mlp_images few = draw(50, 0, 1), more = draw(100, 0, 1);
	struct mlp_images test = draw(50, 1, 1), other = draw(50, 0, 2);

	cr_assert(!memcmp(few.pixel, more.pixel, 50 * MLP_PIXELS) &&
			  !memcmp(few.label, more.label, 50),
		  "the first 50 of 100");
	for (int i = 0; i < 50; i++) {
		cr_assert(
			memcmp(few.pixel + i * MLP_PIXELS, test.pixel + i * MLP_PIXELS, MLP_PIXELS),
			"training image %d is a test image", i);
		cr_assert(memcmp(few.pixel + i * MLP_PIXELS, other.pixel + i * MLP_PIXELS,
				 MLP_PIXELS),
			  "image %d of two seeds", i);
	}
	mlp_images_free(&few);
	mlp_images_free(&more);
	mlp_images_free(&test);
	mlp_images_free(&other);
}

/* Ink away from the frame, in the middle on average, and as much of each digit as of any other. */
Test(small_mlp_digits, digits_stand_in_the_middle)
{
	enum { N = 4000, FRAME = 2 };
	struct mlp_images im = draw(N, 0, 1);
	double ink = 0, row = 0, col = 0, frame = 0;
	int count[MLP_CLASSES] = { 0 };

	for (int i = 0; i < N; i++)
		count[im.label[i]]++;
	for (int64_t i = 0; i < (int64_t)N * MLP_PIXELS; i++) {
		int64_t at = i % MLP_PIXELS, r = at / MLP_SIDE, c = at % MLP_SIDE;
		double v = im.pixel[i] > 48 ? im.pixel[i] : 0; /* not noise */

		ink += v;
		row += v * (double)r;
		col += v * (double)c;
		if (r < FRAME || c < FRAME || r >= MLP_SIDE - FRAME || c >= MLP_SIDE - FRAME)
			frame += v;
	}
	cr_assert(fabs(row / ink - 13.5) < 0.5 && fabs(col / ink - 13.5) < 0.5, "at (%g, %g)",
		  row / ink, col / ink);
	cr_assert(frame < 0.01 * ink, "%g of the ink at the frame", frame / ink);
	cr_assert(ink / N / MLP_PIXELS > 15 && ink / N / MLP_PIXELS < 50, "%g grey levels",
		  ink / N / MLP_PIXELS);
	for (int c = 0; c < MLP_CLASSES; c++) /* five standard deviations */
		cr_assert(abs(count[c] - N / 10) < 5 * 19, "%d times %d", count[c], c);
	mlp_images_free(&im);
}

/*
 * Each image is closest, of the mean images of ten digits, to its own in most cases, but not in
 * all: a task, and one that can be learnt.
 */
Test(small_mlp_digits, digits_can_be_told_apart)
{
	enum { N = 2000 };
	static double mean[MLP_CLASSES][MLP_PIXELS];
	struct mlp_images im = draw(N, 0, 1), test = draw(N, 1, 1);
	int count[MLP_CLASSES] = { 0 }, right = 0;

	for (int i = 0; i < N; i++, count[im.label[i - 1]]++)
		for (int p = 0; p < MLP_PIXELS; p++)
			mean[im.label[i]][p] += im.pixel[i * MLP_PIXELS + p];
	for (int i = 0; i < N; i++) {
		double least = INFINITY;
		int best = 0;

		for (int c = 0; c < MLP_CLASSES; c++) {
			double far = 0;

			for (int p = 0; p < MLP_PIXELS; p++) {
				double d = test.pixel[i * MLP_PIXELS + p] - mean[c][p] / count[c];

				far += d * d;
			}
			best = far < least ? c : best;
			least = fmin(far, least);
		}
		right += best == test.label[i];
	}
	cr_assert(right > N * 0.7 && right < N * 0.99, "%d of %d", right, N);
	mlp_images_free(&im);
	mlp_images_free(&test);
}

/* The sheet unpacks to what was put in, below PNG's own bytes. */
Test(small_mlp_digits, the_sheet_is_a_png)
{
	struct mlp_images im = draw(300, 0, 1);
	char path[] = "/tmp/rift-sheet-XXXXXX";
	uint8_t bytes[1 << 18];
	uint8_t *raw = malloc(1281 * 640);
	uLongf raw_bytes = 1281 * 640;
	size_t n;
	uint32_t packed;
	FILE *f;

	cr_assert(mkstemp(path) >= 0, "%s", path);
	cr_assert(mlp_write_sheet(&im, path) == -EEXIST, "it replaces no file");
	cr_assert(!remove(path), "%s", path);
	cr_assert(raw && !mlp_write_sheet(&im, path), "written");
	f = fopen(path, "rb");
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	remove(path);
	cr_assert(!memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) && !memcmp(bytes + 12, "IHDR", 4) &&
			  !memcmp(bytes + 37, "IDAT", 4) && !memcmp(bytes + n - 8, "IEND", 4),
		  "chunks");
	packed = (uint32_t)bytes[33] << 24 | (uint32_t)bytes[34] << 16 | (uint32_t)bytes[35] << 8 |
		 bytes[36];
	cr_assert(n == 8 + 25 + 12 + packed + 12, "%zu bytes", n);
	cr_assert(uncompress(raw, &raw_bytes, bytes + 41, packed) == Z_OK &&
			  raw_bytes == 1281 * 640,
		  "unpacks to %lu", raw_bytes);
	for (int64_t i = 0; i < im.n; i++)
		if (im.label[i] == 3) { /* the first 3 stands in row 3, column 0, twice as large */
			for (int p = 0; p < MLP_PIXELS; p++) {
				int y = 3 * 64 + 4 + 2 * (p / 28), x = 4 + 2 * (p % 28);

				cr_assert(raw[y * 1281 + 1 + x] == im.pixel[i * MLP_PIXELS + p],
					  "pixel %d", p);
			}
			break;
		}
	free(raw);
	mlp_images_free(&im);
}
