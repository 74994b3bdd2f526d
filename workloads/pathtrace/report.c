/* report.c - what `rift run` prints about the picture, and the file of it. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "workloads/pathtrace/pathtrace.h"
#include "workloads/workload.h"

struct pt_pixel *pathtrace_read(const struct pathtrace_state *s)
{
	size_t bytes = (size_t)(s->ref.width * s->ref.height) * sizeof(struct pt_pixel);
	struct pt_pixel *pixel = malloc(bytes);

	if (!pixel)
		complain(ENOMEM, "no host memory for %ld x %ld pixels, %zu bytes",
			 (long)s->ref.width, (long)s->ref.height, bytes);
	else
		CUDA(cudaMemcpy(pixel, s->job.pixel, bytes, cudaMemcpyDeviceToHost));
	return pixel;
}

/* Little-endian bytes, one after the other. */
static uint64_t hash_word(uint64_t h, uint64_t word)
{
	for (int i = 0; i < 8; i++)
		h = (h ^ (word >> 8 * i & 0xff)) * 0x100000001b3;
	return h;
}

struct pt_totals pathtrace_add_up(const struct pt_pixel *pixel, int64_t n)
{
	struct pt_totals t = { .bits = 0xcbf29ce484222325 };

	for (int64_t i = 0; i < n; i++) {
		t.paths += pixel[i].count;
		t.segments += (double)pixel[i].segments;
		t.lost += pixel[i].lost;
		for (int k = 0; k < 3; k++) {
			t.mean[k] += ldexp((double)pixel[i].sum[k], -PT_FIXED_BITS);
			t.bits = hash_word(t.bits, (uint64_t)pixel[i].sum[k]);
		}
	}
	for (int k = 0; k < 3; k++)
		t.mean[k] /= t.paths;
	return t;
}

static struct report_row *add_row(struct report *r, const char *name, const char *unit,
				  double value)
{
	struct report_row *row = &r->row[r->n++];

	*row = (struct report_row){ .name = name, .unit = unit, .value = value };
	return row;
}

static void add_totals(const struct pathtrace_opts *o, const struct pt_totals *t,
		       struct report *out)
{
	struct report_row *row;

	add_row(out, "samples of a pixel", "paths", t->paths / (double)(o->width * o->height));
	add_row(out, "segments per path", "1", t->segments / t->paths);
	add_row(out, "rays lost", "rays", t->lost);
	add_row(out, "mean red", "1", t->mean[0]);
	add_row(out, "mean green", "1", t->mean[1]);
	add_row(out, "mean blue", "1", t->mean[2]);
	row = add_row(out, "bits of the picture", "", 0);
	snprintf(row->text, sizeof(row->text), "%016" PRIx64, t->bits);
}

static int write_image(const struct pathtrace_opts *o, struct pathtrace_state *s,
		       const struct pt_pixel *pixel, struct report *out)
{
	float *mean = pathtrace_means(pixel, o->width * o->height);
	struct report_row *row;
	int err = mean ? pathtrace_write_image(s->image.file, pathtrace_format(o->image), mean,
					       o->width, o->height)
		       : complain(ENOMEM, "no host memory for the picture");

	free(mean);
	if (!err)
		err = output_commit(&s->image);
	if (err)
		return err;
	row = add_row(out, "image", "", 0);
	snprintf(row->text, sizeof(row->text), "%ld x %ld pixels in %s", (long)o->width,
		 (long)o->height, o->image);
	return 0;
}

int pathtrace_report(const void *opts, void *state, struct report *out)
{
	const struct pathtrace_opts *o = opts;
	struct pathtrace_state *s = state;
	struct pt_pixel *pixel = pathtrace_read(s);
	struct pt_totals totals;
	int err = 0;

	if (!pixel)
		return -ENOMEM;
	totals = pathtrace_add_up(pixel, o->width * o->height);
	add_totals(o, &totals, out);
	if (o->image)
		err = write_image(o, s, pixel, out);
	free(pixel);
	return err;
}
