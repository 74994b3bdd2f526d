/*
 * app_plot.c - the picture of `rift run particlefilter --plot`: the last frame, cut to where the
 * object went, and over it what the filter found, with the truth where it is known.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "common/plot.h"
#include "workloads/particlefilter/particlefilter.h"

enum { MARGIN = 14, SIDE_MIN = 48, PIXELS_MAX = 400, CHECK_EVERY = 64 };

/* What of a frame is shown, and every how manyth pixel of it. */
struct window {
	int64_t row, col, rows, cols, stride;
};

/* A whole video from the start. */
static int run_video(const struct particlefilter_opts *o, struct particlefilter_state *s,
		     struct pf_estimate *ring)
{
	int64_t frames = s->rules.frames - 1;

	particlefilter_reset(o, s, NULL);
	for (int64_t k = 0; k < frames; k++) {
		if (!(k % CHECK_EVERY) && interrupted())
			return -EINTR;
		particlefilter_frame(&s->filter, NULL);
	}
	particlefilter_read_ring(&s->filter, 0, frames, ring);
	return 0;
}

/* ---- the window ----------------------------------------------------------------------------- */

/* An interval of at least SIDE_MIN around low to high, inside 0 to size. */
static void fit_interval(double low, double high, int64_t size, int64_t *at, int64_t *length)
{
	double wide = fmax(high - low + 2 * MARGIN, SIDE_MIN), first = (low + high - wide) / 2;

	first = fmax(0, fmin(first, (double)size - wide));
	*at = (int64_t)first;
	*length = (int64_t)fmin(ceil(wide), (double)(size - *at));
}

static struct window find_window(const struct pf_rules *r, const struct pf_estimate *ring)
{
	double top = r->start_row, bottom = top, left = r->start_col, right = left;
	struct window w;

	for (int64_t k = 0; k < r->frames - 1; k++) {
		double row = fmin(fmax(ring[k].xe, 0), (double)r->rows - 1);
		double col = fmin(fmax(ring[k].ye, 0), (double)r->cols - 1);

		top = fmin(top, row);
		bottom = fmax(bottom, row);
		left = fmin(left, col);
		right = fmax(right, col);
	}
	fit_interval(top, bottom, r->rows, &w.row, &w.rows);
	fit_interval(left, right, r->cols, &w.col, &w.cols);
	w.stride = 1 + (w.rows > w.cols ? w.rows : w.cols) / PIXELS_MAX;
	return w;
}

/* ---- files ---------------------------------------------------------------------------------- */

static int write_frame(const struct pf_video *v, const struct window *w, struct plot *plot)
{
	const uint8_t *last = v->pixels + (v->frames - 1) * v->rows * v->cols;
	struct output out = { 0 };
	int err = plot_open(plot, "frame_file", "-frame.csv", &out);

	if (err)
		return err;
	fputs("row,col,grey\n", out.file);
	for (int64_t r = w->row; r < w->row + w->rows; r += w->stride)
		for (int64_t c = w->col; c < w->col + w->cols; c += w->stride) {
			double cell[] = { (double)r, (double)c, last[r * v->cols + c] };

			output_numbers(&out, cell, 3);
		}
	err = output_commit(&out);
	output_discard(&out);
	return err;
}

static int write_track(const struct particlefilter_opts *o, const struct pf_rules *r,
		       const struct pf_estimate *ring, struct plot *plot)
{
	struct output out = { 0 };
	int err = plot_open(plot, "track_file", "-track.csv", &out);

	if (err)
		return err;
	fputs(o->input ? "frame,row,col\n" : "frame,row,col,truth_row,truth_col\n", out.file);
	for (int64_t k = 1; k < r->frames; k++) {
		double line[] = { (double)k, ring[k - 1].xe, ring[k - 1].ye, 0, 0 };
		int64_t row, col;

		particlefilter_truth(r->rows, r->cols, r->wraps, k, &row, &col);
		line[3] = (double)row;
		line[4] = (double)col;
		output_numbers(&out, line, o->input ? 3 : 5);
	}
	err = output_commit(&out);
	output_discard(&out);
	return err;
}

/* ---- words ---------------------------------------------------------------------------------- */

static const char *const filters[] = {
	[PF_MATCHED] = "The filter",
	[PF_RODINIA] = "Rodinia's filter",
	[PF_ROUND] = "Rodinia's filter, with positions rounded,",
};

static void set_texts(const struct particlefilter_opts *o, const struct pf_rules *r,
		      const struct pf_estimate *ring, const struct window *w, struct plot *p)
{
	int64_t frames = r->frames - 1;
	double error = particlefilter_track_error(r, ring, frames);

	if (o->input)
		plot_text(p, "title", "%s follows the object through %ld frames",
			  filters[o->variant], (long)frames);
	else
		plot_text(p, "title", "%s is %.2g pixels off over %ld frames (root mean square)",
			  filters[o->variant], error, (long)frames);
	plot_text(p, "made",
		  "%ld particles, %s, %ld x %ld pixels, the last frame behind; "
		  "computed on: %.60s",
		  (long)o->particles, o->precision == PF_FLOAT ? "float" : "double", (long)r->rows,
		  (long)r->cols, p->device);
	plot_count(p, "truth", !o->input);
	plot_number(p, "top", (double)w->row - 0.5);
	plot_number(p, "bottom", (double)(w->row + w->rows) - 0.5);
	plot_number(p, "left", (double)w->col - 0.5);
	plot_number(p, "right", (double)(w->col + w->cols) - 0.5);
	p->script = "workloads/particlefilter/plot.gp";
}

int particlefilter_plot(const void *opts, void *state, struct plot *plot)
{
	const struct particlefilter_opts *o = opts;
	struct particlefilter_state *s = state;
	struct pf_estimate *ring = malloc((size_t)(s->rules.frames - 1) * sizeof(*ring));
	struct window w;
	int err;

	CHECK(ring, "%ld frames", (long)s->rules.frames);
	err = run_video(o, s, ring);
	if (!err) {
		w = find_window(&s->rules, ring);
		err = write_frame(&s->video, &w, plot);
	}
	if (!err)
		err = write_track(o, &s->rules, ring, plot);
	if (!err)
		set_texts(o, &s->rules, ring, &w, plot);
	free(ring);
	return err;
}
