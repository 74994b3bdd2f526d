/* app_ppm.c - reads PPM: "P6", width, height, 255 as text with comments, one white space, bytes. */
#include "workloads/stereo/app_ppm.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/input.h"
#include "common/interrupt.h"

enum {
	COLOURS = 3,
	COLOUR_MAX = 255,
	NUMBER_MAX = 99999999,
	BEGINNING_MAX = 1 << 16, /* bytes before the pixels: comments end somewhere */
};

struct reader {
	const char *path;
	FILE *file;
	int64_t at; /* bytes read */
};

/* "FILE: byte 4: ..." */
#define refuse(r, byte, fmt, ...)                                                                  \
	complain(EINVAL, "%s: byte %ld: " fmt, (r)->path, (long)(byte), __VA_ARGS__)

static int open_reader(struct reader *r, const char *path)
{
	int fd = input_open(path, false); /* it is read twice: first its size, then all of it */

	*r = (struct reader){ .path = path, .file = fd < 0 ? NULL : fdopen(fd, "rb") };
	if (r->file)
		return 0;
	if (fd >= 0)
		close(fd);
	return complain(fd < 0 ? -fd : ENOMEM, "%s: %s", path, input_reason(fd < 0 ? fd : -ENOMEM));
}

/* After a read that brought less than was wanted. */
static int read_failed(const struct reader *r, const char *wanted)
{
	if (interrupted())
		return -EINTR;
	if (ferror(r->file))
		return complain(errno, "%s: byte %ld: %s", r->path, (long)r->at, strerror(errno));
	if (r->at >= BEGINNING_MAX && !feof(r->file))
		return refuse(r, r->at, "no pixels after %d bytes of numbers and comments",
			      BEGINNING_MAX);
	return refuse(r, r->at, "the file ends where %s must be", wanted);
}

/* ---- the beginning ---------------------------------------------------------------------- */

static int next_byte(struct reader *r)
{
	int c = r->at < BEGINNING_MAX ? getc(r->file) : EOF;

	r->at += c != EOF;
	return c;
}

/* The first character that is neither white space nor in a comment, which begins with #. */
static int skip_space(struct reader *r)
{
	int c = next_byte(r);

	while (c == '#' || (c != EOF && isspace(c))) {
		while (c == '#' && c != EOF && c != '\n')
			for (c = next_byte(r); c != EOF && c != '\n'; c = next_byte(r))
				continue;
		if (c != EOF)
			c = next_byte(r);
	}
	return c;
}

/* A number and the one white space behind it; a comment there ends with it, at the line's end. */
static int read_number(struct reader *r, const char *what, long *out)
{
	int c = skip_space(r);
	int64_t begin = r->at - 1;

	if (c == EOF)
		return read_failed(r, what);
	if (!isdigit(c))
		return refuse(r, begin, "%s must be a number", what);
	for (*out = 0; c != EOF && isdigit(c); c = next_byte(r))
		if (*out <= NUMBER_MAX)
			*out = *out * 10 + c - '0';
	if (c == '#')
		while (c != EOF && c != '\n')
			c = next_byte(r);
	if (c == EOF)
		return read_failed(r, "white space");
	if (!isspace(c))
		return refuse(r, r->at - 1, "white space must follow %s", what);
	return 0;
}

static int read_side(struct reader *r, const char *what, int32_t most, int32_t *out)
{
	int64_t before = r->at;
	long n;
	int err = read_number(r, what, &n);

	if (err)
		return err;
	*out = (int32_t)n;
	if (n < 1 || n > most)
		return refuse(r, before, "%s is %ld: must be 1 to %d", what, n, most);
	return 0;
}

static int read_beginning(struct reader *r, int32_t most, struct stereo_size *size)
{
	char magic[3] = "";
	int64_t before;
	long colours;
	int err;

	r->at += (int64_t)fread(magic, 1, 2, r->file);
	if (r->at < 2)
		return read_failed(r, "\"P6\"");
	if (strcmp(magic, "P6"))
		return refuse(r, 0, "%s: binary PPM files begin with \"P6\"",
			      "another kind of file");
	err = read_side(r, "the width", most, &size->w);
	if (!err)
		err = read_side(r, "the height", most, &size->h);
	before = r->at;
	if (!err)
		err = read_number(r, "the largest colour", &colours);
	if (!err && colours != COLOUR_MAX)
		return refuse(r, before, "the largest colour is %ld: must be %d, for 8 bits",
			      colours, COLOUR_MAX);
	return err;
}

/* ---- pixels ----------------------------------------------------------------------------- */

static int read_pixels(struct reader *r, struct stereo_size size, uint32_t *pixels)
{
	size_t wanted = (size_t)size.w * COLOURS;
	unsigned char *row = malloc(wanted);
	int err = 0;

	CHECK(row, "%zu bytes", wanted);
	for (int32_t y = 0; y < size.h && !err; y++) {
		size_t got = interrupted() ? 0 : fread(row, 1, wanted, r->file);

		r->at += (int64_t)got;
		for (size_t x = 0; x < got / COLOURS; x++)
			*pixels++ = row[x * COLOURS] | (uint32_t)row[x * COLOURS + 1] << 8 |
				    (uint32_t)row[x * COLOURS + 2] << 16;
		if (got < wanted)
			err = read_failed(r, "pixels");
	}
	free(row);
	return err;
}

int stereo_ppm_size(const char *path, int32_t most, struct stereo_size *size)
{
	struct reader r;
	int err = open_reader(&r, path);

	if (err)
		return err;
	err = read_beginning(&r, most, size);
	fclose(r.file);
	return err;
}

int stereo_ppm_read(const char *path, struct stereo_size size, uint32_t *pixels)
{
	struct stereo_size found;
	struct reader r;
	int err = open_reader(&r, path);

	if (err)
		return err;
	err = read_beginning(&r, size.w > size.h ? size.w : size.h, &found);
	if (!err && (found.w != size.w || found.h != size.h))
		err = complain(EINVAL, "%s: %d x %d pixels, not %d x %d", path, found.w, found.h,
			       size.w, size.h);
	if (!err)
		err = read_pixels(&r, size, pixels);
	fclose(r.file);
	return err;
}
