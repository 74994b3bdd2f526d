/*
 * frame.cuh - granularity=frame: one launch a frame. Included by kernels.cuh.
 *
 * In pseudo-code, for each block = tile of particles:
 *
 *   scan the sums of all tiles of the frame before, in shared memory
 *   for each chunk of the tile:
 *     thresholds (u + j) / N -> ancestors, by binary search in staged cumulative weights
 *       (ancestor.cuh); random numbers meanwhile
 *     move each particle; score = its disk of pixels; weight = e^(score - the chunk's best)
 *     inclusive scan of the weights; store positions and cumulative weights (bundle.cuh)
 *   store the tile's sum and moments; one block more makes the estimate of the frame before
 *
 * The naive version that it is tested against is particlefilter_ref_frame() of reference.c, in
 * double.
 *
 * Every block adds up the weights of the frame before by itself, from the sums of the tiles. So
 * nothing waits for the block that is done last. particlefilter_close() makes the estimate of the
 * very last frame.
 */

enum { MASSES = (PF_TILES_MAX + PF_THREADS - 1) / PF_THREADS };

/* Shared memory of a block. */
struct frame_smem {
	uint32_t step;
	double tile[PF_TILES_MAX], scale[PF_TILES_MAX]; /* sums of the frame before */
	int chunk[PF_TILE_CHUNKS_MAX + 1]; /* chunk with the ancestor of a chunk's first particle */
	struct stage stage;
	struct scratch scratch;
};

/*
 * Reads which step it is. Every block counts itself in head->begun after reading. The last one to
 * do so stores the next step (end_frame), so no block reads that too early. Nothing else is
 * published by it, so no fence is needed. The count is not looked at before the work is done.
 */
static __device__ inline uint32_t begin_frame(const struct pf_filter &f, struct frame_smem *b,
					      uint32_t *begun)
{
	if (!threadIdx.x)
		b->step = load_relaxed(&f.head->step);
	__syncthreads();
	if (!threadIdx.x)
		*begun = atomicAdd(&f.head->begun, 1u);
	return b->step;
}

static __device__ inline void end_frame(const struct pf_filter &f, uint32_t step, uint32_t begun)
{
	if (threadIdx.x || begun != (uint32_t)f.tiles)
		return;
	atomicExch(&f.head->begun, 0u);
	atomicExch(&f.head->step, step_after(f, step));
}

/* The thread's share of the tiles' sums. */
struct masses {
	struct pf_mass of[MASSES];
};

static __device__ inline struct masses load_masses(const struct pf_filter &f,
						   const struct pf_mass *mass)
{
	struct masses own;

	UNROLLED
	for (int i = 0; i < MASSES; i++) {
		int tile = (int)threadIdx.x * MASSES + i;

		own.of[i].m = tile < f.tiles ? mass[tile].m : -INFINITY;
		own.of[i].s = tile < f.tiles ? mass[tile].s : 0;
	}
	return own;
}

/* Inclusive sums over tiles into shared memory, there after the next barrier; the sum of all. */
static __device__ inline double scan_masses(const struct pf_filter &f, const struct masses &own,
					    struct frame_smem *b)
{
	double max = 0, v[MASSES], sum = 0, total;

	if (f.shifted) {
		max = own.of[0].m;
		for (int i = 1; i < MASSES; i++)
			max = own.of[i].m > max ? own.of[i].m : max;
		max = max_block(max, &b->scratch);
	}
	UNROLLED
	for (int i = 0; i < MASSES; i++) {
		double unit = tile_unit(f, own.of[i].m, max);
		int tile = (int)threadIdx.x * MASSES + i;

		v[i] = sum += own.of[i].s * unit;
		if (f.shifted && tile < PF_TILES_MAX)
			b->scale[tile] = unit;
	}
	double before = scan_block<PF_WARPS>(sum, &b->scratch, &total);

	UNROLLED
	for (int i = 0; i < MASSES; i++)
		if ((int)threadIdx.x * MASSES + i < PF_TILES_MAX)
			b->tile[threadIdx.x * MASSES + i] = before + v[i];
	return total;
}

