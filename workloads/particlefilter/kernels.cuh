/*
 * kernels.cuh - the kernels of the particle filter and their launches. Compiled once a precision,
 * by kernels_double.cu and kernels_float.cu, which define PF_REAL and PF_IN(name), the name of a
 * kernel in that precision.
 */
#include "common/cuda_check.h"
#include "workloads/particlefilter/ancestor.cuh"

using namespace pf;

struct position {
	real x, y;
};

#include "workloads/particlefilter/bundle.cuh"
#include "workloads/particlefilter/frame.cuh"
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
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	uint32_t step = f.head->step;
	struct past p = { f.split ? f.buffer[0] : buffer_before(f, step), f.head->total,
			  f.head->u[~step & 1] };
	struct tile_sums tiles = { f.tile, f.tile_scale };
	int k = frame_before(f, step);

	if (i >= f.particles)
		return;
	real x = ((const real *)p.b.x)[i], y = ((const real *)p.b.y)[i];

	to.x[i] = (double)x;
	to.y[i] = (double)y;
	to.loglik[i] = score_loglik(f, score(f, k, x, y));
	if (f.split) {
		expose_split(f, to, i);
		return;
	}
	expose_weights(f, to, p.b, i, f.ring[k - 1].max);
	to.ancestor[i] = find_ancestor(f, p, tiles, threshold(f, p, i));
}
KERNEL(PF_IN(particlefilter_expose));

/* ---- launches ----------------------------------------------------------------------------- */

static void load_kernels(void)
{
	const void *const kernels[] = {
		(const void *)PF_IN(particlefilter_frame),
		(const void *)PF_IN(particlefilter_plain_frame),
		(const void *)PF_IN(particlefilter_close),
		(const void *)PF_IN(particlefilter_one_block),
		(const void *)PF_IN(particlefilter_plain_one_block),
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

/*
 * Shifts in float only, and nothing that the benchmark alone does. Kernels of their own assume so
 * (ASSUME): they have half as many instructions to fetch, and take a twentieth less time.
 */
static bool is_plain(const struct pf_filter *f)
{
	return f->shifted == is_float && !f->rules.lcg && !f->rules.wraps && !f->direct;
}

static void launch_frames(const struct pf_filter *f, int64_t n, cudaStream_t stream)
{
	unsigned threads = (unsigned)f->chunk;

	if (is_plain(f))
		CUDA(LAUNCH(PF_IN(particlefilter_plain_one_block), 1, threads, 0, stream, *f, n));
	else
		CUDA(LAUNCH(PF_IN(particlefilter_one_block), 1, threads, 0, stream, *f, n));
}

static void launch_tiles(const struct pf_filter *f, cudaStream_t stream)
{
	unsigned blocks = (unsigned)f->tiles + 1;

	if (is_plain(f))
		CUDA(LAUNCH(PF_IN(particlefilter_plain_frame), blocks, PF_THREADS, 0, stream, *f));
	else
		CUDA(LAUNCH(PF_IN(particlefilter_frame), blocks, PF_THREADS, 0, stream, *f));
}

static void launch_frame(const struct pf_filter *f, cudaStream_t stream)
{
	if (f->split)
		launch_split(f, stream);
	else if (f->particles <= PF_ONE_BLOCK)
		launch_frames(f, 1, stream);
	else
		launch_tiles(f, stream);
}

static void launch_close(const struct pf_filter *f, cudaStream_t stream)
{
	if (!f->split && f->particles > PF_ONE_BLOCK)
		CUDA(LAUNCH(PF_IN(particlefilter_close), 1, PF_THREADS, 0, stream, *f));
}

static void launch_expose(const struct pf_filter *f, const struct pf_look *to, cudaStream_t stream)
{
	unsigned blocks = (unsigned)((f->particles + PF_THREADS - 1) / PF_THREADS);

	CUDA(LAUNCH(PF_IN(particlefilter_expose), blocks, PF_THREADS, 0, stream, *f, *to));
}

extern "C" const struct pf_code PF_IN(particlefilter_code) = { load_kernels, launch_frame,
							       launch_frames, launch_close,
							       launch_expose };
