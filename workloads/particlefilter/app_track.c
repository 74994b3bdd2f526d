/* app_track.c - looking at the particles after a frame; the files that track= and particles8= ask
 * for.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/interrupt.h"
#include "workloads/particlefilter/particlefilter.h"

/* Device memory for a look; 0 or -ENOMEM after one line. */
static int begin_look(int64_t particles, struct pf_look *look)
{
	size_t n = (size_t)particles;

	int err = device_new(&look->x, 5 * n * sizeof(double), "particles=%zu to look at", n);

	if (err)
		return err;
	look->y = look->x + n;
	look->loglik = look->x + 2 * n;
	look->w = look->x + 3 * n;
	look->c = look->x + 4 * n;
	return device_new(&look->ancestor, n * sizeof(*look->ancestor), "particles=%zu to look at",
			  n);
}

static void end_look(struct pf_look *look)
{
	device_free(look->x);
	device_free(look->ancestor);
}

int particlefilter_view_read(const struct pf_filter *f, int64_t k, struct pf_view *v)
{
	struct pf_look look = { 0 };
	size_t n = (size_t)f->particles;
	int err = begin_look(f->particles, &look);

	if (!err) {
		particlefilter_read_ring(f, k - 1, 1, &v->estimate);
		particlefilter_expose(f, &look, NULL);
		CUDA(cudaMemcpy(v->x, look.x, 5 * n * sizeof(double), cudaMemcpyDeviceToHost));
		CUDA(cudaMemcpy(v->ancestor, look.ancestor, n * sizeof(*look.ancestor),
				cudaMemcpyDeviceToHost));
	}
	end_look(&look);
	return err;
}

/* ---- files -------------------------------------------------------------------------------- */

static void write_row(FILE *file, const struct pf_row *row)
{
	fprintf(file, "%ld", (long)row->frame);
	for (int i = 0; i < PF_TRACK_COLUMNS - 1; i++)
		fprintf(file, ",%.17g", row->value[i]);
	fprintf(file, ",%08x\n", row->crc);
}

static void write_eight(FILE *file, int64_t k, const struct pf_view *v)
{
	double n = (double)v->particles;

	for (int i = 0; i < 8 && i < v->particles; i++)
		fprintf(file, "%ld,%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%d\n", (long)k, i,
			v->x[i], v->y[i], v->loglik[i], v->w[i], v->c[i], (v->estimate.u + i) / n,
			v->ancestor[i]);
}

static int write_frames(const struct particlefilter_opts *o, struct particlefilter_state *s,
			struct pf_view *v)
{
	const struct pf_filter *f = &s->filter;
	struct pf_row row;
	int err = 0;

	particlefilter_reset(o, s, NULL);
	for (int64_t k = 1; k < f->rules.frames && !err; k++) {
		if (interrupted())
			return -EINTR;
		particlefilter_frame(f, NULL);
		err = particlefilter_view_read(f, k, v);
		if (err)
			return err;
		particlefilter_describe(&f->rules, !o->input, k, v, &row);
		if (s->track.file)
			write_row(s->track.file, &row);
		if (s->particles8.file)
			write_eight(s->particles8.file, k, v);
	}
	return err;
}

int particlefilter_write_track(const struct particlefilter_opts *o, struct particlefilter_state *s)
{
	struct pf_view v;
	int err = particlefilter_view_init(&v, o->particles);

	if (s->track.file)
		fputs(particlefilter_track_header, s->track.file);
	if (s->particles8.file)
		fputs(particlefilter_particles8_header, s->particles8.file);
	if (!err)
		err = write_frames(o, s, &v);
	particlefilter_view_release(&v);
	if (!err && s->track.file)
		err = output_commit(&s->track);
	if (!err && s->particles8.file)
		err = output_commit(&s->particles8);
	return err;
}