/* Loads the sums of the frame before, and finds the chunks with a tile's ancestors. */
static __device__ inline struct past load_past(const struct pf_filter &f, uint32_t step, int first,
					       int chunks, struct frame_smem *b)
{
	struct past p = { buffer_before(f, step), 0, f.head->u[~step & 1] };
	struct tile_sums tiles = { b->tile, b->scale };

	p.total = scan_masses(f, load_masses(f, p.b.mass), b);
	__syncthreads();
	for (int i = (int)threadIdx.x; i <= chunks; i += PF_THREADS) {
		int j = (first + i) * PF_CHUNK;

		j = j < f.particles ? j : (int)f.particles - 1;
		b->chunk[i] = find_chunk(f, p, tiles, threshold(f, p, j));
	}
	__syncthreads();
	return p;
}

/* What a block works on: a frame, its chunks [first, end), and the current one. */
struct frame_task {
	uint32_t step;
	int k, first, end, chunk;
};

/* Resamples the particles of a chunk; *p, the frame before, is set at the tile's first chunk. */
static __device__ inline void find_parents(const struct pf_filter &f, const struct frame_task &w,
					   struct past *p, struct frame_smem *b, struct bundle *q)
{
	struct tile_sums tiles = { b->tile, b->scale };
	const int *from = &b->chunk[w.chunk - w.first];

	if (w.chunk == w.first)
		*p = load_past(f, w.step, w.first, w.end - w.first, b);
	stage_chunks(f, *p, tiles, from[0], from[1], &b->stage);
	resample(f, *p, tiles, &b->stage, q);
}

/*
 * Resamples the particles of a chunk and draws their random numbers. An SM gives warp w to its
 * scheduler w mod 4. One of a block's two warps there draws while the other waits for memory: that
 * wins 6 % of a frame of 400,000. All drawing first takes as long as all drawing last.
 */
static __device__ inline void begin_chunk(const struct pf_filter &f, const struct frame_task &w,
					  struct past *p, struct frame_smem *b, struct bundle *q)
{
	int draw_first = warp() / 4 % 2;

	begin_bundle(f, w.chunk, q);
	ROLLED
	for (int i = 0; i < 2; i++) { /* the code of both is there once */
		if (i == draw_first)
			draw_bundle(f, w.k, w.step, q);
		if (i)
			break;
		if (w.k > 1) {
			find_parents(f, w, p, b, q);
			continue;
		}
		__syncthreads(); /* the scratch memory is free, see scan_block() */
		start_bundle(f, q);
	}
}

/* Positions, weights and their sums within the chunk; adds to the thread's sums. */
static __device__ inline void filter_chunk(const struct pf_filter &f, const struct frame_task &at,
					   struct frame_smem *b, struct bundle *q, struct sums *a,
					   double *tile_sum)
{
	struct pf_buffer to = step_buffer(f, at.step);
	real total;

	move_bundle(f, at.k, q);
	int m = chunk_shift(f, best_score(q), &b->scratch);
	real sum = weigh_bundle(f, m, q, a);
	real before = scan_block<PF_WARPS>(sum, &b->scratch, &total);

	UNROLLED
	for (int i = 0; i < PF_EACH; i++)
		q->c[i] = before = before + q->w[i];
	if (q->live > 0) {
		store_positions(to, q);
		store_bundle(to.c, q->first, q->c);
	}
	*tile_sum += (double)total;
	if (threadIdx.x)
		return;
	to.chunk[at.chunk] = f.shifted ? (double)total : *tile_sum;
	if (f.shifted)
		to.scale[at.chunk] = (double)m;
}

/* Chunks with shifts of their own: what was stored becomes inclusive sums in the tile's unit. */
static __device__ inline double sum_chunks(const struct pf_filter &f, const struct pf_buffer &to,
					   int first, int end, int m)
{
	double sum = 0;

	__syncthreads();
	for (int i = first + (int)threadIdx.x; i < end; i += (int)blockDim.x)
		to.scale[i] = unit_ratio(f, (int)to.scale[i], m);
	__syncthreads();
	for (int i = first; i < end && !threadIdx.x; i++) {
		sum += to.chunk[i] * to.scale[i];
		to.chunk[i] = sum;
	}
	return sum;
}

