/* sheet.c - a sheet of images to look at, as PNG: a row for each digit. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/check.h"
#include "common/output.h"
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

/* ---- PNG (RFC 2083): a signature, then chunks of length, name, data, check sum --------- */

static void put_number(uint8_t *out, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void write_chunk(FILE *f, const char name[4], const uint8_t *data, uint32_t n)
{
	uint32_t crc = (uint32_t)crc32(0, (const Bytef *)name, 4);
	uint8_t word[4];

	put_number(word, n);
	fwrite(word, 1, 4, f);
	fwrite(name, 1, 4, f);
	if (n)
		fwrite(data, 1, n, f);
	put_number(word, n ? (uint32_t)crc32(crc, data, n) : crc);
	fwrite(word, 1, 4, f);
}

/* Lines with a byte for their filter, none, before them. */
static void write_pixels(FILE *f, const uint8_t *sheet)
{
	uLong raw_bytes = (uLong)(WIDTH + 1) * HEIGHT, bytes = compressBound(raw_bytes);
	uint8_t *raw = calloc(1, raw_bytes), *packed = malloc(bytes);

	CHECK(raw && packed, "%lu bytes", raw_bytes);
	for (int y = 0; y < HEIGHT; y++)
		memcpy(raw + (size_t)y * (WIDTH + 1) + 1, sheet + (size_t)y * WIDTH, WIDTH);
	CHECK(compress2(packed, &bytes, raw, raw_bytes, 9) == Z_OK, "%lu bytes", raw_bytes);
	write_chunk(f, "IDAT", packed, (uint32_t)bytes);
	free(raw);
	free(packed);
}

static void write_png(FILE *f, const uint8_t *sheet)
{
	static const uint8_t signature[8] = { 137, 'P', 'N', 'G', 13, 10, 26, 10 };
	uint8_t header[13] = { 0 };

	put_number(header, WIDTH);
	put_number(header + 4, HEIGHT);
	header[8] = 8; /* bits; then grey, deflate, no filters but those of lines, not interlaced */
	fwrite(signature, 1, sizeof(signature), f);
	write_chunk(f, "IHDR", header, sizeof(header));
	write_pixels(f, sheet);
	write_chunk(f, "IEND", NULL, 0);
}

int mlp_write_sheet(const struct mlp_images *im, const char *path)
{
	struct output out = { 0 };
	uint8_t *sheet = malloc((size_t)WIDTH * HEIGHT);
	int err = output_open(&out, "sheet", path);

	CHECK(sheet, "a sheet");
	if (!err) {
		fill_sheet(sheet, im);
		write_png(out.file, sheet);
		err = output_commit(&out);
	}
	free(sheet);
	return err;
}
