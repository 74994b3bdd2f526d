/*
 * split.cuh - granularity=split: the four launches a frame that programs of 2009 have, without
 * their race. Included by kernels.cuh.
 *
 * In pseudo-code, a thread for each particle:
 *
 *   weigh:    move; score; weight = e^(score - the block's best); sums of the block
 *   total:    one block: scan of the blocks' sums; the estimate; the step is counted
 *   sum:      cumulative weight = blocks before + scan of the block, over the total
 *   resample: ancestor = binary search for (u + j) / N among cumulative weights; copy its position
 *
 * The naive version that it is tested against is particlefilter_ref_frame() of reference.c.
 */

/* Motion and weights in units of the chunk, a block a chunk. */
extern "C" __global__ void __launch_bounds__(PF_THREADS)
	PF_IN(particlefilter_weigh)(const struct pf_filter f)
{
	SHARED_ARRAY(struct scratch, s, [1]);
	uint32_t step = f.head->step;
	int k = step_frame(f, step), points = (int)0x80000000;
	int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	bool live = j < f.particles;
	struct position p = { real(f.rules.start_row), real(f.rules.start_col) };
	struct sums a = { 0, { 0, 0, 0, 0 } };

	if (live) {
		if (k > 1) {
			p.x = ((const real *)f.resampled_x)[j];
			p.y = ((const real *)f.resampled_y)[j];
		}
		move_by(f, particle_normals(f, j, k, step, true), &p.x, &p.y);
		((real *)f.buffer[0].x)[j] = p.x;
		((real *)f.buffer[0].y)[j] = p.y;
		points = score(f, k, p.x, p.y);
	}
	a.m = chunk_shift(f, points, s);
	real w = live ? weight(f, points, a.m) : real(0);

	if (live)
		((real *)f.w)[j] = w;
	add_particle(&a, w, 1, p.x, p.y);
	sum_warps(a.v, s);
	if (warp() >= SUMS)
		return;
	double sum = sum_warp_sums<PF_WARPS>(s, warp());

	if (lane())
		return;
	f.buffer[0].moments[blockIdx.x].v[warp()] = sum;
	if (!warp())
		f.buffer[0].mass[blockIdx.x] = { score_loglik(f, a.m), sum };
}
KERNEL(PF_IN(particlefilter_weigh));

extern "C" __global__ void __launch_bounds__(PF_TOTALS_THREADS)
	PF_IN(particlefilter_total)(const struct pf_filter f)
{
	SHARED_ARRAY(struct scratch, s, [1]);
	uint32_t step = f.head->step;
	int k = step_frame(f, step);

	if (!f.rules.lcg && !threadIdx.x)
		f.head->u[step & 1] = philox_offset(f, k);
	__syncthreads();
	close_frame(f, f.buffer[0], f.chunks, k, f.head->u[step & 1], s);
	if (!threadIdx.x)
		f.head->step = step_after(f, step);
}
KERNEL(PF_IN(particlefilter_total));

static __device__ inline double normalised(const struct pf_filter &f, int64_t j)
{
	double unit = f.shifted ? f.tile_scale[j / f.chunk] : 1;

	return (double)((const real *)f.w)[j] * unit / f.head->total;
}

extern "C" __global__ void __launch_bounds__(PF_THREADS)
	PF_IN(particlefilter_sum)(const struct pf_filter f)
{
	SHARED_ARRAY(struct scratch, s, [1]);
	int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	double w = j < f.particles ? normalised(f, j) : 0, ignored;
	double before = scan_block<PF_WARPS>(w, s, &ignored);

	if (blockIdx.x)
		before += f.tile[blockIdx.x - 1] / f.head->total;
	if (j < f.particles)
		f.sum[j] = before + w;
}
KERNEL(PF_IN(particlefilter_sum));

static __device__ inline int64_t split_ancestor(const struct pf_filter &f, int64_t j)
{
	double t = (f.head->u[~f.head->step & 1] + (double)j) / (double)f.particles;
	double last = f.sum[f.particles - 1];

	return first_from(f.sum, (int)f.particles, t > last ? last : t);
}

extern "C" __global__ void __launch_bounds__(PF_THREADS)
	PF_IN(particlefilter_resample)(const struct pf_filter f)
{
	int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (j >= f.particles)
		return;
	int64_t a = split_ancestor(f, j);

	((real *)f.resampled_x)[j] = ((const real *)f.buffer[0].x)[a];
	((real *)f.resampled_y)[j] = ((const real *)f.buffer[0].y)[a];
}
KERNEL(PF_IN(particlefilter_resample));

static __device__ inline void expose_split(const struct pf_filter &f, const struct pf_look &to,
					   int64_t i)
{
	to.w[i] = normalised(f, i);
	to.c[i] = f.sum[i];
	to.ancestor[i] = (int32_t)split_ancestor(f, i);
}

static void launch_split(const struct pf_filter *f, cudaStream_t stream)
{
	unsigned blocks = (unsigned)f->chunks;

	CUDA(LAUNCH(PF_IN(particlefilter_weigh), blocks, PF_THREADS, 0, stream, *f));
	CUDA(LAUNCH(PF_IN(particlefilter_total), 1, PF_TOTALS_THREADS, 0, stream, *f));
	CUDA(LAUNCH(PF_IN(particlefilter_sum), blocks, PF_THREADS, 0, stream, *f));
	CUDA(LAUNCH(PF_IN(particlefilter_resample), blocks, PF_THREADS, 0, stream, *f));
}