/* A tile's sums: each warp stores its own moments, which saves a barrier. */
static __device__ inline void end_tile(const struct pf_filter &f, const struct pf_buffer &to,
				       int first, int end, struct sums *a, double sum)
{
	if (f.shifted)
		sum = sum_chunks(f, to, first, end, a->m);
	double own = sum_four(a->v);

	if (lane() % 8 == 0)
		to.moments[(int)blockIdx.x * PF_WARPS + warp()].v[lane() / 8] = own;
	if (!threadIdx.x)
		to.mass[blockIdx.x] = { score_loglik(f, a->m), sum };
}

/*
 * The block beside those of the tiles: this frame's offset, and an estimate for the frame before,
 * if there was one. A plain filter in double has no shifts; that is written out here, as nvcc 12.4
 * compiles for ever where it must find it out by the kernel's assumptions.
 */
template <bool PLAIN>
static __device__ inline void estimate_before(const struct pf_filter &f, uint32_t step,
					      struct frame_smem *b)
{
	struct pf_buffer from = buffer_before(f, step);
	const bool may_shift = !PLAIN || is_float;

	if (!f.rules.lcg && !threadIdx.x)
		f.head->u[step & 1] = philox_offset(f, step_frame(f, step));
	if (step)
		estimate(f, from, f.tiles, frame_before(f, step), f.head->u[~step & 1],
			 may_shift ? largest_unit(f, from.mass, f.tiles, &b->scratch) : 0,
			 &b->scratch);
}

template <bool PLAIN>
static __device__ inline void run_frame(const struct pf_filter &f, struct frame_smem *b)
{
	uint32_t begun = 0, step = begin_frame(f, b, &begun);
	int first = (int)blockIdx.x * f.tile_chunks, end = first + f.tile_chunks;
	struct frame_task w = { step, step_frame(f, step), first, end < f.chunks ? end : f.chunks,
				first };
	struct sums a = { f.shifted ? (int)0x80000000 / 2 : 0, { 0, 0, 0, 0 } };
	struct past p = { buffer_before(f, step), 0, 0 };
	struct bundle q;
	double sum = 0;

	if ((int)blockIdx.x == f.tiles) {
		estimate_before<PLAIN>(f, step, b);
		end_frame(f, step, begun);
		return;
	}
	for (; w.chunk < w.end; w.chunk++) {
		begin_chunk(f, w, &p, b, &q);
		filter_chunk(f, w, b, &q, &a, &sum);
	}
	end_tile(f, step_buffer(f, step), w.first, w.end, &a, sum);
	end_frame(f, step, begun);
}

extern "C" __global__ void __launch_bounds__(PF_THREADS, 3)
	PF_IN(particlefilter_frame)(const struct pf_filter f)
{
	SHARED_ARRAY(struct frame_smem, b, [1]);

	run_frame<false>(f, b);
}
KERNEL(PF_IN(particlefilter_frame));

/* For filters that are plain, see kernels.cuh. */
extern "C" __global__ void __launch_bounds__(PF_THREADS, 3)
	PF_IN(particlefilter_plain_frame)(const struct pf_filter f)
{
	SHARED_ARRAY(struct frame_smem, b, [1]);

	ASSUME(f.shifted == is_float);
	ASSUME(!f.rules.lcg);
	ASSUME(!f.rules.wraps);
	ASSUME(!f.direct);
	run_frame<true>(f, b);
}
KERNEL(PF_IN(particlefilter_plain_frame));

extern "C" __global__ void __launch_bounds__(PF_THREADS)
	PF_IN(particlefilter_close)(const struct pf_filter f)
{
	SHARED_ARRAY(struct scratch, s, [1]);
	uint32_t step = f.head->step;

	if (step)
		close_frame(f, buffer_before(f, step), f.tiles, frame_before(f, step),
			    f.head->u[~step & 1], s);
}
KERNEL(PF_IN(particlefilter_close));
