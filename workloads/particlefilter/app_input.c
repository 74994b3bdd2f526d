/* app_input.c - a grey video from a file: PGM images one after the other, or bytes without headers.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/input.h"
#include "common/textfile.h"
#include "workloads/particlefilter/particlefilter.h"

/* Positions in the video are 31 bits wide; text around them is not much. */
static const size_t bytes_max = ((size_t)1 << 31) - 1;

enum { SIDE_MAX = 65536 };

struct reader {
	const char *name;
	unsigned char *text; /* the file; its pixels move to the front */
	size_t at, length;
	int64_t image; /* number of the image, from 0 */
};

/* Up to the end of its line, where one begins here. */
static void skip_comment(struct reader *r)
{
	if (r->at < r->length && r->text[r->at] == '#')
		while (r->at < r->length && r->text[r->at] != '\n')
			r->at++;
}

/* A number of a header, after white space and comments; -1 if there is none. */
static long read_number(struct reader *r)
{
	long value = -1;

	while (r->at < r->length && (isspace(r->text[r->at]) || r->text[r->at] == '#')) {
		if (r->text[r->at] == '#')
			skip_comment(r);
		else
			r->at++;
	}
	while (r->at < r->length && isdigit(r->text[r->at]) && value < (1 << 24))
		value = 10 * (value < 0 ? 0 : value) + (r->text[r->at++] - '0');
	return value;
}

static const char *describe_kind(int digit)
{
	switch (digit) {
	case '2':
		return "grey as text (P2): P5 is needed";
	case '3':
	case '6':
		return "in colour (PPM): grey (PGM, P5) is needed";
	case '1':
	case '4':
		return "black and white (PBM): grey (PGM, P5) is needed";
	case '7':
		return "PAM: PGM (P5) is needed";
	default:
		return "no PGM image (P5); for bytes without headers give raw=ROWS,COLS";
	}
}

static int read_header(struct reader *r, int64_t *rows, int64_t *cols)
{
	const unsigned char *t = r->text + r->at;
	bool magic = r->length - r->at >= 2 && t[0] == 'P';
	long width, height, white;

	if (!magic || t[1] != '5')
		return complain(EINVAL, "%s: image %ld, at byte %zu, is %s", r->name,
				(long)r->image, r->at, describe_kind(magic ? t[1] : 0));
	r->at += 2;
	width = read_number(r);
	height = read_number(r);
	white = read_number(r);
	if (width < 1 || height < 1 || width > SIDE_MAX || height > SIDE_MAX)
		return complain(EINVAL,
				"%s: image %ld: its header must give width and height of 1 to %d "
				"pixels",
				r->name, (long)r->image, SIDE_MAX);
	if (white < 1 || white > 255)
		return complain(EINVAL, "%s: image %ld: white is %ld; it must be 1 to 255", r->name,
				(long)r->image, white);
	skip_comment(r);
	if (r->at >= r->length || !isspace(r->text[r->at]))
		return complain(EINVAL, "%s: image %ld: white space must end its header", r->name,
				(long)r->image);
	r->at++;
	*cols = width;
	*rows = height;
	return 0;
}

/* One image: its pixels move behind those of the images before it. */
static int read_image(struct reader *r, struct pf_video *v)
{
	int64_t rows = 0, cols = 0;
	size_t plane;
	int err = read_header(r, &rows, &cols);

	if (err)
		return err;
	if (r->image && (rows != v->rows || cols != v->cols))
		return complain(EINVAL,
				"%s: image %ld has %ld x %ld pixels, the first one %ld x "
				"%ld: all must be alike",
				r->name, (long)r->image, (long)rows, (long)cols, (long)v->rows,
				(long)v->cols);
	plane = (size_t)(rows * cols);
	if (r->length - r->at < plane)
		return complain(EINVAL, "%s: image %ld is cut off: %zu of its %zu pixels are there",
				r->name, (long)r->image, r->length - r->at, plane);
	v->rows = rows;
	v->cols = cols;
	memmove(r->text + (size_t)r->image * plane, r->text + r->at, plane);
	r->at += plane;
	r->image++;
	return 0;
}

static int read_images(struct reader *r, struct pf_video *v)
{
	int err = 0;

	do {
		err = read_image(r, v);
		while (!err && r->at < r->length && isspace(r->text[r->at]))
			r->at++;
	} while (!err && r->at < r->length);
	v->frames = r->image;
	return err;
}

static int read_raw(const struct particlefilter_opts *o, const struct reader *r, struct pf_video *v)
{
	size_t plane = (size_t)o->raw.value[0] * (size_t)o->raw.value[1];

	if (!r->length || r->length % plane)
		return complain(
			EINVAL,
			"%s: %zu bytes are not a whole number of frames of raw=%ld,%ld pixels",
			r->name, r->length, (long)o->raw.value[0], (long)o->raw.value[1]);
	v->rows = o->raw.value[0];
	v->cols = o->raw.value[1];
	v->frames = (int64_t)(r->length / plane);
	return 0;
}

static int parse_file(const struct particlefilter_opts *o, struct reader *r, struct pf_video *v)
{
	int err = o->raw.value[0] ? read_raw(o, r, v) : read_images(r, v);

	if (!err && v->frames < 2)
		err = complain(EINVAL, "%s: has one frame; a video needs 2 or more, in one file",
			       r->name);
	return err;
}

int particlefilter_read_video(const struct particlefilter_opts *o, struct pf_video *v)
{
	struct reader r = { .name = o->input };
	char *text = NULL;
	int err = textfile_read(o->input, o->raw.value[0] ? "" : "P5", bytes_max, &text, &r.length);

	r.text = (unsigned char *)text;
	*v = (struct pf_video){ .pixels = r.text };
	if (err == -EFBIG)
		return complain(EFBIG, "%s: more than %zu bytes", o->input, bytes_max);
	if (err == -EINTR)
		return err;
	if (err)
		return complain(-err, "%s: %s", o->input, input_reason(err));
	return parse_file(o, &r, v);
}
