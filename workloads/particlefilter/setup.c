/* setup.c - configuration, start and end of the particle filter. */
#include <errno.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/particlefilter/particlefilter.h"

static const double noise_scale = 50;

/* The disk's rows: pixels left and right of the middle one. */
static void measure_disk(int radius, int8_t half_width[])
{
	int row = 0;

	for (int r = 1 - radius; r < radius; r++) {
		int c = 0;

		while (r * r + (c + 1) * (c + 1) < radius * radius)
			c++;
		half_width[row++] = (int8_t)c;
	}
}

static int64_t ceil_div(int64_t n, int64_t parts)
{
	return (n + parts - 1) / parts;
}

static void cut_tiles(struct pf_filter *f)
{
	bool one = !f->split && f->particles <= PF_ONE_BLOCK;

	f->chunk = f->split ? PF_THREADS
		   : one    ? (int32_t)(32 * ceil_div(f->particles, 32))
			    : PF_CHUNK;
	f->chunks = (int32_t)ceil_div(f->particles, f->chunk);
	f->tile_chunks = f->split ? 1 : (int32_t)ceil_div(f->chunks, PF_TILES_MAX);
	f->tiles = (int32_t)ceil_div(f->chunks, f->tile_chunks);
}

/* Where the short way to a disk's sum may be taken: within a frame offsets are 32 bits wide. */
static void bound_disk(struct pf_filter *f)
{
	const struct pf_rules *r = &f->rules;
	double bytes = 4.0 * (double)r->rows * (double)(r->cols + 1);

	if (r->radius != 5 || f->direct || r->rows < 9 || r->cols < 9 || bytes > UINT32_MAX)
		return;
	f->inner_rows = (uint32_t)r->rows - 8;
	f->inner_cols = (uint32_t)r->cols - 8;
	f->pitch = 4 * ((uint32_t)r->cols + 1);
}

void particlefilter_configure(const struct particlefilter_opts *o, const struct pf_rules *rules,
			      struct pf_filter *f)
{
	*f = (struct pf_filter){
		.rules = *rules,
		.particles = o->particles,
		.share = 1 / (double)o->particles,
		.loglik_unit = 1 / (noise_scale * rules->disk),
		.single = o->precision == PF_FLOAT,
		.split = o->granularity == PF_BY_SPLIT,
		.direct = o->stencil == PF_BY_PIXELS,
	};
	/* made-up levels keep L below 345, so that e^L, and sums of its square, stay a double's */
	f->shifted = f->single || o->input;
	measure_disk(rules->radius, f->half_width);
	bound_disk(f);
	cut_tiles(f);
}

/* Checks memory before a video is made, which takes time and the host's memory. */
static int check_memory(const struct particlefilter_opts *o)
{
	struct pf_rules rules = {
		.rows = o->rows,
		.cols = o->cols,
		.frames = o->frames,
		.radius = (int32_t)o->radius,
		.disk = 1,
		.lcg = particlefilter_uses_lcg(o),
	};
	struct pf_filter f;

	particlefilter_configure(o, &rules, &f);
	return particlefilter_fits(&f);
}

int particlefilter_setup(const void *opts, void *state)
{
	const struct particlefilter_opts *o = opts;
	struct particlefilter_state *s = state;
	int err = device_present();

	if (!err && o->track)
		err = output_create(&s->track, "track", o->track);
	if (!err && o->particles8)
		err = output_create(&s->particles8, "particles8", o->particles8);
	if (!err && !o->input)
		err = check_memory(o);
	if (!err)
		err = particlefilter_prepare(o, &s->video, &s->rules);
	if (err)
		return err;
	particlefilter_configure(o, &s->rules, &s->filter);
	err = particlefilter_allocate(&s->filter);
	if (err)
		return err;
	particlefilter_load_kernels(&s->filter);
	return particlefilter_upload(&s->video, &s->filter);
}

int particlefilter_reset(const void *opts, void *state, cudaStream_t stream)
{
	const struct particlefilter_state *s = state;
	const struct pf_filter *f = &s->filter;
	size_t slots = (size_t)(f->rules.frames - 1);

	(void)opts;
	CUDA(cudaMemsetAsync(f->head, 0, sizeof(*f->head), stream));
	CUDA(cudaMemsetAsync(f->tile, 0, (size_t)f->tiles * sizeof(*f->tile), stream));
	CUDA(cudaMemsetAsync(f->ring, 0, slots * sizeof(*f->ring), stream));
	return 0;
}

void particlefilter_teardown(void *state)
{
	struct particlefilter_state *s = state;

	output_discard(&s->track);
	output_discard(&s->particles8);
	particlefilter_free(&s->filter);
	particlefilter_video_free(&s->video);
}
