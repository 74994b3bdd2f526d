/*
 * one_block.cuh - PF_ONE_BLOCK particles or fewer: one block, a thread a particle, n frames a
 * launch, with the state between frames in shared memory. Included by kernels.cuh.
 *
 * In pseudo-code:
 *
 *   load positions and cumulative weights into shared memory
 *   for each of n frames:
 *     ancestor = binary search for (u + j) / N; move; score; weight = e^(score - best)
 *     inclusive scan of the weights; barrier; store position and cumulative weight
 *     write the estimate from sums over the warps
 *   store positions and cumulative weights: one chunk of one tile
 *
 * The naive version that it is tested against is particlefilter_ref_frame() of reference.c.
 */

/* The state between frames, in shared memory. */
struct one_block_smem {
	real x[PF_ONE_BLOCK], y[PF_ONE_BLOCK], c[PF_ONE_BLOCK];
	double u; /* offset that it is resampled with */
};

static __device__ inline void load_state(const struct pf_filter &f, uint32_t step,
					 struct one_block_smem *b)
{
	struct pf_buffer from = buffer_before(f, step);
	int j = (int)threadIdx.x;

	if (j < f.particles && step_frame(f, step) > 1) {
		b->x[j] = ((const real *)from.x)[j];
		b->y[j] = ((const real *)from.y)[j];
		b->c[j] = ((const real *)from.c)[j];
	}
	if (!j)
		b->u = f.head->u[~step & 1];
	__syncthreads();
}

static __device__ inline void store_state(const struct pf_filter &f, uint32_t step,
					  const struct one_block_smem *b)
{
	struct pf_buffer to = buffer_before(f, step);
	int j = (int)threadIdx.x, n = (int)f.particles;

	__syncthreads();
	if (j < n) {
		((real *)to.x)[j] = b->x[j];
		((real *)to.y)[j] = b->y[j];
		((real *)to.c)[j] = b->c[j];
	}
	if (j)
		return;
	to.chunk[0] = f.tile[0] = f.head->total = (double)b->c[n - 1];
	if (f.shifted)
		to.scale[0] = f.tile_scale[0] = 1;
	f.head->u[~step & 1] = b->u;
	f.head->step = step;
}

static __device__ inline struct position
resample_shared(const struct pf_filter &f, const struct one_block_smem *b, int j, int k)
{
	struct position p = { real(f.rules.start_row), real(f.rules.start_col) };
	int n = (int)f.particles;

	if (k == 1)
		return p;
	double total = (double)b->c[n - 1];
	double t = (b->u + (double)j) * f.share * total;
	int a = first_from(b->c, n, t > total ? total : t);

	p.x = b->x[a];
	p.y = b->y[a];
	return p;
}

/*
 * One frame. When its sums are taken all have written, and may go on to the next one; some warps
 * have the estimate to write before.
 */
static __device__ inline void shared_frame(const struct pf_filter &f, int k, int32_t *lcg,
					   struct one_block_smem *b, struct scratch *s)
{
	int j = (int)threadIdx.x, points = (int)0x80000000;
	bool live = j < f.particles;
	struct position p = { 0, 0 };
	struct sums a = { 0, { 0, 0, 0, 0 } };
	double u = 0;
	real total;

	if (live) {
		if (f.rules.lcg && k == 1)
			*lcg = particle_lcg(f, j, k);
		struct normals z = f.rules.lcg ? lcg_normals(lcg) : philox_normals(f, j, k);

		u = f.rules.lcg && !j ? draw_lcg(lcg) : 0;
		p = resample_shared(f, b, j, k);
		move_by(f, z, &p.x, &p.y);
		points = score(f, k, p.x, p.y);
	}
	int m = chunk_shift(f, points, s);
	real w = live ? weight(f, points, m) : real(0);
	real before = scan_block(w, s, &total); /* all have resampled when it returns */

	if (live) {
		b->x[j] = p.x;
		b->y[j] = p.y;
		b->c[j] = before + w;
	}
	if (threadIdx.x == (f.rules.lcg ? 0 : blockDim.x - 1))
		b->u = f.rules.lcg ? u : philox_offset(f, k);
	add_particle(&a, w, 1, p.x, p.y);
	sum_warps(a.v, s);
	write_estimate(f, k, score_loglik(f, m), b->u, s);
}

static __device__ inline void run_frames(const struct pf_filter &f, int64_t n,
					 struct one_block_smem *b, struct scratch *s)
{
	uint32_t step = f.head->step;
	int j = (int)threadIdx.x;
	bool drawn_before = f.rules.lcg && j < f.particles && step_frame(f, step) > 1;
	int32_t lcg = drawn_before ? f.lcg[j] : 0;

	load_state(f, step, b);
	for (int64_t i = 0; i < n; i++) {
		shared_frame(f, step_frame(f, step), &lcg, b, s);
		step = step_after(f, step);
	}
	store_state(f, step, b);
	if (f.rules.lcg && j < f.particles)
		f.lcg[j] = lcg;
}

extern "C" __global__ void __launch_bounds__(PF_ONE_BLOCK)
	PF_IN(particlefilter_one_block)(const struct pf_filter f, int64_t n)
{
	SHARED_ARRAY(struct one_block_smem, b, [1]);
	SHARED_ARRAY(struct scratch, s, [1]);

	run_frames(f, n, b, s);
}
KERNEL(PF_IN(particlefilter_one_block));

/* For filters that are plain, see kernels.cuh. */
extern "C" __global__ void __launch_bounds__(PF_ONE_BLOCK)
	PF_IN(particlefilter_plain_one_block)(const struct pf_filter f, int64_t n)
{
	SHARED_ARRAY(struct one_block_smem, b, [1]);
	SHARED_ARRAY(struct scratch, s, [1]);

	ASSUME(f.shifted == is_float);
	ASSUME(!f.rules.lcg);
	ASSUME(!f.rules.wraps);
	ASSUME(!f.direct);
	run_frames(f, n, b, s);
}
KERNEL(PF_IN(particlefilter_plain_one_block));
