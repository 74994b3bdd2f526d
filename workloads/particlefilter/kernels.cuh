/*
 * kernels.cuh - the kernels of the particle filter and their launches. Compiled once a precision,
 * by kernels_double.cu and kernels_float.cu, which define PF_REAL and PF_IN(name), the name of a
 * kernel in that precision.
 */
#include "common/cuda_check.h"
#include "workloads/particlefilter/weigh.cuh"

using namespace pf;

/* ---- granularity=frame -------------------------------------------------------------------- */

struct place {
	real x, y;
};

/* What a block knows of the frame before, in shared memory. */
struct block_past {
	double tile[PF_TILES_MAX];
	struct spot spot[PF_TILE_CHUNKS_MAX]; /* where ancestors of its chunks begin, and the end */
};

static __device__ inline struct past past_of(const struct pf_filter &f, uint32_t step)
{
	struct past p;

	p.b = buffer_before(f, step);
	p.total = f.head->total;
	p.u = f.head->u;
	return p;
}

/*
 * Neighbours have neighbours for ancestors: the upper levels are searched once a chunk, for its
 * first particle, all chunks of the tile side by side.
 */
static __device__ inline void look_back(const struct pf_filter &f, const struct past &p, int first,
					int chunks, struct block_past *b)
{
	for (int i = (int)threadIdx.x; i < f.tiles; i += (int)blockDim.x)
		b->tile[i] = f.tile[i];
	__syncthreads();
	for (int i = (int)threadIdx.x; i <= chunks; i += (int)blockDim.x) {
		int64_t j = (int64_t)(first + i) * f.chunk;

		j = j < f.particles ? j : f.particles - 1;
		b->spot[i] = find_spot(f, p, b->tile, threshold(f, p, j));
	}
	__syncthreads();
}

/* Where particle j of a frame begins: at its ancestor of the frame before. */
static __device__ inline struct place resample(const struct pf_filter &f, const struct past &p,
					       tile_sums tiles, const struct spot *spot, int64_t j,
					       int k)
{
	struct place at = { real(f.rules.start_row), real(f.rules.start_col) };

	if (k == 1)
		return at;
	double t = threshold(f, p, j);
	int64_t a = find_in_chunk(f, p, tiles, t, find_between(f, p, tiles, t, spot[0], spot[1]));

	at.x = ((const real *)p.b.x)[a];
	at.y = ((const real *)p.b.y)[a];
	return at;
}

static __device__ inline void move_particle(const struct pf_filter &f, int64_t j, int k,
					    struct place *p)
{
	int32_t lcg = f.rules.lcg ? lcg_of(f, j, k) : 0;

	move(f, j, k, &lcg, &p->x, &p->y);
	if (!f.rules.lcg)
		return;
	if (!j)
		f.head->drawn = draw(&lcg);
	f.lcg[j] = lcg;
}

/* Positions, weights and their sums within the chunk; adds to the thread's sums. */
static __device__ inline void filter_chunk(const struct pf_filter &f, int chunk, uint32_t step,
					   const struct past &past, tile_sums tiles,
					   const struct spot *spot, struct sums *a,
					   double *tile_sum, struct scratch *s)
{
	int k = frame_of(f, step), points = 0;
	struct pf_buffer to = buffer_of(f, step);
	int64_t j = (int64_t)chunk * f.chunk + threadIdx.x;
	bool live = j < f.particles;
	struct place p = { 0, 0 };
	real total;

	if (live) {
		p = resample(f, past, tiles, spot, j, k);
		move_particle(f, j, k, &p);
		((real *)to.x)[j] = p.x;
		((real *)to.y)[j] = p.y;
		points = score(f, k, p.x, p.y);
	}
	int m = chunk_shift(f, points, live, s);
	real w = live ? weight(f, points, m) : real(0);
	real before = scan_block(w, s, &total);

	if (live)
		((real *)to.c)[j] = before + w;
	if (m > a->m)
		raise_unit(f, a, m);
	add_particle(a, w, unit_of(f, m, a->m), p.x, p.y);
	*tile_sum += (double)total;
	if (threadIdx.x)
		return;
	to.chunk[chunk] = f.shifted ? (double)total : *tile_sum;
	if (f.shifted)
		to.scale[chunk] = (double)m;
}

/* Chunks with shifts of their own: what was stored becomes inclusive sums in the tile's unit. */
static __device__ inline double sum_chunks(const struct pf_filter &f, const struct pf_buffer &to,
					   int first, int end, int m)
{
	double sum = 0;

	__syncthreads();
	for (int i = first + (int)threadIdx.x; i < end; i += (int)blockDim.x)
		to.scale[i] = unit_of(f, (int)to.scale[i], m);
	__syncthreads();
	for (int i = first; i < end && !threadIdx.x; i++) {
		sum += to.chunk[i] * to.scale[i];
		to.chunk[i] = sum;
	}
	return sum;
}

/* In the first thread: the tile's sums for the block that ends the frame. */
static __device__ inline void end_tile(const struct pf_filter &f, struct sums *a, double sum,
				       struct scratch *s)
{
	struct pf_mass mass;

	sum_block(a->v, s);
	mass.m = loglik_of(f, a->m);
	mass.s = sum;
	mass.w = a->v[0];
	mass.x = a->v[1];
	mass.y = a->v[2];
	mass.squares = a->v[3];
	if (!threadIdx.x)
		f.mass[blockIdx.x] = mass;
}

