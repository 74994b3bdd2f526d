/* memory.c - memory of the particles and of the video on the device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/particlefilter/particlefilter.h"
#include "workloads/workload.h"

/* An array: where its pointer stands, and its bytes; 0 where it is not needed. */
struct array {
	void **at;
	size_t bytes;
};

enum { ARRAYS = 26 };

static void list_arrays(struct pf_filter *f, struct array list[ARRAYS])
{
	size_t chunks = (size_t)f->chunks, tiles = (size_t)f->tiles;
	size_t parts = f->split ? chunks : tiles * PF_WARPS;
	size_t n = chunks * (size_t)f->chunk; /* the last chunk is stored whole */
	size_t real = n * (f->single ? sizeof(float) : sizeof(double));
	size_t whole = f->split ? 0 : real, split = f->split ? real : 0;
	size_t sums = f->split ? 0 : chunks * sizeof(double), scales = f->shifted ? sums : 0;
	size_t pixels = (size_t)(f->rules.rows * f->rules.cols * f->rules.frames);
	size_t edges = (size_t)(f->rules.rows * (f->rules.cols + 1) * f->rules.frames);
	struct pf_buffer *a = &f->buffer[0], *b = &f->buffer[1];
	const struct array all[ARRAYS] = {
		{ &a->x, real },
		{ &a->y, real },
		{ &a->c, whole },
		{ (void **)&a->chunk, sums },
		{ (void **)&a->scale, scales },
		{ (void **)&a->mass, tiles * sizeof(*a->mass) },
		{ (void **)&a->moments, parts * sizeof(*a->moments) },
		{ &b->x, whole },
		{ &b->y, whole },
		{ &b->c, whole },
		{ (void **)&b->chunk, sums },
		{ (void **)&b->scale, scales },
		{ (void **)&b->mass, f->split ? 0 : tiles * sizeof(*b->mass) },
		{ (void **)&b->moments, f->split ? 0 : parts * sizeof(*b->moments) },
		{ (void **)&f->video, pixels },
		{ (void **)&f->row_sum, f->direct ? 0 : edges * sizeof(uint32_t) },
		{ (void **)&f->lcg, f->rules.lcg ? n * sizeof(int32_t) : 0 },
		{ (void **)&f->head, sizeof(*f->head) },
		{ (void **)&f->tile, tiles * sizeof(double) },
		{ (void **)&f->tile_scale, tiles * sizeof(double) },
		{ (void **)&f->ring, (size_t)(f->rules.frames - 1) * sizeof(*f->ring) },
		{ &f->w, split },
		{ (void **)&f->sum, f->split ? n * sizeof(double) : 0 },
		{ &f->resampled_x, split },
		{ &f->resampled_y, split },
	};

	memcpy(list, all, sizeof(all));
}

enum { OF_BUFFER = 7 }; /* of these, of buffer 0; as many of buffer 1 follow */

/*
 * The frame before the last: a fused launch keeps all frames but the last to itself, and the next
 * frame starts from that one.
 */
void particlefilter_scratch(const void *opts, const void *state, struct scratch *out)
{
	const struct particlefilter_state *s = state;
	struct pf_filter f = s->filter;
	struct array list[ARRAYS];
	uint32_t step;

	(void)opts;
	if (f.split)
		return;
	CUDA(cudaMemcpy(&step, &f.head->step, sizeof(step), cudaMemcpyDeviceToHost));
	list_arrays(&f, list);
	for (int i = 0; i < OF_BUFFER; i++) {
		const struct array *a = &list[(step & 1) * OF_BUFFER + (uint32_t)i];

		if (a->bytes)
			out->part[out->n++] = (struct scratch_part){ *a->at, a->bytes };
	}
	out->part[out->n++] = (struct scratch_part){ &f.head->u[step & 1], sizeof(f.head->u[0]) };
}

/* Left free: a look at the particles, rounding of the allocations. */
static const size_t spare_bytes = 16 << 20;

static int refuse_memory(const struct pf_filter *f, double bytes, double free_bytes)
{
	const double GiB = 1 << 30;

	return complain(ENOMEM,
			"particles=%ld and %ld frames of %ld x %ld pixels need %.2f GiB on the "
			"device, which has %.2f GiB free",
			(long)f->particles, (long)f->rules.frames, (long)f->rules.rows,
			(long)f->rules.cols, bytes / GiB, free_bytes / GiB);
}

static size_t free_memory(void)
{
	size_t free_bytes, total_bytes;

	CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
	return free_bytes;
}

static size_t filter_bytes(struct pf_filter f)
{
	struct array list[ARRAYS];
	size_t bytes = spare_bytes;

	list_arrays(&f, list);
	for (int i = 0; i < ARRAYS; i++)
		bytes += list[i].bytes;
	return bytes;
}

int particlefilter_fits(const struct pf_filter *f)
{
	size_t bytes = filter_bytes(*f), free_bytes = free_memory();

	return bytes > free_bytes ? refuse_memory(f, (double)bytes, (double)free_bytes) : 0;
}

int particlefilter_allocate(struct pf_filter *f)
{
	struct array list[ARRAYS];
	int err = particlefilter_fits(f);

	if (err)
		return err;
	list_arrays(f, list);
	for (int i = 0; i < ARRAYS; i++) {
		if (!list[i].bytes || !cudaMalloc(list[i].at, list[i].bytes))
			continue;
		cudaGetLastError();
		*list[i].at = NULL;
		particlefilter_free(f);
		return refuse_memory(f, (double)filter_bytes(*f), (double)free_memory());
	}
	return 0;
}

void particlefilter_free(struct pf_filter *f)
{
	struct array list[ARRAYS];

	list_arrays(f, list);
	for (int i = 0; i < ARRAYS; i++) {
		if (!list[i].at)
			continue;
		device_free(*list[i].at);
		*list[i].at = NULL;
	}
}

void particlefilter_read_ring(const struct pf_filter *f, int64_t first, int64_t n,
			      struct pf_estimate *ring)
{
	particlefilter_close(f, NULL);
	CUDA(cudaMemcpy(ring, f->ring + first, (size_t)n * sizeof(*ring), cudaMemcpyDeviceToHost));
}

/* Sums of a frame: at every pixel edge, the sum of what lies to its left in the row. */
static void sum_rows(const uint8_t *pixels, int64_t rows, int64_t cols, uint32_t *sums)
{
	for (int64_t r = 0; r < rows; r++, pixels += cols, sums += cols + 1) {
		sums[0] = 0;
		for (int64_t c = 0; c < cols; c++)
			sums[c + 1] = sums[c] + pixels[c];
	}
}

int particlefilter_upload(const struct pf_video *v, struct pf_filter *f)
{
	size_t plane = (size_t)(v->rows * v->cols), edges = (size_t)(v->rows * (v->cols + 1));
	uint32_t *sums = malloc(edges * sizeof(*sums));

	if (!sums)
		return complain(ENOMEM, "no host memory for a frame of %ld x %ld pixels",
				(long)v->rows, (long)v->cols);
	CUDA(cudaMemcpy((void *)f->video, v->pixels, plane * (size_t)v->frames,
			cudaMemcpyHostToDevice));
	for (int64_t k = 0; k < v->frames && !f->direct; k++) {
		sum_rows(v->pixels + (size_t)k * plane, v->rows, v->cols, sums);
		CUDA(cudaMemcpy((void *)(f->row_sum + (size_t)k * edges), sums,
				edges * sizeof(*sums), cudaMemcpyHostToDevice));
	}
	free(sums);
	return 0;
}
