/* app_plot.c - the picture of `rift run pathtrace --plot`: what the kernel sees. */
#include <errno.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "common/plot.h"
#include "workloads/pathtrace/pathtrace.h"

/* Samples of a pixel before there is much to see, and of a launch; points of the longer side that
 * are drawn. */
enum { SAMPLES_MIN = 64, LAUNCH = 16, SIDE_MAX = 512 };

static const char *const names[] = {
	[PT_BOX] = "A room with a mirror ball and a glass ball",
	[PT_FURNACE] = "A room whose walls all shine alike",
	[PT_SPHERE] = "A ball before a sky",
};

/* Adds to what the run has left. */
static int add_samples(const struct pathtrace_state *s, int64_t *samples)
{
	struct pt_pixel first;

	CUDA(cudaMemcpy(&first, s->job.pixel, sizeof(first), cudaMemcpyDeviceToHost));
	for (*samples = first.count; *samples < SAMPLES_MIN; *samples += LAUNCH) {
		if (interrupted())
			return -EINTR;
		pathtrace_launch(&s->job, LAUNCH, s->threads, NULL);
		CUDA(cudaStreamSynchronize(NULL));
	}
	return 0;
}

static int write_pixels(const struct pathtrace_opts *o, const float *mean, struct plot *plot)
{
	int64_t longer = o->width > o->height ? o->width : o->height;
	int64_t stride = (longer + SIDE_MAX - 1) / SIDE_MAX;
	struct output out = { 0 };
	int err = plot_open(plot, "image_file", "-image.csv", &out);

	if (err)
		return err;
	fputs("row,col,red,green,blue\n", out.file);
	for (int64_t y = 0; y < o->height; y += stride)
		for (int64_t x = 0; x < o->width; x += stride) {
			const float *m = mean + 3 * (y * o->width + x);

			fprintf(out.file, "%ld,%ld,%d,%d,%d\n", (long)y, (long)x,
				pathtrace_srgb(m[0]), pathtrace_srgb(m[1]), pathtrace_srgb(m[2]));
		}
	err = output_commit(&out);
	output_discard(&out);
	return err;
}

static void set_texts(const struct pathtrace_opts *o, int64_t samples, struct plot *p)
{
	plot_text(p, "title", "%s, %ld paths a pixel", names[o->scene], (long)samples);
	plot_text(p, "made", "%ld x %ld pixels, up to %ld bounces, seed %ld; computed on: %.60s",
		  (long)o->width, (long)o->height, (long)o->bounces, (long)o->seed, p->device);
	plot_count(p, "width", (long)o->width);
	plot_count(p, "height", (long)o->height);
	p->script = "workloads/pathtrace/plot.gp";
}

int pathtrace_plot(const void *opts, void *state, struct plot *plot)
{
	const struct pathtrace_opts *o = opts;
	struct pathtrace_state *s = state;
	struct pt_pixel *pixel;
	float *mean;
	int64_t samples;
	int err = add_samples(s, &samples);

	if (err)
		return err;
	pixel = pathtrace_read(s);
	if (!pixel)
		return -ENOMEM;
	mean = pathtrace_means(pixel, o->width * o->height);
	free(pixel);
	if (!mean)
		return complain(ENOMEM, "no host memory for the picture");
	err = write_pixels(o, mean, plot);
	free(mean);
	if (!err)
		set_texts(o, samples, plot);
	return err;
}