/* Is this block the last one? Then it sees what the first threads of all others have written. */
static __device__ inline bool is_last(const struct pf_filter &f, uint32_t *last)
{
	if (!threadIdx.x)
		*last = atomic_add_acq_rel(&f.head->done, 1) == (uint32_t)f.tiles - 1;
	__syncthreads();
	return *last;
}

extern "C" __global__ void __launch_bounds__(PF_CHUNK, 4)
	PF_IN(particlefilter_frame)(const struct pf_filter f)
{
	SHARED_ARRAY(struct block_past, b, [1]);
	SHARED_ARRAY(struct scratch, s, [1]);
	SHARED_ARRAY(uint32_t, last, [1]);
	uint32_t step = f.head->step;
	struct past past = past_of(f, step);
	int first = (int)blockIdx.x * f.tile_chunks;
	int end = first + f.tile_chunks < f.chunks ? first + f.tile_chunks : f.chunks;
	struct sums a = { f.shifted ? (int)0x80000000 / 2 : 0, { 0, 0, 0, 0 } };
	double sum = 0;

	if (frame_of(f, step) > 1)
		look_back(f, past, first, end - first, b);
	for (int chunk = first; chunk < end; chunk++)
		filter_chunk(f, chunk, step, past, b->tile, &b->spot[chunk - first], &a, &sum, s);
	if (f.shifted)
		sum = sum_chunks(f, buffer_of(f, step), first, end, a.m);
	end_tile(f, &a, sum, s);
	if (is_last(f, last))
		end_frame(f, f.tiles, step, s);
}
KERNEL(PF_IN(particlefilter_frame));

#include "workloads/particlefilter/one_block.cuh"
#include "workloads/particlefilter/split.cuh"

/* ---- looking ------------------------------------------------------------------------------ */

/* The weight of a particle and the sum up to it, of all weights. */
static __device__ inline void expose_weights(const struct pf_filter &f, const struct pf_look &to,
					     const struct pf_buffer &b, int64_t i, double max)
{
	int chunk = (int)(i / f.chunk), tile = chunk / f.tile_chunks;
	bool first = chunk % f.tile_chunks == 0;
	double c = (double)((const real *)b.c)[i];

	if (f.shifted)
		c *= b.scale[chunk];
	c += first ? 0 : b.chunk[chunk - 1];
	if (f.shifted)
		c *= f.tile_scale[tile];
	c += tile ? f.tile[tile - 1] : 0;
	to.c[i] = c / f.head->total;
	to.w[i] = exp(to.loglik[i] - max) / f.head->total;
}

extern "C" __global__ void PF_IN(particlefilter_expose)(const struct pf_filter f,
							const struct pf_look to)
{
	int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t step = f.head->step;
	struct pf_buffer b = f.split ? f.buffer[0] : buffer_before(f, step);
	int frames = (int)f.rules.frames - 1;
	int k = (int)((step + (uint32_t)frames - 1) % (uint32_t)frames) + 1;

	if (i >= f.particles)
		return;
	real x = ((const real *)b.x)[i], y = ((const real *)b.y)[i];

	to.x[i] = (double)x;
	to.y[i] = (double)y;
	to.loglik[i] = loglik_of(f, score(f, k, x, y));
	if (f.split) {
		expose_split(f, to, i);
		return;
	}
	struct past p = past_of(f, step);
	double t = threshold(f, p, i);

	expose_weights(f, to, b, i, f.ring[k - 1].max);
	to.ancestor[i] = (int32_t)find_in_chunk(f, p, f.tile, t, find_spot(f, p, f.tile, t));
}
KERNEL(PF_IN(particlefilter_expose));

/* ---- launches ----------------------------------------------------------------------------- */

static void load_kernels(void)
{
	const void *const kernels[] = {
		(const void *)PF_IN(particlefilter_frame),
		(const void *)PF_IN(particlefilter_one_block),
		(const void *)PF_IN(particlefilter_weigh),
		(const void *)PF_IN(particlefilter_total),
		(const void *)PF_IN(particlefilter_sum),
		(const void *)PF_IN(particlefilter_resample),
		(const void *)PF_IN(particlefilter_expose),
	};
	struct cudaFuncAttributes ignored;

	for (const void *kernel : kernels)
		CUDA(cudaFuncGetAttributes(&ignored, kernel));
}

static void frames(const struct pf_filter *f, int64_t n, cudaStream_t stream)
{
	CUDA(LAUNCH(PF_IN(particlefilter_one_block), 1, (unsigned)f->chunk, 0, stream, *f, n));
}

static void frame(const struct pf_filter *f, cudaStream_t stream)
{
	if (f->split)
		launch_split(f, stream);
	else if (f->particles <= PF_ONE_BLOCK)
		frames(f, 1, stream);
	else
		CUDA(LAUNCH(PF_IN(particlefilter_frame), (unsigned)f->tiles, PF_CHUNK, 0, stream,
			    *f));
}

static void expose(const struct pf_filter *f, const struct pf_look *to, cudaStream_t stream)
{
	unsigned blocks = (unsigned)((f->particles + PF_CHUNK - 1) / PF_CHUNK);

	CUDA(LAUNCH(PF_IN(particlefilter_expose), blocks, PF_CHUNK, 0, stream, *f, *to));
}

extern "C" const struct pf_code PF_IN(particlefilter_code) = { load_kernels, frame, frames,
							       expose };
