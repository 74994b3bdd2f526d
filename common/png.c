/* png.c - a signature, then chunks of length, name, data and check sum. */
#include "common/png.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/check.h"

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
static void write_pixels(FILE *f, const uint8_t *pixel, size_t line, size_t lines)
{
	uLong raw_bytes = (line + 1) * lines, bytes = compressBound(raw_bytes);
	uint8_t *raw = calloc(1, raw_bytes), *packed = malloc(bytes);

	CHECK(raw && packed, "%lu bytes", raw_bytes);
	for (size_t y = 0; y < lines; y++)
		memcpy(raw + y * (line + 1) + 1, pixel + y * line, line);
	CHECK(compress2(packed, &bytes, raw, raw_bytes, 9) == Z_OK, "%lu bytes", raw_bytes);
	write_chunk(f, "IDAT", packed, (uint32_t)bytes);
	free(raw);
	free(packed);
}

void png_write(FILE *f, const uint8_t *pixel, int width, int height, enum png_kind kind)
{
	static const uint8_t signature[8] = { 137, 'P', 'N', 'G', 13, 10, 26, 10 };
	uint8_t header[13] = { 0 };

	put_number(header, (uint32_t)width);
	put_number(header + 4, (uint32_t)height);
	header[8] = 8;			     /* bits */
	header[9] = kind == PNG_RGB ? 2 : 0; /* then deflate, no filters but those of lines, not
						interlaced */
	fwrite(signature, 1, sizeof(signature), f);
	write_chunk(f, "IHDR", header, sizeof(header));
	write_pixels(f, pixel, (size_t)width * (size_t)kind, (size_t)height);
	write_chunk(f, "IEND", NULL, 0);
}
