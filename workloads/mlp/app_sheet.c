/* app_sheet.c - a sheet of images to look at, as PNG: a row for each digit. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/output.h"
#include "common/png.h"
#include "workloads/mlp/data.h"

enum {
	COLUMNS = 20,
	CELL = MLP_SIDE + 4,
	ZOOM = 2, /* pixels of the sheet for one of an image */
	WIDTH = COLUMNS * CELL * ZOOM,
	HEIGHT = MLP_CLASSES * CELL * ZOOM,
	FRAME = 96, /* grey between images */
};

static void put_image(uint8_t *sheet, const uint8_t *pixel, int row, int column)
{
	for (int y = 0; y < MLP_SIDE * ZOOM; y++)
		for (int x = 0; x < MLP_SIDE * ZOOM; x++) {
			int at_y = (row * CELL + 2) * ZOOM + y,
			    at_x = (column * CELL + 2) * ZOOM + x;

			sheet[at_y * WIDTH + at_x] = pixel[y / ZOOM * MLP_SIDE + x / ZOOM];
		}
}

/* The first images of each digit; where there are fewer, the row stays empty from there. */
static void fill_sheet(uint8_t *sheet, const struct mlp_images *im)
{
	int n[MLP_CLASSES] = { 0 };

	memset(sheet, FRAME, (size_t)WIDTH * HEIGHT);
	for (int64_t i = 0; i < im->n; i++) {
		int digit = im->label[i];

		if (n[digit] < COLUMNS)
			put_image(sheet, im->pixel + i * MLP_PIXELS, digit, n[digit]++);
	}
}

int mlp_write_sheet(const struct mlp_images *im, const char *path)
{
	struct output out = { 0 };
	uint8_t *sheet = malloc((size_t)WIDTH * HEIGHT);
	int err = output_create(&out, "sheet", path);

	CHECK(sheet, "a sheet");
	if (!err) {
		fill_sheet(sheet, im);
		png_write(out.file, sheet, WIDTH, HEIGHT, PNG_GREY);
		err = output_commit(&out);
	}
	free(sheet);
	return err;
}
