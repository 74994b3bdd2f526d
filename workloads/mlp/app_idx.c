/*
 * app_idx.c - the files that MNIST comes in: a magic number, sizes (32 bits each, the first byte is
 * the highest), bytes. Source: the format's description beside MNIST, LeCun, Cortes and Burges.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/input.h"
#include "common/interrupt.h"
#include "common/room.h"
#include "common/unpacked.h"
#include "workloads/mlp/data.h"

enum { IMAGES_MAGIC = 0x803, LABELS_MAGIC = 0x801, PIECE = 1 << 20 };

struct reader {
	const char *path;
	struct unpacked file;
	int64_t at; /* bytes read, of what is unpacked */
};

void mlp_images_free(struct mlp_images *im)
{
	free((void *)(uintptr_t)im->pixel);
	free((void *)(uintptr_t)im->label);
	memset(im, 0, sizeof(*im));
}

/* "FILE: byte 4: ..." */
#define refuse(r, byte, fmt, ...)                                                                  \
	complain(EINVAL, "%s: byte %ld%s: " fmt, (r)->path, (long)(byte),                          \
		 (r)->file.gzip ? " (unpacked)" : "", __VA_ARGS__)

static int open_reader(struct reader *r, const char *path)
{
	int err;

	*r = (struct reader){ .path = path };
	err = unpacked_open(&r->file, path, true);
	if (!err || (err == -EINTR && interrupted()))
		return err;
	return complain(-err, "%s: %s", path, input_reason(err));
}

/* After a read that brought less than was wanted, or a broken end. */
static int read_failed(const struct reader *r, int64_t missing)
{
	if (interrupted())
		return -EINTR;
	if (r->file.err && r->file.err != -EBADMSG)
		return complain(-r->file.err, "%s: byte %ld: %s", r->path, (long)r->at,
				unpacked_reason(&r->file));
	if (r->file.err)
		return refuse(r, r->at, "%s", unpacked_reason(&r->file));
	return refuse(r, r->at, "the file ends, and %ld bytes are missing", (long)missing);
}

static int read_bytes(struct reader *r, void *out, int64_t n)
{
	while (n) {
		int64_t piece = n < PIECE ? n : PIECE, got;

		if (interrupted())
			return -EINTR;
		got = (int64_t)unpacked_read(&r->file, out, (size_t)piece);
		r->at += got;
		n -= got;
		out = (char *)out + got;
		if (got < piece)
			return read_failed(r, n);
	}
	return 0;
}

static int read_number(struct reader *r, uint32_t *out)
{
	uint8_t b[4];
	int err = read_bytes(r, b, 4);

	if (!err)
		*out = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
	return err;
}

static int read_magic(struct reader *r, uint32_t wanted, const char *what)
{
	uint32_t magic = 0;
	int err = read_number(r, &magic);

	if (!err && magic != wanted)
		return refuse(r, 0, "magic number 0x%08x; IDX files of %s begin with 0x%08x", magic,
			      what, wanted);
	return err;
}

static int read_side(struct reader *r, const char *what)
{
	uint32_t side = 0;
	int err = read_number(r, &side);

	if (!err && side != MLP_SIDE)
		return refuse(r, r->at - 4, "%u %s; images must be 28 x 28 pixels", side, what);
	return err;
}

static int read_count(struct reader *r, int64_t *n)
{
	uint32_t count = 0;
	int err = read_number(r, &count);

	if (!err && (!count || count > MLP_IMAGES_MAX))
		return refuse(r, 4, "a count of %u; must be 1 to %d", count, MLP_IMAGES_MAX);
	*n = count;
	return err;
}

/* Nothing may follow, and a gzip file's own end must be there and its check sum right. */
static int read_end(struct reader *r)
{
	if (unpacked_peek(&r->file) >= 0)
		return refuse(r, r->at, "%s",
			      "the file continues after the count says that it ends");
	return r->file.err ? read_failed(r, 0) : 0;
}

static int read_images(struct reader *r, struct mlp_images *im)
{
	int err = read_magic(r, IMAGES_MAGIC, "images");
	uint8_t *pixel;

	err = err ? err : read_count(r, &im->n);
	err = err ? err : read_side(r, "rows");
	err = err ? err : read_side(r, "columns");
	err = err ? err : room_on_host(im->n * MLP_PIXELS, r->path);
	if (err)
		return err;
	pixel = malloc((size_t)im->n * MLP_PIXELS);
	im->pixel = pixel;
	if (!pixel)
		return complain(ENOMEM, "%s: no memory for %ld images", r->path, (long)im->n);
	err = read_bytes(r, pixel, im->n * MLP_PIXELS);
	return err ? err : read_end(r);
}

static int check_labels(const struct reader *r, const struct mlp_images *im)
{
	for (int64_t i = 0; i < im->n; i++)
		if (im->label[i] >= MLP_CLASSES)
			return refuse(r, r->at - im->n + i, "label %d; labels are 0 to 9",
				      im->label[i]);
	return 0;
}

static int read_labels(struct reader *r, struct mlp_images *im)
{
	int64_t n;
	uint8_t *label;
	int err = read_magic(r, LABELS_MAGIC, "labels");

	err = err ? err : read_count(r, &n);
	if (!err && n != im->n)
		return refuse(r, 4, "%ld labels, but there are %ld images", (long)n, (long)im->n);
	if (err)
		return err;
	label = malloc((size_t)n);
	im->label = label;
	if (!label)
		return complain(ENOMEM, "%s: no memory for %ld labels", r->path, (long)n);
	err = read_bytes(r, label, n);
	err = err ? err : read_end(r);
	return err ? err : check_labels(r, im);
}

static int read_file(const char *path, struct mlp_images *im,
		     int (*read)(struct reader *r, struct mlp_images *im))
{
	struct reader r;
	int err = open_reader(&r, path);

	if (err)
		return err;
	err = read(&r, im);
	unpacked_close(&r.file);
	return err;
}

int mlp_idx_images(const char *path, struct mlp_images *im)
{
	return read_file(path, im, read_images);
}

int mlp_idx_labels(const char *path, struct mlp_images *im)
{
	return read_file(path, im, read_labels);
}
